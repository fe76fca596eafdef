// JSON from outside, and that there is no other way in.
#include "core/base/read_json.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/source_search.h"

namespace vitrine {
namespace {

std::string nested(int levels, const std::string& inner = "") {
  return std::string(static_cast<std::size_t>(levels), '[') + inner +
         std::string(static_cast<std::size_t>(levels), ']');
}

TEST(ReadJson, TakesItsDeepestTextAndNoneDeeper) {
  EXPECT_EQ(readJson(nested(kDeepestJson)).dump(), nested(kDeepestJson));
  EXPECT_TRUE(isJson(nested(kDeepestJson)));
  for (const int levels : {kDeepestJson + 1, 200'000}) {
    EXPECT_TRUE(readJson(nested(levels)).is_discarded()) << levels;
    EXPECT_FALSE(isJson(nested(levels))) << levels;
  }
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(readJson(objects).is_discarded());
}

TEST(ReadJson, CountsNoBracketInsideAString) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(readJson("[\"" + brackets + "\"]").at(0), brackets);
  EXPECT_EQ(readJson(R"(["\"[", "\\", "]"])").size(), 3u);
  // A string that ends behind an escaped backslash hides nothing of what follows.
  EXPECT_TRUE(readJson("[\"\\\\\"," + nested(200'000) + "]").is_discarded());
  EXPECT_TRUE(readJson("[\"\\\"\"," + nested(200'000) + "]").is_discarded());
}

TEST(ReadJson, RefusesWhatIsNotJson) {
  for (const char* text :
       {"", "[", "]", "{\"a\"}", "[1,]", "\"", "nul", "[1] 2", "]]]]", "// no"}) {
    EXPECT_TRUE(readJson(text).is_discarded()) << text;
    EXPECT_FALSE(isJson(text)) << text;
  }
}

TEST(ReadJson, IsTheOnlyWayInWhichTheProgramParsesJson) {
  // The readers of safetensors know their own depth: they take two levels.
  EXPECT_EQ(testing_support::filesThatSay(
                {"Json::parse", "json::parse", "Json::accept", "QJsonDocument", ">> json"}),
            "core/base/read_json.cpp ");
  EXPECT_EQ(testing_support::filesThatSay({"sax_parse", "from_cbor", "from_msgpack", "from_bson"}),
            "core/files/safetensors.cpp core/files/safetensors_set.cpp core/remote/frames.cpp ");
}

}  // namespace
}  // namespace vitrine
