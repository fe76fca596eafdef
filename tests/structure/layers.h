// Which folder may include which: a table, and what breaks it.
#pragma once

#include <string>
#include <vector>

#include "tests/structure/includes.h"

namespace vitrine::structure {

/// The layers within one folder, the lowest first. A folder includes those of lower layers, never
/// one beside it. "." stands for the files that lie in `folder` itself; "*" for every folder.
struct FolderLayers {
  std::string folder;  ///< "" for the root
  std::vector<std::vector<std::string>> layers;
};

/// Folders that are linked together, and the libraries that they see.
struct Library {
  std::string name;
  std::vector<std::string> folders;
  std::vector<std::string> uses;
};

/// An include that breaks the table and is known. Paths are compared from their beginning.
struct KnownException {
  std::string from, to;
  std::string reason;
};

struct Table {
  std::vector<FolderLayers> layers;  ///< what lies in folders without a row is not checked
  std::vector<Library> libraries;
  std::vector<KnownException> exceptions;
};

/// The table of this tree.
[[nodiscard]] const Table& treeTable();

/// One sentence for each include that breaks the table, for each folder that the table lacks and
/// for each exception that nothing needs any more; empty when all is well.
[[nodiscard]] std::vector<std::string> violations(const std::vector<Include>& includes,
                                                  const Table& table);

[[nodiscard]] bool isKnownException(const Include& include, const Table& table);

/// The deepest folder of a path that the table names: "core/config/edit" for a file of it.
[[nodiscard]] std::string roomOf(const std::string& path, const Table& table);

/// How high a room is: the number of its layer at each level of folders.
[[nodiscard]] std::vector<int> heightOf(const std::string& room, const Table& table);

/// The rooms, the highest first, each with the rooms that it includes. An arrow that follows from
/// two others is left out. The known exceptions follow. Text of fixed width.
[[nodiscard]] std::string drawing(const std::vector<Include>& includes, const Table& table);

}  // namespace vitrine::structure
