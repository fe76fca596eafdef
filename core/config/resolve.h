// Checks merged values against schemas and fills in defaults. Internal to core/config.
#pragma once

#include <array>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/config/experiment.h"
#include "core/config/schema.h"
#include "core/config/toml/node.h"
#include "core/config/toml/problem_list.h"

namespace vitrine {

using Origins = std::vector<std::pair<std::string, Origin>>;
/// Names of the layers, by Source: "default", "preset mlp/small", ...
using LayerNames = std::array<std::string, 8>;

/// One table of a configuration: the fields of one or two schemas, and keys that its owner reads
/// itself.
struct TableSpec {
  std::vector<const Schema*> schemas;
  std::vector<std::string> ownKeys;  ///< "architecture", "preset": legal, but not of a schema
  std::string item{};                ///< whose schema it is: "task/classification"
};

class Resolver {
 public:
  Resolver(ProblemList& problems, const LayerNames& layers, Origins* origins)
      : problems_(problems), layers_(layers), origins_(origins) {}

  /// \param node    the merged table; null where the text has none
  /// \param prefix  "model."
  /// \param values  receives every field, defaults included
  void table(const TableSpec& spec, const Node* node, const std::string& prefix, Json& values);

  /// Notes where `key` came from.
  void origin(const std::string& key, const Node* node);

 private:
  void fields(const std::vector<const Field*>& fields, const TableSpec& spec, const Node* node,
              const std::string& prefix, Json& values);
  Json field(const Field& field, const TableSpec& spec, const Node* node, const std::string& key);
  /// A problem of the item in work.
  void refuse(const Node* where, At at, Code code, const std::string& key,
              const std::string& message, const std::string& nearest = "");
  void unknownKeys(const std::vector<const Field*>& fields, const TableSpec& spec, const Node& node,
                   const std::string& prefix);

  ProblemList& problems_;
  const LayerNames& layers_;
  Origins* origins_;
  std::string root_, item_;  ///< prefix and item of the table in work
  std::unordered_set<std::string>
      invalid_;  ///< full keys whose values are not to be compared by rules
};

/// A leaf value of `field`'s type made from `node`, or the reason why it is none.
struct Checked {
  Json value;
  std::string message{}, nearest{};  ///< empty when all is well
  Code code = Code::WrongType;
};
[[nodiscard]] Checked checkLeaf(const Field& field, const Node& node);

/// "a, b, c" of at most a dozen.
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

/// Result of a rule on resolved `values`: key of the first argument and a message, both empty when
/// it holds.
struct Verdict {
  std::string key;
  std::vector<std::string> keys;  ///< every field the rule looked at
  std::string message;
};
[[nodiscard]] Verdict judge(const Rule& rule, const std::vector<const Schema*>& schemas,
                            const Json& values);

}  // namespace vitrine
