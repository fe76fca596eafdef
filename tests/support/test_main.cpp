#include <gmock/gmock.h>

#include "tests/support/temporary_folder.h"

// The main function of every test program. Returns 77 where a test was skipped and none failed:
// ctest then says "Skipped".
int main(int count, char** words) {
  testing::InitGoogleMock(&count, words);
  vitrine::keepTemporaryFilesInMemory();
  const int failed = RUN_ALL_TESTS();
  return failed == 0 && testing::UnitTest::GetInstance()->skipped_test_count() > 0 ? 77 : failed;
}
