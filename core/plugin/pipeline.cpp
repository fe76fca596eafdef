#include "core/plugin/pipeline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/config/experiment.h"
#include "core/data/collate.h"
#include "core/data/pipeline_plan.h"
#include "core/plugin/registry.h"

namespace vitrine {

namespace {

constexpr int kPrefetch = 4;
// Copies of a sample in one epoch draw as if they were that many epochs apart.
constexpr std::int64_t kCopies = std::int64_t{1} << 24;

std::string namesOf(const std::vector<SampleField>& fields) {
  const std::string names = joined(fields, [](const SampleField& field) { return field.name; });
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
        batchSize_(batchSize),
        repeats_(phase == Phase::Train ? pipeline.repeats_ : 1),
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
    std::int64_t place = number * batchSize_;
    for (const std::int64_t id : ids) {
      sample_.begin(id);
      dataset_->read(split_, id, sample_);
      const std::int64_t copy = place++ % repeats_;
      for (std::size_t i = 0; i < onSamples_.size(); ++i)
        onSamples_[i]->apply(sample_, Draws(list_.stages[i].stream, epoch + copy * kCopies, id));
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
  std::int64_t batchSize_, repeats_;
  Sample sample_;
  Collator collator_;
  std::vector<std::unique_ptr<SampleTransform>> onSamples_;
  std::vector<std::unique_ptr<BatchTransform>> onBatches_;
};

Pipeline::Pipeline(const Registry& registry, const Config& data,
                   std::shared_ptr<const Dataset> dataset, std::uint64_t seed,
                   const ImageShape& wanted)
    : dataset_(std::move(dataset)),
      seed_(seed),
      repeats_(data.has("augment.repeats") ? data.integer("augment.repeats") : 1),
      samples_(dataset_, data, seed),
      plan_(pipelinePlan(data, dataset_->info(), wanted.imageSize)) {
  train_ = build(registry, plan_["train"], wanted, seed);
  evaluate_ = build(registry, plan_["evaluate"], wanted, seed);
  checkChannels(wanted);
}

Pipeline::~Pipeline() = default;

Pipeline::List Pipeline::build(const Registry& registry, Json& plan, const ImageShape& wanted,
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
    if (const int nth = ++kinds[id]; nth > 1) name.append("/").append(std::to_string(nth));
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

void Pipeline::checkChannels(const ImageShape& wanted) const {
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

std::unique_ptr<BatchStream> Pipeline::stream(Split split, const StreamOptions& options) const {
  LoaderOptions loading;
  loading.batchSize = options.batchSize;
  loading.workers = options.workers;
  loading.prefetch = kPrefetch;
  loading.seed = seed_;
  loading.shuffle = options.isTraining;
  loading.repeats = options.isTraining ? repeats_ : 1;
  loading.samples = samples_.of(split);
  loading.split = split;
  loading.size = dataset_->size(samples_.stored(split));
  if (options.limit > 0 && options.limit < samples_.size(split)) {
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
      [this, split = samples_.stored(split), phase, size = options.batchSize,
       pool = std::make_shared<TensorPool>()] {
        return std::make_unique<Maker>(*this, split, phase, size, pool);
      },
      loading, options.firstBatch);
}

Batch Pipeline::read(Split split, std::span<const std::int64_t> ids) const {
  const Split stored = samples_.stored(split);
  const std::int64_t size = dataset_->size(stored);
  for (const std::int64_t id : ids) {
    if (id >= 0 && id < size) continue;
    throw ConfigError("the " + toString(split) + " split has images 0 to " +
                      std::to_string(size - 1) + "; there is no image " + std::to_string(id));
  }
  Maker maker(*this, stored, Phase::Evaluate, std::ssize(ids), std::make_shared<TensorPool>());
  return maker.make(ids, 0, 0);
}

std::shared_ptr<const Pipeline> makePipeline(const Registry& registry, const Config& config,
                                             std::shared_ptr<const Dataset> dataset,
                                             std::uint64_t seed) {
  if (dataset == nullptr) return nullptr;
  Pipeline::ImageShape wanted;
  // A model without an image size reads something else, such as latents.
  if (config.has("model.image_size")) {
    wanted.imageSize = config.size("model.image_size");
    if (const auto channels = config.maybeInteger("model.in_channels")) wanted.channels = *channels;
  }
  return std::make_shared<const Pipeline>(registry, config.table("data"), std::move(dataset), seed,
                                          wanted);
}

}  // namespace vitrine
