#include "core/diffusion/noise_process.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "core/base/error.h"

namespace vitrine::diffusion {

namespace {

constexpr double kHalfBin = 1.0 / 255, kEdge = 0.999, kLeastProbability = 1e-12;
constexpr double kRescaleSteps = 1000;

at::Tensor meanOverRest(const at::Tensor& x) { return x.flatten(1).mean(1); }

/// The normal distribution's cumulative function, by the approximation with tanh.
at::Tensor normalCdf(const at::Tensor& x) {
  return 0.5 * (1 + at::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x.pow(3))));
}

/// Log-likelihood of 8-bit values of [-1, 1]: the mass of their bin.
at::Tensor logBinMass(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& logVariance) {
  const at::Tensor centred = x - mean, inverse = at::exp(-0.5 * logVariance);
  const at::Tensor below = normalCdf(inverse * (centred - kHalfBin));
  const at::Tensor upTo = normalCdf(inverse * (centred + kHalfBin));
  const auto safeLog = [](const at::Tensor& p) { return p.clamp_min(kLeastProbability).log(); };
  return at::where(x < -kEdge, safeLog(upTo),
                   at::where(x > kEdge, safeLog(1 - below), safeLog(upTo - below)));
}

at::Tensor gaussianKl(const at::Tensor& mean, const at::Tensor& logVariance,
                      const at::Tensor& otherMean, const at::Tensor& otherLogVariance) {
  return 0.5 * (-1 + otherLogVariance - logVariance + at::exp(logVariance - otherLogVariance) +
                (mean - otherMean).square() * at::exp(-otherLogVariance));
}

ProcessTables tablesOf(const at::Tensor& beta) {
  const std::int64_t steps = beta.size(0);
  ProcessTables t{.beta = beta, .alphaBar = (1 - beta).cumprod(0)};
  const at::Tensor one = at::ones({1}, at::kDouble), zero = at::zeros({1}, at::kDouble);
  t.alphaBarPrevious = at::cat({one, t.alphaBar.narrow(0, 0, steps - 1)});
  t.alphaBarNext = at::cat({t.alphaBar.narrow(0, 1, steps - 1), zero});
  t.posteriorVariance = beta * (1 - t.alphaBarPrevious) / (1 - t.alphaBar);
  t.startShare = beta * t.alphaBarPrevious.sqrt() / (1 - t.alphaBar);
  t.stateShare = (1 - t.alphaBarPrevious) * (1 - beta).sqrt() / (1 - t.alphaBar);
  const at::Tensor first =
      steps > 1 ? t.posteriorVariance.narrow(0, 1, 1) : at::full({1}, 1e-20, at::kDouble);
  const at::Tensor rest = t.posteriorVariance.narrow(0, 1, steps - 1);
  t.posteriorLogVariance = at::cat({first, rest}).log();
  t.largeLogVariance = at::cat({first, beta.narrow(0, 1, steps - 1)}).log();
  return t;
}

}  // namespace

NoiseProcess::NoiseProcess(BetaSchedule schedule, std::int64_t steps, const std::string& respacing)
    : NoiseProcess(betasOf(schedule, steps)) {
  if (!respacing.empty()) *this = respaced(respacedSteps(steps, respacing));
}

NoiseProcess::NoiseProcess(const std::vector<double>& betas, std::vector<std::int64_t> original) {
  for (const double beta : betas) {
    if (!(beta > 0 && beta <= 1))
      throw ConfigError("a step of a diffusion adds a variance above 0 and at most 1, not " +
                        std::to_string(beta));
  }
  if (betas.empty()) throw ConfigError("a diffusion needs at least one step");
  tables_ = tablesOf(at::tensor(betas, at::kDouble));
  original_ = original.empty() ? at::arange(steps(), at::kLong) : at::tensor(original, at::kLong);
}

NoiseProcess NoiseProcess::respaced(const std::vector<std::int64_t>& kept) const {
  const double* alphaBar = tables_.alphaBar.const_data_ptr<double>();
  const std::int64_t* original = original_.const_data_ptr<std::int64_t>();
  std::vector<double> betas;
  std::vector<std::int64_t> times;
  double last = 1;
  for (const std::int64_t step : kept) {
    if (step < 0 || step >= steps())
      throw ConfigError("step " + std::to_string(step) + " is not one of the " +
                        std::to_string(steps()) + " of this diffusion");
    betas.push_back(1 - alphaBar[step] / last);
    times.push_back(original[step]);
    last = alphaBar[step];
  }
  return NoiseProcess(betas, std::move(times));
}

NoiseProcess NoiseProcess::to(at::Device device) const {
  NoiseProcess there = *this;
  ProcessTables& t = there.tables_;
  for (at::Tensor* each : {&t.beta, &t.alphaBar, &t.alphaBarPrevious, &t.alphaBarNext,
                           &t.posteriorVariance, &t.posteriorLogVariance, &t.startShare,
                           &t.stateShare, &t.largeLogVariance, &there.original_})
    *each = each->to(device);
  return there;
}

at::Tensor NoiseProcess::at(const at::Tensor& table, const at::Tensor& step,
                            const at::Tensor& like) const {
  const at::Tensor values = table.to(like.options()).index_select(0, step);
  std::vector<std::int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
  shape[0] = step.size(0);
  return values.view(shape);
}

at::Tensor NoiseProcess::noised(const at::Tensor& start, const at::Tensor& step,
                                const at::Tensor& noise) const {
  return at(tables_.alphaBar.sqrt(), step, start) * start +
         at((1 - tables_.alphaBar).sqrt(), step, start) * noise;
}

