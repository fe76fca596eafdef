// Filters with a name, and runs of one name told apart.
#include "ui/runs/saved_filters.h"

#include <QInputDialog>
#include <QTest>
#include <QTimer>

#include "tests/support/wait_until.h"
#include "tests/ui/support/qt_test.h"
#include "ui/runs/run_differences.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

class SavedFilters : public ::testing::Test {
 protected:
  SavedFilters() : panel(studio.workbench) {
    useSettings(studio.folder.filePath(QStringLiteral("studio.ini")));
    panel.show();
  }
  ~SavedFilters() override { forgetSettings(); }

  /// The entry of the button's menu, as it opens now.
  QAction* entry(const QString& text, QMenu* menu = nullptr) {
    if (menu == nullptr) {
      menu = panel.savedFilters().menu();
      Q_EMIT menu->aboutToShow();
    }
    for (QAction* one : menu->actions()) {
      if (QString(one->text()).remove(QLatin1Char('&')) == text) return one;
    }
    return nullptr;
  }

  SampleStudio studio{SampleOptions{0, 50}};
  RunsPanel panel;
};

TEST_F(SavedFilters, AFilterGetsANameAndIsChosenAgain) {
  QAction* save = entry(QStringLiteral("Save this filter\u2026"));
  ASSERT_NE(save, nullptr);
  EXPECT_FALSE(save->isEnabled()) << "there is nothing to save";
  panel.filter().setText(QStringLiteral("state=done demo"));
  QTimer::singleShot(0, [] {
    auto* dialog = qobject_cast<QInputDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    EXPECT_EQ(dialog->okButtonText(), QStringLiteral("Save"));
    dialog->setTextValue(QStringLiteral("demos / done"));
    dialog->accept();
  });
  entry(QStringLiteral("Save this filter\u2026"))->trigger();
  EXPECT_EQ(filterNames(), QStringList{QStringLiteral("demos / done")});
  panel.filter().clear();
  QAction* saved = entry(QStringLiteral("demos / done"));
  ASSERT_NE(saved, nullptr);
  EXPECT_FALSE(saved->isChecked());
  saved->trigger();
  EXPECT_EQ(panel.filter().text(), QStringLiteral("state=done demo"));
  EXPECT_EQ(panel.summary().left(4), QStringLiteral("1 of"));
  EXPECT_TRUE(entry(QStringLiteral("demos / done"))->isChecked());
  QAction* remove = entry(QStringLiteral("Delete"));
  ASSERT_NE(remove, nullptr);
  entry(QStringLiteral("demos / done"), remove->menu())->trigger();
  EXPECT_TRUE(filterNames().isEmpty());
}

store::RunRow alike(std::int64_t id) { return {.id = id, .name = "sweep", .experimentId = 1}; }

TEST(RunDifferences, AreValuesThatRunsOfOneNameDoNotShare) {
  std::map<std::int64_t, store::RunRow> runs;
  for (const std::int64_t id : {1, 2, 3, 4}) runs[id] = alike(id);
  runs[4].name = "another";
  std::map<std::int64_t, FlatConfig> configs;
  for (const std::int64_t id : {1, 2, 3, 4})
    configs[id] = {{"model.width", id == 3 ? 128 : 64}, {"model.depth", 4}, {"train.seed", id}};
  configs[2].emplace_back("train.clip", 1.5);
  const auto configOf = [&configs](const store::RunRow& run) -> const FlatConfig& {
    return configs.at(run.id);
  };
  const std::map<std::int64_t, QString> told = runDifferences(runs, configOf);
  EXPECT_EQ(told.at(1).toStdString(), "width 64 \u00b7 clip \u2013");
  EXPECT_EQ(told.at(2).toStdString(), "width 64 \u00b7 clip 1.5");
  EXPECT_EQ(told.at(3).toStdString(), "width 128 \u00b7 clip \u2013");
  EXPECT_FALSE(told.contains(4)) << "it is alone with its name";
  runs.erase(2);
  runs.erase(3);
  EXPECT_TRUE(runDifferences(runs, configOf).empty());
}

TEST(RunDifferences, StandInTheListBeforeTheSeed) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  std::vector<store::NewRun> sweep(2);
  for (const int width : {64, 128}) {
    store::NewRun& run = sweep[width == 64 ? 0 : 1];
    run.name = "sweep";
    run.config = Json{{"model", {{"width", width}}}};
  }
  const auto ids = studio.writer.addRuns(studio.writer.experiment("Sweep", ""), sweep);
  studio.workbench.watcher().poll();
  const auto detail = [&](std::size_t i) {
    return panel.model().indexOf(ids[i]).data(RunsModel::DetailRole).toString();
  };
  EXPECT_TRUE(waitUntil([&] {
    QCoreApplication::processEvents();
    return detail(0) == QStringLiteral("width 64 \u00b7 seed 0");
  })) << detail(0).toStdString();
  EXPECT_EQ(detail(1).toStdString(), "width 128 \u00b7 seed 0");
}

}  // namespace
}  // namespace vitrine::ui
