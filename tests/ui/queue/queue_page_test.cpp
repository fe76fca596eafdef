// The Queue page through its actions: order, limits, pauses, offers, and what it says.
#include "ui/queue/queue_page.h"

#include <QFontMetrics>
#include <QHeaderView>
#include <QMimeData>
#include <QTest>
#include <cmath>

#include "core/config/catalog.h"
#include "core/jobs/nvml.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/kit/theme.h"
#include "ui/queue/queue_delegate.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

using Section = QueueModel::Section;
using Ids = std::vector<std::int64_t>;

class QueuePages : public ::testing::Test {
 protected:
  QueuePages() : queue_(workbench_.store()) {}

  std::int64_t enqueued(const std::string& name, const store::QueueOptions& options = {}) {
    const std::int64_t run = workbench_.addRun(name, Json{{"train", {{"device", "cpu"}}}});
    queue_.enqueue(std::vector{run}, options);
    return run;
  }
  QString headline() const { return named<QLabel>(*page_, "The queue")->text(); }
  std::int64_t interrupted(const std::string& name) {
    const std::int64_t run = workbench_.addRun(name, Json::object());
    workbench_.store().claim(run);
    workbench_.store().setState(run, store::RunState::Interrupted, "its process is gone");
    return run;
  }
  void open() {
    page_ = std::make_unique<QueuePage>(workbench_);
    page_->resize(900, 640);
    page_->show();
    waitUntilIdle();
  }
  void waitUntilIdle() { page_->waitUntilIdle(); }
  void select(const Ids& runs) { workbench_.selection().setRuns(runs, runs.front()); }
  QAction& action(const QString& text) { return *saying<QAction>(*page_, text); }
  void trigger(const QString& text) {
    ASSERT_TRUE(action(text).isEnabled()) << text.toStdString();
    action(text).trigger();
    waitUntilIdle();
  }
  Ids order() {
    Ids runs;
    for (const jobs::QueueEntry& entry : queue_.list()) runs.push_back(entry.run);
    return runs;
  }
  QString cell(std::int64_t run, int column, int role = Qt::DisplayRole) {
    return page_->model().indexOf(run).siblingAtColumn(column).data(role).toString();
  }

  FakeWorkbench workbench_;
  jobs::JobQueue queue_;
  std::unique_ptr<QueuePage> page_;
};

TEST_F(QueuePages, SaysWhatToDoWhileThereIsNothing) {
  open();
  const QString text = labelsIn(*page_);
  EXPECT_TRUE(text.contains(QStringLiteral("vitrine enqueue"))) << text.toStdString();
  EXPECT_TRUE(headline().startsWith(QStringLiteral("Nothing in progress")));
}

TEST_F(QueuePages, ShowsTheOrderAndWhyARunWaits) {
  const std::int64_t one = enqueued("one"), two = enqueued("two");
  open();
  EXPECT_EQ(page_->model().runsOf(Section::Waiting), (Ids{one, two}));
  EXPECT_EQ(cell(one, QueueModel::StateColumn, QueueModel::DetailRole).toStdString(), "next");
  EXPECT_EQ(cell(one, QueueModel::DeviceColumn).toStdString(), "CPU");
  EXPECT_EQ(cell(one, QueueModel::LimitColumn).toStdString(), "\u2013");
  EXPECT_TRUE(headline().contains(QStringLiteral("2 waiting")));
}

TEST_F(QueuePages, FillsItsWidthAlsoWhenTheFirstRunComesLater) {
  open();
  enqueued("one");
  workbench_.queue().refresh();
  waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(page_->view().header()->length(), page_->view().viewport()->width());
}

/// Counts the cells that are drawn.
class CountingDelegate : public QueueDelegate {
 public:
  using QueueDelegate::QueueDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    ++cells;
    QueueDelegate::paint(painter, option, index);
  }
  mutable int cells = 0;
};

