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

}  // namespace
}  // namespace vitrine
