// The way of an image through its sampling, from what a sampler shows along it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/artifact/generated.h"

namespace vitrine::app {

/// The steps of one image.
struct Film {
  std::vector<Artifact> artifacts;  ///< the strip, then the attention of each step, where asked for
  std::vector<std::byte> png;       ///< steps from left to right; below them where the patch reads
  std::int64_t steps = 0;
};

/// Collects what a sampler hands out until an image is done. Knows two kinds. One is an image grid
/// of a batch with `first_seed` and `time` in its meta. The other is the attention of one image
/// with `seed` and `time`.
class FilmStrip {
 public:
  /// \returns  false: it is neither, and was left alone
  [[nodiscard]] bool take(const Artifact& artifact);
  /// \param image  its recipe and the hash of its pixels go into the meta of every artifact
  /// \throws FileError  what was taken is not as its meta says
  [[nodiscard]] Film of(const GeneratedImage& image) const;

 private:
  std::uint64_t firstSeed_ = 0;  ///< of the batch
  std::vector<Artifact> frames_, attention_;
};

}  // namespace vitrine::app
