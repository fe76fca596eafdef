// Schemas of all plugins, asked of the headless program once per build.
#include <QFile>
#include <QSaveFile>
#include <QString>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/base/error_json.h"
#include "core/base/program.h"
#include "core/base/read_json.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/user_folders.h"
#include "core/jobs/launcher.h"
#include "core/store/sqlite/file_system.h"

namespace vitrine::jobs {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "describe-";

void addFiles(const fs::path& folder, std::vector<fs::path>& files) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".so") files.push_back(entry->path());
  }
}

/// Changes when the program, one of our libraries, a plugin file or what may be loaded does.
std::string fingerprint(const fs::path& program) {
  std::vector<fs::path> files{program};
  const fs::path prefix = program.parent_path().parent_path();
  addFiles(prefix / "lib", files);
  addFiles(prefix / "lib" / "vitrine" / "plugins", files);
  const fs::path data = userFolder(UserFolder::Data), config = userFolder(UserFolder::Config);
  if (!data.empty()) addFiles(data / "plugins", files);
  if (const char* paths = std::getenv("VITRINE_PLUGIN_PATH"); paths != nullptr) {
    for (const std::string& folder : split(paths, ':')) {
      if (!folder.empty()) addFiles(folder, files);
    }
  }
  if (!data.empty()) files.push_back(data / "trusted_plugins");
  if (!config.empty()) files.push_back(config / "plugins.toml");
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) {
    std::error_code error;
    text += file.string() + '\n' + std::to_string(fs::file_size(file, error)) + '\n' +
            std::to_string(fs::last_write_time(file, error).time_since_epoch().count()) + '\n';
  }
  return sha256OfText(text);
}

/// Files of programs and plugins that have changed since, or are gone.
void removeOld(const fs::path& folder) {
  constexpr std::chrono::hours kKept(24 * 30);
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    const auto age = fs::file_time_type::clock::now() - entry->last_write_time(unknown);
    const bool isOurs = entry->path().filename().string().starts_with(kPrefix);
    if (isOurs && !unknown && age > kKept) fs::remove(entry->path(), unknown);
  }
}

}  // namespace

std::string describeJson(const std::stop_token& stop) {
  const fs::path program = headlessProgram();
  const fs::path folder = store::cacheFolder();
  const fs::path cache = folder / (kPrefix + fingerprint(program) + ".json");
  QFile file(QString::fromStdString(cache.string()));
  if (file.open(QIODevice::ReadOnly)) {
    std::string text = file.readAll().toStdString();
    if (isJson(text)) return text;
  }

  const std::string what = program.string() + " describe --json";
  const ProgramEnd end =
      runProgram({program.string(), "describe", "--json"}, {std::chrono::minutes(1), stop});
  if (end.how == ProgramEnd::How::NotStarted || end.how == ProgramEnd::How::Overdue)
    throw Error(what + " did not end: " + (end.err.empty() ? "it took too long" : end.err));
  if (!end.isSuccess() || !isJson(end.out)) {
    throw Error(what + " failed with exit code " + std::to_string(end.code) + ": " +
                errorMessage(readJson(end.out), end.err));
  }
  // A cache that cannot be written only costs time.
  std::error_code error;
  fs::create_directories(folder, error);
  QSaveFile saved(QString::fromStdString(cache.string()));
  if (saved.open(QIODevice::WriteOnly)) {
    saved.write(end.out.data(), static_cast<qint64>(end.out.size()));
    saved.commit();
  }
  removeOld(folder);
  return end.out;
}

}  // namespace vitrine::jobs
