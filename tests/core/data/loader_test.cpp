#include "core/data/loader.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/data/collate.h"
#include "tests/support/refusal.h"
#include "tests/support/wait_until.h"

namespace vitrine {
namespace {

using test::Names;

/// Image `id` is a pattern that starts with its own number; label id % 7.
class CountingDataset final : public LabelledImages {
 public:
  explicit CountingDataset(std::int64_t size) : size_(size) {
    info_.channels = 1;
    info_.height = 6;
    info_.width = 5;
    info_.classes = {"a", "b", "c", "d", "e", "f", "g"};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override { return split == Split::Validation ? 0 : size_; }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t> image) const override {
    if (id == failsAt) throw FileError("sample " + std::to_string(id) + " is damaged");
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(id % 3));
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] = static_cast<std::uint8_t>(static_cast<std::size_t>(id) + 13 * i);
    reads.fetch_add(1);
    return id % 7;
  }
  std::int64_t failsAt = -1;
  bool slow = false;
  mutable std::atomic<int> reads{0};

 private:
  std::int64_t size_;
  DatasetInfo info_;
};

/// Reads samples and adds the epoch and the number of the batch to every pixel.
class CountingMaker final : public BatchMaker {
 public:
  CountingMaker(std::shared_ptr<const CountingDataset> dataset, std::int64_t batchSize,
                std::shared_ptr<TensorPool> pool)
      : dataset_(std::move(dataset)),
        collator_(fieldsOf(dataset_->info()), batchSize, std::move(pool)) {}
  Batch make(std::span<const std::int64_t> ids, std::int64_t epoch, std::int64_t number) override {
    collator_.begin();
    for (const std::int64_t id : ids) {
      sample_.begin(id);
      dataset_->read(Split::Train, id, sample_);
      for (std::uint8_t& pixel : sample_["image"].edit<std::uint8_t>())
        pixel = static_cast<std::uint8_t>(pixel + 5 * epoch + number);
      collator_.add(sample_);
    }
    return collator_.finish();
  }

 private:
  std::shared_ptr<const CountingDataset> dataset_;
  Collator collator_;
  Sample sample_;
};

LoaderOptions trainingOptions(int workers) {
  return {.batchSize = 8, .workers = workers, .prefetch = 3, .seed = 11, .shuffle = true};
}

std::unique_ptr<BatchStream> loaderOf(const std::shared_ptr<CountingDataset>& dataset,
                                      LoaderOptions options, std::int64_t firstBatch = 0) {
  options.size = dataset->size(options.split);
  return makeLoader(
      [dataset, size = options.batchSize, pool = std::make_shared<TensorPool>()] {
        return std::make_unique<CountingMaker>(dataset, size, pool);
      },
      options, firstBatch);
}

struct Taken {
  std::vector<std::int64_t> ids;
  at::Tensor images, labels;
};
std::vector<Taken> take(BatchStream& stream, std::int64_t batches) {
  std::vector<Taken> out;
  for (std::int64_t i = 0; i < batches; ++i) {
    const Batch batch = stream.next();
    out.push_back({batch.sampleIds, batch.at("image").clone(), batch.at("label").clone()});
  }
  return out;
}
void expectSame(const std::vector<Taken>& a, std::size_t from, const std::vector<Taken>& b,
                const std::string& what) {
  ASSERT_LE(b.size() + from, a.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    EXPECT_EQ(a[from + i].ids, b[i].ids) << what << ", batch " << i;
    EXPECT_TRUE(at::equal(a[from + i].images, b[i].images)) << what << ", batch " << i;
    EXPECT_TRUE(at::equal(a[from + i].labels, b[i].labels)) << what << ", batch " << i;
  }
}

// 21 samples in batches of 8: three batches an epoch, the last of 5.
TEST(Loader, GivesTheSameBatchesWithAnyNumberOfWorkers) {
  const auto dataset = std::make_shared<CountingDataset>(21);
  dataset->slow = true;
  const auto alone = take(*loaderOf(dataset, trainingOptions(0)), 10);
  for (const int workers : {1, 3}) {
    expectSame(alone, 0, take(*loaderOf(dataset, trainingOptions(workers)), 10),
               std::to_string(workers) + " workers");
  }
}

