// One run: merged values in, resolved configuration out. Internal to core/config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/experiment.h"
#include "core/config/node.h"
#include "core/config/problem_list.h"
#include "core/config/resolve.h"

namespace vitrine {

class RunResolver {
 public:
  RunResolver(const Catalog& catalog, ProblemList& problems)
      : catalog_(catalog), problems_(problems) {}

  /// \param tree    every layer but preset and defaults, merged
  /// \param layers  names by Source; that of the preset is filled in
  void resolve(const Node& tree, LayerNames& layers, PlannedRun& run);

  /// The `[model]` section alone.
  void model(const Node& tree, LayerNames& layers, Json& config, Origins& origins);

 private:
  const ItemCard* item(ItemKind kind, const Node* section, const std::string& sectionName,
                       const char* keyName, Json& values, Resolver& resolver);
  void observe(const Node* section, Resolver& resolver, Json& config);
  void data(const Node* section, Resolver& resolver, Json& config);
  void pipeline(const Node& given, Resolver& resolver, Json& data);
  Json transforms(const Node& list, const std::string& key);
  void capabilities(const ItemCard& asker, const Node* where, const std::string& key);

  const Catalog& catalog_;
  ProblemList& problems_;
  const ItemCard* architecture_ = nullptr;
  const ItemCard* dataset_ = nullptr;
  const ItemCard* task_ = nullptr;
  std::vector<const ItemCard*> transforms_;  // of `[data.pipeline]`, known ones
};

/// Sections of a file that configure a run.
[[nodiscard]] const std::vector<std::string>& sectionNames();

/// `rename` of an `[init]` node as a list of pairs [from, to].
[[nodiscard]] Json readRename(const Node& node, ProblemList& problems);

/// The source that resolved `[init]` values describe; `run` is left to the planner where it names a
/// stage or variant.
[[nodiscard]] InitSource initSourceFrom(const Json& init);

}  // namespace vitrine