TEST_F(QueuePages, TellsAndDrawsOnlyWhatChangedOfAThousandRuns) {
  std::vector<store::NewRun> runs(1000);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].name = "run " + std::to_string(i);
    runs[i].config = Json{{"train", {{"device", "cpu"}}}};
  }
  const auto ids = workbench_.store().addRuns(workbench_.store().experiment("Many", ""), runs);
  queue_.enqueue(ids, {});
  open();
  ASSERT_EQ(page_->model().runsOf(Section::Waiting).size(), 1000U);
  CountingDelegate delegate(&page_->view());
  page_->view().setItemDelegate(&delegate);
  QCoreApplication::processEvents();
  delegate.cells = 0;
  page_->view().viewport()->repaint();
  const int screen = delegate.cells;  // what is seen, whatever there is
  EXPECT_LE(screen, 20 * QueueModel::ColumnCount);
  int resets = 0;
  int told = 0;
  QObject::connect(&page_->model(), &QueueModel::modelReset, page_.get(), [&] { ++resets; });
  QObject::connect(
      &page_->model(), &QueueModel::dataChanged, page_.get(),
      [&](const QModelIndex& from, const QModelIndex& to) { told += to.row() - from.row() + 1; });
  waitUntilIdle();  // nothing happened
  EXPECT_EQ(told, 0);
  queue_.setTimeLimit(ids[500], 60);
  workbench_.queue().refresh();
  waitUntilIdle();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(resets, 0);
  delegate.cells = 0;
  QCoreApplication::processEvents();
  EXPECT_LE(delegate.cells, screen);
  page_->view().setItemDelegate(nullptr);
}

TEST_F(QueuePages, OutlinesTheTitleOfASectionThatTheKeysReach) {
  enqueued("one");
  open();
  bringUp(*page_);
  QTreeView& view = page_->view();
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Home);
  const QModelIndex section = view.model()->index(0, 0);
  ASSERT_EQ(view.currentIndex(), section);
  const QRect row = view.visualRect(section);
  const QImage image = view.viewport()->grab(row).toImage();
  EXPECT_EQ(image.pixelColor(image.width() / 2, 0).rgb(), themeColors().accent.rgb());
}

TEST_F(QueuePages, PutsTheTitlesOverTheirColumns) {
  enqueued("one");
  open();
  const QImage image = page_->view().header()->grab().toImage();
  const double scale = image.devicePixelRatio();
  const QRgb ground = image.pixel(1, image.height() / 2);
  int first = 0;
  const auto hasInk = [&](int x) {
    for (int y = 2; y < image.height() - 3; ++y) {
      if (image.pixel(x, y) != ground) return true;
    }
    return false;
  };
  while (first < image.width() && !hasInk(first)) ++first;
  EXPECT_NEAR(first / scale, px(12), 2);  // as the titles of the sections
}

TEST_F(QueuePages, ItsColumnsFollowTheZoom) {
  enqueued("one");
  open();
  const QHeaderView* header = page_->view().header();
  const int device = header->sectionSize(QueueModel::DeviceColumn);
  const QString padding = header->styleSheet();
  for (const double zoom : {1.5, 1.0}) {
    setUiZoom(zoom);
    Q_EMIT workbench_.themeChanged();
    EXPECT_EQ(header->sectionSize(QueueModel::DeviceColumn), px(90));
  }
  EXPECT_EQ(header->sectionSize(QueueModel::DeviceColumn), device);
  EXPECT_EQ(header->styleSheet(), padding);
}

TEST_F(QueuePages, TheTitleOfTheTimesFitsItsColumn) {
  enqueued("one");
  open();
  const QHeaderView* header = page_->view().header();
  const QString title =
      header->model()->headerData(QueueModel::TimeColumn, Qt::Horizontal).toString();
  EXPECT_GE(header->sectionSize(QueueModel::TimeColumn),
            QFontMetrics(header->font()).horizontalAdvance(title) + px(20));
}

TEST_F(QueuePages, MovesRunsByKeysAndByDragging) {
  const std::int64_t one = enqueued("one"), two = enqueued("two"), three = enqueued("three");
  open();
  select({three});
  trigger(QStringLiteral("Up"));
  EXPECT_EQ(order(), (Ids{one, three, two}));
  trigger(QStringLiteral("Queue first"));
  EXPECT_EQ(order(), (Ids{three, one, two}));
  trigger(QStringLiteral("Down"));
  EXPECT_EQ(order(), (Ids{one, three, two}));
  trigger(QStringLiteral("Down"));
  EXPECT_EQ(order(), (Ids{one, two, three}));
  EXPECT_EQ(workbench_.selection().runs(), Ids{three}) << "it stays selected while it moves";

  QueueModel& model = page_->model();
  const QModelIndex waiting = model.index(0, 0, {});
  const std::unique_ptr<QMimeData> dragged(
      model.mimeData({model.indexOf(three), model.indexOf(two)}));
  ASSERT_NE(dragged, nullptr);
  EXPECT_FALSE(model.dropMimeData(dragged.get(), Qt::MoveAction, 0, 0, waiting))
      << "rows move when the queue says so";
  waitUntilIdle();
  EXPECT_EQ(order(), (Ids{two, three, one}));
  const std::unique_ptr<QMimeData> again(model.mimeData({model.indexOf(two)}));
  model.dropMimeData(again.get(), Qt::MoveAction, -1, 0, waiting);  // on the header: to the end
  waitUntilIdle();
  EXPECT_EQ(order(), (Ids{three, one, two}));
}

