#include "core/data/pipeline.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/experiment.h"
#include "core/data/collate.h"
#include "core/data/pipeline_plan.h"
#include "core/data/subset.h"
#include "core/plugin/registry.h"

namespace vitrine {

namespace {

constexpr int kPrefetch = 4;
/// Scores and maps of two runs compare only where they saw the same samples.
constexpr std::uint64_t kSeedOfAllRuns = 0;

std::string namesOf(const std::vector<SampleField>& fields) {
  std::string names;
  for (const SampleField& field : fields) names += (names.empty() ? "" : ", ") + field.name;
  return names.empty() ? "no fields" : names;
}

/// The settings of one transform, complete.
Config settingsOf(const Transform& item, const std::string& id, const Json& given) {
  Json values = given;
  values.erase("name");
  for (const Problem& problem : resolveItem(item.card().schema, "", values))
    throw ConfigError("data.pipeline: transform '" + id + "': " + problem.key + " " +
                      problem.message);
  return Config(std::move(values));
}

}  // namespace

struct Pipeline::Stage {
  const Transform* item = nullptr;
  Config config;
  TransformContext context;
  RandomStream stream;
};

/// One thread's tools. \pre the pipeline outlives it
class Pipeline::Maker final : public BatchMaker {
 public:
  Maker(const Pipeline& pipeline, Split split, Phase phase, std::int64_t batchSize,
        std::shared_ptr<TensorPool> pool)
      : dataset_(pipeline.dataset_),
        list_(pipeline.listOf(phase)),
        split_(split),
        collator_(list_.samples, batchSize, std::move(pool)) {
    for (std::size_t i = 0; i < list_.stages.size(); ++i) {
      const Stage& stage = list_.stages[i];
      if (i < list_.sampleStages) {
        onSamples_.push_back(stage.item->forSamples(stage.config, stage.context));
      } else {
        onBatches_.push_back(stage.item->forBatches(stage.config, stage.context));
      }
    }
  }

  Batch make(std::span<const std::int64_t> ids, std::int64_t epoch, std::int64_t number) override {
    collator_.begin();
    for (const std::int64_t id : ids) {
      sample_.begin(id);
      dataset_->read(split_, id, sample_);
      for (std::size_t i = 0; i < onSamples_.size(); ++i)
        onSamples_[i]->apply(sample_, Draws(list_.stages[i].stream, epoch, id));
      collator_.add(sample_);
    }
    Batch batch = collator_.finish();
    for (std::size_t i = 0; i < onBatches_.size(); ++i) {
      const Stage& stage = list_.stages[list_.sampleStages + i];
      onBatches_[i]->apply(batch, Draws(stage.stream, epoch, number));
    }
    return batch;
  }

