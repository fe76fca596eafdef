// Places of text and images in a joint sequence: which tokens see which, positions, targets.
//
// Made on the host from an image index: [N] or [B, N] int64, 0 for text and k for the k-th image of
// the row. The tokens of an image follow one another.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace vitrine::llamafusion {

/// Whether tokens of one image see each other in both directions.
enum class ImageMask {
  Hybrid,  ///< all tokens of one image see each other; everything else is causal
  Causal,
};

/// Whether tokens of one image have positions of their own.
enum class ImagePositions {
  Sequential,  ///< each token its place in the sequence
  Shared,      ///< all tokens of an image have one position; the next token has the one after it
};

/// The last key that each token sees: allowed keys are always a prefix of the row.
/// \returns  int64, of the shape of `imageIndex`
[[nodiscard]] at::Tensor lastAllowedKey(const at::Tensor& imageIndex, ImageMask mask);

/// The first key that each token sees where several documents share a row.
/// \param document  [N] or [B, N] int64: tokens of one document are equal and follow one another
[[nodiscard]] at::Tensor firstAllowedKey(const at::Tensor& document);

/// \returns  int64, of the shape of `imageIndex`
[[nodiscard]] at::Tensor tokenPositions(const at::Tensor& imageIndex, ImagePositions kind);

/// Row and column of the patch that each token is, -1 of a text's: [N, 2] float64. Patches are in
/// raster order; further images stand below the first. Undefined where the rows of a batch differ.
/// \param rows, columns  patches of an image
[[nodiscard]] at::Tensor patchPlaces(const at::Tensor& imageIndex, std::int64_t rows,
                                     std::int64_t columns);

/// Rows of the part of a batch that begins with column `prefix`: the first column in which some
/// row has an image. Row r is token r % M of sample r / M, with M = N - prefix columns.
struct Routing {
  std::int64_t prefix = 0;
  at::Tensor text, image;  ///< int64: rows of each modality, ascending
  at::Tensor inverse;      ///< int64: where row r lies in text and image one behind the other
};
/// \param batch   samples; an index of one row stands for all of them
/// \param device  of the row numbers
[[nodiscard]] Routing routingOf(const at::Tensor& imageIndex, std::int64_t batch,
                                at::Device device);

/// Columns of a batch whose samples all have as many tokens of images: those of the text, then
/// those of images, both in the order of the sequence.
struct SortedColumns {
  at::Tensor columns;     ///< int64, of the shape of the image index; undefined: numbers differ
  std::int64_t text = 0;  ///< how many of them are text
};
/// On the CPU.
[[nodiscard]] SortedColumns sortedColumns(const at::Tensor& imageIndex);

}  // namespace vitrine::llamafusion
