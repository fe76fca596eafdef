// Resuming the real architectures on the CPU: ViT and iLLaMA with everything on that draws or
// moves.
#include <gtest/gtest.h>

#include <set>

#include "core/files/checkpoint_folder.h"
#include "core/model/build_device.h"
#include "core/train/modules.h"
#include "plugins/illama/illama.h"
#include "plugins/vit/vit.h"
#include "tests/core/train/fakes.h"

namespace vitrine::test {
namespace {

struct Recorded {
  std::vector<std::pair<std::int64_t, double>> loss;
  std::map<std::string, at::Tensor> model, ema;
};

constexpr std::int64_t kSteps = 20;  ///< 12 steps an epoch

class ArchitectureResume : public testing::Test {
 protected:
  /// Values of the model's table on top of a tiny size; the rest are defaults.
  static std::shared_ptr<Model> build(const Architecture& architecture, Json values,
                                      std::uint64_t seed) {
    const Json tiny{{"image_size", 4},  {"patch_size", 2}, {"in_channels", 1},
                    {"num_classes", 4}, {"width", 24},     {"depth", 3},
                    {"heads", 2},       {"dropout", 0.1},  {"drop_path", 0.2}};
    for (const auto& [key, value] : tiny.items()) {
      values[key] = value;
    }
    const auto problems = resolveItem(architecture.card().schema, "model", values);
    for (const Problem& problem : problems) ADD_FAILURE() << problem.sentence();
    return architecture.build(Config(values), seed);
  }

  static Config config(int threads) {
    return trainConfig({{"steps", kSteps},
                        {"ema.decay", 0.9},
                        {"optimizer.learning_rate", 0.003},
                        {"schedule.warmup_steps", 5},
                        {"threads", threads},
                        {"checkpoint.every_epochs", nullptr},
                        {"checkpoint.best", false}});
  }

  /// Trains to the end, or to `stop`, and appends the losses.
  static void segment(std::shared_ptr<Model> model, const OwnFolder& folder,
                      std::int64_t resumeFrom, std::int64_t stop, int threads, Recorded& recorded) {
    SmallRun run(config(threads));
    run.setup.model = std::move(model);
    run.setup.checkpointFolder = folder.path;
    if (resumeFrom > 0) run.setup.resumeFrom = folder.path / checkpointName(resumeFrom);
    run.session->onLoss = [&run, left = stop - resumeFrom](const Batch&) mutable {
      if (--left == 0) run.control.ask(Request::Interrupt);
    };
    const TrainerResult result = run.go();
    EXPECT_EQ(result.step, stop) << result.reason;
    for (const auto& point : run.sink.curve("train/loss")) recorded.loss.push_back(point);
    const auto last = folder.path / checkpointName(stop);
    recorded.model = readTensors(last / "model.safetensors");
    recorded.ema = readTensors(last / "ema.safetensors");
  }

  static void expectBitIdentical(const Architecture& architecture, const Json& values, int threads,
                                 const std::vector<std::int64_t>& stops) {
    Recorded whole;
    {
      const OwnFolder folder;
      segment(build(architecture, values, 1), folder, 0, kSteps, threads, whole);
    }
    for (const std::int64_t stop : stops) {
      const OwnFolder folder;
      Recorded parts;
      segment(build(architecture, values, 1), folder, 0, stop, threads, parts);
      segment(build(architecture, values, 2), folder, stop, kSteps, threads, parts);
      EXPECT_EQ(parts.loss, whole.loss) << "stopped after step " << stop;
      for (const auto& [name, tensor] : whole.model) {
        EXPECT_TRUE(at::equal(parts.model.at(name), tensor))
            << name << ", stopped after step " << stop;
        EXPECT_TRUE(at::equal(parts.ema.at(name), whole.ema.at(name))) << name << " of the average";
      }
    }
  }
};

TEST_F(ArchitectureResume, OfViTIsBitIdentical) {
  expectBitIdentical(vit::VitArchitecture(), Json::object(), 1, {3, 12, 17});
}

TEST_F(ArchitectureResume, OfILlamaInsideItsSoftMaskIsBitIdentical) {
  const Json mask{{"kind", "soft"}, {"schedule", "linear"}, {"epochs", 1}};
  expectBitIdentical(illama::IllamaArchitecture(), Json{{"mlp_width", 32}, {"mask", mask}}, 1,
                     {3, 12, 17});
}

TEST_F(ArchitectureResume, WithTwoThreadsIsBitIdenticalToo) {
  expectBitIdentical(vit::VitArchitecture(), Json::object(), 2, {7});
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
  Census census;
  for (const ParameterGroup& group : trainedGroups(*model, session)) {
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

}  // namespace
}  // namespace vitrine::test
