// A trained run on images of other sizes: the numbers of the sweep are those of an evaluation.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/plugin/pipeline_session.h"
#include "core/run/null_sink.h"
#include "core/train/model_setup.h"
#include "core/train/trainer.h"
#include "core/train/training_items.h"
#include "plugins/analyses/analyses.h"
#include "plugins/tasks/classification/classification.h"
#include "plugins/transforms/transforms.h"
#include "plugins/visionllama/architectures.h"
#include "plugins/vit/vit.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::analyses {
namespace {

using test::Names;

/// Four classes of 8 x 8 images: which quarter is bright.
class Quarters final : public LabelledImages {
 public:
  Quarters() {
    info_.height = info_.width = 8;
    info_.classes = {"a", "b", "c", "d"};
    info_.mean = {0.5};
    info_.deviation = {0.5};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override { return split == Split::Validation ? 0 : 64; }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t> image) const override {
    const std::int64_t label = id % 4;
    for (std::int64_t i = 0; i < 64; ++i) {
      const bool isBright = i / 32 == label / 2 && i % 8 / 4 == label % 2;
      image[static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>((isBright ? 160 : 20) + (id * 7 + i * 13) % 60);
    }
    return label;
  }
  std::int64_t label(Split, std::int64_t id) const override { return id % 4; }

 private:
  DatasetInfo info_;
};

class QuartersSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    return {.kind = ItemKind::Dataset, .id = "quarters", .offers = {"image", "label"}};
  }
  std::shared_ptr<const Dataset> open(const Config&) const override {
    return std::make_shared<Quarters>();
  }
};

/// Classes without a score that is called top1.
class HalvesSession final : public PipelineSession {
 public:
  explicit HalvesSession(const TaskSetup& setup)
      : PipelineSession(setup),
        classifier_(requireCapability<ImageClassifier>(*setup.model, "halves")) {}
  std::string bestBy() const override { return bestBySplit("right_half"); }
  std::vector<LossPart> loss(StepContext& /*context*/, const Batch& batch) override {
    return {{"", classifier_.classify(batch.at("image")).square().sum()}};
  }
  void evaluate(const EvaluationRequest& request, Results& results) override {
    const Batch batch = evaluationStream(request.evaluation.split)->next();
    const at::Tensor logits = classifier_.classify(batch.at("image"));
    results.score("loss", logits.square().mean().item<double>());
    results.score("right_half",
                  logits.argmax(1).remainder(2).to(at::kDouble).mean().item<double>());
  }

 private:
  ImageClassifier& classifier_;
};

class HalvesTask final : public Task {
 public:
  ItemCard card() const override {
    return {.kind = ItemKind::Task, .id = "halves", .needs = {ImageClassifier::kId, "image"}};
  }
  std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override {
    return std::make_unique<HalvesSession>(setup);
  }
};

const Registry& registry() {
  static Registry registry;
  static const bool isFilled = [] {
    registry.add(std::make_unique<visionllama::PlainArchitecture>());
    registry.add(std::make_unique<vit::VitArchitecture>());
    registry.add(std::make_unique<classification::ClassificationTask>());
    registry.add(std::make_unique<HalvesTask>());
    registry.add(makeResolutionSweep());
    transforms::registerAll(registry);
    train::addTrainingItems(registry);
    registry.add(std::make_unique<QuartersSource>());
    return true;
  }();
  static_cast<void>(isFilled);
  return registry;
}

/// What a run records.
class Recorded final : public NullSink {
 public:
  void metrics(const MetricRecord& record) override {
    for (const auto& [name, value] : record.values) values[name] = value;
  }
  void event(const EventRecord& event) override {
    if (event.kind == "probe_failed") failures.push_back(event.text);
  }
  void artifact(Artifact artifact) override { artifacts.push_back(std::move(artifact)); }
  void checkpoint(const CheckpointRecord& record) override { folder = record.folder; }
  std::map<std::string, double> values;
  std::vector<std::string> failures;
  std::vector<Artifact> artifacts;
  std::string folder;
};

