// Changed databases through everything that opens, reads, writes, exports and imports one. Each
// input runs in a process that may crash or hang without ending the search.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vitrine::fuzz {

struct DatabaseSearch {
  std::int64_t first = 0, count = 0;  ///< numbers of inputs; one number makes one input everywhere
  int processes = 2;
  std::filesystem::path keep;  ///< where inputs with findings are put; "" puts them nowhere
};

struct DatabaseFinding {
  std::int64_t input = 0;
  std::string what;  ///< a signal, an exception that is not a refusal, a broken promise
};

struct DatabaseReport {
  std::int64_t inputs = 0;
  std::int64_t opened = 0;    ///< taken as a database
  std::int64_t imported = 0;  ///< at least one run of it
  std::int64_t peakMegabytes = 0;
  std::vector<DatabaseFinding> findings;  ///< the first 20
};

/// A finding is a crash, a sanitizer's report, more than ten seconds of computing, more than a
/// gigabyte, an exception that is not a vitrine::Error, a file where none should be, or a database
/// that is not sound after something was imported into it.
[[nodiscard]] DatabaseReport searchDatabases(const DatabaseSearch& search);

}  // namespace vitrine::fuzz
