// The line in front of a curve: a mean that is made from the curve's values and grows with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ui/figures/extremes.h"

namespace vitrine::ui {

/// How the line in front is made from the values; the raw one stays behind it.
struct Smoothing {
  enum class Kind { None, Ema, Centred };
  Kind kind = Kind::None;
  double amount = 0;    ///< constant of the mean, or points in the window (odd)
  bool isAuto = false;  ///< not chosen by the user: short curves stay as they are
  [[nodiscard]] bool operator==(const Smoothing&) const = default;
};

/// What curves look like until the user chooses.
inline constexpr Smoothing kAutomaticSmoothing{Smoothing::Kind::Ema, 0.9, true};

/// Exponential moving average without the pull towards zero at the start:
///   m_t = b m_{t-1} + (1 - b) y_t,   s_t = m_t / (1 - b^t)
/// Values that are not finite leave it where it is and give NaN at their place.
class Smoother {
 public:
  explicit Smoother(double constant = 0) : constant_(constant) {}
  [[nodiscard]] double constant() const { return constant_; }
  double next(double value);

 private:
  double constant_ = 0, mean_ = 0, weight_ = 0;
};

class SmoothedLine {
 public:
  explicit SmoothedLine(const Smoothing& smoothing = {})
      : smoothing_(smoothing), smoother_(smoothing.amount) {}

  [[nodiscard]] const Smoothing& smoothing() const { return smoothing_; }
  /// Takes in values that were added; costs as much as there are. \param values  all of the curve
  void follow(std::span<const double> values);
  /// The mean at each value that was taken in.
  [[nodiscard]] std::span<const double> values() const { return values_; }
  /// Least and greatest of blocks of these.
  [[nodiscard]] const Extremes& extremes();

  [[nodiscard]] std::size_t bytes() const {
    return values_.capacity() * sizeof(double) + extremes_.bytes();
  }
  /// As CurveSeries::looked().
  [[nodiscard]] std::uint64_t looked() const { return looked_ + extremes_.looked(); }

 private:
  void centre(std::span<const double> values);

  Smoothing smoothing_;
  Smoother smoother_;
  std::vector<double> values_;
  Extremes extremes_;
  std::uint64_t looked_ = 0;
};

}  // namespace vitrine::ui