Json planned(const std::string& model, const std::string& sizes,
             const std::string& task = "classification") {
  const Plan plan = planExperiment(
      "[model]\n" + model +
          "image_size = 8\npatch_size = 2\nin_channels = 1\nnum_classes = 4\nwidth = 16\n"
          "depth = 2\nheads = 2\nmlp_width = 32\npool = 'gap'\n"
          "[task]\nname = '" +
          task +
          "'\n[data]\ndataset = 'quarters'\n"
          "[train]\nsteps = 12\nbatch_size = 16\ndevice = 'cpu'\nthreads = 1\nloader_workers = 0\n"
          "optimizer = { name = 'adamw', learning_rate = 5e-3 }\n"
          "[observe]\nresolution_sweep = { every_steps = 1000, sizes = " +
          sizes + " }\n",
      "sweep.toml", registry().catalog());
  for (const Problem& problem : plan.problems) ADD_FAILURE() << problem.sentence();
  return plan.runs.at(0).config;
}

void trainInto(const Json& config, const std::filesystem::path& folder, Recorded& sink) {
  train::TrainerSetup setup = train::prepareRun(registry(), config, 3);
  setup.checkpointFolder = folder;
  RunControl control;
  const train::TrainerResult result = train::Trainer(std::move(setup), sink, control).run();
  ASSERT_EQ(result.outcome, train::Outcome::Done) << result.reason;
  for (const std::string& failure : sink.failures) ADD_FAILURE() << failure;
}

/// top1 of the finished run as `evaluate RUN model.image_size=SIZE` takes it.
double evaluatedAt(const Json& config, std::int64_t size, const std::filesystem::path& weights) {
  Json changed = config;
  changed["model"]["image_size"] = Json{size, size};
  const Json there = train::reconfigured(registry(), config, changed);
  const train::RestoredRun run = train::restoreRun(registry(), there, 3, weights);
  CollectedResults found;
  train::evaluate(*run.session, train::evaluationOf(*run.session, Split::Test), run.look, {},
                  found);
  for (const auto& [name, value] : found.scores)
    if (name == "loss") return value;
  ADD_FAILURE() << "no loss";
  return 0;
}

class Sweep : public ::testing::TestWithParam<const char*> {};

TEST_P(Sweep, GivesTheNumbersOfAnEvaluationAtEverySize) {
  const TemporaryFolder folder;
  Json config = planned(GetParam(), "[8, 12, 16]");
  config["observe"]["resolution_sweep"]["score"] = "loss";
  Recorded sink;
  trainInto(config, folder.path(), sink);
  std::filesystem::path weights;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() == "model.safetensors") weights = std::max(weights, entry.path());
  }
  ASSERT_FALSE(weights.empty());
  for (const std::int64_t size : {8, 12, 16}) {
    const std::string name = "analysis/resolution_sweep/loss/" + std::to_string(size);
    ASSERT_TRUE(sink.values.contains(name));
    EXPECT_DOUBLE_EQ(sink.values[name], evaluatedAt(config, size, weights)) << size;
  }
  EXPECT_DOUBLE_EQ(sink.values["analysis/resolution_sweep/loss/8"], sink.values["test/loss"]);
  EXPECT_NE(sink.values["analysis/resolution_sweep/loss/16"], sink.values["test/loss"]);
  EXPECT_DOUBLE_EQ(sink.values["analysis/resolution_sweep/fall_loss/16"],
                   sink.values["test/loss"] - sink.values["analysis/resolution_sweep/loss/16"]);
  EXPECT_FALSE(sink.values.contains("analysis/resolution_sweep/fall/16")) << "of accuracy alone";
}

INSTANTIATE_TEST_SUITE_P(
    Positions, Sweep,
    ::testing::Values("architecture = 'visionllama_plain'\nrope = { scale = 'as' }\n",
                      "architecture = 'visionllama_plain'\n",
                      "architecture = 'visionllama_plain'\npe = 'learnable'\n",
                      "architecture = 'vit'\nclass_token = 'none'\n"));

