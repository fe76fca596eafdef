// "Export runs..." of the window, through its dialog and the real program.
#include <QAction>
#include <QFileDialog>
#include <QLineEdit>
#include <QSignalSpy>
#include <fstream>
#include <set>

#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"

namespace vitrine::ui {
namespace {

class ExportedRuns : public ::testing::Test {
 protected:
  ExportedRuns() {
    qputenv("VITRINE_PROGRAM", VITRINE_PROGRAM);
    window_.show();
    studio_.workbench.selection().setRuns({studio_.runs[0], studio_.runs[4]}, studio_.runs[0]);
  }
  ~ExportedRuns() override { qunsetenv("VITRINE_PROGRAM"); }

  /// Triggers the action and answers its dialog.
  void exportTo(const QString& file, const QString& form) {
    QAction* chosen = nullptr;
    for (QAction* one : window_.actions())
      if (one->text().remove(QLatin1Char('&')) == QStringLiteral("Export runs\u2026")) chosen = one;
    ASSERT_NE(chosen, nullptr);
    ASSERT_TRUE(chosen->isEnabled());
    chosen->trigger();
    auto* dialog = window_.findChild<QFileDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->selectNameFilter(form);
    ASSERT_EQ(dialog->selectedNameFilter(), form);
    dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(file);
    QMetaObject::invokeMethod(dialog, "accept");
    ASSERT_TRUE(soon([this] { return window_.findChild<QFileDialog*>() == nullptr; }));
  }
  QString path(const QString& name) { return studio_.folder.filePath(name); }

  SampleStudio studio_{SampleOptions{0, 20}};
  MainWindow window_{studio_.workbench};
};

TEST_F(ExportedRuns, AreADatabaseOfTheirOwn) {
  QSignalSpy offered(&studio_.workbench, &StudioWorkbench::offered);
  const QString file = path(QStringLiteral("two.vitrine"));
  exportTo(file, QStringLiteral("Everything but checkpoints (*.vitrine)"));
  ASSERT_TRUE(soon([&] { return offered.count() == 1; })) << errorIn(window_).toStdString();
  EXPECT_TRUE(offered.front()[0].toString().startsWith(QStringLiteral("Exported 2 runs to ")))
      << offered.front()[0].toString().toStdString();
  store::RunStore copy(file.toStdString());
  std::set<std::string> names, wanted;
  for (const store::RunRow& run : copy.runs()) names.insert(run.uuid);
  for (const int index : {0, 4})
    wanted.insert(studio_.writer.run(studio_.runs[static_cast<std::size_t>(index)]).uuid);
  EXPECT_EQ(names, wanted);
}

TEST_F(ExportedRuns, NeverReplaceAFile) {
  const QString file = path(QStringLiteral("there.csv"));
  std::ofstream(file.toStdString()) << "mine";
  exportTo(file, QStringLiteral("Points of all metrics (*.csv)"));
  ASSERT_TRUE(soon([this] { return !errorIn(window_).isEmpty(); }));
  EXPECT_TRUE(errorIn(window_).contains(QStringLiteral("there.csv")))
      << errorIn(window_).toStdString();
  std::string text;
  std::ifstream(file.toStdString()) >> text;
  EXPECT_EQ(text, "mine");
}

}  // namespace
}  // namespace vitrine::ui
