#include "core/diffusion/transport.h"

#include <ATen/ATen.h>

#include <numbers>
#include <vector>

#include "core/base/words.h"

namespace vitrine::diffusion {

namespace {

constexpr double kStartRate = 20, kEndRate = 0.1;
constexpr double kQuarterTurn = std::numbers::pi / 2;
constexpr double kPathEpsilon = 1e-3, kPreservingTrainingEpsilon = 1e-5;

at::Tensor broadcast(const at::Tensor& time, const at::Tensor& like) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
  shape[0] = time.size(0);
  return time.to(like.options()).view(shape);
}

}  // namespace

Transport::Shares Transport::shares(const at::Tensor& time, const at::Tensor& like) const {
  const at::Tensor t = broadcast(time, like);
  switch (options_.path) {
    case Path::Linear:
      return {t, 1 - t, at::ones_like(t), -at::ones_like(t), 1 / t};
    case Path::Trigonometric: {
      const at::Tensor angle = t * kQuarterTurn;
      const at::Tensor sine = angle.sin(), cosine = angle.cos();
      return {sine, cosine, kQuarterTurn * cosine, -kQuarterTurn * sine,
              kQuarterTurn / angle.tan()};
    }
    case Path::VariancePreserving:
      break;
  }
  const at::Tensor left = 1 - t;
  const at::Tensor log = -0.25 * left.square() * (kStartRate - kEndRate) - 0.5 * left * kEndRate;
  const at::Tensor rate = 0.5 * left * (kStartRate - kEndRate) + 0.5 * kEndRate;
  const at::Tensor alpha = log.exp(), squared = (2 * log).exp();
  const at::Tensor sigma = (1 - squared).sqrt();
  return {alpha, sigma, alpha * rate, -squared * rate / sigma, rate};
}

Transport::Drift Transport::drift(const at::Tensor& state, const at::Tensor& time) const {
  const Shares s = shares(time, state);
  if (options_.path == Path::VariancePreserving) {
    // The ratio is half of the noise schedule's beta.
    return {-s.ratio * state, s.ratio};
  }
  return {-s.ratio * state, s.ratio * s.sigma.square() - s.sigma * s.sigmaRate};
}

at::Tensor Transport::state(const at::Tensor& data, const at::Tensor& noise,
                            const at::Tensor& time) const {
  const Shares s = shares(time, data);
  return s.alpha * data + s.sigma * noise;
}

at::Tensor Transport::velocity(const at::Tensor& data, const at::Tensor& noise,
                               const at::Tensor& time) const {
  const Shares s = shares(time, data);
  return s.alphaRate * data + s.sigmaRate * noise;
}

at::Tensor Transport::scoreFromVelocity(const at::Tensor& velocity, const at::Tensor& state,
                                        const at::Tensor& time) const {
  const Shares s = shares(time, state);
  const at::Tensor inverse = s.alpha / s.alphaRate;
  return (inverse * velocity - state) / (s.sigma.square() - inverse * s.sigmaRate * s.sigma);
}

at::Tensor Transport::velocityFromScore(const at::Tensor& score, const at::Tensor& state,
                                        const at::Tensor& time) const {
  const Drift d = drift(state, time);
  return d.kappa * score - d.drift;
}

at::Tensor Transport::velocityOf(const at::Tensor& output, const at::Tensor& state,
                                 const at::Tensor& time) const {
  if (options_.predicts == PathPrediction::Velocity) return output;
  return velocityFromScore(scoreOf(output, state, time), state, time);
}

at::Tensor Transport::scoreOf(const at::Tensor& output, const at::Tensor& state,
                              const at::Tensor& time) const {
  switch (options_.predicts) {
    case PathPrediction::Velocity:
      return scoreFromVelocity(output, state, time);
    case PathPrediction::Noise:
      return output / -shares(time, state).sigma;
    case PathPrediction::Score:
      break;
  }
  return output;
}

at::Tensor Transport::dataOf(const at::Tensor& output, const at::Tensor& state,
                             const at::Tensor& time) const {
  const Shares s = shares(time, state);
  if (options_.predicts == PathPrediction::Velocity) {
    // Without alpha below the line: data and noise from state and velocity.
    const at::Tensor determinant = s.alpha * s.sigmaRate - s.sigma * s.alphaRate;
    return (s.sigmaRate * state - s.sigma * output) / determinant;
  }
  return (state + s.sigma.square() * scoreOf(output, state, time)) / s.alpha;
}

