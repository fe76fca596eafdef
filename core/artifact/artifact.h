// The result of an analysis: typed data with a description, never widgets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// Kinds a painter exists for; an unknown kind is shown by its `meta`.
namespace artifact_kind {
/// float64 [points, 2] x, y, or [points, 1 + lines] with the names of the lines in meta's `lines`;
/// `scale` "log": both axes are logarithmic
inline constexpr const char* kCurve = "curve";
/// float32 [rows, columns], or [n, rows, columns]
inline constexpr const char* kHeatmap = "heatmap";
/// float32 [rows, columns] with row and column labels
inline constexpr const char* kMatrix = "matrix";
/// PNG
inline constexpr const char* kImage = "image";
/// uint8 [n, height, width, channels]; with meta's `row_names` and `column_names` a table, row by
/// row, without the cells in `absent`
inline constexpr const char* kImageGrid = "image_grid";
/// JSON {columns, rows} in the data blob
inline constexpr const char* kTable = "table";
/// float64 [bins, 3] lower, upper, count
inline constexpr const char* kHistogram = "histogram";
/// float64 [bins, 5] lower, upper, count, confidence, accuracy
inline constexpr const char* kReliability = "reliability";
/// float64 [layers, heads, values] singular values, descending
inline constexpr const char* kSpectrum = "spectrum";
/// float32 [layers, heads, queries, keys] of one image
inline constexpr const char* kAttention = "attention";
}  // namespace artifact_kind

/// Little-endian, C order.
struct VITRINE_FOUNDATION_EXPORT Artifact {
  std::string analysis{};  ///< item id: "attention_rank"
  std::string name{};      ///< within the analysis: "spectrum", "image 3"
  std::string kind{};      ///< see artifact_kind
  std::int64_t step = 0; ///< optimizer steps completed
  Json meta = Json::object();  ///< {version, dtype, shape, axes, unit, split, sample_ids, weights,
                               ///< time, ...}
  std::vector<std::byte> data{};
};

/// Fills `data` and meta's version, dtype, shape and axes.
VITRINE_FOUNDATION_EXPORT void setFloat64(Artifact& artifact, std::span<const double> values,
                                          std::vector<std::int64_t> shape,
                                          std::vector<std::string> axes);
VITRINE_FOUNDATION_EXPORT void setFloat32(Artifact& artifact, std::span<const float> values,
                                          std::vector<std::int64_t> shape,
                                          std::vector<std::string> axes);
VITRINE_FOUNDATION_EXPORT void setUint8(Artifact& artifact, std::span<const std::uint8_t> values,
                                        std::vector<std::int64_t> shape,
                                        std::vector<std::string> axes);
VITRINE_FOUNDATION_EXPORT void setJson(Artifact& artifact, const Json& value);

/// A checked look at the data of an artifact that came from a database.
struct VITRINE_FOUNDATION_EXPORT ArrayView {
  std::string dtype;  ///< "float64" | "float32" | "uint8"
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
  [[nodiscard]] std::int64_t count() const noexcept;
  [[nodiscard]] double at(std::int64_t index) const noexcept;  ///< flat index, as double
};
/// \throws FileError  meta's dtype and shape do not describe the data
[[nodiscard]] VITRINE_FOUNDATION_EXPORT ArrayView arrayOf(const Json& meta,
                                                          std::span<const std::byte> data);

}  // namespace vitrine
