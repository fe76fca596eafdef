// All SQL lives in core/store: no other room holds a statement, includes a private header of it, or
// reads the members of its classes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

/// Texts by path, from the root of the source.
using Sources = std::map<std::string, std::string>;
using Sentences = std::vector<std::string>;

const Sources& productSources() {
  static Sources sources;  // read once
  if (!sources.empty()) return sources;
  const fs::path root = VITRINE_SOURCE_DIR;
  for (const char* room : {"app", "core", "plugins", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / room)) {
      const std::string ending = entry.path().extension().string();
      if (!entry.is_regular_file() || (ending != ".h" && ending != ".cpp" && ending != ".cu"))
        continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      sources[entry.path().lexically_relative(root).generic_string()] = text.str();
    }
  }
  return sources;
}

/// "core/store" of "core/store/sqlite/database.h".
std::string roomOf(const std::string& path) {
  const auto first = path.find('/');
  return path.substr(0, path.find('/', first + 1));
}

bool isComment(const std::string& line) {
  const auto at = line.find_first_not_of(" \t");
  return at != std::string::npos && line.compare(at, 2, "//") == 0;
}

/// A string literal on `line` begins as a statement does, or holds a clause of one.
bool holdsSql(const std::string& line) {
  if (isComment(line)) return false;
  for (const char* clause : {" WHERE ", "ORDER BY ", "GROUP BY ", " JOIN "}) {
    if (line.find(clause) != std::string::npos) return true;
  }
  for (std::size_t at = line.find('"'); at != std::string::npos; at = line.find('"', at + 1)) {
    if (at > 0 && (line[at - 1] == '\\' || line[at - 1] == '\'')) continue;
    std::size_t begin = at + 1;
    if (at > 0 && line[at - 1] == 'R') begin = line.find('(', at) + 1;
    const std::string text = line.substr(std::min(begin, line.size()));
    for (const char* word : {"SELECT ", "INSERT ", "UPDATE ", "DELETE FROM ", "CREATE TABLE ",
                             "CREATE INDEX ", "CREATE VIEW ", "DROP ", "ALTER TABLE ", "PRAGMA ",
                             "WITH ", "BEGIN IMMEDIATE", "VACUUM"}) {
      if (text.starts_with(word)) return true;
    }
  }
  return false;
}

/// Statements that users write, and samples of them: data of the program.
bool isAboutUserStatements(const std::string& path) {
  static const std::set<std::string> kSqlPage{"ui/sql/sql_docs.cpp", "ui/sql/sql_editor.cpp",
                                              "ui/sql/sql_side.cpp", "ui/sql/sql_text.cpp"};
  return kSqlPage.count(path) != 0 ||
         (path.starts_with("app/vitrine/") && path.ends_with("/query.cpp"));
}

Sentences sqlOutside(const Sources& sources) {
  Sentences found;
  for (const auto& [path, text] : sources) {
    if (roomOf(path) == "core/store" || isAboutUserStatements(path)) continue;
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (holdsSql(line)) found.push_back(path + ":" + std::to_string(number) + line);
    }
  }
  return found;
}

/// Words of `line` that are made of letters, digits and _.
std::vector<std::string> wordsIn(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// The class that a line begins to define, or "".
std::string definedOn(const std::string& line) {
  if (line.find("class ") == std::string::npos && line.find("struct ") == std::string::npos)
    return {};
  if (line.find(';') != std::string::npos && line.find('{') == std::string::npos) return {};
  const std::string head = line.substr(0, line.find_first_of("{:"));
  const std::vector<std::string> words = wordsIn(head);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] != "class" && words[i] != "struct") continue;
    const bool isExported = words[i + 1].ends_with("_EXPORT") && i + 2 < words.size();
    return words[isExported ? i + 2 : i + 1];
  }
  return {};
}

Sentences friendsAcrossRooms(const Sources& sources) {
  std::map<std::string, std::set<std::string>> rooms;  // of each class
  for (const auto& [path, text] : sources) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (const std::string name = definedOn(line); !name.empty()) rooms[name].insert(roomOf(path));
    }
  }
  Sentences found;
  for (const auto& [path, text] : sources) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("friend ") == std::string::npos) continue;
      const std::vector<std::string> words = wordsIn(line.substr(0, line.find("//")));
      if (words.size() < 3 || words[0] != "friend") continue;
      if (words[1] != "class" && words[1] != "struct") continue;
      // Defined by a test: what it looks at need not be a member for all.
      if (words.back().ends_with("Probe") && rooms[words.back()].empty()) continue;
      if (rooms[words.back()].count(roomOf(path)) == 0)
        found.push_back(path + " has the friend " + words.back());
    }
  }
  return found;
}

/// "core/store" where what stands above the code of a header says "Private to core/store".
std::string privateTo(const std::string& text) {
  std::string comment = text.substr(0, text.find("#pragma once"));
  for (auto at = comment.find("\n// "); at != std::string::npos; at = comment.find("\n// "))
    comment.replace(at, 4, " ");  // a line ends within
  const std::string says = "Private to ";
  const auto at = comment.find(says);
  if (at == std::string::npos) return {};
  const auto begin = at + says.size();
  return comment.substr(begin, comment.find_first_of(".:, \n", begin) - begin);
}

