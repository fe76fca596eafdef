#include "app/vitrine/cli/open_store.h"

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/remote/place.h"

namespace vitrine::app {

namespace fs = std::filesystem;

fs::path databaseOf(const CommandLine& line) {
  if (remote::isRemotePlace(line.database())) {
    const remote::RemotePlace place = remote::remotePlace(line.database());
    throw ConfigError("'" + line.database() + "' is on another machine: run `" + place.login() +
                      " vitrine ... --db " + place.file + "`, or open it in the window");
  }
  return line.database().empty() ? store::defaultDatabase() : fs::absolute(line.database());
}

store::RunStore openStore(const CommandLine& line, Missing missing) {
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
    return store::RunStore(file, store::OpenMode::ReadWriteCreate);
  }
  return store::RunStore(file, store::OpenMode::ReadWrite);
}

store::RunStore openStoreForReading(const CommandLine& line) {
  const fs::path file = databaseOf(line);
  if (!fs::exists(file))
    (void)openStore(line, Missing::Refuse);  // makes the default one, or refuses
  return store::RunStore(file, store::OpenMode::ReadOnly);
}

void reapBeforeShowing(store::RunStore& store) {
  try {
    store.reapLostRuns();
  } catch (const StoreError& error) {
    log::warning(error.what());
  }
}

store::RunStore openStoreToShow(const CommandLine& line, Missing missing) {
  try {
    store::RunStore store = openStore(line, missing);
    reapBeforeShowing(store);
    return store;
  } catch (const store::UnwritableError& error) {
    log::warning(error.what());
  }
  return store::RunStore(databaseOf(line), store::OpenMode::ReadOnly);
}

ExitCode exitCodeOf(store::RunState state) noexcept {
  if (state == store::RunState::Done) return ExitCode::Done;
  return state == store::RunState::Failed ? ExitCode::Failed : ExitCode::Interrupted;
}

}  // namespace vitrine::app
