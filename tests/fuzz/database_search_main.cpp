// The search in changed databases as a program: database_search COUNT [FIRST] [FOLDER FOR FINDINGS]
// [PROCESSES]
#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "tests/fuzz/database_search.h"

int main(int count, char** words) {
  vitrine::fuzz::DatabaseSearch search;
  search.count = count > 1 ? std::atoll(words[1]) : 10'000;
  search.first = count > 2 ? std::atoll(words[2]) : 0;
  search.keep = count > 3 ? words[3] : "";
  search.processes =
      count > 4 ? std::atoi(words[4]) : static_cast<int>(std::thread::hardware_concurrency());
  // A worker has one thread: SQLite's mutexes and statistics would be a tenth of its time.
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  try {
    const vitrine::fuzz::DatabaseReport report = vitrine::fuzz::searchDatabases(search);
    for (const auto& finding : report.findings)
      std::printf("finding: input %lld: %s\n", static_cast<long long>(finding.input),
                  finding.what.c_str());
    std::printf("inputs %lld opened %lld imported %lld findings %zu peak_MB %lld\n",
                static_cast<long long>(report.inputs), static_cast<long long>(report.opened),
                static_cast<long long>(report.imported), report.findings.size(),
                static_cast<long long>(report.peakMegabytes));
    return report.findings.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "database_search: %s\n", error.what());
    return 2;
  }
}