TEST_F(QueuePages, ARunThatIsMovedStaysInSight) {
  for (int i = 0; i < 40; ++i) enqueued("run " + std::to_string(i));
  const std::int64_t last = enqueued("last");
  open();
  QTreeView& view = page_->view();
  const auto isInSight = [&] {
    return view.viewport()->rect().contains(view.visualRect(page_->model().indexOf(last)).center());
  };
  select({last});
  ASSERT_TRUE(isInSight());
  trigger(QStringLiteral("Queue first"));
  EXPECT_EQ(order().front(), last);
  EXPECT_EQ(view.currentIndex().data(QueueModel::IdRole).toLongLong(), last);
  EXPECT_TRUE(isInSight());
}

TEST_F(QueuePages, TheOutlineStaysInItsPlaceWhenItsRunLeavesTheList) {
  const std::int64_t one = enqueued("one"), two = enqueued("two"), three = enqueued("three");
  open();
  select({two});
  ASSERT_EQ(page_->view().currentIndex(), page_->model().indexOf(two));
  workbench_.store().deleteRun(two);
  workbench_.queue().refresh();
  waitUntilIdle();
  ASSERT_EQ(page_->model().runsOf(Section::Waiting), (Ids{one, three}));
  EXPECT_EQ(page_->view().currentIndex(), page_->model().indexOf(three));
  EXPECT_EQ(workbench_.selection().runs(), Ids{two}) << "nothing else is selected unasked";
}

TEST_F(QueuePages, DragsOnlyWhatWaits) {
  const std::int64_t lost = interrupted("lost");
  enqueued("one");
  open();
  QueueModel& model = page_->model();
  EXPECT_FALSE(model.flags(model.indexOf(lost)).testFlag(Qt::ItemIsDragEnabled));
  EXPECT_EQ(model.mimeData({model.indexOf(lost)}), nullptr);
}

TEST_F(QueuePages, PausesTheQueueAndLetsItContinue) {
  enqueued("one");
  open();
  trigger(QStringLiteral("Now: runs in progress pause at a checkpoint"));
  EXPECT_EQ(queue_.mode(), store::QueueMode::Paused);
  EXPECT_TRUE(headline().startsWith(QStringLiteral("The queue is paused")));
  EXPECT_FALSE(action(QStringLiteral("Pause queue")).isVisible());
  trigger(QStringLiteral("Resume queue"));
  EXPECT_EQ(queue_.mode(), store::QueueMode::Running);
}

TEST_F(QueuePages, PausesAfterTheCurrentRun) {
  const std::int64_t run = enqueued("one");
  ASSERT_TRUE(queue_.next(jobs::Device{"cpu", "", "", 0, 0}, {}));
  open();
  EXPECT_EQ(page_->model().runsOf(Section::Running), Ids{run});
  trigger(QStringLiteral("After the current run"));
  EXPECT_EQ(queue_.mode(), store::QueueMode::AfterCurrent);
}

TEST_F(QueuePages, PausesARunInProgressAndFreesItsPlace) {
  const std::int64_t run = enqueued("one");
  ASSERT_TRUE(queue_.next(jobs::Device{"cpu", "", "", 0, 0}, {}));
  open();
  select({run});
  trigger(QStringLiteral("Pause run"));
  EXPECT_EQ(workbench_.store().request(run), "pause");
  EXPECT_TRUE(order().empty());
}

