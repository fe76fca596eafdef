// Attention of one forward pass, copied to the CPU: the first half of every probe of attention.
#pragma once

#include <cstdint>
#include <vector>

#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/model/capabilities.h"

namespace vitrine::analyses {

/// Runs the model once, without gradient, and keeps what the tap receives, by layer. The tap is
/// gone afterwards, also when the model throws.
/// \param layers  to keep; empty means all
/// \param logits  receives a classifier's answers, float32 on the CPU; undefined of other models
/// \returns       weights float32 on the CPU
/// \throws ConfigError  the model offers no attention or has no such layer, or no way to be run on
///                      images
[[nodiscard]] std::vector<AttentionRecord> captureAttention(Model& model, const at::Tensor& images,
                                                            const std::vector<std::int64_t>& layers,
                                                            AttentionTap::Kind kind,
                                                            at::Tensor* logits = nullptr);

/// The keys `layers` and `attention`, which every such probe has.
[[nodiscard]] std::vector<Field> attentionFields();
[[nodiscard]] AttentionTap::Kind attentionKind(const Config& config);

}  // namespace vitrine::analyses
