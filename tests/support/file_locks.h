// Locks of a file as another process finds them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/child.h"

namespace vitrine {

/// Whether another process finds a lock at `place`.
inline bool isLocked(const std::filesystem::path& file, off_t place) {
  const pid_t child = forkChild();
  if (child == 0) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = place;
    lock.l_len = 1;
    if (descriptor < 0 || ::fcntl(descriptor, F_GETLK, &lock) != 0) ::_exit(2);
    ::_exit(lock.l_type == F_UNLCK ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_NE(WEXITSTATUS(status), 2) << file << " cannot be opened";
  return WEXITSTATUS(status) == 1;
}

/// Whether a thread of this process waits for a lock of flock(2).
inline bool isOneWaiting() {
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    if (line.find("-> FLOCK") != std::string::npos &&
        line.find(" " + std::to_string(::getpid()) + " ") != std::string::npos)
      return true;
  }
  return false;
}

}  // namespace vitrine
