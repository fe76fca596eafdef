#include "tests/structure/layers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace vitrine::structure {

namespace {

/// The first component of a path, without it the rest; a file has no component left.
std::string firstFolder(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string within(const std::string& folder, const std::string& child) {
  return folder.empty() ? child : folder + "/" + child;
}

bool isBelow(const std::string& path, const std::string& folder) {
  return folder.empty() || path == folder || path.rfind(folder + "/", 0) == 0;
}

const FolderLayers* rowOf(const std::string& folder, const Table& table) {
  const auto row = std::find_if(table.layers.begin(), table.layers.end(),
                                [&](const FolderLayers& one) { return one.folder == folder; });
  return row == table.layers.end() ? nullptr : &*row;
}

bool isForEvery(const FolderLayers& row) { return row.layers.front().front() == "*"; }

std::optional<int> layerOf(const FolderLayers& row, const std::string& child) {
  for (std::size_t i = 0; i < row.layers.size(); ++i) {
    for (const std::string& name : row.layers[i]) {
      if (name == child || name == "*") return static_cast<int>(i);
    }
  }
  return {};
}

/// Where two paths part: the folder that both are in, and the child of it on each side.
struct Parting {
  std::string folder, from, to;
};

Parting partingOf(const Include& include) {
  std::string folder, from = include.from, to = include.to;
  while (true) {
    const std::string a = firstFolder(from), b = firstFolder(to);
    if (a != b || a == ".") return {folder, a, b};
    folder = within(folder, a);
    from.erase(0, a.size() + 1);
    to.erase(0, b.size() + 1);
  }
}

std::string sentence(const Include& include, const std::string& why) {
  return include.from + " includes " + include.to + ": " + why;
}

/// "" where the layers allow it.
std::string brokenLayer(const Include& include, const Table& table) {
  const Parting parting = partingOf(include);
  const FolderLayers* row = rowOf(parting.folder, table);
  if (row == nullptr || parting.from == parting.to) return {};
  const auto from = layerOf(*row, parting.from), to = layerOf(*row, parting.to);
  for (const auto& [layer, child] : {std::pair{from, parting.from}, std::pair{to, parting.to}}) {
    if (!layer)
      return sentence(include, "'" + within(parting.folder, child) +
                                   "' has no layer yet: add it to tests/structure/table.cpp.");
  }
  if (*to < *from) return {};
  return sentence(include, "'" + within(parting.folder, parting.to) + "' is " +
                               (*to == *from ? "beside" : "above") + " '" +
                               within(parting.folder, parting.from) +
                               "'. Move what both need to a lower layer, or pass an interface.");
}

const Library* libraryOf(const std::string& path, const Table& table) {
  for (const Library& library : table.libraries) {
    for (const std::string& folder : library.folders) {
      if (isBelow(path, folder)) return &library;
    }
  }
  return nullptr;
}

/// "" where the libraries allow it.
std::string brokenLibrary(const Include& include, const Table& table) {
  const Library *from = libraryOf(include.from, table), *to = libraryOf(include.to, table);
  for (const auto& [library, path] : {std::pair{from, include.from}, std::pair{to, include.to}}) {
    if (library == nullptr)
      return sentence(
          include, "'" + path + "' is in no library: add its folder to tests/structure/table.cpp.");
  }
  if (from == to || std::count(from->uses.begin(), from->uses.end(), to->name) > 0) return {};
  return sentence(include, from->name + " does not link " + to->name + ".");
}

bool isOf(const KnownException& exception, const Include& include) {
  return include.from.rfind(exception.from, 0) == 0 && include.to.rfind(exception.to, 0) == 0;
}

using Arrows = std::map<std::string, std::set<std::string>>;

bool reaches(const Arrows& arrows, const std::string& from, const std::string& to,
             std::set<std::string>& seen) {
  const auto next = arrows.find(from);
  if (next == arrows.end() || !seen.insert(from).second) return false;
  return std::any_of(next->second.begin(), next->second.end(), [&](const std::string& room) {
    return room == to || reaches(arrows, room, to, seen);
  });
}

/// Whether another arrow of `from` leads to `to` as well.
bool isImplied(const Arrows& arrows, const std::string& from, const std::string& to) {
  const std::set<std::string>& others = arrows.at(from);
  return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
    std::set<std::string> seen{from};
    return other != to && reaches(arrows, other, to, seen);
  });
}

}  // namespace

