// From artifacts to attention: which images a run has attention of, and their layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/types.h"
#include "ui/attention/attention_data.h"

namespace vitrine::ui {

/// Which matrix of which analysis: attention_map has one after the softmax and one after the mask,
/// others have matrices of their own.
struct AttentionSeries {
  std::string analysis;  ///< "attention_map"
  std::string matrix;    ///< "effective": `attention` of the meta
  auto operator<=>(const AttentionSeries&) const = default;
  [[nodiscard]] QString title() const;  ///< "attention map, effective"
};

/// The attention of one image at one step, and the artifacts that hold it.
struct AttentionEntry {
  AttentionSeries series;
  std::int64_t step = 0;
  std::int64_t sample = 0;         ///< number of the image in its split, or the seed of a drawn one
  std::string split;               ///< "test"; "" where the artifacts do not say
  bool isDrawn = false;            ///< by a sampler: `sample` is a seed
  std::optional<double> time;      ///< of a denoiser
  std::string weights;             ///< "model", "ema"
  std::vector<std::int64_t> maps;  ///< ids of artifacts, one for each group of layers
  std::int64_t picture = 0;        ///< id of the image, or 0
  int pictureIndex = -1;           ///< where `picture` is a grid of images
  bool isOfWeights = false;        ///< not of an image: the same for every sample
  std::int64_t filters = 0;        ///< of the weights: id of small images next to it, or 0
  /// \param among  a split; "": any
  [[nodiscard]] bool isOf(std::int64_t wanted, const std::string& among) const {
    return isOfWeights || (sample == wanted && isIn(among));
  }
  /// Seeds are of no split.
  [[nodiscard]] bool isIn(const std::string& among) const {
    return isOfWeights || isDrawn || split.empty() || among.empty() || split == among;
  }
};

/// Of artifacts with equal names at one step the newest counts. By series, step, sample and time.
[[nodiscard]] std::vector<AttentionEntry> attentionEntries(
    const std::vector<store::ArtifactRow>& rows);

using ArtifactBytes = std::function<std::vector<std::byte>(std::int64_t id)>;

/// Layers of all maps of an entry together. \param rows  hold the artifacts of the entry
/// \throws FileError  an artifact's data do not fit its meta
[[nodiscard]] std::shared_ptr<const AttentionImage> readAttention(
    const AttentionEntry& entry, const std::vector<store::ArtifactRow>& rows,
    const ArtifactBytes& bytes);

}  // namespace vitrine::ui
