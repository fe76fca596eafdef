#include "core/data/used_samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/config/catalog.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

using test::Names;
using ::testing::ElementsAre;

/// Seven classes in turn, `inARow` samples of each; no validation split.
class Sevens final : public LabelledImages {
 public:
  explicit Sevens(std::int64_t size, std::int64_t inARow = 1) : size_(size), inARow_(inARow) {
    info_.height = info_.width = 1;
    info_.classes = {"a", "b", "c", "d", "e", "f", "g"};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override { return split == Split::Validation ? 0 : size_; }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t>) const override {
    return id / inARow_ % 7;
  }

 private:
  std::int64_t size_, inARow_;
  DatasetInfo info_;
};

std::unique_ptr<UsedSamples> used(const Json& changes, std::uint64_t seed = 1,
                                  std::int64_t size = 700) {
  Json data = dataSchema().defaults();
  data.update(changes);
  return std::make_unique<UsedSamples>(std::make_shared<Sevens>(size), Config(data), seed);
}

std::vector<std::int64_t> idsOf(const Json& changes, std::uint64_t seed, Split split) {
  const auto ids = used(changes, seed)->of(split);
  return ids ? *ids : std::vector<std::int64_t>{};
}

TEST(UsedSamples, AreAllOrACountOrAShareDrawnBySeed) {
  EXPECT_TRUE(idsOf(Json::object(), 1, Split::Train).empty()) << "all of them";
  EXPECT_EQ(used(Json::object())->size(Split::Train), 700);
  const auto seventy = idsOf({{"train_samples", 70}}, 1, Split::Train);
  EXPECT_EQ(seventy.size(), 70u);
  EXPECT_EQ(idsOf({{"train_share", 0.1}}, 1, Split::Train), seventy);
  EXPECT_NE(idsOf({{"train_share", 0.1}}, 2, Split::Train), seventy);
  EXPECT_EQ(idsOf({{"train_share", 0.1}, {"subset_seed", 1}}, 2, Split::Train), seventy);
}

TEST(UsedSamples, OfTheTestSplitAreTheSameForEveryRun) {
  EXPECT_EQ(idsOf({{"test_share", 0.1}}, 1, Split::Test),
            idsOf({{"test_share", 0.1}, {"subset_seed", 5}}, 2, Split::Test));
  EXPECT_EQ(idsOf({{"test_share", 1e-9}}, 2, Split::Test).size(), 1u);
  EXPECT_THAT(idsOf({{"test_share", 0.01}, {"subset", "first"}}, 1, Split::Test),
              ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(used(Json::object(), 1)->choose(Split::Test, 14),
            used(Json::object(), 9)->choose(Split::Test, 14));
}

TEST(UsedSamples, AHeldOutPartIsTheSameShareOfEveryClassAndNotTrained) {
  for (const Json& subset : {Json::object(), Json{{"train_samples", 140}}}) {
    Json changes = subset;
    changes["holdout"] = 0.1;
    const auto samples = used(changes, 4);
    EXPECT_EQ(samples->stored(Split::Validation), Split::Train);
    EXPECT_EQ(samples->stored(Split::Test), Split::Test);
    const auto out = *samples->of(Split::Validation), rest = *samples->of(Split::Train);
    const std::size_t all = subset.empty() ? 700 : 140;
    EXPECT_EQ(out.size(), all / 10);
    EXPECT_EQ(rest.size(), all - all / 10);
    std::map<std::int64_t, int> perClass;
    for (const std::int64_t id : out) {
      ++perClass[id % 7];
      EXPECT_FALSE(std::binary_search(rest.begin(), rest.end(), id));
    }
    for (const auto& [label, count] : perClass) EXPECT_EQ(count, all / 70) << label;
    EXPECT_EQ(samples->choose(Split::Validation, 3).size(), 3u);
    EXPECT_THAT(samples->evaluated(), ElementsAre(Split::Validation, Split::Test));
  }
}

TEST(UsedSamples, ChosenSamplesOfAHeldOutPartAreOfEveryClassAndNotAmongThoseOfTraining) {
  const auto sorted = std::make_shared<Sevens>(700, /*inARow=*/100);
  for (const char* subset : {"stratified", "first"}) {
    Json data = dataSchema().defaults();
    data.update({{"holdout", 0.1}, {"subset", subset}});
    const UsedSamples samples(sorted, Config(data), 4);
    const auto held = *samples.of(Split::Validation);
    EXPECT_EQ(samples.choose(Split::Train, 630), *samples.of(Split::Train)) << subset;
    EXPECT_EQ(samples.choose(Split::Validation, 70), held) << subset;
    std::map<Split, std::set<std::int64_t>> labels;
    for (const Split split : {Split::Train, Split::Validation}) {
      const auto chosen = samples.choose(split, 7);
      EXPECT_EQ(chosen.size(), 7u) << subset;
      for (const std::int64_t id : chosen) {
        const bool isHeld = std::binary_search(held.begin(), held.end(), id);
        EXPECT_EQ(isHeld, split == Split::Validation) << subset << " " << id;
        labels[split].insert(sorted->label(Split::Train, id));
      }
    }
    const std::size_t classes = subset == std::string("stratified") ? 7 : 1;
    EXPECT_EQ(labels[Split::Train].size(), classes) << subset;
    EXPECT_EQ(labels[Split::Validation].size(), classes) << subset;
  }
}

TEST(UsedSamples, EvaluationsReadTheSplitsThatAreListed) {
  EXPECT_THAT(used(Json::object())->evaluated(), ElementsAre(Split::Test));
  EXPECT_THAT(used({{"holdout", 0.1}, {"evaluate_splits", {"validation"}}})->evaluated(),
              ElementsAre(Split::Validation));
  const auto refusal = [](const Json& changes) {
    return test::refusal<ConfigError>([&] {
      const auto samples = used(changes, 1, 5);
      (void)samples->of(Split::Validation);
      (void)samples->of(Split::Train);
    });
  };
  EXPECT_EQ(refusal(Json::object()), "");
  EXPECT_THAT(refusal({{"evaluate_splits", {"validation"}}}),
              Names("data.evaluate_splits", "validation"));
  EXPECT_THAT(refusal({{"evaluate_splits", {"train"}}}), Names("data.evaluate_splits", "'train'"));
  EXPECT_THAT(refusal({{"holdout", 0.01}}), Names("data.holdout = 0.01", 5));
  EXPECT_THAT(refusal({{"holdout", 0.99}}), Names("data.holdout"));
}

}  // namespace
}  // namespace vitrine