StepBack NoiseProcess::posterior(const at::Tensor& start, const at::Tensor& state,
                                 const at::Tensor& step) const {
  return {at(tables_.startShare, step, state) * start + at(tables_.stateShare, step, state) * state,
          at(tables_.posteriorLogVariance, step, state).expand_as(state), start};
}

at::Tensor NoiseProcess::startFromNoise(const at::Tensor& state, const at::Tensor& step,
                                        const at::Tensor& noise) const {
  return at((1 / tables_.alphaBar).sqrt(), step, state) * state -
         at((1 / tables_.alphaBar - 1).sqrt(), step, state) * noise;
}

at::Tensor NoiseProcess::noiseFromStart(const at::Tensor& state, const at::Tensor& step,
                                        const at::Tensor& start) const {
  return (at((1 / tables_.alphaBar).sqrt(), step, state) * state - start) /
         at((1 / tables_.alphaBar - 1).sqrt(), step, state);
}

StepBack NoiseProcess::back(const at::Tensor& output, const at::Tensor& state,
                            const at::Tensor& step, const StepOutput& form) const {
  const std::int64_t channels = state.size(1);
  const bool isLearned = form.variance == StepVariance::LearnedRange;
  if (output.size(1) != (isLearned ? 2 * channels : channels)) {
    throw ShapeError("a network for states of " + std::to_string(channels) + " channels with " +
                     (isLearned ? "a learned" : "a fixed") + " variance makes " +
                     std::to_string(isLearned ? 2 * channels : channels) + " channels, not " +
                     std::to_string(output.size(1)));
  }
  const at::Tensor predicted = output.narrow(1, 0, channels);
  at::Tensor start =
      form.predicts == StepPrediction::Start ? predicted : startFromNoise(state, step, predicted);
  if (form.clip) start = start.clamp(-*form.clip, *form.clip);
  StepBack back = posterior(start, state, step);
  if (isLearned) {
    const at::Tensor share = (output.narrow(1, channels, channels) + 1) / 2;
    back.logVariance = share * at(tables_.beta.log(), step, state) + (1 - share) * back.logVariance;
  } else if (form.variance == StepVariance::FixedLarge) {
    back.logVariance = at(tables_.largeLogVariance, step, state).expand_as(state);
  }
  return back;
}

at::Tensor NoiseProcess::bound(const StepBack& back, const at::Tensor& start,
                               const at::Tensor& state, const at::Tensor& step) const {
  const StepBack truth = posterior(start, state, step);
  const at::Tensor divergence =
      meanOverRest(gaussianKl(truth.mean, truth.logVariance, back.mean, back.logVariance));
  const at::Tensor last = -meanOverRest(logBinMass(start, back.mean, back.logVariance));
  return at::where(step == 0, last, divergence) / std::numbers::ln2;
}

StepLosses NoiseProcess::loss(const at::Tensor& output, const at::Tensor& start,
                              const at::Tensor& step, const at::Tensor& noise,
                              const StepOutput& form, StepLoss kind) const {
  const at::Tensor state = noised(start, step, noise);
  StepOutput unclipped = form;
  unclipped.clip.reset();
  StepLosses losses;
  if (kind == StepLoss::Bound || kind == StepLoss::RescaledBound) {
    losses.bound = bound(back(output, state, step, unclipped), start, state, step);
    losses.total = losses.bound;
    if (kind == StepLoss::RescaledBound) losses.total = losses.total * static_cast<double>(steps());
    return losses;
  }
  const std::int64_t channels = start.size(1);
  const at::Tensor predicted = output.narrow(1, 0, channels);
  const at::Tensor& target = form.predicts == StepPrediction::Start ? start : noise;
  losses.squaredError = meanOverRest((target - predicted).square());
  losses.total = losses.squaredError;
  if (form.variance != StepVariance::LearnedRange) return losses;
  const at::Tensor held =
      at::cat({predicted.detach(), output.narrow(1, channels, output.size(1) - channels)}, 1);
  losses.bound = bound(back(held, state, step, unclipped), start, state, step);
  if (kind == StepLoss::RescaledHybrid)
    losses.bound = losses.bound * (static_cast<double>(steps()) / kRescaleSteps);
  losses.total = losses.total + losses.bound;
  return losses;
}

at::Tensor NoiseProcess::ddpmStep(const StepBack& back, const at::Tensor& step,
                                  const at::Tensor& noise) const {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(noise.dim()), 1);
  shape[0] = step.size(0);
  const at::Tensor isNoisy = (step != 0).to(back.mean.scalar_type()).view(shape);
  return back.mean + isNoisy * at::exp(0.5 * back.logVariance) * noise;
}

at::Tensor NoiseProcess::ddimStep(const StepBack& back, const at::Tensor& state,
                                  const at::Tensor& step, double eta,
                                  const at::Tensor& noise) const {
  const at::Tensor predicted = noiseFromStart(state, step, back.start);
  const at::Tensor &alphaBar = tables_.alphaBar, &previous = tables_.alphaBarPrevious;
  const at::Tensor sigma =
      eta * ((1 - previous) / (1 - alphaBar)).sqrt() * (1 - alphaBar / previous).sqrt();
  const at::Tensor next = at(previous.sqrt(), step, state) * back.start +
                          at((1 - previous - sigma.square()).sqrt(), step, state) * predicted;
  // At step 0 sigma is zero, whatever eta is.
  return eta == 0 ? next : next + at(sigma, step, state) * noise;
}

}  // namespace vitrine::diffusion
