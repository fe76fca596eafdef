// Attention of one patch while images are drawn: a key of samplers, and what they show of it.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/model/capabilities.h"

namespace vitrine {

/// The key `attention` of a sampler that shows where a patch reads.
[[nodiscard]] VITRINE_ENGINE_EXPORT Field attentionField();
/// Row and column that the key says; nothing where it is empty.
/// \param source  of the model; nullptr: it hands out no attention
/// \throws ConfigError  the key is not a row and a column, or the model has no attention
[[nodiscard]] VITRINE_ENGINE_EXPORT std::optional<std::array<std::int64_t, 2>> askedPatch(
    const Config& config, const AttentionSource* source);

/// Listens to the attention of a model as long as it lives, and keeps that of the last evaluation.
class VITRINE_ENGINE_EXPORT PatchAttention {
 public:
  /// \param source  has no other tap; outlives this object
  /// \param patch   row and column
  /// \param images  that are drawn together; of a guided pass the first half, with the condition
  PatchAttention(AttentionSource& source, std::array<std::int64_t, 2> patch, std::int64_t images);
  ~PatchAttention();
  PatchAttention(const PatchAttention&) = delete;
  PatchAttention& operator=(const PatchAttention&) = delete;

  /// Where the patch of one image reads: [layers, heads, 1, keys], rows of the softmax.
  /// \param sampler  its id \param image  of those drawn together
  [[nodiscard]] Artifact ofImage(const std::string& sampler, std::int64_t image, std::uint64_t seed,
                                 double time) const;

 private:
  /// \throws ConfigError  the patch lies outside of the grid
  void receive(const AttentionRecord& record);

  AttentionSource& source_;
  std::array<std::int64_t, 2> patch_;
  std::int64_t images_;
  std::int64_t query_ = -1;         ///< among the tokens; -1: not seen yet
  std::vector<at::Tensor> layers_;  ///< of each layer [images, heads, keys]
  at::Tensor keys_;                 ///< rows and columns, [keys, 2] int64; -1 of a key on no patch
};

}  // namespace vitrine
