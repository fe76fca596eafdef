// Reads an experiment file and the command line, before they are expanded into runs. Internal to
// core/config.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/experiment.h"
#include "core/config/toml/node.h"
#include "core/config/toml/problem_list.h"

namespace vitrine {

using Path = std::vector<std::string>;

/// A `[[variant]]` or `[[stage]]`.
struct Entry {
  std::string name;
  Node layer;  ///< a table of what it sets
};

struct Axis {
  std::string key;
  Path path;
  std::string shortName;
  std::vector<Node> values;
};

/// An `[[exclude]]`: which variant and which value of each axis it names, by place; -1 where it
/// means every one.
struct Exclude {
  int variant = -1;
  std::vector<int> choice;  ///< as many as there are axes
  int line = 0, column = 0;
};

struct ExperimentText {
  std::string title;
  Node base;               ///< the file's own values
  std::vector<Axis> axes;  ///< in the order of the file, the seeds last
  std::vector<Entry> variants, stages;
  std::optional<Node> select;  ///< its table, with what the command line says
  std::vector<Axis> grid;      ///< of `select`, in the order of the file, the seeds last
  std::vector<Exclude> excludes;
  std::vector<std::pair<Path, Node>> overrides;
};

/// \param document  of readToml
[[nodiscard]] ExperimentText readExperiment(const Node& document,
                                            const std::vector<Override>& overrides,
                                            ProblemList& problems);

[[nodiscard]] bool isPrefix(const Path& prefix, const Path& path);
[[nodiscard]] bool sameValue(const Node& a, const Node& b);

/// A value as it stands in the name of a run.
[[nodiscard]] std::string shownInName(const Node& node);

}  // namespace vitrine
