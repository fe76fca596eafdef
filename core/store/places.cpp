// Paths of databases and their files, and the version of SQLite.
#include <sqlite3.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/base/user_folders.h"
#include "core/store/run_store.h"

namespace vitrine::store {

std::filesystem::path defaultDatabase() {
  const char* file = std::getenv("VITRINE_DB");
  if (file != nullptr && *file != '\0') return file;
  const std::filesystem::path folder = userFolder(UserFolder::Data);
  if (folder.empty()) {
    throw ConfigError(
        "HOME is not set, so your own database has no folder; set HOME, or name a database with "
        "--db or $VITRINE_DB");
  }
  return folder / "experiments.sqlite";
}

std::filesystem::path filesFolder(const std::filesystem::path& database) {
  return database.parent_path() / (database.stem().string() + ".files");
}

std::string runFolderName(const std::string& uuid) { return "run-" + uuid; }

std::filesystem::path placeBelow(const std::filesystem::path& folder,
                                 const std::filesystem::path& relative) {
  if (relative.empty() || relative.is_absolute()) return {};
  for (const auto& part : relative) {
    if (part == "..") return {};
  }
  return folder / relative;
}

std::string sqliteVersion() { return sqlite3_libversion(); }

bool sqliteHasWalResetBug() {
  const int version = sqlite3_libversion_number();
  // Fixed in 3.51.3, and in the back-ports 3.50.7 and 3.44.6.
  const bool isBackPort =
      (version >= 3050007 && version < 3051000) || (version >= 3044006 && version < 3045000);
  return version >= 3007000 && version < 3051003 && !isBackPort;
}

}  // namespace vitrine::store
