// Sessions whose data are texts, or texts and images: what samplers and probes ask them for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/batch.h"
#include "core/engine_export.h"
#include "core/model/text_image_model.h"
#include "core/text/token_rows.h"

namespace vitrine {

/// A TaskSession may be one, too.
class VITRINE_ENGINE_EXPORT TextSession {
 public:
  virtual ~TextSession();
  /// \throws ConfigError  its data are tokens without a tokenizer
  [[nodiscard]] virtual const text::TokenizeStage& texts() const = 0;
};

/// A TaskSession whose samples are texts with images may be one, too.
class VITRINE_ENGINE_EXPORT JointSession {
 public:
  virtual ~JointSession();
  struct Sequence {
    MixedSequences sequences;        ///< one row, with its images
    std::vector<std::string> words;  ///< of each token; "" in the places of images
  };
  /// One sample as the model reads it when it draws: the text, then the image without noise.
  /// \throws ConfigError  it has no text, or does not fit into the model's context
  [[nodiscard]] virtual Sequence sequenceOf(const Batch& batch, std::int64_t row) const = 0;
};

}  // namespace vitrine
