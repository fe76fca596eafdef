// Attention of one forward pass, copied to the CPU: the first half of every probe of attention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/model/capabilities.h"
#include "core/plugin/analysis.h"

namespace vitrine::analyses {

/// Runs the model once over the samples, without gradient, and keeps what the tap receives, by
/// layer. The tap is gone afterwards, also when the model throws. Of a model of texts and images
/// every record is of one sample, whose tokens are as many as its own text has.
/// \param layers  to keep; empty means all
/// \param logits  receives a classifier's answers, float32 on the CPU; undefined of other models
/// \returns       weights float32 on the CPU
/// \throws ConfigError  the model offers no attention or has no such layer, or no way to be run on
///                      images
[[nodiscard]] std::vector<AttentionRecord> captureAttention(const ProbeContext& context,
                                                            const std::vector<std::int64_t>& layers,
                                                            AttentionTap::Kind kind,
                                                            at::Tensor* logits = nullptr);

/// The attention of one text with its image.
struct CapturedSequence {
  std::vector<AttentionRecord> records;  ///< by layer
  std::vector<std::string> words;        ///< of each token; "" of a patch
};
/// One for each sample of a model of texts and images; empty of other models.
/// \throws ConfigError  as captureAttention()
[[nodiscard]] std::vector<CapturedSequence> captureSequences(
    const ProbeContext& context, const std::vector<std::int64_t>& layers, AttentionTap::Kind kind);

/// [[row, column], ...] of positions [tokens, 2] float64; empty where they are undefined.
[[nodiscard]] Json positionsOf(const at::Tensor& positions);

/// The keys `layers` and `attention`, which every such probe has.
[[nodiscard]] std::vector<Field> attentionFields();
[[nodiscard]] AttentionTap::Kind attentionKind(const Config& config);

}  // namespace vitrine::analyses
