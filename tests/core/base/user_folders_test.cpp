// Where a user's files go, by the environment.
#include "core/base/user_folders.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace vitrine {
namespace {

/// A variable with another value, or without one, for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* was = std::getenv(name); was != nullptr) before_ = was;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(UserFolders, FollowTheirVariablesThenHome) {
  const Variable home("HOME", "/home/me"), data("XDG_DATA_HOME", "/big/data"),
      config("XDG_CONFIG_HOME", nullptr), cache("XDG_CACHE_HOME", "relative"),
      state("XDG_STATE_HOME", nullptr);
  EXPECT_EQ(userFolder(UserFolder::Data), "/big/data/vitrine");
  EXPECT_EQ(userFolder(UserFolder::Config), "/home/me/.config/vitrine");
  EXPECT_EQ(userFolder(UserFolder::Cache), "/home/me/.cache/vitrine");
  EXPECT_EQ(userFolder(UserFolder::State), "/home/me/.local/state/vitrine");
}

TEST(UserFolders, AreEmptyWithoutAnAbsolutePath) {
  const Variable home("HOME", nullptr), data("XDG_DATA_HOME", nullptr), cache("XDG_CACHE_HOME", "");
  EXPECT_TRUE(userFolder(UserFolder::Data).empty());
  EXPECT_TRUE(userFolder(UserFolder::Cache).empty());
}

}  // namespace
}  // namespace vitrine
