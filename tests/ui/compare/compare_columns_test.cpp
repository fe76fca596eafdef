// Columns of Compare's tables at the sizes of a laptop: the verdict is in sight.
#include <gmock/gmock.h>

#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>
#include <QSet>
#include <QToolButton>
#include <QTreeWidget>
#include <fstream>
#include <set>

#include "tests/ui/compare/compare_page_fixture.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/fit.h"
#include "ui/shell/main_window.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr;

constexpr std::pair<int, int> kScreens[] = {{1440, 900}, {1366, 768}};

class ComparedOnALaptop : public ComparePageTest {
 protected:
  /// A roadmap: every variant has the changes of those before it.
  void fillRoadmap() {
    Json model = {{"architecture", "a"}};
    for (int i = 0; i < 8; ++i) model["part_" + std::to_string(i) + "_of_the_block"] = "plain";
    for (int variant = 0; variant < 8; ++variant) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        // The differences to the first vary over seeds, too: an interval decides their digits.
        const double spread = (0.002 + 0.0005 * variant) * static_cast<double>(seed);
        const double last = 0.8 + 0.011 * variant + spread;
        addAblationRun(studio_.writer, {"step " + std::to_string(variant) + " of the roadmap",
                                        model,
                                        seed,
                                        {last - 0.1, last}});
      }
      const std::string key = "part_" + std::to_string(variant) + "_of_the_block";
      model[key] = "special_" + std::to_string(variant);
    }
    studio_.workbench.watcher().poll();
  }
  /// Compare in a window.
  ComparePage& openWindow(int width, int height) {
    window_ = std::make_unique<MainWindow>(studio_.workbench);
    window_->resize(width, height);
    window_->show();
    window_->showPage(QStringLiteral("compare"));
    for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
    auto* page = qobject_cast<ComparePage*>(window_->currentPage());
    page->waitUntilIdle();
    return *page;
  }
  /// Of the tool bar of the page; nullptr: none.
  QMenu* sortMenu() {
    QMenu* sort = nullptr;
    for (const QAction* one : page_->tools().first()->menu()->actions())
      if (one->menu() != nullptr) sort = one->menu();
    return sort;
  }
  std::unique_ptr<MainWindow> window_;
};

TEST_F(ComparedOnALaptop, TheVerdictLiesInsideTheTable) {
  fillRoadmap();
  for (const auto& [width, height] : kScreens) {
    ComparePage& page = openWindow(width, height);
    QTableView& view = only<QTableView>(page);
    const QAbstractItemModel* model = view.model();
    ASSERT_EQ(model->rowCount(), 8);
    constexpr int kDiffers = 1, kDifference = 3;
    const QRect verdict = view.visualRect(model->index(7, kDifference));
    EXPECT_THAT(model->index(7, kDifference).data().toString().toStdString(),
                ::testing::EndsWith("  \u2713 better"));
    EXPECT_GE(verdict.left(), 0) << width;
    EXPECT_LE(verdict.right(), view.viewport()->width()) << width;
    const QAbstractItemView& items = view;
    EXPECT_GE(verdict.width(), items.sizeHintForIndex(model->index(7, kDifference)).width())
        << "and is not cut";
    EXPECT_FALSE(view.horizontalScrollBar()->isVisible()) << width;
    EXPECT_GE(view.columnWidth(kDiffers), px(90));
    EXPECT_GE(view.columnWidth(kDiffers), view.horizontalHeader()->sectionSizeHint(kDiffers));
    window_.reset();
  }
}

TEST_F(ComparedOnALaptop, SixRowsAreInSightAtALargeZoom) {
  fillRoadmap();
  const Zoomed zoomed(1.5);
  const ComparePage& page = openWindow(1440, 900);
  const QTableView& view = only<QTableView>(page);
  const QRect sixth = view.visualRect(view.model()->index(5, 0));
  EXPECT_LT(sixth.bottom(), view.viewport()->height());
  EXPECT_GE(named<FigureView>(page, "Curves of the variants")->height(), px(180))
      << "the page scrolls to the charts";
  window_.reset();
}

