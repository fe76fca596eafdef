// A run that a window watches: what the window sees, and that the run never notices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "core/live/channel.h"
#include "core/live/frame.h"
#include "tests/core/train/fakes.h"

namespace vitrine::test {
namespace {

/// The small model with two layers of attention over a class token and a grid of 2 x 2 patches.
class AttendingModel final : public SmallModel, public AttentionSource {
 public:
  using SmallModel::SmallModel;
  std::vector<OfferedCapability> capabilities() override {
    return offersOf<ImageClassifier, Scheduled, AttentionSource>(*this);
  }
  std::int64_t attentionLayers() const override { return 2; }
  std::int64_t attentionHeads(std::int64_t) const override { return 3; }
  void setAttentionTap(std::shared_ptr<const AttentionTap> tap) override { tap_ = std::move(tap); }
  at::Tensor classify(const at::Tensor& images) override {
    const at::Tensor logits = SmallModel::classify(images);
    if (!tap_) return logits;
    EXPECT_FALSE(at::GradMode::is_enabled());
    EXPECT_FALSE(is_training());
    if (isFailing) throw std::runtime_error("no attention here");
    std::this_thread::sleep_for(takes);
    const at::Tensor places =
        at::tensor({-1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0}).reshape({5, 2});
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      if (!tap_->layers.empty() && tap_->layers.front() != layer) continue;
      at::Tensor weights = at::full({images.size(0), 3, 5, 5}, 0.2);
      if (tap_->kind == AttentionTap::Kind::Effective) weights = weights.tril();
      weights.select(1, 1).mul_(static_cast<double>(layer + 1));
      tap_->receive({layer, weights, places, places});
    }
    return logits;
  }
  bool isFailing = false;
  std::chrono::milliseconds takes{0};

 private:
  std::shared_ptr<const AttentionTap> tap_;
};

/// A window that watches from another thread for as long as it lives.
class Watching {
 public:
  explicit Watching(const std::string& run, const live::Wishes& wishes = {})
      : viewer_(::getpid(), run) {
    viewer_.wish(wishes);
    state = viewer_.beat();  // before the first step looks
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        look();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  /// Ends the watching. \returns  what was seen
  std::vector<live::Frame> frames() {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
      look();
    }
    return frames_;
  }
  live::TrainerState state = live::TrainerState::Waiting;

 private:
  void look() {
    state = viewer_.beat();
    while (const auto bytes = viewer_.take()) {
      const auto frame = live::decode(*bytes);
      ASSERT_TRUE(frame);
      frames_.push_back(*frame);
    }
  }
  live::Viewer viewer_;
  std::vector<live::Frame> frames_;
  std::jthread thread_;
};

std::string runName() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->name()) + std::to_string(::getpid());
}

