// Where each layer and head reads, for chosen images, with the images themselves.
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Artifacts per image: "image ID" of kind attention, [layers, heads, queries, keys], and "image ID
/// pixels", a PNG.
class AttentionMap final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] ProbeSamples probeSamples(const Config& config) const override;
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::analyses
