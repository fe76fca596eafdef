#include <QAbstractItemModelTester>
#include <QDateTime>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/wait_until.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/runs/run_query.h"
#include "ui/runs/runs_panel.h"

namespace vitrine::ui {
namespace {

store::RunRow row(std::int64_t id, std::int64_t experiment,
                  store::RunState state = store::RunState::Queued) {
  return {.id = id,
          .experiment = "experiment " + std::to_string(experiment),
          .name = "run " + std::to_string(id),
          .experimentId = experiment,
          .state = state};
}

bool matches(const char* text, const store::RunRow& run) {
  RunQuery::Lookup lookup;
  static const FlatConfig kConfig{
      {"model.width", 64}, {"model.mask.kind", "soft"}, {"train.learning_rate", 1e-3}};
  lookup.config = [](const store::RunRow&) -> const FlatConfig& { return kConfig; };
  lookup.tags = [](std::int64_t) { return std::vector<std::string>{"paper", "best", "to do"}; };
  lookup.note = [](std::int64_t) { return std::string("diverged at the end"); };
  lookup.metric = [](std::int64_t, const std::string& name) {
    return name == "test/top1" || name == "acc" ? std::optional<double>(0.625) : std::nullopt;
  };
  return RunQuery(QString::fromLatin1(text)).matches(run, lookup);
}

TEST(RunQuery, WordsMayStandInNameExperimentStateOrTags) {
  store::RunRow run = row(1, 1, store::RunState::Running);
  run.name = "iLLaMA, soft mask";
  EXPECT_TRUE(matches("soft illama", run));
  EXPECT_TRUE(matches("running paper", run));
  EXPECT_FALSE(matches("soft vit", run));
  EXPECT_TRUE(matches("", run));
}

TEST(RunQuery, ConditionsReadRowTagsAndConfiguration) {
  const store::RunRow run = row(7, 1, store::RunState::Done);
  EXPECT_TRUE(matches("state=done id=7 tag=best", run));
  EXPECT_FALSE(matches("tag=worst", run));
  EXPECT_TRUE(matches("tag!=worst", run));
  EXPECT_TRUE(matches("width=64", run));
  EXPECT_TRUE(matches("model.mask.kind = soft", run));
  EXPECT_FALSE(matches("idth=64", run)) << "a key matches from a dot on, not from anywhere";
  EXPECT_FALSE(matches("depth=4", run));
}

TEST(RunQuery, ComparesNumbersAsNumbers) {
  const store::RunRow run = row(7, 1);
  EXPECT_TRUE(matches("learning_rate=0.001", run));
  EXPECT_TRUE(matches("learning_rate>=1e-3", run));
  EXPECT_FALSE(matches("learning_rate<1e-3", run));
  EXPECT_TRUE(matches("width>8", run)) << "as text 64 would be less than 8";
}

TEST(RunQuery, FindsTagsNotesAndWordsBetweenQuotes) {
  const store::RunRow run = row(7, 1);
  EXPECT_TRUE(matches("tag:best", run));
  EXPECT_TRUE(matches("Tag: BEST", run));
  EXPECT_FALSE(matches("tag:bes", run)) << "a tag is meant whole";
  EXPECT_TRUE(matches("tag:\"to do\"", run));
  EXPECT_TRUE(matches("note:diverged", run));
  EXPECT_FALSE(matches("note:converged", run));
  EXPECT_TRUE(matches("diverged", run)) << "a word may stand in the note";
  EXPECT_TRUE(matches("\"the end\"", run));
  EXPECT_FALSE(matches("\"end the\"", run));
  EXPECT_TRUE(matches("", run));
  EXPECT_TRUE(matches("\"\"", run));
}

TEST(RunQuery, ComparesTheLastValuesOfMetrics) {
  const store::RunRow run = row(7, 1);
  EXPECT_TRUE(matches("test/top1 > 0.5", run));
  EXPECT_FALSE(matches("test/top1>0.7", run));
  EXPECT_TRUE(matches("test/top1 <= 0.625 tag:best", run));
  EXPECT_FALSE(matches("test/ece < 1", run)) << "it has not recorded that";
  EXPECT_TRUE(matches("acc>=0.6", run)) << "a metric without a split";
  EXPECT_TRUE(RunQuery(QStringLiteral("test/top1>0")).asksMetrics());
  EXPECT_FALSE(RunQuery(QStringLiteral("width>0")).asksMetrics());
}

TEST(RunQuery, TakesPercentAsTheListShowsThem) {
  const store::RunRow run = row(7, 1);
  EXPECT_TRUE(matches("test/top1 > 60 %", run));
  EXPECT_TRUE(matches("test/top1 > 60%", run));
  EXPECT_TRUE(matches("test/top1=62.5% tag:best", run));
  EXPECT_FALSE(matches("test/top1 > 63 %", run));
  EXPECT_FALSE(matches("test/top1 > 60", run)) << "60 is not 60 %";
  EXPECT_FALSE(matches("test/top1 > %", run));
  RunQuery::Lookup lookup;
  lookup.metric = [](std::int64_t, const std::string&) { return std::optional<double>(0.625); };
  EXPECT_TRUE(RunQuery(QStringLiteral("test/top1 > 62.4\u2009%")).matches(run, lookup))
      << "copied from the list";
}

TEST(RunQuery, ComparesTheDayOfARun) {
  store::RunRow run = row(7, 1);
  run.createdAt = "2026-11-23T12:00:00.000Z";
  for (const char* holds :
       {"created=2026-11-23", "created>=2026-11-23", "created <= 2026-11-23", "created>2026-11-22",
        "created<2026-12", "created=2026-11", "created!=2026-11-24",
        "created>=\"2026-11-22 23:59\""})
    EXPECT_TRUE(matches(holds, run)) << holds;
  for (const char* fails : {"created>2026-11-23", "created<2026-11-23", "created=2026-11-24",
                            "created>2026-11", "created=soon"})
    EXPECT_FALSE(matches(fails, run)) << fails;
  run.createdAt = QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs).toStdString();
  EXPECT_TRUE(matches("created>=yesterday", run));
  EXPECT_FALSE(matches("created<today", run));
}

TEST(RunQuery, FindsWordsOfTheReasonWhyARunFailed) {
  store::RunRow run = row(7, 1, store::RunState::Failed);
  run.reason = "the loss is not finite at step 600";
  EXPECT_TRUE(matches("\"not finite\"", run));
  EXPECT_FALSE(matches("\"out of memory\"", run));
}

TEST(RunQuery, KnowsItsKeysAndWhatARunHas) {
  const RunQuery query(QStringLiteral("soft widht=64 test/top1 > 0.5 widht>3 tag:best"));
  EXPECT_EQ(query.keys(), QStringList({"widht", "test/top1", "tag"}));
  const store::RunRow run = row(7, 1);
  RunQuery::Lookup lookup;
  static const FlatConfig kConfig{{"model.width", 64}};
  lookup.config = [](const store::RunRow&) -> const FlatConfig& { return kConfig; };
  lookup.metric = [](std::int64_t, const std::string& name) {
    return name == "acc" ? std::optional<double>(0.625) : std::nullopt;
  };
  for (const char* key : {"width", "model.width", "acc", "state", "tag", "note"})
    EXPECT_TRUE(RunQuery::hasKey(QString::fromLatin1(key), run, lookup)) << key;
  for (const char* key : {"widht", "test/top1"})
    EXPECT_FALSE(RunQuery::hasKey(QString::fromLatin1(key), run, lookup)) << key;
}

TEST(RunsModel, TellsRunsOfOneNameApartByTheirDayAndThoseOfOneMinuteByTheirNumber) {
  RunsModel model;
  store::RunRow a = row(1, 1), b = row(2, 1), c = row(3, 1);
  a.name = b.name = "again";
  a.createdAt = "2026-11-23T14:20:05.123Z";
  b.createdAt = "2026-11-24T09:00:00.000Z";
  model.upsert({a, b, c});
  const QString first = model.indexOf(1).data(RunsModel::DetailRole).toString();
  const QString second = model.indexOf(2).data(RunsModel::DetailRole).toString();
  EXPECT_NE(first, second);
  EXPECT_TRUE(first.contains(QStringLiteral("Nov"))) << first.toStdString();
  EXPECT_EQ(model.indexOf(3).data(RunsModel::DetailRole).toString(), QStringLiteral("seed 0"));

  store::RunRow sameMinute = a;
  sameMinute.id = 4;
  sameMinute.createdAt = "2026-11-23T14:20:51.000Z";
  model.upsert({sameMinute});
  for (const int id : {1, 4}) {
    EXPECT_EQ(model.indexOf(id).data(RunsModel::DetailRole).toString(),
              QStringLiteral("seed 0 \u00b7 #%1").arg(id));
  }
  EXPECT_EQ(model.indexOf(2).data(RunsModel::DetailRole).toString(), second);
}

TEST(RunsModel, KeepsTheRulesOfQtForItemModels) {
  RunsModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Warning);
  model.upsert({row(1, 1), row(2, 1), row(3, 2)});
  model.upsert({row(2, 1, store::RunState::Running), row(4, 3), row(5, 1)});
  model.remove({3, 1});
  EXPECT_EQ(model.runCount(), 3);
  EXPECT_EQ(model.rowCount({}), 2);
}