TEST_F(QueuePages, SetsLimitAndDeviceOfWhatWaitsAndRemovesIt) {
  const std::int64_t one = enqueued("one"), two = enqueued("two");
  open();
  select({one, two});
  trigger(duration(4 * 3600));
  EXPECT_EQ(queue_.find(two)->options.timeLimitSeconds, 4 * 3600);
  EXPECT_EQ(cell(one, QueueModel::LimitColumn).toStdString(), "4\u2009h");
  QMenu* devices = action(QStringLiteral("Device")).menu();
  ASSERT_NE(devices, nullptr);
  Q_EMIT devices->aboutToShow();
  trigger(QStringLiteral("CPU"));
  EXPECT_EQ(queue_.find(one)->options.device, "cpu");
  trigger(QStringLiteral("Remove"));
  EXPECT_TRUE(order().empty());
  EXPECT_EQ(workbench_.store().run(one).state, store::RunState::Stopped)
      << "nothing will start it by itself";
  QCoreApplication::processEvents();
  ASSERT_EQ(workbench_.offered, QStringLiteral("Undo"));
  workbench_.takeOffer();
  waitUntilIdle();
  EXPECT_EQ(order(), (Ids{one, two}));
  EXPECT_EQ(workbench_.store().run(one).state, store::RunState::Queued);
  EXPECT_EQ(queue_.find(two)->options.timeLimitSeconds, 4 * 3600);
}

TEST_F(QueuePages, ARowThatIsClickedLeavesAComparisonAndStaysTheOneThatIsActedOn) {
  const std::int64_t one = enqueued("one"), two = enqueued("two"), three = enqueued("three");
  open();
  select({one, two});
  QTreeView& view = page_->view();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                    view.visualRect(page_->model().indexOf(three)).center());
  EXPECT_EQ(workbench_.selection().runs(), (Ids{one, two}));
  EXPECT_EQ(workbench_.selection().current(), three);
  enqueued("four");  // the page shows the queue again
  workbench_.queue().refresh();
  waitUntilIdle();
  trigger(QStringLiteral("Remove"));
  EXPECT_EQ(order().size(), 3U);
  EXPECT_EQ(workbench_.store().run(three).state, store::RunState::Stopped);
}

TEST_F(QueuePages, TellsHowLongItHasWorkForFromRunsOfTheSameExperiment) {
  const auto ofSteps = [&](int steps) {
    const Json train{{"device", "cpu"}, {"steps", steps}, {"epochs", 10}};
    queue_.enqueue(std::vector{workbench_.addRun("waits", Json{{"train", train}})}, {});
  };
  const std::int64_t run = enqueued("one");
  ofSteps(100);
  open();
  EXPECT_FALSE(headline().contains(QStringLiteral("left")));
  ASSERT_TRUE(queue_.next(jobs::Device{"cpu", "", "", 0, 0}, {}));
  const std::int64_t segment =
      workbench_.store().openSegment(run, 0, store::thisWorker(), Json::object());
  store::RunStore::Batch batch;
  batch.progress = {.step = 50, .totalSteps = 100, .remainingSeconds = 1800};
  workbench_.store().append(run, segment, batch);
  workbench_.queue().refresh();
  waitUntilIdle();
  // Half an hour of this one, and an hour for one as long.
  EXPECT_TRUE(headline().contains(QStringLiteral("about ") + duration(5400)))
      << headline().toStdString();
  ofSteps(25);
  workbench_.queue().refresh();
  waitUntilIdle();
  EXPECT_TRUE(headline().contains(QStringLiteral("about ") + duration(6300)))
      << headline().toStdString();
  enqueued("of unknown length");
  workbench_.queue().refresh();
  waitUntilIdle();
  EXPECT_TRUE(headline().contains(QStringLiteral("more than ") + duration(6300)))
      << headline().toStdString();
}

TEST_F(QueuePages, TellsTheTimeOfRunsWhoseLengthIsInEpochsFromThoseOfARunThatWasTrained) {
  const std::int64_t trained = workbench_.addRun("trained", Json::object());
  const Json train{{"device", "cpu"}, {"steps", nullptr}, {"epochs", 2}};
  queue_.enqueue(std::vector{workbench_.addRun("waits", Json{{"train", train}})}, {});
  workbench_.store().claim(trained);
  const std::int64_t segment =
      workbench_.store().openSegment(trained, 0, store::thisWorker(), Json::object());
  store::RunStore::Batch batch;
  ProgressRecord progress{
      .step = 10, .totalSteps = 100, .totalEpochs = 10, .remainingSeconds = 900};
  batch.progress = progress;
  workbench_.store().append(trained, segment, batch);
  open();
  // A quarter of an hour of this one, and a fifth of its whole time.
  EXPECT_TRUE(headline().contains(QStringLiteral("about ") + duration(1100)))
      << headline().toStdString();
}

