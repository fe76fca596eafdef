// Steps of drawing, whose layers go as one operation each behind the cache of a caption.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/config/experiment.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/taken_paths.h"
#include "core/model/text_image_model.h"
#include "plugins/llamafusion/architectures.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/case.h"

namespace vitrine::llamafusion {
namespace {

constexpr std::int64_t kImages = 6;

/// 16 patches of each image; 6 images are enough rows for one operation.
std::shared_ptr<Model> drawingModel(std::int64_t keyHeads) {
  Json values{{"dim", 32},
              {"depth", 2},
              {"heads", 4},
              {"kv_heads", keyHeads},
              {"ffn_hidden", 48},
              {"vocab", 40},
              {"bos_id", 1},
              {"eos_id", 2},
              {"boi_id", 38},
              {"eoi_id", 39},
              {"image_patch", 2},
              {"image_io", "linear"},
              {"latent_channels", 1},
              {"max_positions", 64},
              {"latent_size", {8, 8}}};
  const LlamaFusionArchitecture architecture;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  auto model = architecture.build(Config(values), 5);
  const at::NoGradGuard noGradient;
  std::uint64_t seed = 20;
  for (const at::Tensor& parameter : model->module().parameters())
    parameter.add_(nn::randomFloats(parameter.sizes(), seed++), 0.05);
  return model;
}

struct Step {
  at::Tensor tokens = at::randint(3, 37, {kImages, 5}, nn::seeded(1), at::kLong);
  at::Tensor images = nn::randomFloats({kImages, 1, 8, 8}, 2);
  at::Tensor time = at::arange(kImages, at::kLong) * 150;

  /// The noise behind a cache of the tokens.
  [[nodiscard]] at::Tensor after(Model& model) const {
    auto& language = *capabilityOf<LanguageModel>(model);
    const auto cache = language.makeCache(kImages);
    (void)language.next(tokens, cache.get(), LanguageModel::Rows::Last);
    return capabilityOf<TextImageModel>(model)->noiseAfter(*cache, images, time,
                                                           TextImageModel::Keep::No);
  }
};

TEST(Drawing, AStepBehindACacheIsOneOperationALayerAndEqualsAWholePass) {
  for (const std::int64_t keyHeads : {1, 2, 4}) {
    SCOPED_TRACE(keyHeads);
    const auto model = drawingModel(keyHeads);
    const Step step;
    const at::NoGradGuard noGradient;
    MixedSequences whole;
    whole.tokens = at::cat({step.tokens, at::zeros({kImages, 16}, at::kLong)}, 1);
    whole.imageIndex = at::cat({at::zeros({5}, at::kLong), at::ones({16}, at::kLong)});
    whole.images = step.images;
    whole.time = step.time;
    const at::Tensor expected = capabilityOf<TextImageModel>(*model)->mixed(whole).noise;
    testing::onEveryCpuPath([&] {
      cpu::clearTakenPaths();
      EXPECT_TRUE(testing::isClose(step.after(*model), expected, 1e-5));
      std::string blocks;
      for (const auto& [kind, way] : cpu::takenPaths()) {
        if (kind == "block") blocks = way;
      }
      if (cpu::takesBlock({kImages, 16, 32, 4, false})) {
        EXPECT_EQ(blocks, "fused");
      } else {
        EXPECT_NE(blocks, "fused");
      }
    });
  }
}

TEST(Drawing, LookingAtItsAttentionChangesNoBit) {
  const auto model = drawingModel(2);
  const Step step;
  const at::NoGradGuard noGradient;
  const at::Tensor plain = step.after(*model);
  auto& source = *capabilityOf<AttentionSource>(*model);
  const auto tap = std::make_shared<AttentionTap>();
  int seen = 0;
  tap->receive = [&seen](const AttentionRecord&) { ++seen; };
  source.setAttentionTap(tap);
  EXPECT_TRUE(at::equal(step.after(*model), plain));
  EXPECT_GE(seen, 2);
}

}  // namespace
}  // namespace vitrine::llamafusion
