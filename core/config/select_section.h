// `[select]`: a grid of runs that are scored on a held-out part of the training set. The runs after
// it take the values of the best. Internal to core/config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/experiment_reader.h"

namespace vitrine {

struct Select {
  std::vector<Axis> grid;   ///< in the order of the file, the seeds last
  std::string metric;       ///< "" for the task's own
  std::string direction;    ///< "higher" or "lower"
  double holdout = 0;       ///< fraction of the training split
  std::vector<Node> seeds;  ///< of the refits

  /// Runs of the grid, and runs in all, for one variant and point of the sweep.
  [[nodiscard]] std::size_t gridSize() const;
  [[nodiscard]] std::size_t size() const { return gridSize() + seeds.size(); }
  /// Place of each axis's value in run `index` of the grid.
  [[nodiscard]] std::vector<std::size_t> choiceAt(std::size_t index) const;
  /// Runs of the grid that differ in the seed alone are one candidate: their number.
  [[nodiscard]] std::size_t runsOfCandidate() const;
};

/// Nothing when the file has no [select]. Drops axes that the command line sets.
[[nodiscard]] std::optional<Select> readSelect(const ExperimentText& text, ProblemList& problems);

/// What the file says that only [select] may say: to be called with the merged values of a run.
void refuseOwnHoldout(const Node& tree, ProblemList& problems);

}  // namespace vitrine