bool isKnownException(const Include& include, const Table& table) {
  return std::any_of(table.exceptions.begin(), table.exceptions.end(),
                     [&](const KnownException& one) { return isOf(one, include); });
}

std::vector<std::string> violations(const std::vector<Include>& includes, const Table& table) {
  std::vector<std::string> found;
  std::vector<bool> isNeeded(table.exceptions.size(), false);
  for (const Include& include : includes) {
    std::string broken = brokenLayer(include, table);
    if (broken.empty()) broken = brokenLibrary(include, table);
    if (broken.empty()) continue;
    const auto exception =
        std::find_if(table.exceptions.begin(), table.exceptions.end(),
                     [&](const KnownException& one) { return isOf(one, include); });
    if (exception == table.exceptions.end())
      found.push_back(broken);
    else
      isNeeded[static_cast<std::size_t>(exception - table.exceptions.begin())] = true;
  }
  for (std::size_t i = 0; i < isNeeded.size(); ++i) {
    if (!isNeeded[i])
      found.push_back("The exception for " + table.exceptions[i].from + " and " +
                      table.exceptions[i].to +
                      " is not needed any more: take it out of tests/structure/table.cpp.");
  }
  return found;
}

std::string roomOf(const std::string& path, const Table& table) {
  std::string room, rest = path;
  while (true) {
    const FolderLayers* row = rowOf(room, table);
    const std::string child = firstFolder(rest);
    if (row == nullptr || isForEvery(*row) || child == ".") return room;
    room = within(room, child);
    rest.erase(0, child.size() + 1);
  }
}

std::vector<int> heightOf(const std::string& room, const Table& table) {
  std::vector<int> height;
  std::string folder, rest = room + "/.";
  while (const FolderLayers* row = rowOf(folder, table)) {
    const std::string child = firstFolder(rest);
    const auto layer = layerOf(*row, child);
    if (isForEvery(*row) || !layer) break;
    height.push_back(*layer);
    if (child == ".") break;
    folder = within(folder, child);
    rest.erase(0, child.size() + 1);
  }
  return height;
}

std::string drawing(const std::vector<Include>& includes, const Table& table) {
  Arrows arrows;
  for (const Include& include : includes) {
    const std::string from = roomOf(include.from, table), to = roomOf(include.to, table);
    arrows[from];
    arrows[to];
    if (from != to && !isKnownException(include, table)) arrows[from].insert(to);
  }
  std::vector<std::string> rooms;
  for (const auto& [room, next] : arrows) rooms.push_back(room);
  std::stable_sort(rooms.begin(), rooms.end(), [&](const std::string& a, const std::string& b) {
    return heightOf(a, table) > heightOf(b, table);
  });
  std::size_t width = 0;
  for (const std::string& room : rooms) width = std::max(width, room.size());

  std::string text;
  std::vector<int> last;
  for (const std::string& room : rooms) {
    std::vector<int> height = heightOf(room, table);
    height.resize(std::min<std::size_t>(height.size(), 2));
    if (!text.empty() && height != last) text += "\n";
    last = height;
    std::string line = room;
    for (const std::string& next : arrows.at(room)) {
      if (isImplied(arrows, room, next)) continue;
      if (line == room) line += std::string(width - room.size(), ' ') + "  ->";
      line += " " + next;
    }
    text += line + "\n";
  }
  for (const KnownException& exception : table.exceptions)
    text += "\nAgainst the layers: " + exception.from + " -> " + exception.to + "\n";
  return text;
}

}  // namespace vitrine::structure
