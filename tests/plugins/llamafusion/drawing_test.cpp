// Steps of drawing, whose layers go as one operation each behind the cache of a caption.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/taken_paths.h"
#include "core/model/text_image_model.h"
#include "tests/core/nn/tensors.h"
#include "tests/plugins/llamafusion/small_fusion.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/golden/case.h"

namespace vitrine::llamafusion {
namespace {

constexpr std::int64_t kImages = 6;

/// 16 patches of each image; 6 images are enough rows for one operation.
std::shared_ptr<Model> drawingModel(std::int64_t keyHeads) {
  Json values = smallFusion(8);
  values["kv_heads"] = keyHeads;
  return movedFusion(values);
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