TEST(Loader, ContinuesAtAnyBatchAsIfItHadNeverStopped) {
  const auto dataset = std::make_shared<CountingDataset>(21);
  const auto whole = take(*loaderOf(dataset, trainingOptions(1)), 10);
  for (std::int64_t first = 0; first < 10; ++first) {
    expectSame(whole, static_cast<std::size_t>(first),
               take(*loaderOf(dataset, trainingOptions(2), first), 10 - first),
               "resumed at " + std::to_string(first));
  }
}

TEST(Loader, EveryEpochVisitsEverySampleOnceInAnOrderOfItsOwn) {
  const auto dataset = std::make_shared<CountingDataset>(21);
  const auto stream = loaderOf(dataset, trainingOptions(1));
  EXPECT_EQ(stream->batchesPerEpoch(), 3);
  EXPECT_EQ(stream->samplesPerEpoch(), 21);
  std::vector<std::vector<std::int64_t>> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::int64_t> ids;
    for (const Taken& batch : take(*stream, 3))
      ids.insert(ids.end(), batch.ids.begin(), batch.ids.end());
    orders.push_back(ids);
    std::sort(ids.begin(), ids.end());
    std::vector<std::int64_t> all(21);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(ids, all);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
  EXPECT_EQ(orders[1], permutation(RandomStream(11, "order"), 1, 21));
}

TEST(Loader, DropLastLeavesOutTheBatchThatIsNotFull) {
  const auto dataset = std::make_shared<CountingDataset>(21);
  LoaderOptions options = trainingOptions(1);
  options.dropLast = true;
  const auto stream = loaderOf(dataset, options);
  EXPECT_EQ(stream->batchesPerEpoch(), 2);
  EXPECT_EQ(stream->samplesPerEpoch(), 16);
  for (const Taken& batch : take(*stream, 5)) EXPECT_EQ(batch.ids.size(), 8u);
}

TEST(Loader, TellsTheMakerEpochAndNumberOfTheBatch) {
  const auto dataset = std::make_shared<CountingDataset>(21);
  const auto stream = loaderOf(dataset, trainingOptions(1), 4);  // epoch 1, batch 1
  for (const Taken& batch : take(*stream, 1)) {
    for (std::size_t i = 0; i < batch.ids.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      EXPECT_EQ(batch.images[row][0][0][0].item<std::int64_t>(), batch.ids[i] + 5 + 1);
      EXPECT_EQ(batch.labels[row].item<std::int64_t>(), batch.ids[i] % 7);
    }
  }
}

