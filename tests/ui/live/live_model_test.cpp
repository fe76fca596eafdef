#include "ui/live/live_model.h"

#include <gtest/gtest.h>

#include "tests/ui/live/live_frames.h"

namespace vitrine::ui {
namespace {

LiveModel modelWith(std::initializer_list<std::int64_t> steps) {
  LiveModel model;
  model.begin(100);
  for (const std::int64_t step : steps) model.add(liveFrame(step));
  return model;
}

TEST(LiveModel, ShowsTheNewestFrame) {
  LiveModel model = modelWith({5, 10, 15});
  EXPECT_EQ(model.shown()->step, 15);
  EXPECT_EQ(model.kept().size(), 3U);
  EXPECT_EQ(model.totalSteps(), 100);
}

TEST(LiveModel, AFrozenPictureStaysWhileFramesComeIn) {
  LiveModel model = modelWith({5});
  model.freeze(true);
  model.add(liveFrame(10));
  EXPECT_EQ(model.shown()->step, 5);
  EXPECT_EQ(model.newest().step, 10);
  model.freeze(false);
  EXPECT_EQ(model.shown()->step, 10);
}

TEST(LiveModel, ScrubbingShowsTheFrameKeptNearestAndNeverTheUntrained) {
  LiveModel model = modelWith({10, 20, 30});
  model.scrub(18.0);
  EXPECT_EQ(model.shown()->step, 20);
  EXPECT_EQ(model.scrubbed(), 18.0);
  model.scrub(90.0);
  EXPECT_FALSE(model.scrubbed());
  EXPECT_EQ(model.shown()->step, 30);
}

TEST(LiveModel, AMomentThatIsNotTrainedYetIsShownOnceItIs) {
  LiveModel model = modelWith({10});
  model.seek(28.0);
  model.add(liveFrame(20));
  EXPECT_EQ(model.shown()->step, 20) << "follows until then";
  model.add(liveFrame(30));
  model.add(liveFrame(40));
  EXPECT_EQ(model.shown()->step, 30);
  EXPECT_EQ(model.scrubbed(), 28.0);
  EXPECT_FALSE(model.sought());
  // A drag, and another run, end the waiting.
  model.seek(50.0);
  model.scrub(std::nullopt);
  model.add(liveFrame(60));
  EXPECT_EQ(model.shown()->step, 60);
  model.seek(90.0);
  model.begin(100);
  model.add(liveFrame(95));
  EXPECT_FALSE(model.scrubbed());
}

TEST(LiveModel, JoinsWhatIsStoredWithWhatIsSeen) {
  LiveModel model = modelWith({50});
  model.setStored({{"model/mask_alpha", {{1, 0.99}, {25, 0.75}, {49, 0.51}}}},
                  {{1, 2.3}, {49, 1.9}});
  const LiveCurve& alpha = *model.schedule("model/mask_alpha");
  ASSERT_EQ(alpha.size(), 4U);
  EXPECT_EQ(alpha.back().first, 50);
  EXPECT_EQ(LiveModel::at(alpha, 30), 0.75);
  EXPECT_FALSE(LiveModel::at(alpha, 0.5));
  EXPECT_EQ(LiveModel::at(model.loss(), 100), 1.5);
}

TEST(LiveModel, KnowsTheGapOfTheLossAtAMoment) {
  const LiveModel model = modelWith({10, 20, 30});
  EXPECT_NEAR(*model.gapAt(25), 0.1, 1e-12);
  EXPECT_FALSE(model.gapAt(5));
}

TEST(LiveModel, ARunThatWentBackForgetsWhatCameAfter) {
  LiveModel model = modelWith({10, 20, 30});
  model.add(liveFrame(15));
  EXPECT_EQ(model.kept().size(), 2U);
  EXPECT_EQ(model.gaps().size(), 2U);
  EXPECT_EQ(model.schedule("model/mask_alpha")->back().first, 15);
}

TEST(LiveModel, KeepsWithinItsMemoryTheWholePastInCoarserSteps) {
  LiveModel model;
  model.begin(100000);
  live::Frame large = liveFrame(1);
  large.attention[0].weights.assign(2 * 10 * 10 * 1000, 0.1F);  // 0.8 MB
  for (std::int64_t step = 1; step <= 200; ++step) {
    large.step = step;
    model.add(large);
  }
  EXPECT_LT(model.kept().size(), 70U);
  EXPECT_EQ(model.kept().front()->step, 1);
  EXPECT_EQ(model.kept().back()->step, 200);
}

TEST(LiveModel, HistoryOfTheQueryHasFramesOfTheSameImage) {
  LiveModel model = modelWith({10});
  live::Frame other = liveFrame(15);
  other.image = 3;
  model.add(other);
  for (std::int64_t step = 20; step < 90; step += 5) model.add(liveFrame(step));
  const auto history = model.history(6);
  ASSERT_EQ(history.size(), 6U);
  EXPECT_EQ(history.front()->step, 10);
  EXPECT_EQ(history.back()->step, 85);
  for (const auto& each : history) EXPECT_EQ(each->image, 0);
}

TEST(LiveModel, MedianPartsAndTheMeanPriceOfWatching) {
  LiveModel model = modelWith({4, 8, 12});
  const std::vector<double> medians = model.medians();
  EXPECT_NEAR(medians[static_cast<std::size_t>(StepPart::Backward)], 0.020, 1e-6);
  EXPECT_NEAR(medians[static_cast<std::size_t>(StepPart::Watch)], 0.001,
              1e-6);  // 4 ms each 4 steps
  EXPECT_NEAR(medians.back(), 0.034, 1e-6);
}

TEST(LiveModel, ThroughputIsTheMedianOfTheFramesWhoseStepsAreKept) {
  LiveModel model;
  model.begin(1000);
  EXPECT_EQ(model.throughput(), 0);
  live::Frame frame = liveFrame(4);
  frame.imagesPerSecond = 9;
  model.add(frame);
  for (const double value : {100.0, 5000.0, 200.0}) {
    frame = liveFrame(frame.step + 4);
    frame.imagesPerSecond = value;
    model.add(frame);
  }
  EXPECT_EQ(model.throughput(), 200) << "the upper one of two in the middle";
  for (int i = 0; i < 60; ++i) model.add(liveFrame(frame.step += 4));
  EXPECT_EQ(model.throughput(), 1234) << "240 steps later";
  model.begin(1000);
  EXPECT_EQ(model.throughput(), 0);
}

TEST(LiveModel, WishesForWhatTheUserChose) {
  LiveModel model = modelWith({10});
  model.moveQuery(0, 1);
  EXPECT_EQ(model.query.kind, LiveQuery::Kind::Patch);
  EXPECT_NEAR(model.query.column, 2.5 / 3, 1e-9);
  model.moveQuery(-5, 0);
  EXPECT_NEAR(model.query.row, 0.5 / 3, 1e-9);
  model.moveLayer(7);
  model.moveHead(1);
  model.moveImage(2);
  const live::Wishes wishes = model.wishes();
  EXPECT_EQ(wishes.layer, 1);
  EXPECT_EQ(wishes.head, 1);
  EXPECT_EQ(wishes.image, 2);
  EXPECT_NEAR(wishes.queryColumn, 2.5 / 3, 1e-9);
  model.query.kind = LiveQuery::Kind::Mean;
  EXPECT_EQ(model.wishes().queryRow, -1);
}

TEST(LiveModel, WithoutAClassTokenAPatchIsTheQuery) {
  LiveModel model = modelWith({10});
  EXPECT_EQ(model.queryKind(), LiveQuery::Kind::Class);
  live::Frame frame = liveFrame(20);
  for (live::AttentionLayer& layer : frame.attention)
    layer.queries.back() = layer.keys.back() = {3, 0};
  model.add(frame);
  EXPECT_EQ(model.queryKind(), LiveQuery::Kind::Patch);
  EXPECT_EQ(model.wishes().queryRow, 0.5);
  model.query.kind = LiveQuery::Kind::Mean;
  EXPECT_EQ(model.queryKind(), LiveQuery::Kind::Mean);
}

// The first word of a joint sequence sees itself alone.
TEST(LiveModel, AmongWordsAPatchIsTheQuery) {
  LiveModel model;
  model.begin(100);
  live::Frame frame = liveFrame(20);
  for (live::AttentionLayer& layer : frame.attention)
    layer.queries.front() = layer.keys.front() = {-1, -1};  // two tokens that are not patches
  model.add(frame);
  EXPECT_EQ(model.queryKind(), LiveQuery::Kind::Patch);
  const AttentionCells cells = attentionCells(*model.layerShown(), 0, model.query);
  EXPECT_EQ(cells.asking, 4) << "the patch in the middle";
  EXPECT_EQ(cells.classValue, -1);
}

TEST(LiveModel, NamesEachImageOfAFilmByItsCaptionItsClassOrItsNumber) {
  LiveModel model;
  live::Frame frame = liveFrame(40);
  frame.film = liveFilm();
  model.add(frame);
  EXPECT_EQ(model.filmName(1), QStringLiteral("a circle"));
  frame.film->captions.clear();
  frame.film->labels = {1, 5};
  model.add(frame);
  model.classNames = {QStringLiteral("boot"), QStringLiteral("bag")};
  EXPECT_EQ(model.filmName(0), QStringLiteral("bag"));
  EXPECT_EQ(model.filmName(1), QStringLiteral("class 5"));
  frame.film->labels.clear();
  model.add(frame);
  EXPECT_EQ(model.filmName(1), QStringLiteral("image 2"));
}

TEST(LiveModel, AFilmStaysUntilANewerOneComes) {
  LiveModel model = modelWith({10});
  EXPECT_FALSE(model.film());
  live::Frame frame = liveFrame(11);
  frame.film = liveFilm();
  model.add(frame);
  model.add(liveFrame(12));
  ASSERT_TRUE(model.film());
  EXPECT_EQ(model.film()->step, 40);
}

}  // namespace
}  // namespace vitrine::ui