TEST_F(QueuePages, OffersToResumeWhatWasInterrupted) {
  const std::int64_t lost = interrupted("lost"), other = interrupted("other");
  open();
  const auto button = [&](const QString& text) { return saying<QPushButton>(*page_, text); };
  ASSERT_TRUE(button(QStringLiteral("Resume"))->isVisible());
  QTest::mouseClick(button(QStringLiteral("Not now")), Qt::LeftButton);
  EXPECT_FALSE(button(QStringLiteral("Resume"))->isVisible());
  select({other});
  trigger(QStringLiteral("Resume or retry"));
  EXPECT_EQ(order(), Ids{other});
  const std::int64_t later = interrupted("later");
  workbench_.queue().refresh();
  waitUntilIdle();
  ASSERT_TRUE(button(QStringLiteral("Resume"))->isVisible()) << "another one was interrupted";
  QTest::mouseClick(button(QStringLiteral("Resume")), Qt::LeftButton);
  waitUntilIdle();
  EXPECT_EQ(order(), (Ids{lost, later, other}));
  EXPECT_FALSE(button(QStringLiteral("Resume"))->isVisible());
}

TEST_F(QueuePages, ARunThatIsDeletedWhileThePageIsHiddenIsNotLookedUp) {
  const std::int64_t gone = workbench_.addRun("gone", Json::object());
  const std::int64_t other = enqueued("other");
  workbench_.store().claim(gone);
  workbench_.store().setState(gone, store::RunState::Failed, "it broke");
  open();
  select({gone});
  page_->hide();
  workbench_.store().deleteRun(gone);
  workbench_.queue().refresh();
  workbench_.queue().waitUntilIdle();
  ASSERT_FALSE(workbench_.queue().view().rows.contains(gone));
  EXPECT_NO_THROW(select({gone, other}));
}

TEST_F(QueuePages, OffersInTheMenuOnlyWhatMakesSense) {
  const std::int64_t one = enqueued("one"), lost = interrupted("lost");
  open();
  const auto texts = [&] {
    QMenu menu;
    page_->fillMenu(menu);
    QStringList all;
    for (const QAction* each : menu.actions()) all << each->text();
    return all;
  };
  select({one});
  EXPECT_TRUE(texts().contains(QStringLiteral("Remove")));
  EXPECT_FALSE(texts().contains(QStringLiteral("Resume or retry")));
  select({lost});
  EXPECT_FALSE(texts().contains(QStringLiteral("Remove")));
  EXPECT_TRUE(texts().contains(QStringLiteral("Resume or retry")));
}

TEST_F(QueuePages, ShowsTheProcessorAndWhatItComputes) {
  open();
  const auto tiles = page_->findChildren<DeviceTile*>();
  ASSERT_GE(tiles.size(), 1);
  const QString said = tiles.first()->accessibleName();
  EXPECT_TRUE(said.startsWith(QStringLiteral("cpu, "))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("memory "))) << said.toStdString();
  EXPECT_FALSE(said.contains(QStringLiteral("busy \u2013"))) << "two readings were made";
}

TEST(Nvml, ReadsTheCardsOfTheDriversLibrary) {
  jobs::Nvml nvml(QStringLiteral(FAKE_NVML));
  ASSERT_TRUE(nvml.isThere());
  const auto cards = nvml.read();
  ASSERT_EQ(cards.size(), 2U);
  EXPECT_EQ(cards[0].title, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(cards[1].uuid, "GPU-1");
  EXPECT_DOUBLE_EQ(cards[0].utilisation, 0.97);
  EXPECT_EQ(cards[0].usedBytes, 20'000'000'000);
  EXPECT_DOUBLE_EQ(cards[0].temperature, 54);
  EXPECT_TRUE(std::isnan(cards[1].temperature));
}

TEST(Nvml, HasNoCardsWithoutADriver) {
  jobs::Nvml nvml(QStringLiteral("/no/such/libnvidia-ml.so.1"));
  EXPECT_FALSE(nvml.isThere());
  EXPECT_TRUE(nvml.read().empty());
}

TEST(CpuModel, IsReadFromTheKernelsTable) {
  EXPECT_EQ(jobs::parseCpuModel("processor\t: 0\nmodel name\t: AMD  EPYC 7763\nflags\t: fpu\n"),
            "AMD EPYC 7763");
  EXPECT_TRUE(jobs::parseCpuModel("").empty());
}

}  // namespace
}  // namespace vitrine::ui