struct WatchedRun : SmallRun {
  explicit WatchedRun(std::int64_t steps = 240, double dropout = 0.1)
      : SmallRun(trainConfig({{"steps", steps}, {"evaluate.every_steps", 100}})),
        attending(std::make_shared<AttendingModel>(3, dropout)) {
    model = attending;
    use(attending);
    // Long enough for a few frames at ten a second.
    session->onLoss = [](const Batch&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    setup.liveRun = runName();
  }
  std::shared_ptr<AttendingModel> attending;
};

bool hasSegment(const std::string& run) {
  return std::filesystem::exists("/dev/shm" + live::segmentName(::getpid(), run));
}

TEST(WatchedRun, EndsInTheSameBitsAsAnUnwatchedOne) {
  WatchedRun alone;
  ASSERT_EQ(alone.go().outcome, train::Outcome::Done);
  WatchedRun watched;
  Watching window(runName());
  ASSERT_EQ(watched.go().outcome, train::Outcome::Done);
  EXPECT_GE(window.frames().size(), 2U);
  EXPECT_TRUE(at::equal(watched.weights(), alone.weights()));
  for (const char* name :
       {"train/loss", "test/top1", "model/mask_alpha", "optimizer/gradient_norm"})
    EXPECT_EQ(watched.sink.curve(name), alone.sink.curve(name)) << name;
  EXPECT_EQ(watched.sink.eventsOf("mask_cutoff").size(), 1U);
}

TEST(WatchedRun, ThatNoWindowWatchesDoesNothingForOne) {
  WatchedRun unseen, unknown;
  unknown.setup.liveRun.clear();
  static_cast<void>(unseen.go());
  static_cast<void>(unknown.go());
  EXPECT_EQ(unseen.model->forwards, unknown.model->forwards);
  EXPECT_EQ(unseen.model->positions, unknown.model->positions);
  EXPECT_FALSE(hasSegment(runName()));
}

TEST(WatchedRun, ShowsAttentionOfTheImageAndTheQueryThatAreWishedFor) {
  live::Wishes wishes{.image = 5, .queryRow = 0.75, .queryColumn = 0.25, .layer = 1, .head = 1};
  WatchedRun run;
  Watching window(runName(), wishes);
  static_cast<void>(run.go());
  const auto frames = window.frames();
  ASSERT_FALSE(frames.empty());
  const live::Frame& frame = frames.back();
  EXPECT_EQ(frame.error, "");
  EXPECT_EQ(frame.images, 8);
  EXPECT_EQ(frame.image, 5);
  EXPECT_EQ(frame.sample, 5);
  EXPECT_EQ(frame.pixels.bytes.size(), 16U);
  ASSERT_EQ(frame.attention.size(), 2U);
  const live::AttentionLayer& layer = frame.attention[1];
  EXPECT_EQ(layer.heads, 3);
  EXPECT_TRUE(layer.isWhole);
  EXPECT_FLOAT_EQ(layer.row(1, 3)[3], 0.4F);
  EXPECT_FLOAT_EQ(layer.row(1, 3)[4], 0);  // behind the mask
  EXPECT_FLOAT_EQ(layer.meanRow(0)[0], 0.2F);
  ASSERT_TRUE(frame.matrices);
  EXPECT_EQ(frame.matrices->layer, 1);
  EXPECT_EQ(frame.matrices->head, 1);
  EXPECT_FLOAT_EQ(frame.matrices->softmax[4], 0.4F);
  EXPECT_FLOAT_EQ(frame.matrices->effective[4], 0);
}

TEST(WatchedRun, ShowsTheScheduleAndWhatItsEndWouldCost) {
  WatchedRun run(200, 0);
  Watching window(runName());
  static_cast<void>(run.go());
  const auto frames = window.frames();
  ASSERT_FALSE(frames.empty());
  const live::Frame& first = frames.front();
  ASSERT_EQ(first.scheduled.size(), 1U);
  EXPECT_EQ(first.scheduled[0].first, "model/mask_alpha");
  EXPECT_GT(first.scheduled[0].second, 0);
  ASSERT_TRUE(first.gap);
  EXPECT_EQ(first.gap->samples, 32);
  EXPECT_NE(first.gap->now, first.gap->finished);
}

TEST(WatchedRun, ShowsWhereTheTimeOfEveryStepWent) {
  WatchedRun run;
  Watching window(runName());
  static_cast<void>(run.go());
  std::int64_t last = 0;
  double watch = 0, total = 0;
  for (const live::Frame& frame : window.frames()) {
    for (const live::StepTime& each : frame.steps) {
      EXPECT_GT(each.step, last);
      last = each.step;
      EXPECT_GE(each.forward, 0.0019F);  // the task takes two milliseconds
      EXPECT_GT(each.backward, 0);
      EXPECT_GT(each.optimizer, 0);
      watch += each.watch;
      total += each.total();
    }
  }
  EXPECT_GT(last, 0);
  EXPECT_GT(watch, 0);
  EXPECT_LT(watch, total);
}

TEST(WatchedRun, PaysNoMoreThanItsShareAndOneFrameForDearFrames) {
  WatchedRun run(500);
  run.attending->takes = std::chrono::milliseconds(30);
  Watching window(runName());
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(run.go());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto frames = window.frames();
  ASSERT_GE(frames.size(), 1U);
  // What the frames before the last one cost, as the last one tells.
  double dearest = 0;
  for (const live::Frame& frame : frames) dearest = std::max(dearest, frame.frameSeconds);
  EXPECT_LE(frames.back().watchShare * took.count(), 0.06 * took.count() + dearest + 0.01);
}

TEST(WatchedRun, NamesWhatCannotBeShownAndTrainsOn) {
  WatchedRun run;
  run.attending->isFailing = true;
  Watching window(runName());
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  const auto frames = window.frames();
  ASSERT_FALSE(frames.empty());
  EXPECT_THAT(frames.back().error, ::testing::EndsWith(" cannot be shown: no attention here"));
  EXPECT_TRUE(frames.back().attention.empty());
  EXPECT_TRUE(frames.back().gap);
}

TEST(WatchedRun, ShowsTheImagesThatTheRunMakes) {
  WatchedRun run;
  run.setup.liveImages = [](TaskSession& session, const train::Look& look, Results& results) {
    EXPECT_FALSE(at::GradMode::is_enabled());
    EXPECT_FALSE(session.model().module().is_training());
    for (const double time : {2.0, 1.0}) {
      Artifact grid{.kind = artifact_kind::kImageGrid};
      setUint8(grid, std::vector<std::uint8_t>(2 * 3 * 3, static_cast<std::uint8_t>(look.step)),
               {2, 3, 3, 1}, {"image", "row", "column", "channel"});
      grid.meta["time"] = time;
      results.artifact(std::move(grid));
    }
  };
  Watching window(runName());
  static_cast<void>(run.go());
  const auto frames = window.frames();
  ASSERT_FALSE(frames.empty());
  ASSERT_TRUE(frames.front().film);
  EXPECT_EQ(frames.front().film->times, (std::vector<float>{2, 1}));
  EXPECT_EQ(frames.front().film->images, 2);
  EXPECT_EQ(frames.front().film->bytes.size(), 36U);
}

TEST(WatchedRun, ShowsEveryBatchOfTheImagesWithWhatTheyAreDrawnFrom) {
  WatchedRun run;
  run.setup.liveImages = [](TaskSession&, const train::Look&, Results& results) {
    for (const std::int64_t seed : {0, 1}) {
      for (const double time : {2.0, 1.0}) {
        Artifact grid{.kind = artifact_kind::kImageGrid};
        const auto value = static_cast<std::uint8_t>(10 * seed + static_cast<std::int64_t>(time));
        setUint8(grid, std::vector<std::uint8_t>{value}, {1, 1, 1, 1},
                 {"image", "row", "column", "channel"});
        grid.meta["time"] = time;
        grid.meta["first_seed"] = seed;
        grid.meta["captions"] = Json::array({seed == 0 ? "a bag" : "a boot"});
        results.artifact(std::move(grid));
      }
    }
  };
  Watching window(runName());
  static_cast<void>(run.go());
  const auto frames = window.frames();
  ASSERT_FALSE(frames.empty());
  ASSERT_TRUE(frames.front().film);
  const live::Film& film = *frames.front().film;
  EXPECT_EQ(film.images, 2);
  EXPECT_EQ(film.times, (std::vector<float>{2, 1}));
  EXPECT_EQ(film.bytes, (std::vector<std::uint8_t>{2, 12, 1, 11}));
  EXPECT_EQ(film.captions, (std::vector<std::string>{"a bag", "a boot"}));
  EXPECT_TRUE(film.labels.empty());
}

TEST(WatchedRun, TellsTheWindowThatItEndedAndLeavesNothing) {
  WatchedRun run;
  Watching window(runName());
  static_cast<void>(run.go());
  EXPECT_FALSE(window.frames().empty());
  EXPECT_NE(window.state, live::TrainerState::Publishing);
}

}  // namespace
}  // namespace vitrine::test
