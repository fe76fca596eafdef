// What a run is shown by: the card of its task, or its recorded metrics where that is not known.
#include "core/store/run_card.h"

#include <gmock/gmock.h>

#include <array>

#include "core/base/statistics.h"
#include "core/store/declared_metrics.h"
#include "core/store/exchange/exchange.h"
#include "core/store/metrics/metric_titles.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/two_tasks.h"

namespace vitrine::store {
namespace {

using testing::addClassification, testing::addDrawing, testing::addTaskRun;
using ::testing::ElementsAre, ::testing::IsEmpty;

class RunCards : public testing::StoreTest {
 protected:
  RunCard cardOfRun(std::int64_t run) {
    return runCard(cardOf(cards_, taskOf(store_.config(run))), store_.metricNames(run),
                   metricKinds(store_));
  }

  RunStore store_{file()};
  TaskCards cards_ = taskCards(testing::twoTasks());
};

TEST_F(RunCards, HaveTheMetricsPlotsAndUnitOfTheirTask) {
  const RunCard labels = cardOfRun(addClassification(store_, "a", 0.8));
  EXPECT_THAT(labels.headline, ElementsAre("test/top1", "test/ece", "test/top5"));
  EXPECT_THAT(allPlots(labels), ElementsAre("train/loss", "test/top1", "optimizer/learning_rate"));
  EXPECT_EQ(labels.unit, "images");
  const RunCard drawing = cardOfRun(addDrawing(store_, "b", 12.5));
  EXPECT_THAT(drawing.headline, ElementsAre("test/fid"));
  EXPECT_THAT(allPlots(drawing), ElementsAre("train/loss/diffusion", "optimizer/learning_rate"));
  EXPECT_EQ(drawing.unit, "tokens");
}

TEST_F(RunCards, TakeAQuantityFromTheSplitAndTheWeightsThatWereEvaluated) {
  const MetricCard* card = cardOf(cards_, "drawing");
  const auto headline = [&](std::vector<std::string> recorded) {
    return runCard(card, recorded, {}).headline;
  };
  EXPECT_THAT(headline({"validation/fid", "train/fid"}), ElementsAre("validation/fid"));
  EXPECT_THAT(headline({"test/fid@ema", "validation/fid"}), ElementsAre("test/fid@ema"));
  EXPECT_THAT(headline({"test/fid@ema", "test/fid"}), ElementsAre("test/fid"));
  EXPECT_THAT(headline({"train/loss"}), ElementsAre("test/fid")) << "evaluated later";
}

TEST_F(RunCards, OfAnUnknownTaskComeFromTheRecordedMetrics) {
  cards_.clear();
  const RunCard labels = cardOfRun(addClassification(store_, "a", 0.8));
  EXPECT_THAT(labels.headline, ElementsAre("test/top1", "test/top5", "test/ece"))
      << "in the order of metric_kind";
  EXPECT_THAT(allPlots(labels), ElementsAre("train/loss", "test/top1", "optimizer/learning_rate"));
  EXPECT_EQ(labels.unit, "images");
  const RunCard drawing = cardOfRun(addDrawing(store_, "b", 12.5));
  EXPECT_THAT(drawing.headline, ElementsAre("test/fid"));
  EXPECT_EQ(drawing.unit, "tokens");
  const RunCard bare = runCard(nullptr, {"train/loss"}, metricKinds(store_));
  EXPECT_THAT(bare.headline, IsEmpty()) << "a loss is not a score";
  EXPECT_THAT(allPlots(bare), ElementsAre("train/loss"));
  EXPECT_EQ(bare.unit, "samples");
}

TEST_F(RunCards, AddOnePlotForEachAnalysisTheHeadsOfALayerAsOne) {
  const RunCard card =
      runCard(nullptr,
              {"analysis/attention_rank/effective_rank/layer0/head0",
               "analysis/attention_rank/rank80/layer0/head0",
               "analysis/attention_rank/rank80/layer0/head1", "analysis/colour/spread"},
              metricKinds(store_));
  EXPECT_THAT(card.morePlots,
              ElementsAre("analysis/attention_rank/rank80/layer0", "analysis/colour/spread"));
}

TEST_F(RunCards, OfSeveralTasksHaveTheMetricsOfAll) {
  const RunCard both = joined(
      {cardOfRun(addClassification(store_, "a", 0.8)), cardOfRun(addDrawing(store_, "b", 12.5))});
  EXPECT_THAT(allPlots(both), ElementsAre("train/loss", "test/top1", "train/loss/diffusion",
                                          "optimizer/learning_rate"));
  EXPECT_EQ(both.unit, "samples") << "images and tokens do not add up";
  EXPECT_THAT(comparedMetrics(both, {"test/fid", "test/loss", "test/top1", "train/loss"}),
              ElementsAre("test/top1", "test/fid", "test/loss"));
  EXPECT_THAT(comparedMetrics(both, {"train/loss"}), ElementsAre("train/loss"));
}

TEST_F(RunCards, ScoresAreTheFirstHeadlineMetricThatTheTaskHasRecorded) {
  const std::int64_t labels = addClassification(store_, "a", 0.8);
  const std::int64_t drawing = addDrawing(store_, "b", 12.5);
  const std::int64_t stranger =
      addTaskRun(store_, "elsewhere", "c",
                 {{"train/loss", 1}, {"validation/miou", 0.25}, {"validation/loss", 2}});
  const std::int64_t queued = addDrawing(store_, "d", 0, 0, RunState::Queued);
  RunScores reader;
  const auto scores = reader.read(store_, cards_);
  EXPECT_EQ(scores.at(labels).metric, "test/top1");
  EXPECT_DOUBLE_EQ(scores.at(labels).value, 0.8);
  EXPECT_EQ(scores.at(drawing).metric, "test/fid");
  EXPECT_DOUBLE_EQ(scores.at(drawing).value, 12.5);
  EXPECT_EQ(scores.at(stranger).metric, "validation/miou");
  EXPECT_FALSE(scores.contains(queued));
  EXPECT_EQ(reader.tasks().at(queued), "drawing");
  const std::int64_t later = addDrawing(store_, "e", 3);
  EXPECT_DOUBLE_EQ(reader.read(store_, cards_).at(later).value, 3);
}

TEST_F(RunCards, OfARunWithoutAConfigurationOfOursNameNoTask) {
  EXPECT_EQ(taskOf(Json::object()), "");
  EXPECT_EQ(taskOf({{"task", "classification"}}), "") << "that of another program";
  EXPECT_EQ(taskOf({{"task", {{"name", "drawing"}}}}), "drawing");
  EXPECT_EQ(taskOf(nullptr), "");
}

TEST(MetricTitles, AreATableAndAReadableNameElsewhere) {
  EXPECT_EQ(titleOf("top1").title, "accuracy");
  EXPECT_EQ(titleOf("top1").shortTitle, "accuracy");
  EXPECT_EQ(titleOf("ece").shortTitle, "ECE");
  EXPECT_EQ(titleOf("tokens_per_second").title, "speed");
  EXPECT_EQ(titleOf("tokens_per_second").subtitle, "tokens/s");
  EXPECT_EQ(titleOf("word_error_rate").title, "word error rate");
  EXPECT_FALSE(titleOf("word_error_rate").isKnown);
}

TEST(MetricTitles, NameQuantityPartAndSplitOfAWholeMetric) {
  const auto title = [](const char* metric) { return metricTitle(metric).title; };
  EXPECT_EQ(title("test/top1"), "Accuracy, test");
  EXPECT_EQ(metricTitle("test/ece").shortTitle, "ECE, test");
  EXPECT_EQ(title("test/fid@ema"), "FID, test, averaged weights");
  EXPECT_EQ(title("train/loss/diffusion"), "Loss (diffusion), train");
  EXPECT_EQ(title("optimizer/learning_rate"), "Learning rate");
  EXPECT_EQ(title("system/tokens_per_second"), "Speed");
  EXPECT_EQ(title("analysis/attention_rank/rank80/layer1"), "Rank at 80 %, layer 1");
  EXPECT_EQ(title("analysis/attention_rank/rank80/layer10/head2"),
            "Rank at 80 %, layer 10, head 2");
  EXPECT_EQ(title("analysis/colour/spread_of_hue"), "Spread of hue");
  EXPECT_EQ(title("loss"), "Loss");
  EXPECT_EQ(title("a/b/"), "B");
  EXPECT_EQ(title(""), "");
}

TEST(MetricTitles, TakeTheNameThatTheTaskGaveQuantityAndPart) {
  EXPECT_EQ(metricTitle("test/samples/agreement", "judge agrees").title, "Judge agrees, test");
  EXPECT_EQ(metricTitle("test/samples/agreement@ema", "judge agrees").shortTitle,
            "Judge agrees, test, averaged weights");
}

TEST_F(RunCards, KnowTheMetricsThatATaskDeclares) {
  const std::vector<MetricDeclaration> declared{
      {"*/distance", "distance", "px", "lower", "how far the mean is off"},
      {"*/top1", "accuracy", "fraction", "higher", "of this task"},
      {"*/ece", "calibration error", "fraction", "higher", "the other way round"}};
  EXPECT_EQ(kindOf(metricKinds(store_), "test/distance").direction, Direction::None);
  EXPECT_THAT(declareMetrics(store_, declared), ElementsAre("*/ece"));
  const MetricKinds kinds = metricKinds(store_);
  EXPECT_EQ(kindOf(kinds, "validation/distance@ema").direction, Direction::Lower);
  EXPECT_EQ(kindOf(kinds, "test/distance").unit, "px");
  EXPECT_EQ(kindOf(kinds, "test/distance").definition, "how far the mean is off");
  EXPECT_EQ(kindOf(kinds, "test/distance").title, "distance");
  EXPECT_EQ(kindOf(kinds, "test/top1").title, "accuracy") << "a kind without a title takes it";
  EXPECT_EQ(kindOf(kinds, "test/ece").title, "") << "another meaning gives no name";
  EXPECT_EQ(kindOf(kinds, "test/ece").direction, Direction::Lower) << "what is there stays";
  EXPECT_EQ(kindOf(kinds, "test/top1").direction, Direction::Higher);
  const std::size_t rows = kinds.size();
  EXPECT_THAT(declareMetrics(store_, declared), ElementsAre("*/ece"));
  EXPECT_EQ(metricKinds(store_).size(), rows) << "once";
}

TEST_F(RunCards, DeclaredMetricsGoWithARunThatHasThem) {
  static_cast<void>(
      declareMetrics(store_, {{"*/distance", "distance", "px", "lower", "how far the mean is off"},
                              {"*/unheard", "unheard", "", "higher", "of no run"}}));
  const std::int64_t id = addTaskRun(store_, "drawing", "a", {{"test/distance", 3}});
  const std::filesystem::path away = file().parent_path() / "away.vitrine";
  static_cast<void>(
      exportRuns(file(), std::array{id}, away, ExportFormat::Sqlite, ExportedCheckpoints::None));
  RunStore other(file().parent_path() / "other.sqlite");
  static_cast<void>(importRuns(other.file(), away, Duplicates::Skip, ""));
  const MetricKinds kinds = metricKinds(other);
  EXPECT_EQ(kindOf(kinds, "test/distance").direction, Direction::Lower);
  EXPECT_EQ(kindOf(kinds, "test/unheard").direction, Direction::None);
}

}  // namespace
}  // namespace vitrine::store