TEST(RunsModel, ListsTheNewestExperimentFirstAndItsRunsById) {
  RunsModel model;
  model.upsert({row(3, 1), row(1, 1), row(2, 2)});
  EXPECT_EQ(model.index(0, 0, {}).data().toString(), QStringLiteral("experiment 2"));
  const QModelIndex older = model.index(1, 0, {});
  EXPECT_EQ(model.index(0, 0, older).data(RunsModel::IdRole).toInt(), 1);
  EXPECT_EQ(model.index(1, 0, older).data(RunsModel::IdRole).toInt(), 3);
}

TEST(RunsModel, AThousandUpdatesNeverReset) {
  RunsModel model;
  std::vector<store::RunRow> rows;
  for (int i = 1; i <= 1000; ++i) rows.push_back(row(i, 1 + i % 5));
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
  model.upsert(rows);
  changes.clear();
  const QPersistentModelIndex kept = model.indexOf(500);
  model.upsert({row(500, 1, store::RunState::Running)});
  EXPECT_EQ(changes.count(), 1);
  model.remove({5, 10});
  EXPECT_EQ(kept.data(RunsModel::IdRole).toInt(), 500);
  EXPECT_EQ(resets.count(), 0);
  EXPECT_EQ(model.runCount(), 998);
}

TEST(RunsModel, SaysStepOnlyWhereItMeansSomething) {
  store::RunRow run = row(1, 1);
  EXPECT_EQ(runDetail(run).toStdString(), "seed 0");
  run.state = store::RunState::Running;
  run.step = 2184;
  run.totalSteps = 4690;
  EXPECT_EQ(runDetail(run).toStdString(), "seed 0 \u00b7 step 2,184 / 4,690");
  run.state = store::RunState::Interrupted;
  EXPECT_EQ(runDetail(run).toStdString(), "seed 0 \u00b7 at step 2,184");
  run.state = store::RunState::Done;
  EXPECT_EQ(runDetail(run).toStdString(), "seed 0");
}

