// Schedules, optimizers and averages against tensors made with the authors' code and torch
// (tests/golden/analysis).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/config/catalog.h"
#include "core/model/weights.h"
#include "core/train/device.h"
#include "core/train/optimizer.h"
#include "core/train/schedule.h"
#include "core/train/update/ema.h"
#include "tests/support/core_items.h"

namespace vitrine::train {
namespace {

using test::optimizerOf, test::scheduleOf;
using Tensors = std::map<std::string, at::Tensor>;

Tensors golden(const std::string& name) {
  return readTensors(std::filesystem::path(VITRINE_SOURCE_DIR) / "tests/golden/analysis" / name /
                     "io.safetensors");
}

/// Names below `prefix`, without it.
Tensors under(const Tensors& all, const std::string& prefix) {
  Tensors found;
  for (const auto& [name, value] : all) {
    if (name.starts_with(prefix)) found.emplace(name.substr(prefix.size()), value);
  }
  return found;
}

double largestDifference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

void expectSchedule(const at::Tensor& expected, const Schedule& schedule) {
  for (std::int64_t step = 0; step < expected.numel(); ++step) {
    const double wanted = expected[step].item<double>();
    // The reference is stored in float32: a relative 1e-6 covers its rounding and nothing more.
    EXPECT_NEAR(learningRate(schedule, step, 100), wanted, 1e-6 * wanted) << "step " << step;
  }
}

TEST(LearningRate, FollowsTheViTCodeWithCosineDecay) {
  expectSchedule(golden("lr_schedules").at("output/vit_cosine"),
                 scheduleOf({{"name", "cosine"}, {"warmup_steps", 10}}, 0.004));
}

TEST(LearningRate, MultipliesTheLinearFloorByTheWarmUpToo) {
  expectSchedule(golden("lr_schedules").at("output/vit_linear"),
                 scheduleOf({{"name", "linear"}, {"minimum", 1e-5}, {"warmup_steps", 10}}, 0.004));
}

Json inclusive(std::int64_t warmUpSteps) {
  return {{"name", "cosine"},
          {"minimum", 1e-6},
          {"warmup_kind", "inclusive"},
          {"warmup_steps", warmUpSteps}};
}

TEST(LearningRate, FollowsTheILlamaCodeWithAndWithoutWarmUp) {
  const Tensors tensors = golden("lr_schedules");
  expectSchedule(tensors.at("output/illama_cosine"), scheduleOf(inclusive(10), 0.004));
  expectSchedule(tensors.at("output/illama_cosine_no_warmup"), scheduleOf(inclusive(0), 0.004));
}

double epochMean(std::int64_t warmUpEpochs, std::int64_t epoch) {
  const Schedule schedule = scheduleOf(inclusive(warmUpEpochs * 312), 4e-3);
  double sum = 0;
  for (std::int64_t i = 0; i < 312; ++i) sum += learningRate(schedule, epoch * 312 + i, 300 * 312);
  return sum / 312;
}

TEST(LearningRate, EqualsTheEpochMeansOfTheAuthorsLogs) {
  EXPECT_NEAR(epochMean(5, 0), 3.989737010904e-4, 1e-12 * 4);
  EXPECT_NEAR(epochMean(5, 50), 3.769833717e-3, 1e-12);
  EXPECT_NEAR(epochMean(5, 299), 1.03797594e-6, 1e-14);
  EXPECT_NEAR(epochMean(50, 0), 3.987435092e-5, 1e-14);
  EXPECT_NEAR(epochMean(50, 299), 1.052877586e-6, 1e-15);
}

TEST(LearningRate, StaysAtTheBaseWhenConstant) {
  const Schedule schedule = scheduleOf({{"name", "constant"}, {"warmup_steps", 4}}, 0.01);
  EXPECT_DOUBLE_EQ(learningRate(schedule, 1, 10), 0.0025);
  EXPECT_DOUBLE_EQ(learningRate(schedule, 9, 10), 0.01);
}

TEST(LearningRate, TakesWarmUpStepsBeforeWarmUpEpochs) {
  Json table{{"name", "cosine"}, {"warmup_epochs", 2.5}};
  EXPECT_EQ(scheduleOf(table, 1, 10).warmUpSteps, 25);
  table["warmup_steps"] = 7;
  EXPECT_EQ(scheduleOf(table, 1, 10).warmUpSteps, 7);
}

/// Runs three prescribed steps and compares the parameters after each.
void expectTrajectory(const std::string& rule, const Json& table, bool clips) {
  const Tensors all = golden("optimizer_trajectory");
  const Tensors wanted = under(all, "output/" + rule + "/");
  ParameterGroup decay{"decay", {}, {}, 1, 1}, plain{"no_decay", {}, {}, 0, 1};
  std::vector<at::Tensor> parameters;
  std::vector<std::string> names;
  for (const auto& [name, value] : under(all, "input/param/")) {
    const bool isPlain = value.dim() <= 1 || name == "pos_embed" || name == "cls_token";
    ParameterGroup& group = isPlain ? plain : decay;
    parameters.push_back(value.clone().set_requires_grad(true));
    names.push_back(name);
    group.parameterNames.push_back(name);
    group.parameters.push_back(parameters.back());
  }
  Optimizer optimizer = optimizerOf(table, {decay, plain});
  const at::Tensor never = at::zeros({});
  const double rates[] = {0.01, 0.03, 0.02};
  for (int step = 0; step < 3; ++step) {
    const std::string number = std::to_string(step);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].mutable_grad() = all.at("input/grad_" + number + "/" + names[i]).clone();
    at::Tensor divisor;
    if (clips) {
      const at::Tensor norm = optimizer.gradientNorm();
      EXPECT_LT(largestDifference(norm, wanted.at("grad_norm_" + number)), 1e-5);
      divisor = norm.add(1e-6).div(1.0).clamp_min(1);
    }
    optimizer.step(rates[step], never, divisor);
    optimizer.clearGradients();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_LT(
          largestDifference(parameters[i].detach(), wanted.at("step_" + number + "/" + names[i])),
          1e-5)
          << names[i] << " after step " << step;
    }
  }
  for (const auto& [name, moment] : optimizer.state()) {
    const std::size_t slash = name.rfind('/');
    const auto found = wanted.find(name.substr(slash + 1) + "/" + name.substr(0, slash));
    if (found != wanted.end()) {
      EXPECT_LT(largestDifference(moment, found->second), 1e-5) << name;
    }
  }
  EXPECT_EQ(optimizer.updates().item<float>(), 3);
}

