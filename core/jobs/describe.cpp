// Schemas of all plugins, asked of the headless program once per build.
#include <QByteArray>
#include <QFile>
#include <QProcess>
#include <QSaveFile>
#include <QString>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/read_json.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/user_folders.h"
#include "core/jobs/launcher.h"
#include "core/store/process_wait.h"
#include "core/store/sqlite/file_system.h"

namespace vitrine::jobs {

namespace {

namespace fs = std::filesystem;

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

bool isCatalog(const QByteArray& text) {
  return isJson({text.constData(), static_cast<std::size_t>(text.size())});
}

}  // namespace

std::string describeJson(const std::stop_token& stop) {
  const fs::path program = headlessProgram();
  const fs::path folder = store::cacheFolder();
  const fs::path cache = folder / ("describe-" + fingerprint(program) + ".json");
  QFile file(QString::fromStdString(cache.string()));
  if (file.open(QIODevice::ReadOnly)) {
    const QByteArray text = file.readAll();
    if (isCatalog(text)) return text.toStdString();
  }

  QProcess process;
  process.start(QString::fromStdString(program.string()),
                {QStringLiteral("describe"), QStringLiteral("--json")});
  const std::string what = program.string() + " describe --json";
  if (!store::waitFor(process, std::chrono::minutes(1), stop)) {
    const std::string reason = process.errorString().toStdString();
    process.kill();
    process.waitForFinished(1000);
    throw Error(what + " did not end: " + reason);
  }
  const QByteArray text = process.readAllStandardOutput();
  if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0 || !isCatalog(text)) {
    throw Error(what + " failed with exit code " + std::to_string(process.exitCode()) + ": " +
                process.readAllStandardError().right(500).trimmed().toStdString());
  }
  // A cache that cannot be written only costs time.
  std::error_code error;
  fs::create_directories(folder, error);
  QSaveFile saved(QString::fromStdString(cache.string()));
  if (saved.open(QIODevice::WriteOnly)) {
    saved.write(text);
    saved.commit();
  }
  return text.toStdString();
}

}  // namespace vitrine::jobs
