// Optimizer rules and learning rates of the papers' training codes, against tensors made with them
// (tests/golden/training).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/config/catalog.h"
#include "core/model/weights.h"
#include "core/train/divergence.h"
#include "core/train/optimizer.h"
#include "core/train/schedule.h"

namespace vitrine {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

Tensors golden(const std::string& name) {
  return readTensors(std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/golden/training" / name /
                     "io.safetensors");
}

class Trajectory : public ::testing::Test {
 protected:
  static constexpr double kRates[] = {0.0, 0.01, 0.03, 0.02, 0.005};
  static constexpr double kLarsRates[] = {0.0, 6.4, 3.2, 1.6, 0.8};
  /// Where the decay belongs: matrices and kernels, or every tensor that is not a vector.
  enum class Decay { Kernels, NotVectors };

  /// Five prescribed steps; parameters after each step are those of output/<rule>.
  /// \param clip  largest global norm, or 0
  void expect(const std::string& rule, const OptimizerOptions& options, const double (&rates)[5],
              double clip, double clipEps = 0, Decay decays = Decay::Kernels) {
    ParameterGroup decay{"decay", {}, {}, 1, 1}, plain{"no_decay", {}, {}, 0, 1};
    std::vector<std::pair<std::string, at::Tensor>> parameters;
    for (const auto& [full, value] : tensors_) {
      if (!full.starts_with("input/param/")) continue;
      const std::string name = full.substr(12);
      const bool isKernel = value.dim() > 1 && (decays == Decay::NotVectors ||
                                                (name != "cls_token" && name != "pos_embed"));
      parameters.emplace_back(name, value.clone().set_requires_grad(true));
      ParameterGroup& group = isKernel ? decay : plain;
      group.parameterNames.push_back(name);
      group.parameters.push_back(parameters.back().second);
    }
    ASSERT_EQ(parameters.size(), 8u);
    Optimizer optimizer(options, {decay, plain});
    for (std::size_t step = 0; step < 5; ++step) {
      for (auto& [name, parameter] : parameters) {
        parameter.mutable_grad() =
            tensors_.at("input/grad_" + std::to_string(step) + "/" + name).clone();
      }
      at::Tensor divisor;
      if (clip > 0) divisor = optimizer.gradientNorm().add(clipEps).div(clip).clamp_min(1);
      optimizer.step(rates[step], at::zeros({}), divisor);
      optimizer.clearGradients();
      for (const auto& [name, parameter] : parameters) {
        const at::Tensor& wanted =
            tensors_.at("output/" + rule + "/step_" + std::to_string(step) + "/" + name);
        const double allowed = 1e-5 * std::max(0.01, wanted.abs().max().item<double>());
        EXPECT_LE((parameter.detach() - wanted).abs().max().item<double>(), allowed)
            << rule << ": " << name << " after step " << step;
      }
    }
    for (const auto& [name, moment] : optimizer.state()) {
      const std::size_t slash = name.rfind('/');
      const auto found =
          tensors_.find("output/" + rule + name.substr(slash) + "/" + name.substr(0, slash));
      if (found == tensors_.end()) continue;
      const double allowed = 1e-5 * std::max(0.01, found->second.abs().max().item<double>());
      EXPECT_LE((moment - found->second).abs().max().item<double>(), allowed) << rule << name;
    }
  }

  static OptimizerOptions lamb() {
    OptimizerOptions options{OptimizerOptions::Rule::Lamb, 0.02};
    options.eps = 1e-6;
    return options;
  }