TEST(RunsPanel, SelectsWhatRunsAtFirstSight) {
  SampleStudio studio;
  RunsPanel panel(studio.workbench);
  const Selection& selection = studio.workbench.selection();
  EXPECT_EQ(selection.current(), studio.runs[8]);
  EXPECT_EQ(selection.runs(),
            (std::vector<std::int64_t>{studio.runs[6], studio.runs[7], studio.runs[8]}));
}

TEST(RunsPanel, TheSelectionOfADatabaseIsThereAgainAtTheNextStart) {
  SampleStudio studio(SampleOptions{0, 50}), another(SampleOptions{0, 50});
  const QString settings = studio.folder.filePath(QStringLiteral("studio.ini"));
  useSettings(settings);
  const std::vector<std::int64_t> chosen{studio.runs[1], studio.runs[2], studio.runs[3]};
  {
    RunsPanel panel(studio.workbench);
    studio.workbench.selection().setRuns(chosen, chosen[2], {chosen[0]});
  }
  useSettings(settings);
  {
    StudioWorkbench next(studio.writer.file());
    next.watcher().poll();
    RunsPanel panel(next);
    EXPECT_EQ(next.selection().runs(), chosen);
    EXPECT_EQ(next.selection().current(), chosen[2]);
    EXPECT_EQ(next.selection().hidden(), std::set<std::int64_t>{chosen[0]});
    EXPECT_EQ(panel.view().selectionModel()->selectedRows().size(), 3);
  }
  RunsPanel other(another.workbench);
  EXPECT_NE(another.workbench.selection().runs(), chosen) << "of another database";
  studio.writer.deleteRun(chosen[1]);
  StudioWorkbench later(studio.writer.file());
  later.watcher().poll();
  RunsPanel panel(later);
  EXPECT_EQ(later.selection().runs(), (std::vector<std::int64_t>{chosen[0], chosen[2]}));
  storeSetting(QStringLiteral("selections/") + QString::fromStdString(studio.writer.uuid()),
               QStringLiteral("{\"runs\": \"x\", \"hidden\": [\"a\"]}"));
  StudioWorkbench broken(studio.writer.file());
  broken.watcher().poll();
  RunsPanel unread(broken);
  EXPECT_FALSE(broken.selection().runs().empty()) << "the first sight stands in for it";
  forgetSettings();
}

