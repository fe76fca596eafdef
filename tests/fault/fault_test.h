// A database with a queue, and processes of fault_worker that are started and killed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/jobs/queue.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/long_tier.h"
#include "tests/support/temporary_folder.h"

namespace vitrine::testing {

class FaultTest : public StoreTest {
 protected:
  /// The short tier is in memory where it can be: a disk that other programs keep busy for seconds
  /// makes every process wait.
  explicit FaultTest(const std::filesystem::path& parent = isLong() ? folderOnDisk()
                                                                    : folderInMemory());
  ~FaultTest() override;

  /// Stores a run and puts it into the queue. \param fault  {"kind": ..., "at": ...} or null
  std::int64_t add(store::RunStore& store, int steps, int stepMs, const Json& fault = nullptr,
                   const store::QueueOptions& options = {});
  /// `fault_worker VERB --db FILE MORE...`
  pid_t start(const std::string& verb, const std::vector<std::string>& more = {});
  /// Another program, in a process group of its own too.
  pid_t startProgram(const std::string& program, const std::vector<std::string>& arguments);
  /// Exit code, 128 + signal; kills it after four minutes.
  int wait(pid_t child);
  void kill(pid_t child);
  /// Processes that have this database in their arguments, by what follows "fault_worker".
  [[nodiscard]] std::vector<pid_t> processes(const std::string& words) const;
  [[nodiscard]] std::string log(const store::RunRow& run) const;
  /// Every step of a finished run is shown once, with the value that an undisturbed run gives, and
  /// nothing that was acknowledged is missing in the tables.
  void expectWhole(store::RunStore& store, std::int64_t run, int steps);

 private:
  std::vector<pid_t> children_;
  std::vector<std::string> environment_;  ///< as it was before the test
};

}  // namespace vitrine::testing
