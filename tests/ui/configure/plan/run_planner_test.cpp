// Planning never waits in the window's thread: who is asked, where, and how often.
#include "ui/configure/plan/run_planner.h"

#include <QComboBox>
#include <QLabel>
#include <QScrollArea>
#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "tests/ui/configure/configure_fixture.h"
#include "tests/ui/support/soon.h"
#include "ui/configure/plan/changes_view.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {
namespace {

/// Plans only when it is let go, and writes down what it was asked for.
struct HeldPlanner {
  std::promise<void> gate;
  std::shared_future<void> isOpen{gate.get_future()};
  std::mutex mutex;
  std::vector<std::string> texts;
  std::vector<std::thread::id> threads;
  std::atomic<bool> sawStale = false;

  RunPlanner::Work work() {
    return [this](const std::string& text, const Catalog&, const PlanLimits& limits) {
      {
        const std::lock_guard lock(mutex);
        texts.push_back(text);
        threads.push_back(std::this_thread::get_id());
      }
      isOpen.wait();
      if (limits.isStale != nullptr && *limits.isStale) sawStale = true;
      return Plan{.title = text};
    };
  }
};

TEST(RunPlanner, IsNeverWaitedForAndPlansOnlyTheFirstAndTheNewestOfMany) {
  FakeWorkbench workbench;
  HeldPlanner held;
  RunPlanner planner(workbench.store().file(), nullptr, held.work());
  std::vector<std::string> told;
  QObject::connect(&planner, &RunPlanner::planned, &planner,
                   [&](const std::shared_ptr<const Plan>& plan) { told.push_back(plan->title); });
  const auto catalog = std::make_shared<const Catalog>();
  planner.ask("text 0", catalog);
  ASSERT_TRUE(soon([&] {
    const std::lock_guard lock(held.mutex);
    return held.texts.size() == 1;
  }));
  // The one that runs is held: every further call comes back all the same.
  for (int i = 1; i <= 50; ++i) planner.ask("text " + std::to_string(i), catalog);
  EXPECT_TRUE(planner.isBusy());
  held.gate.set_value();
  planner.waitUntilIdle();
  EXPECT_EQ(held.texts, (std::vector<std::string>{"text 0", "text 50"}));
  EXPECT_EQ(told, std::vector<std::string>{"text 50"});
  EXPECT_TRUE(held.sawStale) << "the older one is told that it is old";
  for (const std::thread::id thread : held.threads) EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(RunPlanner, LooksAtNoMoreRunsThanAreShown) {
  FakeWorkbench workbench;
  std::size_t most = 0;
  RunPlanner planner(workbench.store().file(), nullptr,
                     [&](const std::string&, const Catalog&, const PlanLimits& limits) {
                       most = limits.mostRuns;
                       return Plan();
                     });
  planner.ask("", std::make_shared<const Catalog>());
  planner.waitUntilIdle();
  EXPECT_EQ(most, RunPlanner::kMostRuns);
}

TEST(ShortValue, NamesTheTransformsOfAPipeline) {
  const Json pipeline = Json::parse(R"([{"name": "resize", "size": null}, {"name": "normalise"}])");
  EXPECT_EQ(shortValue(pipeline), QStringLiteral("resize, normalise"));
  EXPECT_EQ(shortValue(Json::array({1, 2, 3})), QStringLiteral("1, 2, 3"));
  EXPECT_EQ(shortValue(Json(1000)), QStringLiteral("1,000"));
}

TEST(ShortValue, LeavesTheMiddleOfALongOneOut) {
  const QString text = shortValue(Json("/data/of/the/laboratory/pictures/train"));
  EXPECT_TRUE(text.startsWith(QStringLiteral("/data/of/"))) << text.toStdString();
  EXPECT_TRUE(text.endsWith(QStringLiteral("/train"))) << text.toStdString();
  EXPECT_EQ(text.size(), 28);
}

TEST(ChangesView, HasRoomForLongValuesAndTheWholeOnesInItsToolTip) {
  ChangesView view;
  view.resize(220, 300);
  const std::string folder = "/" + std::string(60, 'x') + "/train";
  const Difference change{"data.folder", Json(std::string(40, 'x')), Json(folder)};
  view.show({change}, QString(), {});
  static_cast<QWidget&>(view).show();
  QCoreApplication::processEvents();
  const auto* list = view.findChild<QScrollArea*>();
  const auto* label = list->widget()->findChild<QLabel*>();
  ASSERT_NE(label, nullptr);
  EXPECT_LE(list->widget()->width(), list->viewport()->width());
  EXPECT_LE(label->minimumSizeHint().width(), list->viewport()->width());
  EXPECT_TRUE(label->toolTip().contains(QString::fromStdString(folder)));
}

TEST_F(Configure, ReadsNothingThroughTheWindowsConnectionWhileOneTypes) {
  const auto shown = page();
  Json config = shown->plan().runs.at(0).config;
  config["model"]["width"] = 48;
  const std::int64_t run = workbench_.addRun("earlier", config);
  shown->show();
  shown->side().changes().setAgainst(ChangesView::Against::Nearest);
  const int before = workbench_.storeRequests;
  type(*shown, "model.width", QStringLiteral("128"));
  shown->waitUntilIdle();
  type(*shown, "model.heads", QStringLiteral("8"));
  shown->waitUntilIdle();
  shown->side().changes().compareWith(run);
  shown->waitUntilIdle();
  shown->startFrom(run);
  shown->waitUntilIdle();
  shown->copyAsCommand();
  shown->planNow();
  EXPECT_EQ(Probe::forecast(*shown).nearest, run);
  EXPECT_EQ(formOf(*shown).value("model.width"), Json(48));
  // copyAsCommand() asks it for the name of the file, which reads nothing.
  EXPECT_EQ(workbench_.storeRequests - before, 1);
}

TEST_F(Configure, StartsWhatWasTypedLastOnceItIsPlanned) {
  const auto shown = page();
  workbench_.addRun("made by the program", Json::object());
  type(*shown, "model.width", QStringLiteral("128"));
  ASSERT_TRUE(shown->isPlanPending());
  shown->start();
  EXPECT_TRUE(fileText(program_ + QStringLiteral(".enqueued")).isEmpty());
  ASSERT_TRUE(soon([&] { return !workbench_.pages.empty(); }));
  EXPECT_FALSE(fileText(program_ + QStringLiteral(".enqueued")).isEmpty());
  EXPECT_TRUE(
      fileText(program_ + QStringLiteral(".asked")).contains(QStringLiteral("width = 128")));
}

TEST_F(Configure, StartsNothingThatWasEditedAfterStartWasPressed) {
  const auto shown = page();
  type(*shown, "model.width", QStringLiteral("128"));
  shown->start();
  type(*shown, "model.width", QStringLiteral("192"));
  shown->waitUntilIdle();
  EXPECT_TRUE(workbench_.pages.empty());
  EXPECT_TRUE(fileText(program_ + QStringLiteral(".enqueued")).isEmpty());
}

}  // namespace
}  // namespace vitrine::ui