Sentences privateHeadersOutside(const Sources& sources) {
  Sentences found;
  for (const auto& [path, text] : sources) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#include ")) continue;
      if (line == "#include <sqlite3.h>" && roomOf(path) != "core/store")
        found.push_back(path + " includes sqlite3.h");
      const auto begin = line.find('"');
      if (begin == std::string::npos) continue;
      const std::string header = line.substr(begin + 1, line.rfind('"') - begin - 1);
      const auto included = sources.find(header);
      const std::string owner = included == sources.end() ? "" : privateTo(included->second);
      if (owner.empty()) continue;
      // A public header that includes a private one would hand it on.
      const bool handsOn = path.ends_with(".h") && privateTo(text) != owner;
      if (roomOf(path) != owner || handsOn) found.push_back(path + " includes " + header);
    }
  }
  return found;
}

TEST(StoreRoom, HoldsAllSql) { EXPECT_THAT(sqlOutside(productSources()), IsEmpty()); }

TEST(StoreRoom, HasNoFriendsOutside) {
  const Sources& sources = productSources();
  EXPECT_GT(sources.size(), 300u);
  EXPECT_THAT(friendsAcrossRooms(sources), IsEmpty());
}

TEST(StoreRoom, KeepsItsPrivateHeaders) {
  const Sources& sources = productSources();
  int count = 0;
  for (const auto& [path, text] : sources) count += privateTo(text) == "core/store" ? 1 : 0;
  EXPECT_GT(count, 10);
  EXPECT_THAT(privateHeadersOutside(sources), IsEmpty());
}

TEST(StoreRoom, HasNoFolderThatIsTooLargeToSurvey) {
  std::map<std::string, int> files;
  for (const auto& [path, text] : productSources()) {
    if (roomOf(path) == "core/store") ++files[fs::path(path).parent_path().string()];
  }
  EXPECT_GT(files.size(), 5u);
  for (const auto& [folder, count] : files) EXPECT_LE(count, 40) << folder;
}

TEST(StoreRoomRules, FindSqlInOtherRooms) {
  for (const char* line :
       {"  store.query(\"SELECT value FROM meta\");", "      \"r.id WHERE r.id = \" +",
        "database.execute(\"PRAGMA user_version\");", "auto sql = R\"(UPDATE run SET note = '')\";",
        "    \"FROM run r JOIN segment s ON s.run_id = r.id\""}) {
    EXPECT_TRUE(holdsSql(line)) << line;
    EXPECT_EQ(sqlOutside({{"ui/compare/compare_data.cpp", line}}).size(), 1u) << line;
    EXPECT_THAT(sqlOutside({{"core/store/query.cpp", line}}), IsEmpty()) << line;
    EXPECT_THAT(sqlOutside({{"ui/sql/sql_docs.cpp", line}}), IsEmpty()) << line;
  }
  for (const char* line :
       {"// \"SELECT value FROM meta\"", "tr(\"for example SELECT * FROM runs.\")",
        "  \"vitrine query \\\"SELECT id FROM runs\\\"\"", "tr(\"Select runs\")", "QUERY ORDER"}) {
    EXPECT_FALSE(holdsSql(line)) << line;
  }
}

TEST(StoreRoomRules, FindFriendsOfOtherRooms) {
  const Sources sources{
      {"core/jobs/queue.h", "class VITRINE_STORE_EXPORT JobQueue {\n"},
      {"core/store/run_store.h", "class JobQueue;\nclass Store {\n  friend class JobQueue;\n};\n"}};
  EXPECT_THAT(friendsAcrossRooms(sources),
              ::testing::ElementsAre("core/store/run_store.h has the friend JobQueue"));
  EXPECT_THAT(friendsAcrossRooms({{"core/store/sqlite/database.h",
                                   "class Statement {\n  friend class Database;\n};\nclass "
                                   "Database final : public Base {\n"}}),
              IsEmpty());
  const std::string probed = "class Chart {\n  friend class ChartProbe;  ///< of tests\n};\n";
  EXPECT_THAT(friendsAcrossRooms({{"ui/figures/chart.h", probed}}), IsEmpty());
  EXPECT_EQ(friendsAcrossRooms({{"ui/figures/chart.h", probed},
                                {"ui/monitor/probe.h", "class ChartProbe {\n"}})
                .size(),
            1u);
}

TEST(StoreRoomRules, FindPrivateHeadersThatOthersInclude) {
  const std::string header = "core/store/sqlite/database.h";
  const std::string text = "// A connection. Private to core/store: others use it.\n#pragma once\n";
  const std::string include = "#include \"" + header + "\"\n";
  const auto found = [&](const std::string& path, const std::string& before) {
    return privateHeadersOutside({{header, text}, {path, before + include}}).size();
  };
  EXPECT_EQ(found("core/jobs/queue.cpp", ""), 1u);
  EXPECT_EQ(found("core/store/search.cpp", ""), 0u);
  EXPECT_EQ(found("core/store/search.h", "#pragma once\n"), 1u) << "it hands the header on";
  EXPECT_EQ(found("core/store/rows.h", "// Private to core/store.\n#pragma once\n"), 0u);
  EXPECT_EQ(privateHeadersOutside({{"ui/sql/a.cpp", "#include <sqlite3.h>\n"}}).size(), 1u);
}

}  // namespace
}  // namespace vitrine::store
