// A process that ends at a chosen commit to a database, as if it had been killed there.
#pragma once

#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/child.h"

namespace vitrine::testing {

/// Of a child: every connection to `database` that is opened from now on counts its commits, and
/// the process is killed at number `commit`, from 1 on, before it is stored.
inline void killAtCommit(const std::filesystem::path& database, int commit) {
  static std::string file;
  static int left = 0;
  file = database.string();
  left = commit;
  constexpr auto attach = [](sqlite3* connection, char**, const void*) {
    const char* name = sqlite3_db_filename(connection, "main");
    if (name == nullptr || file != name) return SQLITE_OK;
    const auto count = [](void*) {
      if (--left == 0) signalProcess(::getpid(), SIGKILL);
      return 0;
    };
    sqlite3_commit_hook(connection, count, nullptr);
    return SQLITE_OK;
  };
  int (*const entry)(sqlite3*, char**, const void*) = attach;
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(entry));
}

}  // namespace vitrine::testing
