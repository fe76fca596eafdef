// A window's workbench over a sample database.
#pragma once

#include <QTemporaryDir>

#include "tests/ui/support/program_script.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/sample_database.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

/// A workbench over a sample database in a temporary folder, and a second connection that writes as
/// a training process would.
struct SampleStudio {
  explicit SampleStudio(const SampleOptions& options = {})
      : file(folder.filePath(QStringLiteral("experiments.sqlite")).toStdString()),
        runs(makeSampleDatabase(file, options)),
        writer(file),
        workbench(file) {
    workbench.watcher().poll();
  }

  QTemporaryDir folder;
  std::filesystem::path file;
  std::vector<std::int64_t> runs;
  store::RunStore writer;
  StudioWorkbench workbench;
};

/// Puts a shell script in the place of the headless program.
inline void becomeProgram(const SampleStudio& studio, const QByteArray& script) {
  becomeProgram(studio.folder, script);
  qputenv("XDG_CACHE_HOME", studio.folder.path().toLocal8Bit());
}

}  // namespace vitrine::ui
