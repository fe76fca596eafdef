// Agreement of captions with references (CIDEr-D, Vedantam et al. 2015, arXiv:1411.5726) and of
// images with captions (CLIP score, Hessel et al. 2021, arXiv:2104.08718).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::eval {

/// Lower-case runs of letters a to z and digits: what n-grams are made of.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::string> captionWords(
    const std::string& caption);

/// One score for each image, 0 to 10, and their mean. An n-gram of 1 to 4 words weighs more where
/// fewer images have it in their references; a set of one image scores 0.
struct CaptionScores {
  std::vector<double> scores;
  double mean = 0;
};
/// \param references  of each image, at least one
/// \throws ShapeError  there are not as many captions as images
[[nodiscard]] VITRINE_ENGINE_EXPORT CaptionScores
captionScores(const std::vector<std::string>& captions,
              const std::vector<std::vector<std::string>>& references);

}  // namespace vitrine::eval