  const Tensors tensors_ = golden("optimizers");
};

TEST_F(Trajectory, OfLambIsTheOneOfTheReference) { expect("lamb", lamb(), kRates, 1); }

TEST_F(Trajectory, OfLambWithoutClippingIsTheOneOfTheReference) {
  expect("lamb_no_clip", lamb(), kRates, 0);
}

TEST_F(Trajectory, OfLambThatAdaptsEveryParameterIsTheOneOfTheReference) {
  OptimizerOptions options = lamb();
  options.alwaysAdapts = true;
  expect("lamb_always_adapt", options, kRates, 1);
}

TEST_F(Trajectory, OfLambWithAClippedRatioIsTheOneOfTheReference) {
  OptimizerOptions options = lamb();
  options.clipsRatio = true;
  expect("lamb_trust_clip", options, kRates, 1);
}

TEST_F(Trajectory, OfLambWithDecoupledDecayIsTheOneOfTheReference) {
  OptimizerOptions options = lamb();
  options.decouplesDecay = true;
  expect("lamb_decoupled", options, kRates, 1);
}

TEST_F(Trajectory, OfLambWithoutBiasCorrectionIsTheOneOfTheReference) {
  OptimizerOptions options = lamb();
  options.correctsBias = false;
  expect("lamb_no_bias_correction", options, kRates, 1);
}

TEST_F(Trajectory, OfLarsIsTheOneOfTheReferenceWithAndWithoutDecay) {
  OptimizerOptions options{OptimizerOptions::Rule::Lars, 0};
  expect("lars", options, kLarsRates, 0, 0, Decay::NotVectors);
  options.weightDecay = 1e-4;
  expect("lars_decay", options, kLarsRates, 0, 0, Decay::NotVectors);
}

TEST_F(Trajectory, OfSgdIsTheOneOfTheReferenceForBothRulesOfClipping) {
  const OptimizerOptions options{OptimizerOptions::Rule::Sgd, 0};
  expect("sgd_clip_exact", options, kRates, 1);
  expect("sgd_clip_torch", options, kRates, 1, 1e-6);
}

TEST_F(Trajectory, OfAdamWithDecayOnKernelsIsTheOneOfAdamW) {
  expect("adam_kernel_decay", {OptimizerOptions::Rule::AdamW, 0.1}, kRates, 1);
}

TEST(Lamb, TakesTheNextGoodStepAfterSkippedFirstOnes) {
  const at::Tensor weight = at::ones({3}).set_requires_grad(true);
  Optimizer optimizer({OptimizerOptions::Rule::Lamb, 0.1}, {{"all", {"w"}, {weight}, 1, 1}});
  weight.mutable_grad() = at::full({3}, std::nan(""));
  optimizer.step(0.1, at::ones({}), {});
  weight.mutable_grad() = at::ones({3});
  optimizer.step(0.1, at::zeros({}), {});
  EXPECT_TRUE(weight.detach().isfinite().all().item<bool>());
  EXPECT_LT(weight.detach()[0].item<float>(), 1);
}

/// Every rate of `name`, within 1e-6 of it or 1e-15: the reference is stored in float32.
void expectRates(const std::string& name, const Schedule& schedule) {
  const at::Tensor wanted = golden("schedules").at("output/" + name);
  for (std::int64_t step = 0; step < wanted.numel(); ++step) {
    const double rate = wanted[step].item<double>();
    EXPECT_NEAR(learningRate(schedule, step, wanted.numel()), rate, std::max(1e-6 * rate, 1e-12))
        << name << " at step " << step;
  }
}

Schedule schedule(Schedule::Kind kind, double minimum, std::int64_t warmUpSteps) {
  Schedule made;
  made.kind = kind;
  made.base = 1e-3;
  made.minimum = minimum;
  made.warmUpSteps = warmUpSteps;
  return made;
}

TEST(Rates, FollowTheCosineAndTheLinearRuleWithAnEnd) {
  expectRates("vit_cosine", schedule(Schedule::Kind::Cosine, 0, 20));
  expectRates("vit_linear", schedule(Schedule::Kind::Linear, 1e-5, 20));
  expectRates("cosine_absolute_end", schedule(Schedule::Kind::Cosine, 1.5e-4, 20));
}

TEST(Rates, FollowTheCosineThatIsNotShiftedByItsWarmUp) {
  Schedule timm = schedule(Schedule::Kind::Cosine, 1e-5, 20);
  timm.warmUp = Schedule::WarmUp::Independent;
  timm.warmUpStart = 1e-3;
  timm.spansWarmUp = true;
  expectRates("cosine_timm_warmup_inside", timm);
}

TEST(Rates, FollowThePolynomialThatEndsAtItsLastStep) {
  Schedule poly = schedule(Schedule::Kind::Poly, 1e-6, 0);
  poly.endsAtLastStep = true;
  expectRates("poly", poly);
  poly.warmUpSteps = 20;
  poly.warmUp = Schedule::WarmUp::Inclusive;
  poly.warmUpStart = 1e-6;
  expectRates("poly_warmup", poly);
}

TEST(Rates, FollowThePolynomialUnderAWarmUpThatMultipliesIt) {
  Schedule old = schedule(Schedule::Kind::Poly, 1e-6, 20);
  old.warmUpStart = 1e-6;
  old.spansWarmUp = true;
  expectRates("poly_warmup_old_mmcv", old);
}

TEST(Rates, DropAtTheirMilestones) {
  Schedule step = schedule(Schedule::Kind::Step, 0, 0);
  step.milestones = {107, 165};
  expectRates("step", step);
  step.warmUpSteps = 20;
  step.warmUp = Schedule::WarmUp::Inclusive;
  step.warmUpStart = 1e-3;
  expectRates("step_warmup", step);
}

TEST(TrainTable, OfARunStoredBeforeAKeyExistedHasTheKeysDefault) {
  Json stored = trainSchema().defaults();
  for (const char* key :
       {"trust_coefficient", "trust_clip", "always_adapt", "bias_correction", "decoupled_decay"}) {
    stored["optimizer"].erase(key);
  }
  for (const char* key :
       {"power", "gamma", "milestones", "warmup_start", "spans_warmup", "ends_at_last_step"}) {
    stored["schedule"].erase(key);
  }
  stored.erase("divergence");
  const Config old(stored), now(trainSchema().defaults());
  EXPECT_DOUBLE_EQ(learningRate(old, 7, 50, 10), learningRate(now, 7, 50, 10));
  EXPECT_EQ(optimizerFrom(old).trustCoefficient, optimizerFrom(now).trustCoefficient);
  EXPECT_EQ(divergenceFrom(old).maxSkipped, divergenceFrom(now).maxSkipped);
}

}  // namespace
}  // namespace vitrine
