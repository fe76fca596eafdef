// Attention of each layer and head for chosen images, with the images themselves.
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Artifacts per image: "image ID" of kind attention, [layers, heads, queries, keys], and "image ID
/// pixels", a PNG. Layers that differ in heads, queries or keys are artifacts of their own: "image
/// ID, layers 0, 2, window 4". `key_positions` are rows and columns of the grid of the keys
/// themselves; where that is not the image's, `key_places` says where on it they are. `label_name`
/// is the class of the image, `predicted`, `predicted_name` and `confidence` are the answer of a
/// classifier. A text with its image is one sequence: its words are on no grid, and `query_words` and
/// `key_words` name them, "" in the places of patches.
class AttentionMap final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] ProbeSamples probeSamples(const Config& config) const override;
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::analyses
