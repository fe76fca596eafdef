#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

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

/// All suites of the program but these.
std::vector<std::string> suitesBut(const std::vector<std::string>& others) {
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  std::vector<std::string> suites;
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const std::string name = program.GetTestSuite(i)->name();
    if (std::find(others.begin(), others.end(), name) == others.end()) suites.push_back(name);
  }
  return suites;
}

/// What a process of runSuite() returned.
int resultOf(const std::string& suite, int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::fprintf(stderr, "suite %s was ended by signal %d\n", suite.c_str(), WTERMSIG(status));
  return 1;
}

}  // namespace

/// The main function of every test program: `PROGRAM [GOOGLETEST'S OPTIONS] [SUITE...]`, or
/// `PROGRAM all-but [SUITE...]`. Suites run one after the other, each in a process of its own; the
/// libraries of the program are loaded once for all of them.
int main(int count, char** words) {
  testing::InitGoogleMock(&count, words);
  vitrine::keepTemporaryFilesInMemory();
  if (count < 2) return runTests();
  std::vector<std::string> suites(words + 1, words + count);
  if (suites.front() == "all-but") suites = suitesBut(suites);
  int failed = 0, skipped = 0;
  for (const std::string& suite : suites) {
    std::fflush(nullptr);
    const pid_t child = vitrine::forkChild();
    if (child == 0) return runSuite(suite);
    int status = 0;
    ::waitpid(child, &status, 0);
    const int result = resultOf(suite, status);
    skipped += result == kSkipped ? 1 : 0;
    failed += result != 0 && result != kSkipped ? 1 : 0;
  }
  if (failed > 0) return 1;
  return skipped > 0 ? kSkipped : 0;
}
