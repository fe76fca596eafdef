// Frames of Trainer for windows that watch.
#include <algorithm>
#include <deque>

#include "core/live/budget.h"
#include "core/live/channel.h"
#include "core/train/live_look.h"
#include "core/train/trainer_state.h"

namespace vitrine::train {

namespace {

constexpr std::size_t kMostStepTimes = 256;  // whose times one frame carries

}  // namespace

struct Trainer::State::Watch {
  Watch(const std::string& run, TaskSession& session, const LiveImages& theImages)
      : publisher(run), images(theImages), look(std::make_unique<LiveLook>(session, images)) {}
  live::Publisher publisher;
  live::Budget budget;
  LiveImages images;
  std::unique_ptr<LiveLook> look;
  std::deque<live::StepTime> steps;  ///< not shown yet
  bool isOn = false;
};

void Trainer::State::prepareWatch() {
  if (!setup.liveRun.empty())
    watched = std::make_shared<Watch>(setup.liveRun, session, setup.liveImages);
}

live::Frame Trainer::State::frameOfNow() const {
  return {.step = step,
          .totalSteps = totalSteps,
          .stepsPerEpoch = stepsPerEpoch,
          .time = seconds(),
          .loss = lastLoss,
          .imagesPerSecond = imagesPerSecond,
          .scheduled = scheduledValues,
          .isHostTime = !device.is_cpu()};
}

void Trainer::State::show(Clock::time_point stepEnd) {
  const double now = live::liveNow();
  Watch& shown = *watched;
  if (!shown.publisher.isWatched(now)) {
    if (shown.isOn) {
      // Nothing of it stays with an unwatched run.
      shown.steps.clear();
      shown.look = std::make_unique<LiveLook>(session, shown.images);
      shown.isOn = false;
    }
    return;
  }
  if (!shown.isOn) shown.budget.begin(now);
  shown.isOn = true;
  stepTime.step = step;
  const auto start = Clock::now();
  stepTime.store =
      std::max(0.0F, std::chrono::duration<float>(start - stepEnd).count() - stepTime.observe);
  const live::Wishes wishes = shown.publisher.wishes();
  if (shown.budget.isDue(now, wishes.rate)) {
    live::Frame frame = frameOfNow();
    frame.steps.assign(shown.steps.begin(), shown.steps.end());
    frame.watchShare = shown.budget.shareSpent(now);
    frame.frameSeconds = shown.budget.lastCost();
    {
      const Looking looking(session, generator);
      StepPosition at = position();
      at.step = std::max<std::int64_t>(0, at.step - 1);
      shown.look->into(frame, wishes, look(), at, now);
    }
    if (!shown.publisher.publish(live::encode(frame))) {
      // Larger than the segment: the numbers alone always fit.
      live::Frame small = frameOfNow();
      small.steps = std::move(frame.steps);
      small.watchShare = frame.watchShare;
      small.frameSeconds = frame.frameSeconds;
      small.error = "the frame is larger than the shared memory; the pictures are left out";
      static_cast<void>(shown.publisher.publish(live::encode(small)));
    }
    shown.steps.clear();
    const std::chrono::duration<double> took = Clock::now() - start;
    shown.budget.spend(now + took.count(), took.count());
    stepTime.watch = static_cast<float>(took.count());
  }
  shown.steps.push_back(stepTime);
  if (shown.steps.size() > kMostStepTimes) shown.steps.pop_front();
}

}  // namespace vitrine::train