TEST_F(ComparedOnALaptop, AVerdictIsItsSignWhereItsWordsHaveNoRoom) {
  showFilled();
  const auto atWidth = [this](int width) {
    page_->resize(width, 760);
    QCoreApplication::processEvents();
    return cells(2)[3].toStdString();
  };
  EXPECT_THAT(atWidth(1100), ::testing::EndsWith("  \u2248 no clear difference"));
  EXPECT_THAT(atWidth(560), ::testing::EndsWith("  \u2248"));
  EXPECT_EQ(only<QTableView>(*page_).model()->headerData(3, Qt::Horizontal),
            QStringLiteral("Paired\ndifference"));
  EXPECT_THAT(atWidth(1100), ::testing::EndsWith("  \u2248 no clear difference"));
}

TEST_F(ComparedOnALaptop, WhatDiffersHasItsRoomAgainAfterAWideWindow) {
  fillRoadmap();
  const QTableView& view = only<QTableView>(openWindow(1440, 900));
  constexpr int kDiffers = 1;
  const int before = view.columnWidth(kDiffers);
  ASSERT_GT(before, px(90));
  for (const int width : {2400, 1440}) {
    window_->resize(width, 900);
    for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
  }
  EXPECT_EQ(view.columnWidth(kDiffers), before);
}

TEST_F(ComparedOnALaptop, LongNamesOfVariantsAreWholeOnALargeScreen) {
  for (const char* mask : {"causal", "soft"}) {
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      addAblationRun(studio_.writer,
                     {std::string("a model with a ") + mask +
                          " mask, layer scale, stochastic depth and a name that is long",
                      Json{{"architecture", mask}},
                      seed,
                      {0.7, 0.8}});
    }
  }
  studio_.workbench.watcher().poll();
  const QTableView& view = only<QTableView>(openWindow(1440, 900));
  const QAbstractItemView& items = view;
  ASSERT_GT(items.sizeHintForColumn(0), px(260));
  const int before = view.columnWidth(0);
  for (const QSize& size : {QSize(3840, 2160), QSize(1440, 900)}) {
    window_->resize(size);
    for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
    if (size.width() == 3840) {
      EXPECT_GE(view.columnWidth(0), items.sizeHintForColumn(0));
      EXPECT_FALSE(view.horizontalScrollBar()->isVisible());
    }
  }
  EXPECT_EQ(view.columnWidth(0), before) << "the room is that of the other columns again";
}

TEST_F(ComparedOnALaptop, LongNamesThatAreCutDifferInWhatIsLeft) {
  for (const char* name : {"ViT", "iLLaMA"}) {
    addAblationRun(studio_.writer,
                   {std::string("An experiment whose name takes all of the room \u203a ") + name,
                    Json{{"architecture", name}},
                    0,
                    {0.7, 0.8}});
  }
  studio_.workbench.watcher().poll();
  const QTableView& view = only<QTableView>(openWindow(1366, 768));
  ASSERT_EQ(view.model()->rowCount(), 2);
  const auto cut = [&view](int row) {
    const QString name = view.model()->index(row, 0).data().toString();
    return view.fontMetrics().elidedText(name, view.textElideMode(), px(160)).toStdString();
  };
  EXPECT_NE(cut(0), cut(1));
}

TEST_F(ComparedOnALaptop, TheMenuOfTheToolBarSortsAsTheHeadOfAColumnDoes) {
  showFilled();
  QMenu* sort = sortMenu();
  ASSERT_NE(sort, nullptr);
  const auto choose = [&] {
    Q_EMIT sort->aboutToShow();
    sort->actions().at(3)->trigger();
    return variants().first();
  };
  EXPECT_EQ(choose(), QStringLiteral("+ worse"));
  EXPECT_EQ(choose(), QStringLiteral("+ better"));
  EXPECT_EQ(choose(), QStringLiteral("base"));
}

