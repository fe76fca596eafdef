// Every file under experiments/ is what it claims to be.
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;

const fs::path kExperiments = fs::path(VITRINE_SOURCE_DIR) / "experiments";

std::vector<fs::path> filesNamed(bool (*wanted)(const std::string&)) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kExperiments)) {
    if (entry.path().extension() == ".toml" && wanted(entry.path().filename().string()))
      files.push_back(entry.path());
  }
  return files;
}

bool isData(const std::string& name) {
  return name == "published.toml" || name == "claims.toml" || name == "tour.toml";
}

/// What `vitrine check FILE --json` says.
Json checked(const fs::path& file, int& status) {
  const std::string command =
      std::string(VITRINE_PROGRAM) + " check '" + file.string() + "' --json 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 65536> buffer{};
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), count);
  status = pclose(pipe);
  return Json::parse(text, nullptr, false);
}

TEST(Experiments, EveryFilePassesCheck) {
  const auto files = filesNamed([](const std::string& name) { return !isData(name); });
  ASSERT_GE(files.size(), 5U);
  for (const fs::path& file : files) {
    int status = -1;
    const Json report = checked(file, status);
    ASSERT_TRUE(report.is_object()) << file;
    EXPECT_EQ(status, 0) << file << "\n" << report.value("problems", Json()).dump(1);
    EXPECT_TRUE(report.at("problems").empty()) << file << "\n" << report.at("problems").dump(1);
  }
}

TEST(Experiments, EveryPublishedNumberSaysWhereItStandsAndWhatItMeasures) {
  const auto files = filesNamed([](const std::string& name) { return name == "published.toml"; });
  ASSERT_GE(files.size(), 5U);
  for (const fs::path& file : files) {
    const toml::table data = toml::parse_file(file.string());
    EXPECT_TRUE(data["paper"].is_string()) << file;
    const toml::array* results = data["result"].as_array();
    ASSERT_NE(results, nullptr) << file;
    std::set<std::string> seen;
    for (const toml::node& node : *results) {
      const toml::table& result = *node.as_table();
      EXPECT_TRUE(result.contains("table") || result.contains("figure"))
          << file << " " << node.source().begin.line;
      EXPECT_TRUE(result["model"].is_string() && result["metric"].is_string())
          << node.source().begin.line;
      ASSERT_TRUE(result["value"].is_number()) << node.source().begin.line;
      if (result["metric"].value_or(std::string()) == "top1") {
        EXPECT_GE(result["value"].value_or(-1.0), 0) << node.source().begin.line;
        EXPECT_LE(result["value"].value_or(101.0), 100) << node.source().begin.line;
      }
      // The same cell twice would be two answers to one question.
      toml::table key = result;
      key.erase("value");
      std::ostringstream text;
      text << key;
      EXPECT_TRUE(seen.insert(text.str()).second) << file << " line " << node.source().begin.line;
    }
  }
}

TEST(Experiments, EveryClaimNamesVariantsOfAnExperimentBesideIt) {
  int claims = 0;
  for (const fs::path& file :
       filesNamed([](const std::string& name) { return name == "claims.toml"; })) {
    const toml::table data = toml::parse_file(file.string());
    for (const toml::node& node : *data["claim"].as_array()) {
      const toml::table& claim = *node.as_table();
      ++claims;
      EXPECT_TRUE(claim["source"].is_string() && claim["metric"].is_string())
          << node.source().begin.line;
      EXPECT_TRUE(claim.contains("margin") || claim.contains("above")) << node.source().begin.line;
      const toml::table experiment = toml::parse_file(
          (file.parent_path() / claim["experiment"].value_or(std::string())).string());
      std::set<std::string> names;
      for (const char* kind : {"variant", "stage"}) {
        if (const toml::array* entries = experiment[kind].as_array()) {
          for (const toml::node& entry : *entries)
            names.insert((*entry.as_table())["name"].value_or(std::string()));
        }
      }
      for (const char* side : {"better", "worse"}) {
        if (claim.contains(side)) {
          EXPECT_TRUE(names.contains(claim[side].value_or(std::string())))
              << file << " " << node.source().begin.line;
        }
      }
    }
  }
  EXPECT_GE(claims, 4);
}

TEST(Experiments, AClaimThatOneVariantFallsFurtherIsAboutTheFall) {
  int falls = 0;
  for (const fs::path& file :
       filesNamed([](const std::string& name) { return name == "claims.toml"; })) {
    const toml::table data = toml::parse_file(file.string());
    for (const toml::node& node : *data["claim"].as_array()) {
      const toml::table& claim = *node.as_table();
      const std::string name = claim["name"].value_or(std::string());
      const std::string metric = claim["metric"].value_or(std::string());
      const bool isFall = metric.starts_with("analysis/resolution_sweep/fall/");
      falls += isFall ? 1 : 0;
      EXPECT_EQ(name.find("falls further") != std::string::npos, isFall) << name;
    }
  }
  EXPECT_EQ(falls, 10);
}

}  // namespace
}  // namespace vitrine
