// Spectra as a run stores them.
#pragma once

#include <cmath>
#include <vector>

#include "tests/ui/figures/samples.h"

namespace vitrine::samples {

/// Two layers of two heads with 8 values that fall as powers of `base`.
inline Artifact falling(double base, std::int64_t step) {
  Artifact artifact = named("attention_rank", "spectrum", artifact_kind::kSpectrum);
  artifact.step = step;
  std::vector<double> values;
  for (int row = 0; row < 4; ++row) {
    for (int k = 0; k < 8; ++k) values.push_back(std::pow(base, k) * (1 + 0.1 * row));
  }
  setFloat64(artifact, values, {2, 2, 8}, {"layer", "head", "value"});
  artifact.meta["attention"] = "softmax";
  artifact.meta["layers"] = {0, 1};
  artifact.meta["weights"] = "model";
  return artifact;
}

}  // namespace vitrine::samples
