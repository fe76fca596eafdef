// One run: merged values in, resolved configuration out. Internal to core/config.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/config/experiment.h"
#include "core/config/resolve.h"
#include "core/config/toml/node.h"
#include "core/config/toml/problem_list.h"

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
  /// A table that `[model]` is. \returns null where it names no architecture that is here
  const ItemCard* modelTable(const Node* section, const std::string& name, LayerNames& layers,
                             Json& values, Origins& origins);
  void observe(const Node* section, Resolver& resolver, Json& config);
  void data(const Node* section, Resolver& resolver, Json& config);
  void pipeline(const Node& given, Resolver& resolver, Json& data);
  Json transforms(const Node& list, const std::string& key);
  /// `[train]`: its schema is that of the chosen optimizer and schedule.
  void train(const Node* section, Resolver& resolver, Json& values);
  /// One table of `[train.groups]`.
  void group(const std::string& name, const Node& node, const std::string& optimizer,
             Resolver& resolver, Json& values);
  /// Takes the keys that only other items of the kind have out of `table`, each a problem.
  void refuseKeysOfOthers(Node& table, const std::string& prefix, ItemKind kind,
                          const std::string& id, const std::vector<Field>& legal);
  void auxiliaries(const Node* section, const LayerNames& layers, PlannedRun& run);
  void auxiliary(const std::string& name, const Node& node, const LayerNames& layers,
                 PlannedRun& run);
  void init(const Node* init, Resolver& resolver, PlannedRun& run);
  void capabilities(const ItemCard& asker, const Node* where, const std::string& key);
  void attentionOnImages(const ItemCard& analysis, const Node* where, const std::string& key);

  const Catalog& catalog_;
  ProblemList& problems_;
  const ItemCard* architecture_ = nullptr;
  const ItemCard* dataset_ = nullptr;
  const ItemCard* task_ = nullptr;
  std::vector<const ItemCard*> transforms_;  // of `[data.pipeline]`, known ones
  std::map<std::pair<std::string, std::string>, Schema> trainSchemas_;  ///< by both names
};

[[nodiscard]] bool contains(const std::vector<std::string>& words, const std::string& word);

/// Sections of a file that configure a run.
[[nodiscard]] const std::vector<std::string>& sectionNames();

/// `checkpoint` takes a step too: an integer becomes its text.
void normalizeCheckpoint(Node& table);
/// `checkpoint` among resolved `values` is best, latest or a step. \param prefix  "init."
void checkCheckpoint(const Node& table, const Json& values, const std::string& prefix,
                     ProblemList& problems);

/// `rename` of an `[init]` node as a list of pairs [from, to].
[[nodiscard]] Json readRename(const Node& node, ProblemList& problems);

[[nodiscard]] bool isUuid(const std::string& text);

/// The source that resolved `[init]` values describe; `run` is left to the planner where it names a
/// stage or variant.
[[nodiscard]] InitSource initSourceFrom(const Json& init);

}  // namespace vitrine