TEST(RunsPanel, KeepsTheSelectionWhileRunsComeAndTheFilterHidesThem) {
  SampleStudio studio;
  RunsPanel panel(studio.workbench);
  panel.select({studio.runs[0], studio.runs[4]}, studio.runs[4]);
  EXPECT_EQ(panel.view().selectionModel()->selectedRows().size(), 2);
  panel.filter().setText(QStringLiteral("demo"));
  EXPECT_EQ(panel.view().selectionModel()->selectedRows().size(), 1);
  EXPECT_EQ(studio.workbench.selection().runs().size(), 2U)
      << "a filter hides, it does not deselect";
  studio.writer.addRuns(studio.writer.experiment("New", ""), {{.name = "another demo"}});
  studio.workbench.watcher().poll();
  panel.filter().clear();
  EXPECT_EQ(panel.view().selectionModel()->selectedRows().size(), 2);
  EXPECT_EQ(panel.model().runCount(), 13);
}

TEST(RunsPanel, CountsFollowTheFilter) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  panel.select({studio.runs[0]}, studio.runs[0]);
  EXPECT_EQ(panel.summary().toStdString(), "12 runs, 1 selected");
  studio.writer.setTags(studio.runs[0], {"best"});
  panel.filter().setText(QStringLiteral("tag:best"));
  EXPECT_EQ(panel.summary().toStdString(), "1 of 12 runs, 1 selected");
  const QAbstractItemModel& shown = *panel.view().model();
  ASSERT_EQ(shown.rowCount(), 1);
  EXPECT_EQ(shown.index(0, 0).data(RunsModel::CountRole).toInt(), 1);
}

