// Random numbers of one sample or batch, one after another.
#pragma once

#include <cstdint>

#include "core/plugin/transform.h"

namespace vitrine::transforms {

class Lanes {
 public:
  explicit Lanes(const Draws& draws) noexcept : draws_(draws) {}
  double uniform() { return draws_.uniform(lane_++); }  ///< in [0, 1)
  double between(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  std::int64_t below(std::int64_t bound) { return draws_.below(bound, lane_++); }
  double normal() { return draws_.normal(lane_++); }

 private:
  const Draws& draws_;
  std::uint32_t lane_ = 0;
};

}  // namespace vitrine::transforms
