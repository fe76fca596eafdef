// The runs that [[exclude]] leaves out, as places in the product of variants and axes. Internal to
// core/config.
#pragma once

#include <cstddef>
#include <vector>

#include "core/config/experiment_reader.h"
#include "core/config/toml/node.h"
#include "core/config/toml/problem_list.h"

namespace vitrine {

/// \param node  the file's `exclude`
/// \param text  variants and axes as the file has them, the command line not laid over
[[nodiscard]] std::vector<Exclude> readExcludes(const Node& node, const ExperimentText& text,
                                                ProblemList& problems);

/// Forgets an axis that the command line sets, and what was left out by its values.
void dropAxis(std::vector<Exclude>& excludes, std::size_t axis);

/// Place of the first of `excludes` that leaves a run out, or -1.
/// \param choice  place of each axis's value
[[nodiscard]] int excludedBy(const std::vector<Exclude>& excludes, std::size_t variant,
                             const std::vector<std::size_t>& choice);

}  // namespace vitrine
