// A model family: its schema, and how a model is made from a resolved configuration.
#pragma once

#include <cstdint>
#include <memory>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/model/model.h"

namespace vitrine {

/// A model family from one paper. Stateless: one object serves every run of the process.
class VITRINE_ENGINE_EXPORT Architecture {
 public:
  virtual ~Architecture();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// Builds and initialises from the `init` stream of `seed`: weight by weight as the paper's fact
  /// sheet says. \throws ConfigError  what the schema's rules cannot say
  [[nodiscard]] virtual std::shared_ptr<Model> build(const Config& config,
                                                     std::uint64_t seed) const = 0;
};

}  // namespace vitrine