at::Tensor Transport::loss(const at::Tensor& output, const at::Tensor& data,
                           const at::Tensor& noise, const at::Tensor& time) const {
  const auto mean = [](const at::Tensor& x) { return x.flatten(1).mean(1); };
  if (options_.predicts == PathPrediction::Velocity)
    return mean((output - velocity(data, noise, time)).square());
  const Shares s = shares(time, data);
  at::Tensor error =
      options_.predicts == PathPrediction::Noise ? output - noise : output * s.sigma + noise;
  error = error.square();
  if (options_.weight != PathWeight::None) {
    const at::Tensor kappa = drift(state(data, noise, time), time).kappa;
    error = options_.weight == PathWeight::Velocity ? (kappa / s.sigma).square() * error
                                                    : kappa / s.sigma.square() * error;
  }
  return mean(error);
}

Transport::Interval Transport::trainingInterval() const {
  if (options_.path == Path::VariancePreserving) return {0, 1 - kPreservingTrainingEpsilon};
  if (options_.predicts == PathPrediction::Velocity) return {0, 1};
  return {kPathEpsilon, 1 - kPathEpsilon};
}

Transport::Interval Transport::odeInterval() const {
  if (options_.path == Path::VariancePreserving) return {0, 1 - kPathEpsilon};
  return trainingInterval();
}

Transport::Interval Transport::sdeInterval(DiffusionForm form, double lastStep) const {
  const bool isPreserving = options_.path == Path::VariancePreserving;
  const bool isVelocity = options_.predicts == PathPrediction::Velocity;
  const double epsilon = isVelocity && !isPreserving ? 0 : kPathEpsilon;
  const bool startsLate = !isPreserving && (!isVelocity || form == DiffusionForm::Sbdm);
  return {startsLate ? epsilon : 0, 1 - (lastStep == 0 ? epsilon : lastStep)};
}

void Transport::requireForm(DiffusionForm form) const {
  if (form == DiffusionForm::Constant) {
    throw ConfigError(
        "diffusion form \"constant\" is not defined for these paths; take sigma, linear, "
        "decreasing or increasing-decreasing");
  }
  if (form == DiffusionForm::Sbdm && options_.predicts == PathPrediction::Velocity &&
      options_.path != Path::VariancePreserving) {
    throw ConfigError(
        "diffusion form \"sbdm\" is infinite at time 0 for a network that predicts the velocity "
        "on this path; take sigma, linear, decreasing or increasing-decreasing");
  }
}

at::Tensor Transport::diffusion(DiffusionForm form, const at::Tensor& state, const at::Tensor& time,
                                double norm) const {
  const at::Tensor t = broadcast(time, state);
  switch (form) {
    case DiffusionForm::Sigma:
      return (norm * shares(time, state).sigma).expand_as(state);
    case DiffusionForm::Linear:
      return (norm * (1 - t)).expand_as(state);
    case DiffusionForm::Decreasing:
      return (0.25 * (norm * (std::numbers::pi * t).cos() + 1).square()).expand_as(state);
    case DiffusionForm::IncreasingDecreasing:
      return (norm * (std::numbers::pi * t).sin().square()).expand_as(state);
    case DiffusionForm::Sbdm:
      return (norm * drift(state, time).kappa).expand_as(state);
    case DiffusionForm::Constant:
      break;
  }
  requireForm(form);
  return {};
}

Path pathOf(const std::string& word) {
  return valueOf<Path>(
      "path", word,
      {{"linear", Path::Linear}, {"gvp", Path::Trigonometric}, {"vp", Path::VariancePreserving}});
}
PathPrediction pathPredictionOf(const std::string& word) {
  return valueOf<PathPrediction>("prediction", word,
                                 {{"velocity", PathPrediction::Velocity},
                                  {"noise", PathPrediction::Noise},
                                  {"score", PathPrediction::Score}});
}
PathWeight pathWeightOf(const std::string& word) {
  return valueOf<PathWeight>("weight", word,
                             {{"none", PathWeight::None},
                              {"velocity", PathWeight::Velocity},
                              {"likelihood", PathWeight::Likelihood}});
}
DiffusionForm diffusionFormOf(const std::string& word) {
  return valueOf<DiffusionForm>("diffusion form", word,
                                {{"constant", DiffusionForm::Constant},
                                 {"sbdm", DiffusionForm::Sbdm},
                                 {"sigma", DiffusionForm::Sigma},
                                 {"linear", DiffusionForm::Linear},
                                 {"decreasing", DiffusionForm::Decreasing},
                                 {"increasing-decreasing", DiffusionForm::IncreasingDecreasing}});
}

}  // namespace vitrine::diffusion
