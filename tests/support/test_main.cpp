#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/child.h"
#include "tests/support/temporary_folder.h"

namespace {

/// Returned where a test was skipped and none failed: ctest then says "Skipped".
constexpr int kSkipped = 77;

int runTests() {
  const int failed = RUN_ALL_TESTS();
  return failed == 0 && testing::UnitTest::GetInstance()->skipped_test_count() > 0 ? kSkipped
                                                                                   : failed;
}

int runSuite(const std::string& suite) {
  GTEST_FLAG_SET(filter, suite + ".*");
  const int result = runTests();
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0) return result;
  std::fprintf(stderr, "there is no test in suite %s\n", suite.c_str());
  return 1;
}

/// What a process of runSuite() returned.
int resultOf(const char* suite, int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::fprintf(stderr, "suite %s was ended by signal %d\n", suite, WTERMSIG(status));
  return 1;
}

}  // namespace

/// The main function of every test program: `PROGRAM [GOOGLETEST'S OPTIONS] [SUITE...]`. Suites that
/// are named run one after the other, each in a process of its own; the libraries of the program are
/// loaded once for all of them.
int main(int count, char** words) {
  testing::InitGoogleMock(&count, words);
  vitrine::keepTemporaryFilesInMemory();
  if (count < 2) return runTests();
  int failed = 0, skipped = 0;
  for (int i = 1; i < count; ++i) {
    std::fflush(nullptr);
    const pid_t child = vitrine::forkChild();
    if (child == 0) return runSuite(words[i]);
    int status = 0;
    ::waitpid(child, &status, 0);
    const int result = resultOf(words[i], status);
    skipped += result == kSkipped ? 1 : 0;
    failed += result != 0 && result != kSkipped ? 1 : 0;
  }
  if (failed > 0) return 1;
  return skipped > 0 ? kSkipped : 0;
}
