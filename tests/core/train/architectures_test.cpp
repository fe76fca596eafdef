// Exact resume on the CPU at random steps: ViT and iLLaMA with everything on that draws or moves,
// and a network with running statistics. A few steps each; `./vitrine test --long` takes twenty.
#include <ATen/ops/linspace.h>
#include <gtest/gtest.h>

#include <set>

#include "core/files/checkpoint_folder.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "core/train/modules.h"
#include "core/train/update/parameter_policy.h"
#include "plugins/illama/illama.h"
#include "plugins/vit/vit.h"
#include "tests/core/train/diverging.h"
#include "tests/support/long_tier.h"

namespace vitrine::test {
namespace {

struct RecordedRun {
  std::vector<std::pair<std::int64_t, double>> loss;
  train::LoadedCheckpoint last;
};

constexpr std::int64_t kSteps = 30;  ///< 12 steps an epoch

using Build = std::function<std::shared_ptr<Model>(std::uint64_t seed)>;

class ExactResume : public testing::TestWithParam<int> {
 protected:
  /// Values of the model's table on top of a tiny size; the rest are defaults.
  static Build architecture(std::shared_ptr<const Architecture> made, Json values) {
    const Json tiny{{"image_size", 4},  {"patch_size", 2}, {"in_channels", 1},
                    {"num_classes", 4}, {"width", 24},     {"depth", 3},
                    {"heads", 2},       {"dropout", 0.1},  {"drop_path", 0.2}};
    for (const auto& [key, value] : tiny.items()) values[key] = value;
    const auto problems = resolveItem(made->card().schema, "model", values);
    for (const Problem& problem : problems) ADD_FAILURE() << problem.sentence();
    return [made, values](std::uint64_t seed) { return made->build(Config(values), seed); };
  }

  static Config config() {
    return trainConfig({{"steps", kSteps},
                        {"ema.decay", 0.9},
                        {"optimizer.learning_rate", 0.003},
                        {"schedule.warmup_steps", 5},
                        {"threads", GetParam()},
                        {"evaluate.every_epochs", nullptr},
                        {"checkpoint.every_epochs", nullptr},
                        {"checkpoint.best", false}});
  }

  /// Trains to the end, or to `stop`, and appends the losses.
  static void segment(std::shared_ptr<Model> model, const TemporaryFolder& folder,
                      std::int64_t resumeFrom, std::int64_t stop, RecordedRun& recorded) {
    SmallRun run(config());
    run.use(std::move(model));
    run.setup.checkpointFolder = folder.path();
    if (resumeFrom > 0) run.setup.resumeFrom = folder.path() / checkpointName(resumeFrom);
    run.session->onLoss = [&run, left = stop - resumeFrom](const Batch&) mutable {
      if (--left == 0) run.control.ask(Request::Interrupt);
    };
    const train::TrainerResult result = run.go();
    EXPECT_EQ(result.step, stop) << result.reason;
    for (const auto& point : run.sink.curve("train/loss")) recorded.loss.push_back(point);
    recorded.last = train::readCheckpoint(folder.path() / checkpointName(stop));
  }

