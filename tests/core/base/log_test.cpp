#include "core/base/log.h"

#include <gtest/gtest.h>

namespace vitrine {
namespace {

std::string written(log::Level level, const std::string& text) {
  testing::internal::CaptureStderr();
  log::write(level, text);
  return testing::internal::GetCapturedStderr();
}

TEST(Log, PrefixesEverythingButInformation) {
  EXPECT_EQ(written(log::Level::Info, "ready"), "ready\n");
  EXPECT_EQ(written(log::Level::Warning, "slow"), "warning: slow\n");
  EXPECT_EQ(written(log::Level::Error, "gone"), "error: gone\n");
}

TEST(Log, DropsWhatIsBelowTheLevel) {
  EXPECT_EQ(written(log::Level::Debug, "detail"), "");
  log::setLevel(log::Level::Debug);
  EXPECT_EQ(written(log::Level::Debug, "detail"), "debug: detail\n");
  log::setLevel(log::Level::Error);
  EXPECT_EQ(written(log::Level::Warning, "slow"), "");
  log::setLevel(log::Level::Info);
}

}  // namespace
}  // namespace vitrine
