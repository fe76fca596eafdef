// What every test of the window needs: an application without a display, no stored settings, and a
// message handler that fails the program on any warning of Qt.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QTemporaryDir>
#include <memory>

#include "ui/kit/settings.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

class QtEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    // A session without a runtime folder makes Qt warn.
    if (!qEnvironmentVariableIsSet("XDG_RUNTIME_DIR"))
      qputenv("XDG_RUNTIME_DIR", runtime_.path().toLocal8Bit());
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

}  // namespace vitrine::ui