TEST(RunsPanel, AnExperimentThatTheUserClosedIsClosedAtTheNextStart) {
  const QTemporaryDir folder;
  useSettings(folder.filePath(QStringLiteral("studio.ini")));
  SampleStudio studio(SampleOptions{0, 50});
  const auto at = [](RunsPanel& panel, int row) { return panel.view().model()->index(row, 0); };
  const auto isOpen = [&at](RunsPanel& panel, int row) {
    return panel.view().isExpanded(at(panel, row));
  };
  const auto click = [&at](RunsPanel& panel, int row) {
    panel.resize(300, 900);
    panel.show();
    QTest::mouseClick(panel.view().viewport(), Qt::LeftButton, {},
                      panel.view().visualRect(at(panel, row)).center());
  };
  {
    RunsPanel panel(studio.workbench);
    ASSERT_TRUE(isOpen(panel, 1));
    click(panel, 1);
    EXPECT_FALSE(isOpen(panel, 1));
  }
  RunsPanel again(studio.workbench);
  EXPECT_TRUE(isOpen(again, 0));
  EXPECT_FALSE(isOpen(again, 1));
  again.filter().setText(QStringLiteral("demo"));
  EXPECT_TRUE(isOpen(again, 0)) << "what is found is shown";
  again.filter().clear();
  EXPECT_FALSE(isOpen(again, 1));
  EXPECT_TRUE(isOpen(again, 2));
  click(again, 1);
  EXPECT_TRUE(isOpen(again, 1));
  RunsPanel third(studio.workbench);
  EXPECT_TRUE(isOpen(third, 1));
  forgetSettings();
}

TEST(RunsPanel, AFilterThatNothingMatchesSaysSoAndCanBeCleared) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  panel.resize(300, 600);
  panel.show();
  panel.filter().setText(QStringLiteral("test/top1 > 2"));
  const QString words = labelsIn(panel);
  EXPECT_TRUE(words.contains(QStringLiteral("test/top1 > 2"))) << words.toStdString();
  QPushButton* clear = nullptr;
  for (QPushButton* button : panel.findChildren<QPushButton*>()) {
    if (button->isVisible()) clear = button;
  }
  ASSERT_NE(clear, nullptr);
  clear->click();
  EXPECT_EQ(panel.filter().text(), QString());
  EXPECT_EQ(panel.summary().left(3), QStringLiteral("12 "));
}

TEST(RunsPanel, AKeyThatNoRunHasIsNamed) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  panel.resize(300, 600);
  panel.show();
  const auto words = [&panel] { return labelsIn(panel); };
  panel.filter().setText(QStringLiteral("widht=64 state=done"));
  EXPECT_TRUE(words().contains(QStringLiteral("No run has a setting or metric \u201cwidht\u201d.")))
      << words().toStdString();
  panel.filter().setText(QStringLiteral("width=-1"));
  EXPECT_TRUE(words().contains(QStringLiteral("None of 12 runs"))) << words().toStdString();
  EXPECT_FALSE(words().contains(QStringLiteral("No run has"))) << words().toStdString();
  panel.filter().setText(QStringLiteral("state=done test/top1 > "));
  EXPECT_TRUE(words().contains(QStringLiteral("missing after \u201ctest/top1>\u201d")))
      << words().toStdString();
}

TEST(RunsPanel, AFilterByAMetricFollowsWhatIsRecorded) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  panel.filter().setText(QStringLiteral("extra/score > 0.5"));
  EXPECT_EQ(panel.view().model()->rowCount(), 0);
  const std::int64_t segment = studio.writer.segments(studio.runs[8]).back().number;
  studio.writer.append(studio.runs[8], segment,
                       {.metrics = {{1'000'000, 0, 0, {{"extra/score", 0.75}}}}});
  studio.workbench.watcher().poll();
  EXPECT_TRUE(waitUntil([&] {
    QCoreApplication::processEvents();
    return panel.view().model()->rowCount() == 1;
  }));
}

TEST(RunsPanel, AConfigurationIsFlattenedOnceHoweverMuchIsTyped) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  RunConfigs& configs = panel.configs();
  panel.filter().setText(QStringLiteral("width=64"));
  const int first = Probe::flattenings(configs);
  EXPECT_LE(first, static_cast<int>(studio.runs.size()));
  EXPECT_EQ(Probe::queries(configs), 1) << "one query reads them all";
  for (const char* text : {"width=6", "width=", "width>1", "depth=2", "seed!=0"})
    panel.filter().setText(QString::fromLatin1(text));
  EXPECT_EQ(Probe::flattenings(configs), first);
  EXPECT_EQ(Probe::queries(configs), 1);
}

