// A QApplication without a display for a test program, and a check that Qt had nothing to complain
// about.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QStringList>
#include <memory>

#include "ui/kit/theme.h"

namespace vitrine::ui {

/// Warnings of Qt since the program began, apart from what the platform says of itself.
inline QStringList& qtWarnings() {
  static QStringList warnings;
  return warnings;
}

class QtEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    static int argc = 1;
    static char name[] = "test";
    static char* argv[] = {name, nullptr};
    qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& text) {
      // What the off-screen platform says of every window with a least size, and of every popup.
      const bool isExpected = text.startsWith(QLatin1String("This plugin does not support")) ||
                              text.contains(QLatin1String("XDG_RUNTIME_DIR"));
      if (type != QtDebugMsg && type != QtInfoMsg && !isExpected) qtWarnings() << text;
    });
    application_ = std::make_unique<QApplication>(argc, argv);
    applyTheme(ThemeKind::Dark);
  }
  void TearDown() override {
    EXPECT_EQ(qtWarnings().join(QLatin1Char('\n')).toStdString(), "");
    application_.reset();
  }

 private:
  std::unique_ptr<QApplication> application_;
};

inline ::testing::Environment* const kQtEnvironment =
    ::testing::AddGlobalTestEnvironment(new QtEnvironment);

}  // namespace vitrine::ui
