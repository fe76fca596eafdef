// Letters and digits as strokes of a pen, in fonts that are made of numbers: no font file, so the
// same outlines on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/datasets/shapes/raster.h"

namespace vitrine::shapes {

inline constexpr std::int64_t kGlyphs = 62;  ///< A to Z, a to z, 0 to 9
inline constexpr std::int64_t kFonts = 20;
[[nodiscard]] char glyphName(std::int64_t glyph);
/// "serif" of the first seven fonts, "sans" of the next seven, else "handwritten".
[[nodiscard]] const std::string& fontFamily(std::int64_t font);

struct GlyphStyle {
  std::int64_t font = 0;
  bool isBold = false, isItalic = false;
};
/// Polygons whose union is the glyph: pieces of strokes and disks where they meet. Capitals reach
/// from -4 to 4 (y down), small letters down to 7; the middle of the line is at x = 0.
[[nodiscard]] std::vector<Outline> glyphOutlines(std::int64_t glyph, const GlyphStyle& style);

}  // namespace vitrine::shapes