TEST(AdamW, FollowsTorchWithDecayAndNoDecayGroups) {
  expectTrajectory("adamw_no_decay_1d_pos_cls", {{"name", "adamw"}, {"weight_decay", 0.05}}, false);
}

TEST(AdamW, ClipsTheGlobalNormAsTorchDoes) {
  expectTrajectory("adamw_clip_1", {{"name", "adamw"}, {"weight_decay", 0.05}}, true);
}

TEST(Sgd, FollowsTorchWithMomentumAndClipping) {
  expectTrajectory("sgd_momentum_clip_1", {{"name", "sgd"}}, true);
}

TEST(Sgd, DecaysTheWeightItselfAndNotTheGradient) {
  const at::Tensor weight = at::full({2, 2}, 2.0).set_requires_grad(true);
  Optimizer optimizer =
      optimizerOf({{"name", "sgd"}, {"weight_decay", 0.1}}, {{"decay", {"w"}, {weight}, 1, 1}});
  weight.mutable_grad() = at::zeros({2, 2});
  optimizer.step(0.5, at::zeros({}), {});
  EXPECT_FLOAT_EQ(weight.detach()[0][0].item<float>(), 2.0F * (1 - 0.5F * 0.1F));
  EXPECT_EQ(optimizer.state()[0].second.abs().max().item<float>(), 0)
      << "decay has reached the momentum";
}

TEST(Sgd, LooksAheadWhenNesterov) {
  const at::Tensor weight = at::zeros({1}).set_requires_grad(true);
  Optimizer optimizer =
      optimizerOf({{"name", "sgd"}, {"nesterov", true}}, {{"all", {"w"}, {weight}, 1, 1}});
  weight.mutable_grad() = at::ones({1});
  optimizer.step(1, at::zeros({}), {});
  EXPECT_FLOAT_EQ(weight.item<float>(), -1.9F);
}

TEST(Optimizer, ChangesNothingWhenToldToSkip) {
  for (const char* rule : {"adamw", "sgd", "lamb", "lars"}) {
    const at::Tensor weight = at::ones({3}).set_requires_grad(true);
    Optimizer optimizer =
        optimizerOf({{"name", rule}, {"weight_decay", 0.1}}, {{"all", {"w"}, {weight}, 1, 1}});
    weight.mutable_grad() = at::full({3}, std::nan(""));
    optimizer.step(0.1, at::ones({}), {});
    EXPECT_TRUE(at::equal(weight.detach(), at::ones({3})));
    EXPECT_EQ(optimizer.updates().item<float>(), 0);
    for (const auto& [name, moment] : optimizer.state())
      EXPECT_EQ(moment.abs().max().item<float>(), 0) << name;
  }
}

TEST(Optimizer, ScalesTheLearningRateOfAGroup) {
  const at::Tensor slow = at::zeros({1}).set_requires_grad(true),
                   fast = at::zeros({1}).set_requires_grad(true);
  Optimizer optimizer =
      optimizerOf({{"name", "sgd"}, {"momentum", 0.0}},
                  {{"slow", {"s"}, {slow}, 1, 0.1}, {"fast", {"f"}, {fast}, 1, 1}});
  slow.mutable_grad() = at::ones({1});
  fast.mutable_grad() = at::ones({1});
  optimizer.step(1, at::zeros({}), {});
  EXPECT_FLOAT_EQ(slow.item<float>(), -0.1F);
  EXPECT_FLOAT_EQ(fast.item<float>(), -1);
}

