// Whole encoders of images against reference cases: building our model of a case, and what it
// makes.
#pragma once

#include "core/config/config.h"
#include "core/model/model.h"
#include "core/plugin/registry.h"
#include "tests/support/golden_compare.h"

namespace vitrine::testing {

/// Our keys for the hyperparameters of a case, those that the schema has.
/// \throws Unmapped  a hyperparameter matters and the schema has no key for it: names it
[[nodiscard]] Json modelTable(const GoldenCase& golden, const Schema& schema);

/// The resolved configuration of a case. \param overrides  laid over the case's values, by
/// top-level key
/// \throws Unmapped  the schema refuses the values: says which and why
[[nodiscard]] Config modelConfig(const GoldenCase& golden, const Architecture& architecture,
                                 const Json& overrides = Json::object());

/// Embeddings, blocks, attention, mask, features, logits, loss and all gradients of a case, once
/// with taps set and once without, since the two take different paths. A case with images of
/// several sizes: the resized positions and the logits of each. \throws Unmapped, ConfigError,
/// FileError
[[nodiscard]] std::vector<Tensors> runModelCase(const GoldenCase& golden,
                                                const Architecture& architecture,
                                                const Json& overrides = Json::object());

}  // namespace vitrine::testing