TEST(RunConfigs, AreReadAgainWhileARunHasNotBegun) {
  SampleStudio studio(SampleOptions{0, 50});
  store::NewRun fresh{.name = "chosen later", .config = Json{{"model", {{"width", 64}}}}};
  const std::int64_t id =
      studio.writer.addRuns(studio.writer.experiment("New", ""), {fresh}).front();
  RunConfigs configs(studio.workbench.store());
  const store::RunRow queued = studio.writer.run(id);
  EXPECT_EQ(configs.of(queued), (FlatConfig{{"model.width", 64}}));
  const int queries = Probe::queries(configs);
  (void)configs.of(queued);
  EXPECT_EQ(Probe::queries(configs), queries);
  studio.writer.completeConfig(id, Json{{"model", {{"width", 128}}}}, Json::object(),
                               Json::object(), EventRecord{});
  EXPECT_EQ(configs.of(studio.writer.run(id)), (FlatConfig{{"model.width", 128}}));
}

TEST(RunsPanel, TheArrowKeyLeadsFromTheFilterIntoTheList) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  panel.show();
  panel.select({studio.runs[0], studio.runs[4]}, studio.runs[4]);
  bringUp(panel);
  panel.filter().setFocus();
  QTest::keyClick(&panel.filter(), Qt::Key_Down);
  EXPECT_TRUE(panel.view().hasFocus());
  EXPECT_EQ(studio.workbench.selection().runs().size(), 2U) << "the comparison stays";
  EXPECT_EQ(panel.view().currentIndex().data(RunsModel::IdRole).toLongLong(), studio.runs[4]);
  QTest::keyClick(&panel.view(), Qt::Key_Down);
  EXPECT_EQ(panel.view().currentIndex().data(RunsModel::IdRole).toLongLong(), studio.runs[5]);
  EXPECT_EQ(studio.workbench.selection().runs().size(), 2U);
}

TEST(RunsPanel, EscapeClearsTheFilterThatHasTheKeys) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  bringUp(panel);
  panel.filter().setFocus();
  QTest::keyClicks(&panel.filter(), QStringLiteral("demo"));
  QTest::keyClick(&panel.filter(), Qt::Key_Escape);
  EXPECT_EQ(panel.filter().text(), QString());
}

TEST(RunsPanel, ReturnSelectsTheOutlinedRunWhereTheFilterHidesTheCurrentOne) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  panel.show();
  panel.select({studio.runs[0], studio.runs[4]}, studio.runs[4]);
  bringUp(panel);
  store::NewRun fresh{.name = "another demo"};
  const auto added = studio.writer.addRuns(studio.writer.experiment("New", ""), {fresh});
  studio.workbench.watcher().poll();
  panel.filter().setText(QStringLiteral("another"));
  QTest::keyClick(&panel.filter(), Qt::Key_Down);
  ASSERT_EQ(panel.view().currentIndex().data(RunsModel::IdRole).toLongLong(), added.front());
  QTest::keyClick(&panel.view(), Qt::Key_Return);
  EXPECT_EQ(studio.workbench.selection().runs(), added);
}

TEST(RunsPanel, ARunStoredByAnotherProcessAppearsByItself) {
  SampleStudio studio(SampleOptions{0, 0});
  RunsPanel panel(studio.workbench);
  EXPECT_EQ(panel.model().runCount(), 0);
  fillSampleDatabase(studio.writer, SampleOptions{0, 50});
  studio.workbench.watcher().poll();
  EXPECT_EQ(panel.model().runCount(), 12);
}

TEST(RunsPanel, ARunDeletedByAnotherProcessGoes) {
  SampleStudio studio(SampleOptions{0, 50});
  RunsPanel panel(studio.workbench);
  studio.writer.deleteRun(studio.runs[0]);
  studio.workbench.watcher().poll();
  EXPECT_EQ(panel.model().runCount(), 11);
  EXPECT_EQ(studio.workbench.run(studio.runs[0]), nullptr);
}

}  // namespace
}  // namespace vitrine::ui