TEST_F(ComparedOnALaptop, TheSortMenuNamesTheMetricOfEachDifference) {
  showFilled();
  CompareChoice choice = page_->choice();
  choice.metrics = {"test/top1", "test/loss"};
  page_->choose(choice);
  page_->waitUntilIdle();
  QMenu* sort = sortMenu();
  ASSERT_NE(sort, nullptr);
  for (const int width : {1100, 560}) {
    page_->resize(width, 760);
    QCoreApplication::processEvents();
    Q_EMIT sort->aboutToShow();
    QStringList names;
    for (const QAction* one : sort->actions()) names << one->text();
    EXPECT_EQ(names.size(), 9);
    EXPECT_EQ(QSet<QString>(names.begin(), names.end()).size(), 9)
        << names.join(QStringLiteral(" | ")).toStdString();
    EXPECT_EQ(names.filter(QStringLiteral("Paired difference: ")).size(), 2) << width;
  }
}

TEST_F(ComparedOnALaptop, NamesOfBaselinesAndOfColumnsThatAreCutKeepTheirEnds) {
  for (const char* name : {"ViT", "iLLaMA"}) {
    addAblationRun(studio_.writer, {std::string("A long name of an experiment that takes all of "
                                                "the room and more of it \u203a ") +
                                        name,
                                    Json{{"architecture", name}},
                                    0,
                                    {0.7, 0.8}});
  }
  studio_.workbench.watcher().poll();
  ComparePage& page = openWindow(1366, 768);
  auto* baseline = named<QComboBox>(page, "Baseline");
  ASSERT_EQ(baseline->count(), 2);
  EXPECT_THAT(baseline->toolTip().toStdString(), HasSubstr(baseline->currentText().toStdString()));
  baseline->resize(px(160), baseline->height());
  baseline->setCurrentIndex(0);
  const QImage first = baseline->grab().toImage();
  baseline->setCurrentIndex(1);
  EXPECT_NE(baseline->grab().toImage(), first);
  const auto* tree = named<QTreeWidget>(page, "Differences between the runs");
  ui::press<QToolButton>(page, QStringLiteral("Differences"));
  page.waitUntilIdle();
  ASSERT_EQ(tree->columnCount(), 3);
  const auto head = [header = tree->header()] {
    return header->viewport()
        ->grab({header->sectionViewportPosition(1), 0, header->sectionSize(1), header->height()})
        .toImage();
  };
  const QImage before = head();
  QTreeWidgetItem* names = tree->headerItem();
  EXPECT_LT(tree->header()->sectionSize(1), tree->header()->sectionSizeHint(1)) << "it is cut";
  EXPECT_EQ(names->text(1), names->toolTip(1)) << "all of it is there for a wider column";
  names->setText(1, names->text(2));
  EXPECT_NE(head(), before) << "names that differ at their end alone";
}

TEST_F(ComparedOnALaptop, WhatDiffersBeginsWithWhatIsNewAndIsFoundByEveryKey) {
  fillRoadmap();
  show();
  EXPECT_THAT(cells(3)[1].toStdString(), ::testing::StartsWith("special_2, special_"));
  EXPECT_THAT(cells(7)[1].toStdString(), ::testing::StartsWith("special_6, special_"));
  EXPECT_THAT(cells(7)[1].toStdString(), ::testing::EndsWith("4 more"));
  auto* filter = named<QLineEdit>(*page_, "Filter variants");
  filter->setText(QStringLiteral("part_0_of_the_block"));
  page_->waitUntilIdle();
  EXPECT_EQ(variants().size(), 7) << "a key that the column has no room for";
}

TEST_F(ComparedOnALaptop, NumbersOfAColumnHaveTheSameDecimals) {
  showFilled();
  std::set<qsizetype> values, differences;
  const auto decimals = [](const QString& text) {
    const QString number = text.section(QLatin1Char(' '), 0, 0);
    return number.size() - number.indexOf(QLatin1Char('.')) - 1;
  };
  for (int row = 0; row < 4; ++row) {
    values.insert(decimals(cells(row)[2]));
    if (row > 0) differences.insert(decimals(cells(row)[3]));
  }
  EXPECT_EQ(values.size(), 1u);
  EXPECT_EQ(differences.size(), 1u);
}