TEST(Optimizer, LeavesAParameterWithoutGradientAlone) {
  const at::Tensor used = at::ones({2}).set_requires_grad(true),
                   unused = at::ones({2}).set_requires_grad(true);
  Optimizer optimizer =
      optimizerOf({{"weight_decay", 0.5}}, {{"all", {"u", "n"}, {used, unused}, 1, 1}});
  used.mutable_grad() = at::ones({2});
  optimizer.step(0.1, at::zeros({}), {});
  EXPECT_TRUE(at::equal(unused.detach(), at::ones({2})));
  EXPECT_LT(used.detach()[0].item<float>(), 0.9F);
}

TEST(Optimizer, KeepsNoGradientAliveAfterItIsCleared) {
  const at::Tensor weight = at::ones({2}).set_requires_grad(true);
  Optimizer optimizer = optimizerOf(Json::object(), {{"all", {"w"}, {weight}, 1, 1}});
  weight.mutable_grad() = at::ones({2});
  const c10::weak_intrusive_ptr<c10::TensorImpl> gradient(weight.grad().getIntrusivePtr());
  optimizer.step(0.1, at::zeros({}), {});
  optimizer.clearGradients();
  EXPECT_TRUE(gradient.expired()) << "two sets of gradients are alive in the next backward pass";
}

TEST(Optimizer, RefusesAParameterInTwoGroups) {
  const at::Tensor weight = at::ones({2}).set_requires_grad(true);
  EXPECT_THROW(
      optimizerOf(Json::object(), {{"a", {"w"}, {weight}, 1, 1}, {"b", {"w"}, {weight}, 1, 1}}),
      ConfigError);
}

TEST(GlobalNorm, IsTheSameForEveryNumberOfThreads) {
  std::vector<at::Tensor> tensors;
  for (int i = 0; i < 9; ++i) tensors.push_back(at::sin(at::arange(33331) * (i + 1)));
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = globalNorm(tensors);
  at::set_num_threads(2);
  const at::Tensor two = globalNorm(tensors);
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(one, two));
  EXPECT_NEAR(one.item<double>(), at::cat(tensors).to(at::kDouble).norm().item<double>(), 1e-4);
}

TEST(Ema, FollowsTimmFromTheFirstStep) {
  const Tensors all = golden("ema");
  for (const std::string decay : {"0.9", "0.9999"}) {
    std::vector<std::string> names;
    std::vector<at::Tensor> parameters;
    for (const auto& [name, value] : under(all, "input/param_0/")) {
      names.push_back(name);
      parameters.push_back(value.clone());
    }
    Ema ema(parameters, std::stod(decay));
    for (int step = 1; step <= 3; ++step) {
      for (std::size_t i = 0; i < names.size(); ++i)
        parameters[i].copy_(all.at("input/param_" + std::to_string(step) + "/" + names[i]));
      ema.update(at::zeros({}), at::ones({}));
      for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& wanted =
            all.at("output/decay_" + decay + "/after_" + std::to_string(step) + "/" + names[i]);
        EXPECT_LT(largestDifference(ema.average()[i], wanted), 1e-6) << names[i];
      }
    }
  }
}

TEST(Ema, AveragesLessInTheFirstUpdatesWhenItWarmsUp) {
  const at::Tensor weight = at::zeros({1}).set_requires_grad(true);
  Ema ema({weight}, 0.9, Ema::WarmUp::ByUpdates);
  double expected = 0;
  for (int update = 1; update <= 200; ++update) {
    weight.detach().fill_(update);
    ema.update(at::zeros({}), at::full({}, static_cast<double>(update)));
    const double decay = std::min(0.9, (1.0 + update) / (10.0 + update));
    expected = decay * expected + (1 - decay) * update;
    ASSERT_NEAR(ema.average()[0].item<double>(), expected, 1e-4 * expected) << update;
  }
}

TEST(Ema, StandsInForTheWeightsWithinOneScopeOfBFloat16) {
  const at::Tensor weight = at::zeros({4, 4}).set_requires_grad(true);
  Ema ema({weight}, 0.5);
  weight.detach().fill_(1);
  ema.update(at::zeros({}), at::ones({}));
  const at::Tensor images = at::ones({2, 4});
  const AutocastScope scope(Precision::BFloat16, at::kCPU);
  const auto product = [&] { return at::linear(images, weight)[0][0].item<double>(); };
  EXPECT_EQ(product(), 4);
  {
    const WithAverage average(ema);
    EXPECT_EQ(product(), 2);
  }
  EXPECT_EQ(product(), 4);
}

TEST(Ema, StandsInForTheWeightsAndLeavesThemAsTheyWere) {
  const at::Tensor weight = at::zeros({4}).set_requires_grad(true);
  Ema ema({weight}, 0.5);
  const float* const storage = weight.const_data_ptr<float>();
  weight.detach().fill_(1);
  ema.update(at::zeros({}), at::ones({}));
  {
    const WithAverage average(ema);
    EXPECT_FLOAT_EQ(weight.detach()[0].item<float>(), 0.5F);
  }
  EXPECT_FLOAT_EQ(weight.detach()[0].item<float>(), 1);
  EXPECT_EQ(weight.const_data_ptr<float>(), storage);
}

}  // namespace
}  // namespace vitrine::train
