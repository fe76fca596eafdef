// A model family: its schema, and how a model is made from a resolved configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/model/model.h"

namespace vitrine {

/// How a file of weights shows by its names which family of models it is of.
struct WeightSign {
  std::string title;                 ///< for "the file looks made for <title>": "a ResNet"
  std::vector<std::string> has;      ///< parts of names: all of them occur in the file
  std::vector<std::string> lacks{};  ///< and none of these does
};

/// A model family from one paper. Stateless: one object serves every run of the process.
class VITRINE_ENGINE_EXPORT Architecture {
 public:
  virtual ~Architecture();
  [[nodiscard]] virtual ItemCard card() const = 0;
  /// Builds and initialises from the `init` stream of `seed`: weight by weight as the paper's fact
  /// sheet says. \throws ConfigError  what the schema's rules cannot say
  [[nodiscard]] virtual std::shared_ptr<Model> build(const Config& config,
                                                     std::uint64_t seed) const = 0;
  /// Weights that it knows, its own and those that are taken for them. Here: none.
  [[nodiscard]] virtual std::vector<WeightSign> weightSigns() const;
};

}  // namespace vitrine
