// How the Monitor writes values and titles, and what the export of its figures lets be chosen.
#include <QMenu>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <optional>

#include "core/store/declared_metrics.h"
#include "tests/ui/monitor/open_monitor.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/line_chart_probe.h"
#include "ui/figures/line_chart.h"
#include "ui/workbench/export_dialog.h"

namespace vitrine::ui {
namespace {

TEST(ExportDialog, WritesTheChosenFormatAtTheChosenSize) {
  OpenMonitor open;
  const auto figure = open.page->figure();
  ExportDialog dialog(*figure,
                      recipeOf(open.studio.workbench, QStringLiteral("monitor"), *open.page),
                      QStringLiteral("figure"));
  dialog.show();
  auto* format = dialog.findChild<QComboBox*>();
  format->setCurrentIndex(0);
  EXPECT_EQ(dialog.format(), FigureFormat::Png);
  for (QDoubleSpinBox* spin : dialog.findChildren<QDoubleSpinBox*>()) {
    EXPECT_FALSE(spin->accessibleName().isEmpty());
    if (spin->accessibleName() == QStringLiteral("Resolution")) spin->setValue(100);
  }
  const QString file = open.studio.folder.filePath(QStringLiteral("dialog.png"));
  dialog.exportTo(file);
  const QImage picture(file);
  EXPECT_NEAR(picture.width(), dialog.paper().width / 25.4 * 100, 1);
  EXPECT_TRUE(readRecipe(file).has_value());
}

struct OwnSettings {
  explicit OwnSettings(const QString& file) { useSettings(file); }
  ~OwnSettings() { forgetSettings(); }
};

TEST(ExportDialog, TakesLabelsNamesMarkersAndNoTitle) {
  OpenMonitor open;
  const OwnSettings settings(open.studio.folder.filePath(QStringLiteral("studio.ini")));
  open.page->card("test/top1")->plot().setFocus();
  const auto figure = open.page->figure();
  auto* chart = dynamic_cast<LineChartFigure*>(figure.get());
  ASSERT_NE(chart, nullptr);
  const Recipe recipe = recipeOf(open.studio.workbench, QStringLiteral("monitor"), *open.page);
  ExportDialog dialog(*figure, recipe, QStringLiteral("figure"));
  dialog.show();
  auto* preview = named<QLabel>(dialog, "Preview");
  const QImage before = preview->pixmap().toImage();
  auto* x = named<QLineEdit>(dialog, "Label of the x axis");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->placeholderText(), QStringLiteral("step"));
  QTest::keyClicks(x, QStringLiteral("Updates"));
  EXPECT_NE(preview->pixmap().toImage(), before) << "it is drawn while it is typed";
  QTest::mouseClick(named<QCheckBox>(dialog, "Title"), Qt::LeftButton, {}, QPoint(8, 8));
  auto* markers = named<QSpinBox>(dialog, "Markers");
  markers->setFocus();
  markers->selectAll();
  QTest::keyClicks(markers, QStringLiteral("5"));
  auto* series = named<QListWidget>(dialog, "Names of the series");
  ASSERT_EQ(series->count(), 3);
  series->setCurrentRow(1);
  series->setFocus();
  QTest::keyClick(series, Qt::Key_F2);
  auto* editor = series->viewport()->findChild<QLineEdit*>();
  ASSERT_NE(editor, nullptr);
  editor->selectAll();
  QTest::keyClicks(editor, QStringLiteral("ours"));
  QTest::keyClick(editor, Qt::Key_Return);
  QCoreApplication::processEvents();
  const QString file = open.studio.folder.filePath(QStringLiteral("labels.svg"));
  dialog.exportTo(file);
  const std::optional<Recipe> written = readRecipe(file);
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->paper.xTitle, QStringLiteral("Updates"));
  EXPECT_FALSE(written->paper.hasTitle);
  EXPECT_EQ(written->paper.markerEvery, 5);
  EXPECT_EQ(written->paper.seriesNames,
            (QStringList{QString(), QStringLiteral("ours"), QString()}));

  // Another figure has its own words, and is drawn as this one.
  ExportDialog other(*figure, recipe, QStringLiteral("figure"));
  EXPECT_TRUE(other.paper().xTitle.isEmpty());
  EXPECT_TRUE(other.paper().seriesNames.isEmpty());
  EXPECT_EQ(other.paper().markerEvery, 5);
}

TEST(ExportDialog, ValuesAsTextHaveNoSize) {
  OpenMonitor open;
  const OwnSettings settings(open.studio.folder.filePath(QStringLiteral("studio.ini")));
  const auto figure = open.page->figure();
  ExportDialog dialog(*figure,
                      recipeOf(open.studio.workbench, QStringLiteral("monitor"), *open.page),
                      QStringLiteral("figure"));
  dialog.show();
  auto* format = named<QComboBox>(dialog, "Format");
  const auto hasMillimetres = [&dialog] {
    const auto labels = dialog.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->text().contains(QStringLiteral("\u2009mm"));
    });
  };
  EXPECT_TRUE(hasMillimetres());
  format->setCurrentIndex(static_cast<int>(FigureFormat::Csv));
  EXPECT_FALSE(hasMillimetres());
  EXPECT_FALSE(named<QComboBox>(dialog, "Size")->isEnabled());
  for (const char* name : {"Width", "Height divided by width", "Font size", "Resolution"})
    EXPECT_FALSE(named<QDoubleSpinBox>(dialog, name)->isEnabled()) << name;
  format->setCurrentIndex(static_cast<int>(FigureFormat::Pdf));
  EXPECT_TRUE(hasMillimetres());
  EXPECT_TRUE(named<QComboBox>(dialog, "Size")->isEnabled());
  EXPECT_FALSE(named<QDoubleSpinBox>(dialog, "Width")->isEnabled()) << "of a column";
}

