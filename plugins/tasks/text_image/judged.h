// Drawings of an evaluation: an image for each of some samples' captions, and whether a classifier
// assigns the class of the caption.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plugin/image_judge.h"
#include "core/plugin/results.h"
#include "plugins/tasks/text_image/draw.h"

namespace vitrine::text_image {

struct CaptionedDrawing {
  std::vector<text::TokenIds> captions;  ///< one for each image
  std::vector<std::string> titles;
  std::vector<std::int64_t> labels;  ///< empty: captions are not those of classes
};

/// Draws every caption, equal captions together, and gives `results` a grid of the first images.
/// With a judge and labels it adds the score `agreement` and a table of it by class.
/// \throws ConfigError  see drawnImages(), ImageJudge
void judgeDrawings(TextImageModel& model, LanguageModel& language, const CaptionedDrawing& drawing,
                   const DrawSettings& settings, const ImageJudge* judge,
                   const std::vector<std::string>& classes, at::Device device, Results& results);

}  // namespace vitrine::text_image