 private:
  std::shared_ptr<const Dataset> dataset_;
  const List& list_;
  Split split_;
  Sample sample_;
  Collator collator_;
  std::vector<std::unique_ptr<SampleTransform>> onSamples_;
  std::vector<std::unique_ptr<BatchTransform>> onBatches_;
};

Pipeline::Pipeline(const Registry& registry, const Config& data,
                   std::shared_ptr<const Dataset> dataset, std::uint64_t seed, const Wanted& wanted)
    : data_(data),
      dataset_(std::move(dataset)),
      seed_(seed),
      // Runs from before there was a choice took the first samples, and do so when resumed.
      isStratified_(data.has("subset") && data.text("subset") == "stratified"),
      holdout_(data.maybeReal("holdout").value_or(0)),
      plan_(pipelinePlan(data, dataset_->info(), wanted.imageSize)) {
  train_ = build(registry, plan_["train"], wanted, seed);
  evaluate_ = build(registry, plan_["evaluate"], wanted, seed);
  checkChannels(wanted);
  evaluated_ = chooseSplits();
}

Pipeline::~Pipeline() = default;

Pipeline::List Pipeline::build(const Registry& registry, Json& plan, const Wanted& wanted,
                               std::uint64_t seed) const {
  List list;
  list.fields = list.samples = fieldsOf(dataset_->info());
  std::map<std::string, int> kinds;
  for (Json& element : plan) {
    const auto id = element.at("name").get<std::string>();
    const Transform& item = registry.transform(id);
    for (const std::string& need : item.card().needs) {
      if (findField(list.fields, need) != nullptr) continue;
      throw ConfigError("data.pipeline: transform '" + id + "' needs the field '" + need +
                        "'; the samples that reach it have " + namesOf(list.fields));
    }
    std::string name = item.stream();
    if (const int nth = ++kinds[id]; nth > 1) name += "/" + std::to_string(nth);
    Stage stage{&item,
                settingsOf(item, id, element),
                {list.fields, &dataset_->info(), wanted.imageSize},
                RandomStream(seed, name)};
    element = stage.config.json();
    element["name"] = id;
    const bool isOnSamples = item.forSamples(stage.config, stage.context) != nullptr;
    if (isOnSamples && list.sampleStages < list.stages.size()) {
      throw ConfigError("data.pipeline: transform '" + id +
                        "' changes samples and must come before '" +
                        list.stages.back().item->card().id + "', which changes batches");
    }
    list.fields = item.fields(stage.config, stage.context);
    list.stages.push_back(std::move(stage));
    if (!isOnSamples) continue;
    list.samples = list.fields;
    ++list.sampleStages;
  }
  return list;
}

void Pipeline::checkChannels(const Wanted& wanted) const {
  const SampleField* image = findField(evaluate_.fields, "image");
  if (wanted.channels < 1 || image == nullptr || image->shape[0] == wanted.channels) return;
  throw ConfigError("the model takes images of " + std::to_string(wanted.channels) +
                    " channels, the data set has " + std::to_string(image->shape[0]) +
                    "; set model.in_channels = " + std::to_string(image->shape[0]));
}

const std::vector<SampleField>& Pipeline::fields(Phase phase) const { return listOf(phase).fields; }

const SampleField& Pipeline::field(const std::string& name, Phase phase) const {
  if (const SampleField* found = findField(fields(phase), name)) return *found;
  throw ConfigError("the samples have no field '" + name + "' behind data.pipeline; they have " +
                    namesOf(fields(phase)));
}

std::vector<std::int64_t> Pipeline::draw(Split split, std::int64_t count,
                                         std::uint64_t seed) const {
  if (isStratified_) return stratifiedSubset(*dataset_, split, count, seed);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(std::min(count, dataset_->size(split))));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::vector<Split> Pipeline::chooseSplits() const {
  std::vector<Split> splits;
  if (!data_.has("evaluate_splits")) {
    for (const Split split : {Split::Validation, Split::Test}) {
      if (dataset_->size(storedAs(split)) > 0) splits.push_back(split);
    }
    return splits;
  }
  for (const std::string& name : data_.texts("evaluate_splits")) {
    const Split split = splitFromString(name);
    if (split == Split::Train || dataset_->size(storedAs(split)) < 1) {
      throw ConfigError("data.evaluate_splits names '" + name +
                        "', which this data has not for evaluations; set data.holdout for a "
                        "validation split, or take it away");
    }
    splits.push_back(split);
  }
  return splits;
}

/// Held out is the same share of every class, a part of what `train_samples` takes.
std::vector<std::int64_t> Pipeline::heldOut(bool isWanted) const {
  const std::int64_t all = dataset_->size(Split::Train), limit = limitOf(Split::Train);
  const std::int64_t used = limit > 0 ? std::min(limit, all) : all;
  const std::vector<std::int64_t> from = draw(Split::Train, used, trainSeed());
  const double size = static_cast<double>(isStratified_ ? used : all);
  const std::vector<std::int64_t> out =
      stratifiedSubset(*dataset_, Split::Train, std::llround(holdout_ * size), trainSeed());
  std::vector<std::int64_t> ids;
  std::copy_if(from.begin(), from.end(), std::back_inserter(ids), [&](std::int64_t id) {
    return std::binary_search(out.begin(), out.end(), id) == isWanted;
  });
  if (ids.empty()) {
    throw ConfigError("data.holdout = " + formatReal(holdout_) + " of " + formatCount(used) +
                      " training samples leaves nothing to " +
                      (isWanted ? "be scored on; hold out more" : "learn from; hold out less"));
  }
  return ids;
}

std::uint64_t Pipeline::trainSeed() const {
  const auto own = data_.maybeInteger("subset_seed");
  return own ? static_cast<std::uint64_t>(*own) : seed_;
}

std::vector<std::int64_t> Pipeline::choose(Split split, std::int64_t count) const {
  if (storedAs(split) != split) {
    std::vector<std::int64_t> ids = *samplesOf(split);
    ids.resize(std::min(ids.size(), static_cast<std::size_t>(count)));
    return ids;
  }
  return draw(split, count, kSeedOfAllRuns);
}

/// Samples of a split that are used; 0: all.
std::int64_t Pipeline::limitOf(Split split) const {
  if (split == Split::Validation) return 0;
  const std::string name = toString(split);
  if (const auto count = data_.maybeInteger(name + "_samples")) return *count;
  const auto share = data_.maybeReal(name + "_share");
  if (!share) return 0;
  const auto size = static_cast<double>(dataset_->size(split));
  return std::max<std::int64_t>(1, std::llround(*share * size));
}

std::shared_ptr<const std::vector<std::int64_t>> Pipeline::samplesOf(Split split) const {
  const std::int64_t limit = limitOf(split);
  const bool isParted = holdout_ > 0 && split != Split::Test;
  if (!isParted && (limit == 0 || limit >= dataset_->size(split))) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& samples = samples_[static_cast<std::size_t>(split)];
  if (samples) return samples;
  if (isParted) {
    samples =
        std::make_shared<const std::vector<std::int64_t>>(heldOut(split == Split::Validation));
  } else {
    const std::uint64_t seed = split == Split::Train ? trainSeed() : kSeedOfAllRuns;
    samples = std::make_shared<const std::vector<std::int64_t>>(draw(split, limit, seed));
    warnOfMissingClasses(split, *samples);
  }
  return samples;
}

std::int64_t Pipeline::size(Split split) const {
  const auto samples = samplesOf(split);
  return samples ? std::ssize(*samples) : dataset_->size(split);
}

/// `first` of a folder takes whole classes; fewer samples than classes leave some out, too.
void Pipeline::warnOfMissingClasses(Split split, const std::vector<std::int64_t>& samples) const {
  const auto classes = std::ssize(dataset_->info().classes);
  if (classes == 0 || findField(fieldsOf(dataset_->info()), "label") == nullptr) return;
  std::set<std::int64_t> labels;
  for (const std::int64_t id : samples) labels.insert(dataset_->label(split, id));
  const auto there = std::ssize(labels);
  // Those that a stratified draw of so many leaves out have no samples in this split.
  if (there >= classes || (isStratified_ && std::ssize(samples) >= classes)) return;
  log::warning("data." + toString(split) + "_samples = " + formatCount(std::ssize(samples)) +
               " takes images of " + formatCount(there) + " of the " + formatCount(classes) +
               " classes only" +
               (isStratified_ ? "; take more" : "; data.subset = \"stratified\" takes all"));
}

std::unique_ptr<BatchStream> Pipeline::stream(Split split, const StreamOptions& options) const {
  LoaderOptions loading;
  loading.batchSize = options.batchSize;
  loading.workers = options.workers;
  loading.prefetch = kPrefetch;
  loading.seed = seed_;
  loading.shuffle = options.isTraining;
  loading.samples = samplesOf(split);
  loading.split = split;
  loading.size = dataset_->size(storedAs(split));
  if (options.limit > 0 && options.limit < size(split)) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(options.limit));
    std::iota(ids.begin(), ids.end(), 0);
    if (loading.samples) std::copy_n(loading.samples->begin(), ids.size(), ids.begin());
    loading.samples = std::make_shared<const std::vector<std::int64_t>>(std::move(ids));
  }
  // Equal shapes in every step; a set smaller than one batch is its own batch.
  const std::int64_t used = loading.samples ? std::ssize(*loading.samples) : loading.size;
  loading.dropLast = options.isTraining && used >= options.batchSize;
  const Phase phase = options.isTraining ? Phase::Train : Phase::Evaluate;
  return makeLoader(
      [this, split = storedAs(split), phase, size = options.batchSize, pool = std::make_shared<TensorPool>()] {
        return std::make_unique<Maker>(*this, split, phase, size, pool);
      },
      loading, options.firstBatch);
}

Batch Pipeline::read(Split split, std::span<const std::int64_t> ids) const {
  const std::int64_t size = dataset_->size(storedAs(split));
  for (const std::int64_t id : ids) {
    if (id >= 0 && id < size) continue;
    throw ConfigError("the " + toString(split) + " split has images 0 to " +
                      std::to_string(size - 1) + "; there is no image " + std::to_string(id));
  }
  Maker maker(*this, storedAs(split), Phase::Evaluate, std::ssize(ids), std::make_shared<TensorPool>());
  return maker.make(ids, 0, 0);
}

std::shared_ptr<const Pipeline> makePipeline(const Registry& registry, const Config& config,
                                             std::shared_ptr<const Dataset> dataset,
                                             std::uint64_t seed) {
  if (dataset == nullptr) return nullptr;
  Pipeline::Wanted wanted;
  if (config.has("model.image_size")) wanted.imageSize = config.size("model.image_size");
  if (const auto channels = config.maybeInteger("model.in_channels")) wanted.channels = *channels;
  return std::make_shared<const Pipeline>(registry, config.table("data"), std::move(dataset), seed,
                                          wanted);
}

}  // namespace vitrine
