// Values of a view's state, also where another program wrote it.
#include <gtest/gtest.h>

#include <cstdint>

#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

TEST(ViewState, TakesWholeNumbersWithinTheirRange) {
  const Json state{{"step", 3}, {"share", 0.5}, {"word", "3"}, {"large", std::int64_t{1} << 40}};
  EXPECT_EQ(stateInteger(state, "step", 0, 3, -1), 3);
  for (const char* key : {"share", "word", "large", "missing"})
    EXPECT_EQ(stateInteger(state, key, 0, 3, -1), -1) << key;
}

TEST(ViewState, TakesTextsAlone) {
  const Json state{{"word", "mass"}, {"number", 3}};
  EXPECT_EQ(stateText(state, "word"), "mass");
  EXPECT_EQ(stateText(state, "number"), "");
  EXPECT_EQ(stateText(state, "missing"), "");
}

TEST(ViewState, TakesListsAndTablesWhereTheyLie) {
  const Json state{{"list", {1, 2}}, {"table", {{"a", 1}}}};
  EXPECT_EQ(&stateList(state, "list"), &state.at("list"));
  EXPECT_EQ(&stateTable(state, "table"), &state.at("table"));
  EXPECT_EQ(stateList(state, "table"), Json::array());
  EXPECT_EQ(stateTable(state, "list"), Json::object());
  EXPECT_TRUE(stateMember(state, "missing").is_null());
  EXPECT_EQ(stateList(Json(3), "list"), Json::array()) << "of a state that is not an object";
}

TEST(ViewState, TakesTwoNumbersAsAPair) {
  EXPECT_EQ(statePair(Json{0.5, 2}), (std::array{0.5, 2.0}));
  for (const char* text : {"[1]", "[1, 2, 3]", "[1, \"2\"]", "{\"a\": 1}", "null", "1"})
    EXPECT_EQ(statePair(Json::parse(text)), std::nullopt) << text;
}

}  // namespace
}  // namespace vitrine::ui
