// Changed databases, the same every time. The long search is tests/fuzz/run.sh.
#include <gtest/gtest.h>

#include <thread>

#include "tests/fuzz/database_search.h"
#include "tests/support/long_tier.h"

namespace vitrine::fuzz {
namespace {

TEST(ChangedDatabases, AreShownImportedOrRefusedButNeverCrashAnything) {
  DatabaseSearch search{.count = isLong() ? 100'000 : 2'500};
  // The short tier leaves the other cores to the tests beside it.
  search.processes = isLong() ? static_cast<int>(std::thread::hardware_concurrency()) : 1;
  search.keep = std::string(VITRINE_BINARY_DIR) + "/fuzz/found";
  const DatabaseReport report = searchDatabases(search);
  for (const DatabaseFinding& finding : report.findings)
    ADD_FAILURE() << "input " << finding.input << ": " << finding.what;
  EXPECT_EQ(report.inputs + static_cast<std::int64_t>(report.findings.size()), search.count);
  // They are neither all refused nor all taken: the changes reach the code behind the door.
  EXPECT_GT(report.opened, search.count / 10);
  EXPECT_LT(report.opened, search.count);
  EXPECT_GT(report.imported, search.count / 50);
}

}  // namespace
}  // namespace vitrine::fuzz