TEST(SweepArtifacts, SayHowSamplesAndWeightsCameToTheSize) {
  const TemporaryFolder folder;
  Recorded sink;
  trainInto(planned("architecture = 'visionllama_plain'\npe = 'learnable'\n", "[]"), folder.path(),
            sink);
  const auto named = [&](const std::string& name) {
    // The last one: after training.
    const auto found = std::find_if(sink.artifacts.rbegin(), sink.artifacts.rend(),
                                    [&](const Artifact& each) { return each.name == name; });
    return found == sink.artifacts.rend() ? Artifact() : *found;
  };
  EXPECT_DOUBLE_EQ(sink.values["analysis/resolution_sweep/fall/16"],
                   sink.values["test/top1"] - sink.values["analysis/resolution_sweep/top1/16"]);
  const Artifact curve = named("top1 by image size"), table = named("scores by image size");
  EXPECT_EQ(curve.kind, artifact_kind::kCurve);
  EXPECT_EQ(curve.meta["shape"], Json({2, 2}));
  EXPECT_EQ(arrayOf(curve.meta, curve.data).at(2), 16) << "twice the size of training";
  EXPECT_EQ(curve.meta["trained_size"], Json({8, 8}));
  const Json& twice = curve.meta["sizes"][1];
  EXPECT_EQ(twice["resized_weights"], Json::array({"pos_embed"}));
  EXPECT_EQ(twice["resize_positions"], "bicubic");
  ASSERT_EQ(twice["transforms"][0]["name"], "resize");
  EXPECT_EQ(twice["transforms"][0]["size"], Json({16, 16}));
  EXPECT_TRUE(twice["transforms"][0].contains("filter")) << twice["transforms"];
  EXPECT_TRUE(curve.meta["sizes"][0]["resize_positions"].is_null());
  EXPECT_EQ(table.kind, artifact_kind::kTable);
  const Json rows =
      Json::parse(std::string(reinterpret_cast<const char*>(table.data.data()), table.data.size()));
  EXPECT_EQ(rows["rows"].size(), 2u);
  EXPECT_EQ(rows["columns"][0], "height");
}

TEST(SweepArtifacts, DrawTheMainScoreOfATaskWithoutTop1) {
  const TemporaryFolder folder;
  Recorded sink;
  trainInto(planned("architecture = 'visionllama_plain'\n", "[8]", "halves"), folder.path(), sink);
  ASSERT_TRUE(sink.values.contains("analysis/resolution_sweep/right_half/8"));
  EXPECT_EQ(sink.values["analysis/resolution_sweep/right_half/8"], sink.values["test/right_half"]);
}

TEST(SweepRefusals, AGeneratorIsNotOfferedASweep) {
  EXPECT_EQ(makeResolutionSweep()->card().needs, (std::vector<std::string>{"image_classifier"}));
}

TEST(SweepRefusals, NameTheSizeOrTheScore) {
  const auto told = [](const std::string& sizes, const std::string& score) {
    const TemporaryFolder folder;
    Json config = planned("architecture = 'visionllama_plain'\n", sizes);
    config["observe"]["resolution_sweep"]["score"] = score;
    train::TrainerSetup setup = train::prepareRun(registry(), config, 3);
    Recorded sink;
    RunControl control;
    static_cast<void>(train::Trainer(std::move(setup), sink, control).run());
    return sink.failures.empty() ? std::string() : sink.failures.front();
  };
  EXPECT_THAT(told("[9]", "top1"), Names("patch_size", 2, "image_size", 9));
  EXPECT_THAT(told("[8]", "fid"), Names("fid", "top1"));
  EXPECT_EQ(told("[8]", "fid").find("class_accuracy"), std::string::npos)
      << "of a hundred classes, the names are longer than the sentence";
}

}  // namespace
}  // namespace vitrine::analyses
