// What every test of the window needs: an application without a display, no stored settings, and a
// message handler that fails the program on any warning of Qt.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QTemporaryDir>
#include <memory>

#include "tests/ui/support/program_script.h"
#include "tests/ui/support/sample_database.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

class QtEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    // A session without a runtime folder makes Qt warn.
    if (!qEnvironmentVariableIsSet("XDG_RUNTIME_DIR")) {
      qputenv("XDG_RUNTIME_DIR", runtime_.path().toLocal8Bit());
    }
    static int argc = 1;
    static char name[] = "test";
    static char* argv[] = {name, nullptr};
    qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& text) {
      if (type == QtDebugMsg || type == QtInfoMsg) return;
      // What the off-screen platform says of every window with a least size, and of every popup.
      if (text.startsWith(QLatin1String("This plugin does not support"))) return;
      ADD_FAILURE() << "Qt: " << text.toStdString();
    });
    application_ = std::make_unique<QApplication>(argc, argv);
    forgetSettings();
    applyTheme(ThemeKind::Dark);
  }
  void TearDown() override { application_.reset(); }

 private:
  QTemporaryDir runtime_;
  std::unique_ptr<QApplication> application_;
};

inline ::testing::Environment* const kQtEnvironment =
    ::testing::AddGlobalTestEnvironment(new QtEnvironment);

/// A workbench over a sample database in a temporary folder, and a second connection that writes as
/// a training process would.
struct SampleStudio {
  explicit SampleStudio(const SampleOptions& options = {})
      : writer(folder.filePath(QStringLiteral("experiments.sqlite")).toStdString()),
        runs(options.points > 0 ? fillSampleDatabase(writer, options)
                                : std::vector<std::int64_t>{}),
        workbench(writer.file()) {
    workbench.watcher().poll();
  }

  QTemporaryDir folder;
  store::RunStore writer;
  std::vector<std::int64_t> runs;
  StudioWorkbench workbench;
};

/// Puts a shell script in the place of the headless program.
inline void becomeProgram(const SampleStudio& studio, const QByteArray& script) {
  becomeProgram(studio.folder, script);
  qputenv("XDG_CACHE_HOME", studio.folder.path().toLocal8Bit());
}

}  // namespace vitrine::ui
