#include "core/diffusion/ode.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/words.h"

namespace vitrine::diffusion {

namespace {

constexpr int kStages = 7;
/// Rows of the Dormand-Prince tableau: what each stage after the first adds up.
constexpr double kStage[kStages - 1][kStages - 1] = {
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
constexpr double kPlace[kStages - 1] = {1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
constexpr double kError[kStages] = {35.0 / 384 - 1951.0 / 21600,
                                    0,
                                    500.0 / 1113 - 22642.0 / 50085,
                                    125.0 / 192 - 451.0 / 720,
                                    -2187.0 / 6784 + 12231.0 / 42400,
                                    11.0 / 84 - 649.0 / 6300,
                                    -1.0 / 60};
/// Of the state in the middle of a step (Shampine 1986).
constexpr double kMiddle[kStages] = {
    6025192743.0 / 30085553152 / 2,     0,
    51252292925.0 / 65400821598 / 2,    -2691868925.0 / 45128329728 / 2,
    187940372067.0 / 1594534317056 / 2, -1776094331.0 / 19743644256 / 2,
    11237099.0 / 235043384 / 2};
constexpr double kSafety = 0.9, kMostGrowth = 10, kMostShrinkage = 0.2, kOrder = 5;

void keep(OdeSolution& solution, const OdeOptions& options, at::Tensor state) {
  if (options.keepsLastAlone) solution.states.clear();
  solution.states.push_back(std::move(state));
}

double rms(const at::Tensor& x) { return x.to(at::kDouble).square().mean().sqrt().item<double>(); }

class Dopri5 {
 public:
  Dopri5(const OdeField& field, const OdeOptions& options) : field_(field), options_(options) {}

  OdeSolution run(const at::Tensor& start, const std::vector<double>& times) {
    OdeSolution solution;
    solution.states.push_back(start);
    const double first = times.front(), last = times.back();
    at::Tensor state = start, slope = evaluate(start, first);
    if (!std::isfinite(rms(slope))) {
      throw ConfigError("the prediction at time " + std::to_string(first) +
                        " is not finite, and no step can begin there; lower the guidance or take "
                        "other weights");
    }
    constexpr double kNoEnd = std::numeric_limits<double>::infinity();
    double time = first,
           step = firstStep(state, slope, first, options_.mayOvershoot ? kNoEnd : last - first);
    std::size_t next = 1;
    while (next < times.size()) {
      // A step that ends within rounding of the last time ends there.
      const bool isLast = !options_.mayOvershoot && time + step * (1 + 1e-12) >= last;
      if (isLast) step = last - time;
      if (!(time + step > time)) {
        throw ConfigError("dopri5 cannot keep its tolerance at time " + std::to_string(time) +
                          "; raise the tolerances or take a method of fixed steps");
      }
      std::array<at::Tensor, kStages> k;
      k[0] = slope;
      at::Tensor end;
      for (int stage = 1; stage < kStages; ++stage) {
        end = added(state, step, k, kStage[stage - 1], stage);
        k[static_cast<std::size_t>(stage)] = evaluate(end, time + kPlace[stage - 1] * step);
      }
      const double ratio = errorRatio(state, end, step, k);
      if (ratio <= 1) {
        const double until = isLast ? last : time + step;
        while (next < times.size() && times[next] <= until) {
          const double share = (times[next] - time) / step;
          keep(solution, options_,
               times[next] == until ? end : between(state, end, step, k, share));
          ++next;
        }
        time = until;
        state = end;
        slope = k[kStages - 1];
        if (options_.watch &&
            !options_.watch(std::min(1.0, (time - first) / (last - first)), state) &&
            next < times.size()) {
          solution.isComplete = false;
          break;
        }
      }
      step *= factorOf(ratio);
    }
    solution.evaluations = evaluations_;
    return solution;
  }

 private:
  at::Tensor evaluate(const at::Tensor& state, double time) {
    ++evaluations_;
    return field_(state, time);
  }

  static at::Tensor added(const at::Tensor& state, double step,
                          const std::array<at::Tensor, kStages>& k, const double* weights,
                          int count) {
    at::Tensor sum = at::zeros_like(state);
    for (int i = 0; i < count; ++i) {
      if (weights[i] != 0) sum = sum + (step * weights[i]) * k[static_cast<std::size_t>(i)];
    }
    return state + sum;
  }

  double errorRatio(const at::Tensor& state, const at::Tensor& end, double step,
                    const std::array<at::Tensor, kStages>& k) const {
    const at::Tensor error = added(at::zeros_like(state), step, k, kError, kStages);
    const at::Tensor allowed =
        options_.absolute + options_.relative * at::maximum(state.abs(), end.abs());
    const double ratio = rms(error / allowed);
    // A state that is not finite is an error beyond all bounds: a shorter step may do.
    return std::isfinite(ratio) ? ratio : 1e30;
  }

  static double factorOf(double ratio) {
    if (ratio == 0) return kMostGrowth;
    const double least = ratio < 1 ? 1 : kMostShrinkage;
    return std::clamp(kSafety * std::pow(ratio, -1 / kOrder), least, kMostGrowth);
  }

  /// Hairer, Norsett & Wanner, "Solving ordinary differential equations I", II.4.
  /// \param longest  the most that may be tried
  double firstStep(const at::Tensor& state, const at::Tensor& slope, double time, double longest) {
    const at::Tensor scale = options_.absolute + options_.relative * state.abs();
    const double size = rms(state / scale), speed = rms(slope / scale);
    const double tried =
        std::min(longest, size < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * size / speed);
    const at::Tensor other = evaluate(state + tried * slope, time + tried);
    const double turn = rms((other - slope) / scale) / tried;
    const double step = speed <= 1e-15 && turn <= 1e-15
                            ? std::max(1e-6, tried * 1e-3)
                            : std::pow(0.01 / std::max(speed, turn), 1 / kOrder);
    return std::min(100 * tried, step);
  }

  /// The polynomial through both ends, their slopes and the middle.
  static at::Tensor between(const at::Tensor& first, const at::Tensor& last, double step,
                            const std::array<at::Tensor, kStages>& k, double x) {
    const at::Tensor middle = added(first, step, k, kMiddle, kStages);
    const at::Tensor &early = k[0], &late = k[kStages - 1];
    const at::Tensor a = 2 * step * (late - early) - 8 * (last + first) + 16 * middle;
    const at::Tensor b = step * (5 * early - 3 * late) + 18 * first + 14 * last - 32 * middle;
    const at::Tensor c = step * (late - 4 * early) - 11 * first - 5 * last + 16 * middle;
    return first + x * (step * early + x * (c + x * (b + x * a)));
  }

  const OdeField& field_;
  const OdeOptions& options_;
  std::int64_t evaluations_ = 0;
};

struct FixedStep {
  const OdeField& field;
  OdeMethod method;
  std::int64_t evaluations = 0;

  at::Tensor evaluate(const at::Tensor& state, double time) {
    ++evaluations;
    return field(state, time);
  }

  at::Tensor operator()(const at::Tensor& x, double time, double step) {
    const at::Tensor first = evaluate(x, time);
    switch (method) {
      case OdeMethod::Heun:
        return x + 0.5 * step * (first + evaluate(x + step * first, time + step));
      case OdeMethod::Heun3: {
        const at::Tensor second = evaluate(x + step / 3 * first, time + step / 3);
        const at::Tensor third = evaluate(x + 2 * step / 3 * second, time + 2 * step / 3);
        return x + step / 4 * (first + 3 * third);
      }
      case OdeMethod::Midpoint:
        return x + step * evaluate(x + 0.5 * step * first, time + 0.5 * step);
      case OdeMethod::RungeKutta: {
        const at::Tensor second = evaluate(x + step / 3 * first, time + step / 3);
        const at::Tensor third = evaluate(x + step * (second - first / 3), time + 2 * step / 3);
        const at::Tensor fourth = evaluate(x + step * (first - second + third), time + step);
        return x + step / 8 * (first + 3 * (second + third) + fourth);
      }
      case OdeMethod::Euler:
      case OdeMethod::Dopri5:
        break;
    }
    return x + step * first;
  }
};

}  // namespace

OdeMethod odeMethodOf(const std::string& word) {
  return valueOf<OdeMethod>("solver", word,
                            {{"euler", OdeMethod::Euler},
                             {"heun", OdeMethod::Heun},
                             {"heun2", OdeMethod::Heun},
                             {"heun3", OdeMethod::Heun3},
                             {"midpoint", OdeMethod::Midpoint},
                             {"rk4", OdeMethod::RungeKutta},
                             {"dopri5", OdeMethod::Dopri5}});
}

OdeSolution solve(const OdeField& field, const at::Tensor& start, const std::vector<double>& times,
                  const OdeOptions& options) {
  const bool isAscending = std::is_sorted(times.begin(), times.end(), std::less_equal<double>());
  if (times.size() < 2 || !isAscending)
    throw ConfigError("an equation is solved from one time to a later one; give ascending times");
  if (options.method == OdeMethod::Dopri5) return Dopri5(field, options).run(start, times);
  FixedStep step{field, options.method};
  OdeSolution solution;
  solution.states.push_back(start);
  for (std::size_t i = 1; i < times.size(); ++i) {
    keep(solution, options, step(solution.states.back(), times[i - 1], times[i] - times[i - 1]));
    const double share = (times[i] - times.front()) / (times.back() - times.front());
    if (options.watch && !options.watch(share, solution.states.back()) && i + 1 < times.size()) {
      solution.isComplete = false;
      break;
    }
  }
  solution.evaluations = step.evaluations;
  return solution;
}

std::vector<double> evenTimes(double first, double last, std::int64_t count) {
  std::vector<double> times;
  for (std::int64_t i = 0; i < count; ++i) {
    times.push_back(i + 1 == count ? last
                                   : first + (last - first) * static_cast<double>(i) /
                                                 static_cast<double>(count - 1));
  }
  return times;
}

}  // namespace vitrine::diffusion