TEST(Loader, EvaluationReadsInOrder) {
  const auto dataset = std::make_shared<CountingDataset>(21);
  LoaderOptions options = trainingOptions(2);
  options.shuffle = false;
  options.samples = std::make_shared<const std::vector<std::int64_t>>(
      std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto batches = take(*loaderOf(dataset, options), 3);
  EXPECT_EQ(batches[0].ids, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(batches[1].ids, (std::vector<std::int64_t>{8, 9}));
  EXPECT_EQ(batches[1].images.size(0), 2);
  EXPECT_EQ(batches[2].ids, batches[0].ids);
}

TEST(Loader, GivesOnlyTheSamplesThatWereChosenUnderTheirOwnIds) {
  const auto dataset = std::make_shared<CountingDataset>(21);
  LoaderOptions options = trainingOptions(1);
  options.samples =
      std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{2, 3, 5, 11, 20});
  options.batchSize = 2;
  const auto stream = loaderOf(dataset, options);
  EXPECT_EQ(stream->batchesPerEpoch(), 3);
  EXPECT_EQ(stream->samplesPerEpoch(), 5);
  std::set<std::int64_t> seen;
  for (const Taken& batch : take(*stream, 3)) {
    for (std::size_t i = 0; i < batch.ids.size(); ++i) {
      seen.insert(batch.ids[i]);
      EXPECT_EQ(batch.labels[static_cast<std::int64_t>(i)].item<std::int64_t>(), batch.ids[i] % 7);
    }
  }
  EXPECT_EQ(seen, (std::set<std::int64_t>{2, 3, 5, 11, 20}));
}

TEST(Loader, ABatchThatIsHeldIsNeverWrittenOver) {
  const auto dataset = std::make_shared<CountingDataset>(21);
  const auto stream = loaderOf(dataset, trainingOptions(2));
  std::vector<Batch> held;
  std::vector<at::Tensor> copies;
  for (int i = 0; i < 12; ++i) {
    held.push_back(stream->next());
    copies.push_back(held.back().at("image").clone());
    if (i % 2 == 0) {  // keep a view alone
      held.back().fields["image"] = held.back().at("image").narrow(0, 1, 2);
      copies.back() = copies.back().narrow(0, 1, 2);
    }
  }
  for (std::size_t i = 0; i < held.size(); ++i)
    EXPECT_TRUE(at::equal(held[i].at("image"), copies[i])) << i;
}

TEST(Loader, UsesItsBuffersAgainOnceTheyAreFree) {
  const auto dataset = std::make_shared<CountingDataset>(64);
  const auto stream = loaderOf(dataset, trainingOptions(1));
  std::set<const void*> places;
  for (int i = 0; i < 100; ++i) places.insert(stream->next().at("image").const_data_ptr());
  // Prefetch 3, one in the worker's hands, one in ours.
  EXPECT_LE(places.size(), 5u);
}

TEST(Loader, AWorkersExceptionComesOutOfNext) {
  for (const int workers : {0, 1, 3}) {
    const auto dataset = std::make_shared<CountingDataset>(64);
    dataset->failsAt = 20;  // in the third batch
    LoaderOptions options = trainingOptions(workers);
    options.shuffle = false;
    const auto stream = loaderOf(dataset, options);
    take(*stream, 2);
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(test::refusal<FileError>([&] { (void)stream->next(); }), "sample 20 is damaged")
          << workers << " workers";
    }
  }
}

TEST(Loader, StopsAtOnceWhenItGoesWithWorkersBusyOrWaiting) {
  const auto dataset = std::make_shared<CountingDataset>(1000);
  dataset->slow = true;
  for (int round = 0; round < 20; ++round) {
    const int before = dataset->reads.load();
    const auto stream = loaderOf(dataset, trainingOptions(3));
    if (round % 2 == 0) (void)stream->next();
    if (round % 4 == 0) {  // with every slot full, the workers wait
      ASSERT_TRUE(waitUntil([&] { return dataset->reads.load() >= before + 4 * 8; }));
    }
  }
  EXPECT_EQ(dataset.use_count(), 1) << "a worker still has it";
}

TEST(Loader, PreparesNoMoreThanItWasAllowed) {
  const auto dataset = std::make_shared<CountingDataset>(1000);
  const auto stream = loaderOf(dataset, trainingOptions(2));
  // One batch too many would show in a later round.
  for (int taken = 0; taken < 20; ++taken) {
    const int allowed = (3 + taken) * 8;
    ASSERT_TRUE(waitUntil([&] { return dataset->reads.load() >= allowed; }));
    EXPECT_EQ(dataset->reads.load(), allowed);
    (void)stream->next();
  }
}

TEST(Loader, RefusesWhatCannotBe) {
  const auto dataset = std::make_shared<CountingDataset>(5);
  const auto sentence = [&](const std::function<void(LoaderOptions&)>& change) {
    LoaderOptions options = trainingOptions(1);
    change(options);
    return test::refusal<ConfigError>([&] { (void)loaderOf(dataset, options); });
  };
  EXPECT_EQ(sentence([](LoaderOptions&) {}), "");
  EXPECT_THAT(sentence([](LoaderOptions& o) { o.batchSize = 0; }), Names("batch size", 0));
  EXPECT_THAT(sentence([](LoaderOptions& o) { o.prefetch = 0; }), Names("prefetched", 0));
  EXPECT_THAT(sentence([](LoaderOptions& o) { o.dropLast = true; }), Names(5));
  EXPECT_THAT(sentence([](LoaderOptions& o) { o.split = Split::Validation; }),
              Names("validation", 0));
}

TEST(Splits, NamesGoBothWays) {
  for (const Split split : {Split::Train, Split::Validation, Split::Test})
    EXPECT_EQ(splitFromString(toString(split)), split);
  EXPECT_THROW((void)splitFromString("tset"), ConfigError);
}

}  // namespace
}  // namespace vitrine
