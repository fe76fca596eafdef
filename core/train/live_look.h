// Reads a model between two optimizer steps for a window that watches.
#pragma once

#include <functional>
#include <memory>

#include "core/live/channel.h"
#include "core/live/frame.h"
#include "core/plugin/results.h"
#include "core/train/observe.h"

namespace vitrine::train {

/// Makes a few images with the weights of now, as a sampler shows them on the way: image grids with
/// `time` in their meta. Evaluation mode, no gradients.
using LiveImages = std::function<void(TaskSession& session, const Look& look, Results& results)>;

/// Looks into the model in evaluation mode, without gradients and with generators of its own; the
/// caller puts mode and generator of the training back. What fails is named in the frame and not
/// tried again.
class VITRINE_ENGINE_EXPORT LiveLook {
 public:
  /// \param images  empty: the run makes none
  LiveLook(TaskSession& session, LiveImages images);
  ~LiveLook();
  LiveLook(const LiveLook&) = delete;
  LiveLook& operator=(const LiveLook&) = delete;

  /// Fills the parts of `frame` that are wished for and that the model has.
  /// \param position  of the last step; the schedule is there, and is there again afterwards
  void into(live::Frame& frame, const live::Wishes& wishes, const Look& look,
            const StepPosition& position, double now);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::train
