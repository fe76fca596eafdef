// Where databases and their files lie, and which SQLite reads them.
#include <sqlite3.h>

#include <cstdlib>

#include "core/store/run_store.h"

namespace vitrine::store {

std::filesystem::path defaultDatabase() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (const std::string file = variable("VITRINE_DB"); !file.empty()) return file;
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty() && data.front() == '/') {
    return std::filesystem::path(data) / "vitrine" / "experiments.sqlite";
  }
  return std::filesystem::path(variable("HOME")) / ".local" / "share" / "vitrine" /
         "experiments.sqlite";
}

std::filesystem::path filesFolder(const std::filesystem::path& database) {
  return database.parent_path() / (database.stem().string() + ".files");
}

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
