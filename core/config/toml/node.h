// A value that remembers where it was written: what the planner merges before it checks. Internal
// to core/config.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"

namespace vitrine {

/// Layer that a value came from, weakest first.
enum class Source { Default, Preset, File, Variant, Stage, Sweep, Select, CommandLine };

struct Node {
  // Defined where pairs of a name and a Node are complete: clang's vector looks into them earlier.
  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  bool isTable = false;
  bool replaces = false;    ///< an inline table: as a layer it takes the place of what was there
  Json value;               ///< of a leaf; `discarded` for a date or time
  std::vector<Node> items;  ///< of a list under `sweep`, `select`, `variant`, `stage`, `exclude`,
                            ///< `claim` or `result`: its elements
  std::string raw;          ///< of an override: the text as typed
  std::vector<std::pair<std::string, Node>> children;  ///< of a table, in the order of the file
  int keyLine = 0, keyColumn = 0;  ///< where the key stands, 0 where there is no text
  int line = 0, column = 0;        ///< where the value stands
  Source source = Source::File;

  [[nodiscard]] const Node* find(std::string_view name) const;
  [[nodiscard]] const Node* findPath(std::string_view dottedKey) const;
  /// Marks this node and everything below it.
  void mark(Source where);
  /// Makes this node and everything below it merge.
  void neverReplace();
  /// Gives this node and everything below it the place of `other`'s value.
  void placeAt(const Node& other);
};

/// The values of a node, as the file says them.
[[nodiscard]] Json jsonOf(const Node& node);

/// A table node of a JSON object (a leaf of anything else), without positions.
[[nodiscard]] Node nodeFrom(const Json& value, Source source);

/// Lays `layer` over the value at `path` under `root`, making tables on the way. A table merges key
/// by key, unless it `replaces`; anything else takes the place.
void lay(Node& root, const std::vector<std::string>& path, const Node& layer);

/// Lays every child of `layer` over `root`, splitting quoted dotted keys ("model.mask").
void layTable(Node& root, const Node& layer);

}  // namespace vitrine
