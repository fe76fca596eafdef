// Rotary positions of VisionLLaMA: 1-D, 2-D and auto-scaled 2-D RoPE (section 3.3, equations 3 and
// 4), with the variants of Tables 11 and 12.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string>

#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/nn/position/rope.h"
#include "core/nn/position/token_rotation.h"

namespace vitrine::visionllama {

using Sides = std::array<std::int64_t, 2>;  ///< [height, width]

enum class RopeMode {
  None,
  Line,  ///< by the raster index
  Grid,  ///< by row and column
};

/// Change of positions or frequencies at another resolution than that of training.
enum class RopeScale {
  None,
  Anchor,  ///< positions are multiplied by anchor / grid (AS2DRoPE)
  Ntk,     ///< the base of the frequencies grows
};

/// Source of the anchor of a pyramid's stage.
enum class AnchorMode {
  Stage,     ///< the stage's own grid in training: one factor in every stage
  Fourteen,  ///< 14 / height of the stage's grid, as the released code computes it
};

/// The table `rope` of a configuration.
struct RopeSettings {
  RopeMode mode = RopeMode::Grid;
  double base = 1e4;
  double ratio = 1;      ///< share of a head's channels that turn, the first ones
  bool isShared = true;  ///< one spectrum for all heads; else one over the channels of all of them
  nn::RopeAxes axes = nn::RopeAxes::ColumnFirst;  ///< of RopeMode::Grid
  RopeScale scale = RopeScale::None;
  Sides anchorPixels{0, 0};  ///< image size of training
  bool isPerAxis = false;    ///< each axis by its own factor; else both by that of the rows
  double ntkAlpha = 1;
  nn::NtkRule ntkRule = nn::NtkRule::Plain;
  // Of a pyramid.
  AnchorMode anchorMode = AnchorMode::Stage;
  bool isWindowScaled = false;  ///< positions inside of windows, too
  bool isNtkOfKeys = true;      ///< else of queries alone

  /// By what positions in an image of `image` pixels are multiplied: {rows, columns}.
  [[nodiscard]] std::array<double, 2> scaleOf(Sides image) const;
};

/// Fields of the table `rope`.
enum class RopeUse { Plain, Pyramid, Windowed };
[[nodiscard]] Field ropeField(RopeUse use);
/// \param imageSize  the anchor where the configuration names none
/// \param patchSize  what a patch of the first grid measures in pixels
/// \throws ConfigError  an anchor in patches and another one in pixels
[[nodiscard]] RopeSettings ropeSettingsOf(const Config& config, Sides imageSize, Sides patchSize);

/// {"rope": {"anchor_pixels": size}} where the configuration leaves the anchor open: what a model
/// trained as `config` keeps at another image size.
[[nodiscard]] Json trainedAnchor(const Config& config);

/// Rotation of the heads of one width.
class HeadRotation {
 public:
  /// Nothing turns.
  HeadRotation() = default;
  /// \throws ConfigError  the channels that turn are not whole pairs (1-D) or quads (2-D)
  HeadRotation(const RopeSettings& settings, std::int64_t heads, std::int64_t headDim);

  /// Base of the frequencies.
  enum class Base {
    Training,
    Scaled,  ///< the grown one of RopeScale::Ntk
  };
  /// \param places   [.., tokens, 2] row and column, of any number type
  /// \param scale    what rows and columns are multiplied by
  /// \param columns  of the grid, for raster indices: W row + column
  /// \returns        angles of AttendOptions, float32; undefined where nothing turns
  [[nodiscard]] at::Tensor angles(const at::Tensor& places, std::array<double, 2> scale,
                                  std::int64_t columns, Base base) const;
  /// "2-D, column first": for tables of cost.
  [[nodiscard]] std::string name() const;

 private:
  RopeSettings settings_;
  at::Tensor training_, scaled_;  ///< frequencies
};

/// The rotation of a plain encoder with or without a leading class token.
class PlainRotation final : public nn::TokenRotation {
 public:
  PlainRotation(const RopeSettings& settings, std::int64_t heads, std::int64_t headDim,
                Sides patchSize, nn::ClassPlace classPlace);
  [[nodiscard]] at::Tensor angles(const at::Tensor& places, Sides grid) const override;
  [[nodiscard]] std::string name() const override;

 private:
  RopeSettings settings_;
  HeadRotation heads_;
  Sides patchSize_;
  nn::ClassPlace classPlace_;
};

/// \throws ConfigError  none of the words of rope.cls_pos
[[nodiscard]] nn::ClassPlace classPlaceOf(const std::string& word);

/// Positions that turn the keys of a sub-sampled layer, [keys, 2] rows and columns.
enum class KeyPlaces {
  Calibrated,  ///< the mean of the tokens of each cell (Figure 3)
  Released,    ///< as the released code computes them: offset 1 - 1/r, and the index of the key
               ///< divided by the width of the whole grid
};
/// \param cells    of the reduced grid, [height, width]
/// \param cell     tokens along a side of a cell
/// \param columns  of the grid of the queries
[[nodiscard]] at::Tensor keyPositions(KeyPlaces rule, Sides cells, std::int64_t cell,
                                      std::int64_t columns);

}  // namespace vitrine::visionllama
