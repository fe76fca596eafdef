// The table of runs outside of the window: as CSV, on the clipboard.
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QLineEdit>

#include "core/base/text.h"
#include "tests/ui/runs/run_table_fixture.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"

namespace vitrine::ui {
namespace {

class ExportedTable : public RunTables {
 protected:
  /// Ids of the runs from top to bottom.
  Ids listed() {
    Ids all;
    for (const Ids& ids : order()) all.insert(all.end(), ids.begin(), ids.end());
    return all;
  }
  void chooseInColumns(const QString& entry) {
    QMenu menu;
    panel.table().fillMenu(menu);
    choose(menu, entry);
  }
};

TEST_F(ExportedTable, HasTheRunsOfTheFilterInTheirOrderWithAllDigits) {
  panel.table().setColumns(
      {"seed", "config:model.mask.kind", "metric:test/top1", "duration", "reason"});
  panel.filter().setText(QStringLiteral("state!=queued"));
  clickHeader(columnOf("metric:test/top1"));
  const QString file = studio.folder.filePath(QStringLiteral("table.csv"));
  chooseInColumns(QStringLiteral("Export table\u2026"));
  auto* dialog = panel.findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(file);
  QMetaObject::invokeMethod(dialog, "accept");
  ASSERT_TRUE(soon([&file] { return QFile::exists(file); }));

  const QList<QByteArray> lines = bytesOf(file).trimmed().split('\n');
  EXPECT_EQ(lines.front(), "run,name,seed,model.mask.kind,test/top1,duration_seconds,reason");
  const Ids ids = listed();
  ASSERT_GT(ids.size(), 3U);
  ASSERT_EQ(lines.size(), std::ssize(ids) + 1);
  std::map<std::int64_t, double> values;
  for (const auto& [run, value] : studio.writer.lastValues("test/top1")) values[run] = value;
  bool hasFailed = false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string line = lines[static_cast<qsizetype>(i) + 1].toStdString();
    EXPECT_TRUE(line.starts_with(std::to_string(ids[i]) + ",")) << line;
    ASSERT_TRUE(values.contains(ids[i])) << line;
    EXPECT_NE(line.find("," + formatReal(values[ids[i]]) + ","), std::string::npos) << line;
    hasFailed = hasFailed || line.find("the loss is not finite") != std::string::npos;
  }
  EXPECT_TRUE(hasFailed) << "the reason of the failed run";
}

TEST_F(ExportedTable, IsCopiedAsItIsShown) {
  panel.table().setColumns({"state", "metric:test/top1"});
  chooseInColumns(QStringLiteral("Copy table"));
  const QStringList lines =
      QGuiApplication::clipboard()->text().trimmed().split(QLatin1Char('\n'));
  const Ids ids = listed();
  ASSERT_EQ(lines.size(), std::ssize(ids) + 1);
  EXPECT_TRUE(lines.front().startsWith(QStringLiteral("Id\tRun\tState\t")))
      << lines.front().toStdString();
  EXPECT_TRUE(lines[1].contains(QLatin1Char('\t') + text(ids[0], "state") + QLatin1Char('\t')))
      << lines[1].toStdString();
}

TEST_F(ExportedTable, ColumnsSayWhyARunFailedAndWhatItsCheckpointsTake) {
  store::RunStore::Batch batch;
  for (const std::int64_t step : {50, 100}) {
    batch.checkpoints.push_back(
        {.step = step, .folder = "run-x/step-" + std::to_string(step), .bytes = 1'500'000});
  }
  studio.writer.append(runs[0], studio.writer.segments(runs[0]).back().number, batch);
  panel.table().setColumns({"checkpoints", "reason"});
  EXPECT_EQ(text(runs[0], "checkpoints"), QString::fromStdString(formatBytes(3e6)));
  EXPECT_EQ(cell(runs[0], 1).data(RunsModel::OrderRole), QVariant(3e6));
  EXPECT_FALSE(cell(runs[1], 1).data(RunsModel::OrderRole).isValid());
  EXPECT_TRUE(text(runs[2], "reason").startsWith(QStringLiteral("the loss is not finite")));
}

TEST_F(ExportedTable, ColumnsHaveNotesAndTheBestValueOfAMetric) {
  const std::int64_t run = runs[8];
  studio.writer.append(run, studio.writer.segments(run).back().number,
                       {.metrics = {{1'000'000, 0, 0, {{"test/top1", 0.95}, {"test/loss", 0.001}}},
                                    {1'000'002, 0, 0, {{"test/top1", 0.5}, {"test/loss", 0.7}}}}});
  panel.table().setColumns({"note", "metric:test/top1", "best:test/top1", "best:test/loss"});
  EXPECT_EQ(text(run, "note"), QStringLiteral("Second attempt with the schedule of the paper."));
  EXPECT_EQ(cell(run, 2).data(RunsModel::OrderRole), QVariant(0.5));
  EXPECT_EQ(cell(run, 3).data(RunsModel::OrderRole), QVariant(0.95)) << "more is better";
  EXPECT_EQ(cell(run, 4).data(RunsModel::OrderRole), QVariant(0.001)) << "less is better";
  EXPECT_EQ(shown().headerData(3, Qt::Horizontal).toString(),
            shown().headerData(2, Qt::Horizontal).toString() + QStringLiteral(", best"));
}

}  // namespace
}  // namespace vitrine::ui
