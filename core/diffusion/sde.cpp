#include "core/diffusion/sde.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/base/words.h"

namespace vitrine::diffusion {

SdeMethod sdeMethodOf(const std::string& word) {
  return valueOf<SdeMethod>("solver", word,
                            {{"euler", SdeMethod::Euler}, {"heun", SdeMethod::Heun}});
}

LastStep lastStepOf(const std::string& word) {
  return valueOf<LastStep>("last step", word,
                           {{"none", LastStep::None},
                            {"mean", LastStep::Mean},
                            {"euler", LastStep::Euler},
                            {"tweedie", LastStep::Tweedie}});
}

SdeSolution solve(const Transport& transport, const Predictor& network, const at::Tensor& start,
                  const StepNoise& noise, const SdeOptions& options) {
  if (options.steps < 2)
    throw ConfigError("a stochastic sampler takes at least 2 steps, not " +
                      std::to_string(options.steps));
  transport.requireForm(options.form);
  const double lastLength = options.last == LastStep::None ? 0 : options.lastLength;
  const Transport::Interval interval = transport.sdeInterval(options.form, lastLength);
  if (!(interval.first < interval.last))
    throw ConfigError("a last step of " + std::to_string(lastLength) +
                      " leaves no time for the others; take one between 0 and 1");

  if (options.method == SdeMethod::Heun && options.last == LastStep::None && interval.last >= 1)
    throw ConfigError(
        "Heun's method without a last step needs the score at time 1, where it is infinite; take "
        "last step mean, euler or tweedie, or Euler's method");

  SdeSolution solution;
  const auto timeOf = [&](const at::Tensor& x, double time) {
    return at::full({x.size(0)}, time, x.options());
  };
  const auto outputAt = [&](const at::Tensor& x, double time) {
    ++solution.evaluations;
    return network(x, time);
  };
  const auto driftOf = [&](const at::Tensor& x, double time) {
    const at::Tensor t = timeOf(x, time), output = outputAt(x, time);
    return transport.velocityOf(output, x, t) +
           transport.diffusion(options.form, x, t, options.norm) * transport.scoreOf(output, x, t);
  };
  const auto keep = [&](const at::Tensor& state) {
    if (options.keepsLastAlone) solution.states.clear();
    solution.states.push_back(state);
  };
  const auto isWanted = [&](double share) {
    if (!options.watch || options.watch(share, solution.states.back())) return true;
    solution.isComplete = false;
    return false;
  };

  const std::vector<double> times = evenTimes(interval.first, interval.last, options.steps);
  const double dt = times[1] - times[0], steps = static_cast<double>(options.steps);
  at::Tensor x = start;
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double time = times[i];
    const at::Tensor w = transport.diffusion(options.form, x, timeOf(x, time), options.norm);
    const at::Tensor kick = (2 * w).sqrt() * (noise(static_cast<std::int64_t>(i)) * std::sqrt(dt));
    if (options.method == SdeMethod::Euler) {
      x = x + driftOf(x, time) * dt + kick;
    } else {
      const at::Tensor moved = x + kick;
      const at::Tensor first = driftOf(moved, time);
      const at::Tensor second = driftOf(moved + dt * first, time + dt);
      x = moved + 0.5 * dt * (first + second);
    }
    keep(x);
    if (!isWanted(static_cast<double>(i + 1) / steps)) return solution;
  }
  const at::Tensor t = timeOf(x, interval.last);
  switch (options.last) {
    case LastStep::None:
      break;
    case LastStep::Mean:
      x = x + driftOf(x, interval.last) * lastLength;
      break;
    case LastStep::Euler:
      x = x + transport.velocityOf(outputAt(x, interval.last), x, t) * lastLength;
      break;
    case LastStep::Tweedie: {
      const Transport::Shares s = transport.shares(t, x);
      const at::Tensor score = transport.scoreOf(outputAt(x, interval.last), x, t);
      x = x / s.alpha + s.sigma.square() / s.alpha * score;
      break;
    }
  }
  keep(x);
  if (options.watch) (void)options.watch(1, x);
  return solution;
}

}  // namespace vitrine::diffusion
