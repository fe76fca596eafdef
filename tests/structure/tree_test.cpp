// The tree as it is: its includes, its folders and the drawing of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "tests/structure/layers.h"

namespace vitrine::structure {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = VITRINE_SOURCE_DIR;
const fs::path kDocument = kRoot / "resources/docs/architecture.md";

const std::vector<Include>& includesOfTree() {
  static const std::vector<Include> includes =
      readIncludes(kRoot, {"app", "core", "plugins", "ui"});
  return includes;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// A document around the text between the fences behind "## Rooms".
struct Document {
  std::string before, drawn, after;
};

Document readDocument() {
  const std::string text = contentOf(kDocument);
  const std::string fence = "```\n";
  const std::size_t heading = text.find("\n## Rooms\n");
  const std::size_t begin = heading == std::string::npos ? heading : text.find(fence, heading);
  const std::size_t end =
      begin == std::string::npos ? begin : text.find(fence, begin + fence.size());
  if (end == std::string::npos) return {text, "", ""};
  const std::size_t inside = begin + fence.size();
  return {text.substr(0, inside), text.substr(inside, end - inside), text.substr(end)};
}

TEST(Tree, HasIncludesToCheck) { EXPECT_GT(includesOfTree().size(), 1000U); }

TEST(Tree, IncludesRunDownwardsOnly) {
  EXPECT_EQ(joined(violations(includesOfTree(), treeTable())), "");
}

TEST(Tree, AnIncludeUpwardsWouldBeSeen) {
  std::vector<Include> includes = includesOfTree();
  includes.push_back({"ui/kit/theme.cpp", "ui/shell/main_window.h"});
  includes.push_back({"core/base/text.cpp", "core/store/database.h"});
  EXPECT_EQ(violations(includes, treeTable()).size(), 2U);
}

// Frames are in the lowest library although their folder is in the store's.
TEST(Tree, AnIncludeOfTheStoreByTheFramesWouldBeSeen) {
  for (const char* file : {"core/remote/frames.h", "core/remote/frames.cpp"}) {
    std::vector<Include> includes = includesOfTree();
    includes.push_back({file, "core/store/run_store.h"});
    includes.push_back({file, "core/remote/client.h"});
    EXPECT_EQ(violations(includes, treeTable()).size(), 2U) << file;
  }
}

// Else a third party's plugin that includes such a header does not compile.
TEST(Tree, InstalledHeadersIncludeInstalledHeadersOnly) {
  std::ifstream in(kRoot / "core/cmake/VitrineInstall.cmake");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string loop = "foreach(room ";
  const std::size_t begin = text.find(loop);
  ASSERT_NE(begin, std::string::npos) << "no list of the rooms whose headers are installed";
  const std::size_t list = begin + loop.size();
  std::istringstream words(text.substr(list, text.find(')', list) - list));
  const std::set<std::string> installed{std::istream_iterator<std::string>(words), {}};
  EXPECT_EQ(installed.count("plugin"), 1U);
  const auto isInstalled = [&installed](const std::string& path) {
    const fs::path file(path);
    const auto room = file.begin() == file.end() ? file.end() : std::next(file.begin());
    return room != file.end() && installed.count(room->string()) > 0;
  };
  for (const Include& include : includesOfTree()) {
    const bool isHeader = include.from.starts_with("core/") && include.from.ends_with(".h");
    const bool isOfARoom = std::count(include.to.begin(), include.to.end(), '/') > 1;
    if (isHeader && isOfARoom && isInstalled(include.from)) {
      EXPECT_TRUE(isInstalled(include.to)) << include.from << " includes " << include.to;
    }
  }
}

TEST(Tree, FoldersHoldAtMost40Files) {
  std::map<std::string, int> files;
  for (const char* room : {"app", "core", "plugins", "tests", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / room)) {
      if (entry.is_regular_file())
        ++files[fs::relative(entry.path().parent_path(), kRoot).generic_string()];
    }
  }
  for (const auto& [folder, count] : files) EXPECT_LE(count, 40) << folder;
}

// After a wanted change: VITRINE_REDRAW=1 build/release/tests/structure_test
TEST(Architecture, DrawsTheRoomsAsTheyAre) {
  const std::string drawn = drawing(includesOfTree(), treeTable());
  const Document document = readDocument();
  ASSERT_FALSE(document.after.empty()) << kDocument << " has no drawing behind '## Rooms'";
  if (std::getenv("VITRINE_REDRAW") != nullptr && document.drawn != drawn) {
    std::ofstream(kDocument) << document.before << drawn << document.after;
    GTEST_SKIP() << kDocument << " is drawn again";
  }
  EXPECT_EQ(document.drawn, drawn)
      << "VITRINE_REDRAW=1 tests/structure_test writes this into " << kDocument << ":\n"
      << drawn;
}

}  // namespace
}  // namespace vitrine::structure
