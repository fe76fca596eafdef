// A page over a catalog written by hand, with a stand-in for the headless program.
#pragma once

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QLabel>
#include <QLineEdit>
#include <memory>

#include "tests/ui/support/catalog.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/program_script.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/test_files.h"
#include "ui/configure/configure_page.h"
#include "ui/configure/form/experiment_form.h"

namespace vitrine::ui {

inline ExperimentForm& formOf(const ConfigurePage& page) { return only<ExperimentForm>(page); }

class Configure : public ::testing::Test {
 protected:
  Configure() : workbench_(testCatalog()) {
    // A stand-in for the program: answers `check`, and keeps what `enqueue` was told.
    program_ = workbench_.path(QStringLiteral("vitrine"));
    writeScript(
        program_,
        "if [ \"$1\" = check ]; then cat > \"$0.asked\"\n"
        "echo '{\"problems\":[],\"warnings\":[\"the files are not here\"],"
        "\"totals\":{\"parameters\":205066,\"flops\":3.7e6,\"memory_bytes\":4e8}}'\n"
        "else cp \"$3\" \"$0.plan\"; echo \"$@\" > \"$0.enqueued\"; echo '{\"ids\": [1]}'; fi");
    qputenv("VITRINE_PROGRAM", program_.toUtf8());
  }
  ~Configure() override { qunsetenv("VITRINE_PROGRAM"); }

  std::unique_ptr<ConfigurePage> page() {
    auto made = std::make_unique<ConfigurePage>(workbench_);
    made->resize(1100, 800);
    made->planNow();
    return made;
  }
  static QString labels(const QWidget& widget) {
    QStringList texts;
    for (const QLabel* label : widget.findChildren<QLabel*>()) {
      if (!label->isHidden()) texts << label->text();
    }
    return texts.join(QLatin1Char('\n'));
  }
  static void type(ConfigurePage& page, const std::string& key, const QString& text) {
    auto* line = qobject_cast<QLineEdit*>(formOf(page).row(key)->editor().input());
    ASSERT_NE(line, nullptr);
    line->setText(text);
    Q_EMIT line->textEdited(text);
    QCoreApplication::processEvents();
  }
  static QPushButton* startButton(const ConfigurePage& page) {
    return saying<QPushButton>(page, "Start");
  }
  QString fileText(const QString& name) { return QString::fromUtf8(bytesOf(name)); }

  FakeWorkbench workbench_;
  QString program_;
};

}  // namespace vitrine::ui
