// Models against reference cases: building our model of a case, and what its program makes. A new
// family needs nothing here: its schema has the keys of the cases, its program their names.
#pragma once

#include "core/config/config.h"
#include "core/model/model.h"
#include "core/plugin/registry.h"
#include "tests/support/golden/compare.h"

namespace vitrine::testing {

/// Our keys for the hyperparameters of a case: the same ones, or those of plain encoders of images.
/// \throws Unmapped  a hyperparameter matters and the schema has no key for it: names it
[[nodiscard]] Json modelTable(const GoldenCase& golden, const Schema& schema);

/// The resolved configuration of a case. \param overrides  laid over the case's values, by
/// top-level key
/// \throws Unmapped  the schema refuses the values: says which and why
[[nodiscard]] Config modelConfig(const GoldenCase& golden, const Architecture& architecture,
                                 const Json& overrides = Json::object());

/// Every output that the model's program (core/model/tensor_program.h) has for the case's inputs,
/// and all gradients: once with all outputs and once with the default ones, since taps take another
/// path. The default outputs also with each other file of the same weights. A case with images of
/// several sizes: the resized positions and the logits of each.
/// \throws Unmapped, ConfigError, FileError
[[nodiscard]] std::vector<Tensors> runModelCase(const GoldenCase& golden,
                                                const Architecture& architecture,
                                                const Json& overrides = Json::object());

}  // namespace vitrine::testing