TEST(ExportDialog, OfARecipeThatWasOpenedBeginsWithItsPaper) {
  OpenMonitor open;
  open.page->card("test/top1")->plot().setFocus();
  const auto figure = open.page->figure();
  Recipe recipe = recipeOf(open.studio.workbench, QStringLiteral("monitor"), *open.page);
  recipe.paper.yTitle = QStringLiteral("Top-1");
  keepPaper(open.studio.workbench, recipe);
  QStringList labels;
  for (int i = 0; i < 2; ++i) {
    QTimer::singleShot(0, [&labels] {
      auto* dialog = qobject_cast<ExportDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(dialog, nullptr);
      labels << dialog->paper().yTitle;
      dialog->reject();
    });
    exportFigure(open.page.get(), open.studio.workbench, *figure, recipe);
  }
  EXPECT_EQ(labels, (QStringList{QStringLiteral("Top-1"), QString()})) << "once";
}

TEST(MonitorFormat, FractionsAreInPercentEverywhereOnTheCard) {
  OpenMonitor open;
  CurvePlot& plot = open.page->card("test/top1")->plot();
  EXPECT_FALSE(plot.plotTable().rows.empty());
  for (const QStringList& row : plot.plotTable().rows)
    EXPECT_TRUE(row[2].endsWith(QStringLiteral("\u2009%"))) << row[2].toStdString();
  open.page->card("test/top1")->plot().setFocus();
  const auto figure = open.page->figure();
  auto* chart = dynamic_cast<LineChartFigure*>(figure.get());
  ASSERT_NE(chart, nullptr);
  EXPECT_TRUE(LineChartProbe::commands(*chart, 400).contains(QStringLiteral("\u2009%")));
  EXPECT_FALSE(open.page->card("train/loss")->plot().plotTable().rows[0][2].contains('%'));
}

TEST(MonitorFormat, AMetricThatIsDeclaredLaterHasItsTitleAndItsFormat) {
  SampleStudio studio(SampleOptions{0, 600});
  studio.workbench.selection().setRuns({studio.runs[6]}, studio.runs[6]);
  MonitorPage page(studio.workbench);
  OpenMonitor::open(page);
  const std::int64_t run = studio.runs[8];
  store::declareMetrics(studio.writer, {{"extra/score", "Cloud cover", "fraction", "higher", ""}});
  studio.writer.append(run, studio.writer.segments(run).back().number,
                       {.metrics = {{1'000'000, 0, 0, {{"extra/score", 0.75}}}}});
  studio.workbench.selection().setRuns({run}, run);
  page.waitUntilIdle();
  page.setGroupOpen(QStringLiteral("extra"), true);
  const PlotCard* card = page.card("extra/score");
  ASSERT_NE(card, nullptr);
  EXPECT_TRUE(card->card().title.startsWith(QStringLiteral("Cloud cover")))
      << card->card().title.toStdString();
  EXPECT_TRUE(card->card().format.isPercent);
}

TEST(MonitorFormat, NoTitleReadsAsAQuotient) {
  OpenMonitor open;
  open.set([](PlotSettings& plots) {
    plots.x = XAxis::Metric;
    plots.xMetric = "train/loss";
  });
  for (const QString& group : open.page->groups()) open.page->setGroupOpen(group, true);
  open.page->waitUntilIdle();
  for (PlotCard* card : open.page->cards()) {
    EXPECT_FALSE(card->card().title.contains('/')) << card->metric();
    EXPECT_FALSE(card->plot().settings().xTitle.contains('/')) << card->metric();
  }
  open.page->cards().front()->plot().setFocus();
  const auto figure = open.page->figure();
  auto* chart = dynamic_cast<LineChartFigure*>(figure.get());
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(chart->chart().x.title, QStringLiteral("Loss, train"));
  int metrics = 0;
  for (QAction* tool : open.page->tools()) {
    if (tool->menu() == nullptr) continue;
    Q_EMIT tool->menu()->aboutToShow();
    for (const QAction* choice : tool->menu()->actions()) {
      if (choice->menu() == nullptr) continue;
      for (const QAction* metric : choice->menu()->actions()) {
        EXPECT_FALSE(metric->text().contains('/')) << metric->text().toStdString();
        ++metrics;
      }
    }
  }
  EXPECT_GT(metrics, 3) << "the choices of an axis";
}

}  // namespace
}  // namespace vitrine::ui
