#include "app/vitrine/cli/open_store.h"

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/remote/place.h"

namespace vitrine::app {

namespace fs = std::filesystem;

fs::path databaseOf(const CommandLine& line) {
  if (isRemotePlace(line.database())) {
    const RemotePlace place = remotePlace(line.database());
    throw ConfigError("'" + line.database() + "' is on another machine: run `ssh " + place.host +
                      " vitrine ... --db " + place.file + "`, or open it in the window");
  }
  return line.database().empty() ? defaultDatabase() : fs::absolute(line.database());
}

RunStore openStore(const CommandLine& line, Missing missing) {
  const fs::path file = databaseOf(line);
  if (!fs::exists(file)) {
    if (!line.database().empty() && missing == Missing::Refuse) {
      throw NotFoundError("there is no database " + file.string() +
                          "; `vitrine runs --db` or `vitrine train --db` would make one");
    }
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) {
      throw StoreError("the folder " + file.parent_path().string() + " cannot be made: " +
                       error.message() + "; choose another database with --db");
    }
    return RunStore(file, OpenMode::ReadWriteCreate);
  }
  return RunStore(file, OpenMode::ReadWrite);
}

RunStore openStoreForReading(const CommandLine& line) {
  const fs::path file = databaseOf(line);
  if (!fs::exists(file))
    (void)openStore(line, Missing::Refuse);  // makes the default one, or refuses
  return RunStore(file, OpenMode::ReadOnly);
}

void reapBeforeShowing(RunStore& store) {
  try {
    store.reapLostRuns();
  } catch (const StoreError& problem) {
    log::warning(problem.what());
  }
}

ExitCode exitCodeOf(RunState state) noexcept {
  if (state == RunState::Done) return ExitCode::Done;
  return state == RunState::Failed ? ExitCode::Failed : ExitCode::Interrupted;
}

std::string runFolderName(const RunRow& run) { return "run-" + run.uuid; }

}  // namespace vitrine::app
