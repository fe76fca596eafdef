// A session whose data are texts: what samplers of texts ask it for.
#pragma once

#include "core/engine_export.h"
#include "core/text/token_rows.h"

namespace vitrine {

/// A TaskSession may be one, too.
class VITRINE_ENGINE_EXPORT TextSession {
 public:
  virtual ~TextSession();
  /// \throws ConfigError  its data are tokens without a tokenizer
  [[nodiscard]] virtual const text::TokenizeStage& texts() const = 0;
};

}  // namespace vitrine
