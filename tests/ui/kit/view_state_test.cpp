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

}  // namespace
}  // namespace vitrine::ui
