// Latents of samples, made once by a codec and kept in a file of the cache folder.
//
//     <SHA-256 of the codec, 16 digits>-<data set>-<split>-<key, 16 digits>.safetensors
//       ids              int64 [samples], ascending: of the data set's split
//       mean             float32 [samples, views, channels, height, width]
//       log_variance     the same; absent of a codec of points
//       metadata         "vitrine.latents": what they were made of; "sha256": of the tensors
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/data/dataset.h"
#include "core/engine_export.h"

namespace vitrine {

/// Source of latents; any difference makes other latents.
struct LatentSource {
  std::string codec;    ///< SHA-256 of the codec's weights
  Json model;           ///< resolved table [model] of the codec: settings that no weight shows
  std::string dataset;  ///< id of the data set
  std::string split;
  Json images;  ///< everything else that decides about the images
};

/// Latents of the samples of one split. They are the codec's own, not scaled.
struct LatentTable {
  at::Tensor ids;          ///< [samples] int64, ascending
  at::Tensor mean;         ///< [samples, views, channels, height, width] float32 on the CPU; the
                           ///< second view is that of the mirrored image
  at::Tensor logVariance;  ///< of the shape of `mean`; undefined of a codec of points
};

/// Folder of the latents of `source`.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::filesystem::path latentFile(
    const std::filesystem::path& folder, const LatentSource& source);
/// \returns  nothing where there is no such file
/// \throws FileError  the file is cut, damaged, or of another codec, data set or setting
[[nodiscard]] VITRINE_ENGINE_EXPORT std::optional<LatentTable> readLatents(
    const std::filesystem::path& file, const LatentSource& source);
/// Under another name first: a reader sees the whole file or none. Makes the folder.
/// \throws FileError
VITRINE_ENGINE_EXPORT void writeLatents(const std::filesystem::path& file,
                                        const LatentSource& source, const LatentTable& table);

/// The samples of another data set with latents in place of their images. Fields of kind latent are
/// `latent` and, where the tables have them, `latent_log_variance`, `latent_mirrored` and
/// `latent_mirrored_log_variance`. All other fields stay.
class VITRINE_ENGINE_EXPORT LatentDataset final : public Dataset {
 public:
  /// \param tables  by Split; nullptr: the latents of that split were not made
  LatentDataset(std::shared_ptr<const Dataset> images,
                std::array<std::shared_ptr<const LatentTable>, 3> tables);
  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override { return images_->size(split); }
  /// \throws ConfigError  the latent of that sample was not made
  void read(Split split, std::int64_t id, Sample& sample) const override;
  [[nodiscard]] double memoryBytes() const override;
  [[nodiscard]] std::int64_t label(Split split, std::int64_t id) const override {
    return images_->label(split, id);
  }

 private:
  std::shared_ptr<const Dataset> images_;
  std::array<std::shared_ptr<const LatentTable>, 3> tables_;
  std::array<std::vector<std::int64_t>, 3> rows_;  // by split: of each sample, -1 without a latent
  DatasetInfo info_;
  bool readsMore_ = false;  // fields next to the label
};

}  // namespace vitrine