  static void expectBitIdentical(const Build& build) {
    RecordedRun whole;
    {
      const TemporaryFolder folder;
      segment(build(1), folder, 0, kSteps, whole);
    }
    const std::size_t few = GetParam() == 1 ? 5 : 2;  // two threads wait for busy cores
    const std::size_t stops = isLong() ? 20 : few;
    // A permutation of the steps before the last; another one for each number of threads.
    const auto order =
        permutation(RandomStream(static_cast<std::uint64_t>(GetParam()), "stops"), 0, kSteps - 1);
    std::size_t equal = 0;
    for (std::size_t i = 0; i < stops; ++i) {
      const std::int64_t stop = order[i] + 1;
      const TemporaryFolder folder;
      RecordedRun parts;
      segment(build(1), folder, 0, stop, parts);
      segment(build(2), folder, stop, kSteps, parts);  // its own initial values must not matter
      EXPECT_EQ(parts.loss, whole.loss) << "stopped after step " << stop;
      EXPECT_TRUE(isSame(parts.last.model, whole.last.model)) << "stopped after step " << stop;
      EXPECT_TRUE(isSame(parts.last.ema, whole.last.ema)) << "stopped after step " << stop;
      EXPECT_TRUE(isSame(parts.last.optimizer, whole.last.optimizer))
          << "stopped after step " << stop;
      EXPECT_EQ(parts.last.state.generator, whole.last.state.generator);
      if (!HasFailure()) ++equal;
    }
    RecordProperty("bit_equal", static_cast<int>(equal));
    EXPECT_EQ(equal, stops);
  }
};

TEST_P(ExactResume, OfViTIsBitIdentical) {
  expectBitIdentical(architecture(std::make_shared<vit::VitArchitecture>(), Json::object()));
}

TEST_P(ExactResume, OfILlamaInsideItsSoftMaskIsBitIdentical) {
  const Json mask{{"kind", "soft"}, {"schedule", "linear"}, {"epochs", 2}};
  expectBitIdentical(architecture(std::make_shared<illama::IllamaArchitecture>(),
                                  Json{{"mlp_width", 32}, {"mask", mask}}));
}

TEST_P(ExactResume, OfANetworkWithBatchNormAndDropoutIsBitIdentical) {
  expectBitIdentical([](std::uint64_t seed) { return std::make_shared<SmallCnn>(seed); });
}

INSTANTIATE_TEST_SUITE_P(Threads, ExactResume, testing::Values(1, 2));

TEST(Freezing, OfAllBelowTheHeadOfAViTLeavesNothingToDraw) {
  Json values{{"image_size", 4},  {"patch_size", 2}, {"in_channels", 1},
              {"num_classes", 4}, {"width", 24},     {"depth", 2},
              {"heads", 2},       {"dropout", 0.5},  {"drop_path", 0.5}};
  const vit::VitArchitecture architecture;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  const auto model = architecture.build(Config(values), 1);
  for (const auto& [name, tensor] : namedTensors(*model)) {  // a new head is all zeros
    if (name == "head.weight")
      tensor.detach().copy_(at::linspace(-1, 1, tensor.numel()).view_as(tensor));
  }
  SmallSession session;
  session.use(model);
  const at::Tensor images = SmallData().take({0, 1, 2, 3}, 0).at("image");
  const auto logits = [&](train::Mode mode) {
    setMode(session, mode);
    model->setGenerator(train::makeGenerator(at::kCPU, 7));
    return capabilityOf<ImageClassifier>(*model)->classify(images).detach();
  };
  EXPECT_FALSE(at::equal(logits(train::Mode::Train), logits(train::Mode::Evaluate)));
  train::freezeParameters(session, {"patch_embed.*", "pos_embed", "cls_token", "blocks.*"});
  EXPECT_TRUE(at::equal(logits(train::Mode::Train), logits(train::Mode::Evaluate)));
}

// The layers that a layer decay counts in, by the rule of the reference for these names.
TEST(Layers, OfBothArchitecturesBeginWithWhatIsEmbeddedAndEndWithTheHead) {
  const vit::VitArchitecture vit;
  const illama::IllamaArchitecture illama;
  for (const Architecture* architecture :
       {static_cast<const Architecture*>(&vit), static_cast<const Architecture*>(&illama)}) {
    Json values{{"depth", 3}, {"num_classes", 4}};
    const ItemCard card = architecture->card();
    for (const Problem& problem : resolveItem(card.schema, "model", values))
      ADD_FAILURE() << problem.sentence();
    const ScopedBuildDevice meta{c10::Device(c10::DeviceType::Meta)};
    const auto model = architecture->build(Config(values), 0);
    for (const auto& [name, info] : model->parameterInfo()) {
      const std::int64_t wanted = name.starts_with("blocks.") ? name[7] - '0' + 1
                                  : name.starts_with("norm.") || name.starts_with("head.") ? 4
                                                                                           : 0;
      EXPECT_EQ(info.layer, wanted) << card.id << ": " << name;
    }
  }
}

/// Names of the parameters that the optimizer decays, and of those that it does not.
struct Census {
  std::set<std::string> decayed, plain;
};

Census censusOf(const Architecture& architecture, const std::string& preset) {
  const ItemCard card = architecture.card();
  Json values = card.schema.preset(preset)->values;
  for (const Problem& problem : resolveItem(card.schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  // Shapes are enough.
  const ScopedBuildDevice meta{c10::Device(c10::DeviceType::Meta)};
  const auto model = architecture.build(Config(values), 0);
  SmallSession session;
  session.use(model);
  Census census;
  for (const ParameterGroup& group : train::trainedGroups(session)) {
    EXPECT_TRUE(group.weightDecayScale == 0 || group.weightDecayScale == 1) << group.name;
    (group.weightDecayScale == 0 ? census.plain : census.decayed)
        .insert(group.parameterNames.begin(), group.parameterNames.end());
  }
  return census;
}

/// `once` and, for each of twelve blocks, `perBlock`.
std::set<std::string> twelveBlocks(const std::vector<std::string>& once,
                                   const std::vector<std::string>& perBlock) {
  std::set<std::string> names(once.begin(), once.end());
  for (int i = 0; i < 12; ++i) {
    for (const std::string& name : perBlock)
      names.insert("blocks." + std::to_string(i) + "." + name);
  }
  return names;
}

// Fact sheet of ViT, A.2.1: kernels decay; biases, norms, class token and positions do not.
TEST(ParameterCensus, OfViTDecaysKernelsAlone) {
  const Census census = censusOf(vit::VitArchitecture(), "vit/ti16");
  EXPECT_EQ(census.decayed, twelveBlocks({"patch_embed.proj.weight", "head.weight"},
                                         {"attn.qkv.weight", "attn.proj.weight", "mlp.fc1.weight",
                                          "mlp.fc2.weight"}));
  EXPECT_EQ(census.plain,
            twelveBlocks({"cls_token", "pos_embed", "patch_embed.proj.bias", "norm.weight",
                          "norm.bias", "head.bias"},
                         {"norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias",
                          "attn.qkv.bias", "attn.proj.bias", "mlp.fc1.bias", "mlp.fc2.bias"}));
  EXPECT_EQ(census.decayed.size(), 12u * 4 + 2);
  EXPECT_EQ(census.plain.size(), 12u * 8 + 6);
}

// Fact sheet of iLLaMA, structural test (f): the counts as they stand there.
TEST(ParameterCensus, OfILlamaHasTheCountsOfTheFactSheet) {
  const Census census = censusOf(illama::IllamaArchitecture(), "illama/tiny");
  EXPECT_EQ(census.decayed.size(), 12u * 5 + 1 + 1);
  EXPECT_EQ(census.plain.size(), 12u * 4 + 1 + 1 + 1 + 2);
  EXPECT_EQ(census.decayed, twelveBlocks({"patch_embed.proj.weight", "head.weight"},
                                         {"attn.qkv.weight", "attn.proj.weight", "mlp.fc1.weight",
                                          "mlp.fc2.weight", "mlp.fc3.weight"}));
  EXPECT_EQ(
      census.plain,
      twelveBlocks({"cls_token", "pos_embed", "patch_embed.proj.bias", "norm.weight", "head.bias"},
                   {"norm1.weight", "norm2.weight", "attn.qkv.bias", "attn.proj.bias"}));
}

TEST(WeightFamilies, AreToldFromTheNamesOfAFile) {
  Registry registry;
  registry.add(std::make_unique<illama::IllamaArchitecture>());
  registry.add(std::make_unique<vit::VitArchitecture>());
  const auto family = [&](const std::vector<std::string>& names) {
    return registry.weightFamily(names);
  };
  EXPECT_EQ(family({"blocks.0.attn.qkv.weight", "blocks.0.mlp.fc3.weight"}),
            "an iLLaMA (SwiGLU, authors' names)");
  EXPECT_EQ(family({"blocks.0.attn.qkv.weight", "head.weight"}), "a ViT with timm's names");
  EXPECT_EQ(family({"blocks.0.attn.qkv.weight", "dist_token"}), "a distilled DeiT");
  EXPECT_EQ(family({"vit.embeddings.cls_token"}), "a ViT with Hugging Face's names");
  EXPECT_EQ(family({"layer4.0.conv1.weight"}), "a ResNet");
  EXPECT_EQ(family({"weight"}), "");
}

}  // namespace
}  // namespace vitrine::test
