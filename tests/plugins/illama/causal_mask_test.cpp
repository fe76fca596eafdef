// The masks by their definitions, and what the soft one does to a whole model.
#include "plugins/illama/causal_mask.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "plugins/illama/illama.h"

namespace vitrine::illama {
namespace {

at::Tensor row(std::initializer_list<double> values) {
  return at::tensor(std::vector<double>(values)).to(at::kFloat);
}

TEST(Mask, SoftFactorLetsTheFutureThroughByAlpha) {
  const at::Tensor half = at::full({}, 0.5, at::kFloat);
  const at::Tensor wanted = at::stack({row({1, .5, .5}), row({1, 1, .5}), row({1, 1, 1})});
  EXPECT_TRUE(maskFactor(MaskKind::Soft, 3, half).equal(wanted));
  EXPECT_TRUE(maskFactor(MaskKind::Soft, 3, at::ones({})).equal(at::ones({3, 3})));
  EXPECT_TRUE(
      maskFactor(MaskKind::Soft, 3, at::zeros({})).equal(maskFactor(MaskKind::Causal, 3, half)));
}

TEST(Mask, ModifiedCausalLetsTheFirstTokenSeeAll) {
  const at::Tensor factor = maskFactor(MaskKind::ModifiedCausal, 3, at::zeros({}));
  EXPECT_TRUE(factor.equal(at::stack({row({1, 1, 1}), row({1, 1, 0}), row({1, 1, 1})})));
}

TEST(Mask, FollowsItsAlphaAndTheLengthItIsAskedFor) {
  CausalMask soft(MaskKind::Soft, nn::MaskMode::Multiplicative);
  EXPECT_EQ(soft.factor(3, at::kCPU)[0][1].item<float>(), 0);
  soft.setAlpha(0.25);
  EXPECT_EQ(soft.factor(3, at::kCPU)[0][1].item<float>(), 0.25);
  EXPECT_EQ(soft.factor(5, at::kCPU).size(0), 5);
  CausalMask hard(MaskKind::Causal, nn::MaskMode::Additive);
  EXPECT_EQ(hard.factor(3, at::kCPU).size(0), 3);
  EXPECT_EQ(hard.factor(5, at::kCPU).size(0), 5);
}

std::shared_ptr<Model> built(const Json& mask) {
  Json values{{"image_size", {12, 16}},
              {"patch_size", {4, 4}},
              {"in_channels", 2},
              {"num_classes", 5},
              {"width", 24},
              {"depth", 3},
              {"heads", 3},
              {"mlp_width", 32},
              {"mask", mask}};
  const IllamaArchitecture architecture;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return architecture.build(Config(values), 1);
}

at::Tensor classified(Model& model) {
  const at::Tensor images = at::randn({2, 2, 12, 16}, at::detail::createCPUGenerator(1));
  return capabilityOf<ImageClassifier>(model)->classify(images);
}

TEST(Mask, SoftAtOneIsNoMaskAtAll) {
  const auto closed = built({{"kind", "soft"}}), open = built({{"kind", "soft"}, {"alpha", 1}}),
             free = built({{"kind", "bidirectional"}});
  EXPECT_FALSE(classified(*closed).equal(classified(*free)));
  EXPECT_TRUE(classified(*open).equal(classified(*free)));
}

}  // namespace
}  // namespace vitrine::illama
