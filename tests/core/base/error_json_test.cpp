#include "core/base/error_json.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

TEST(ErrorJson, IsReadAsItWasWritten) {
  const auto error = reportedError(errorJson(ExitCode::NotFound, "there is no run 7"));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, "not_found");
  EXPECT_EQ(error->message, "there is no run 7");
}

TEST(ErrorJson, AResultIsNotAnError) {
  for (const Json& output :
       {Json(), Json::array(), Json{{"ids", {1}}}, Json{{"error", "text"}},
        Json{{"error", {{"code", 3}, {"message", "x"}}}}, Json{{"error", {{"code", "failed"}}}}}) {
    EXPECT_FALSE(reportedError(output).has_value()) << output;
  }
}

TEST(ErrorJson, WithoutAnObjectTheLastLineOfStderrIsTheMessage) {
  EXPECT_EQ(errorMessage(errorJson(ExitCode::Failed, "of stdout"), "of stderr\n"), "of stdout");
  EXPECT_EQ(errorMessage(Json(), "first\nof stderr\n"), "of stderr");
}

}  // namespace
}  // namespace vitrine