TEST_F(ComparedOnALaptop, PublishedShowsTitlesAndTheWholeVerdict) {
  fillRoadmap();
  const std::string file = studio_.folder.filePath(QStringLiteral("published.toml")).toStdString();
  std::ofstream out(file);
  out << "paper = \"P\"\n";
  for (int variant = 0; variant < 8; ++variant)
    out << "[[result]]\ntable = \"T\"\nmodel = \"a model with a long name, Base/16\"\nstep = "
           "\"step "
        << variant << " of the roadmap\"\ndataset = \"ImageNet-1k\"\nmetric = \""
        << (variant == 7 ? "train_loss" : "top1") << "\"\nvalue = " << 80 + variant << "\n";
  out.close();
  for (const auto& [width, height] : kScreens) {
    ComparePage& page = openWindow(width, height);
    CompareChoice choice = page.choice();
    choice.view = CompareView::Published;
    choice.publishedFile = QString::fromStdString(file);
    page.choose(choice);
    page.waitUntilIdle();
    auto* tree = named<QTreeWidget>(page, "Published numbers next to ours");
    ASSERT_EQ(tree->topLevelItemCount(), 8);
    constexpr int kModel = 1, kMetric = 2, kVerdict = 7;
    QTreeWidgetItem* item = tree->topLevelItem(0);
    EXPECT_EQ(item->text(kModel).toStdString(), "a model with a long name, Base/16");
    EXPECT_EQ(item->text(kMetric).toStdString(), "Accuracy, test (%)");
    EXPECT_THAT(item->toolTip(kMetric).toStdString(), HasSubstr("top1"));
    EXPECT_EQ(tree->topLevelItem(7)->text(kMetric).toStdString(), "Loss, train");
    EXPECT_THAT(item->text(kVerdict).toStdString(),
                ::testing::StartsWith("not comparable: other data, "));
    EXPECT_THAT(item->toolTip(kVerdict).toStdString(),
                HasSubstr("other data: fashion_mnist, not ImageNet-1k"));
    const QRect verdict = tree->visualRect(tree->indexFromItem(item, kVerdict));
    EXPECT_LE(verdict.right(), tree->viewport()->width()) << width;
    const QAbstractItemView& items = *tree;
    EXPECT_GE(verdict.width(), items.sizeHintForIndex(tree->indexFromItem(item, kVerdict)).width());
    window_.reset();
  }
}

TEST_F(ComparedOnALaptop, ACutClaimAndItsReasonAreReadInTheTip) {
  fillRoadmap();
  const auto write = [this](const char* name, const char* text) {
    const std::string file = studio_.folder.filePath(QLatin1String(name)).toStdString();
    std::ofstream(file) << text;
    return QString::fromStdString(file);
  };
  write("roadmap.toml",
        "title = \"Roadmap\"\n[train]\nepochs = 2\n[[variant]]\nname = \"step 0 of the roadmap\"\n"
        "[[variant]]\nname = \"step 1 of the roadmap\"\n");
  write("claims.toml",
        "[[claim]]\nname = \"later is better\"\nsource = \"Table 17\"\nexperiment = "
        "\"roadmap.toml\"\nmetric = \"test/top1\"\nbetter = \"step 1 of the roadmap\"\n"
        "worse = \"step 0 of the roadmap\"\nmargin = 0.01\nseeds = 9\n");
  ComparePage& page = openWindow(1366, 768);
  CompareChoice choice = page.choice();
  choice.view = CompareView::Published;
  choice.publishedFile =
      write("published.toml",
            "paper = \"P\"\n[[result]]\ntable = \"T\"\nmodel = \"M\"\nstep = \"step 0 of the "
            "roadmap\"\ndataset = \"ImageNet-1k\"\nmetric = \"top1\"\nvalue = 80\n");
  page.choose(choice);
  page.waitUntilIdle();
  const QTreeWidgetItem* item = named<QTreeWidget>(page, "Claims")->topLevelItem(0);
  ASSERT_NE(item, nullptr);
  constexpr int kClaim = 0, kWhy = 5;
  EXPECT_EQ(item->toolTip(kClaim).toStdString(), "later is better\nTable 17");
  EXPECT_FALSE(item->text(kWhy).isEmpty());
  EXPECT_EQ(item->toolTip(kWhy), item->text(kWhy));
}

}  // namespace
}  // namespace vitrine::ui
