// The rules of core's optimizers and schedules, made from their tables. Internal to core/train.
#pragma once

#include <memory>

#include "core/plugin/optimizer.h"
#include "core/plugin/schedule.h"

namespace vitrine::train {

/// AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101): p -= learning rate * decay * p, then Adam.
[[nodiscard]] std::unique_ptr<UpdateRule> makeAdamW(const Config& config);

/// m = momentum * m + g, p -= learning rate * m, or * (momentum * m + g) for Nesterov; decay as for
/// AdamW, not through the gradient.
[[nodiscard]] std::unique_ptr<UpdateRule> makeSgd(const Config& config);

/// LAMB (You et al. 2020, arXiv:1904.00962, algorithm 2, as in timm): with u the Adam direction
/// plus decay * p,
///
///     p -= learning rate * |p| / |u| * u        ratio 1 where either norm is 0
[[nodiscard]] std::unique_ptr<UpdateRule> makeLamb(const Config& config);

/// LARS (You et al. 2017, arXiv:1708.03888, as in MAE's linear probe): with d = g + decay * p,
///
///     m = momentum * m + trust * |p| / |d| * d,   p -= learning rate * m
///
/// A one-dimensional parameter gets neither decay nor ratio.
[[nodiscard]] std::unique_ptr<UpdateRule> makeLars(const Config& config);

/// With base rate b, floor m and progress p:
///
///     constant   b
///     linear     m + (b - m) (1 - p)
///     cosine     m + (b - m) (1 + cos(pi p)) / 2
///     poly       m + (b - m) (1 - p)^power
///     step       b gamma^n, n milestones at or before this step
[[nodiscard]] Decay constantDecay(const Config& config, double base);
[[nodiscard]] Decay linearDecay(const Config& config, double base);
[[nodiscard]] Decay cosineDecay(const Config& config, double base);
[[nodiscard]] Decay polyDecay(const Config& config, double base);
[[nodiscard]] Decay stepDecay(const Config& config, double base);

}  // namespace vitrine::train
