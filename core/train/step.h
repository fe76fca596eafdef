// One optimizer step: forward, backward, clipping, update, average. It never waits for the device.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/plugin/registry.h"
#include "core/train/device.h"
#include "core/train/divergence.h"
#include "core/train/loss_scale.h"
#include "core/train/optimizer.h"
#include "core/train/update/ema.h"

namespace vitrine::train {

/// Action at a step that is not finite, or a spike.
enum class OnBadStep {
  Latch,  ///< it and every later one changes nothing
  Skip,   ///< it changes nothing, the running statistics of norms included
};

struct StepOptions {
  Precision precision = Precision::Float32;
  std::optional<double> clipNorm;  ///< largest global gradient norm
  std::optional<double> emaDecay;
  Ema::WarmUp emaWarmUp = Ema::WarmUp::None;
  const OptimizerItem* optimizer = nullptr;  ///< its rule
  Config optimizerTable{};                   ///< `optimizer` of a [train] table
  OnBadStep onBadStep = OnBadStep::Latch;
  std::int64_t spikeSteps = 1;   ///< in a row, until a spike is bad
  LossScaleOptions lossScale{};  ///< of Float16
};

/// Readings of one step from the device, late.
struct StepReadings {
  double loss = 0;            ///< of all accumulated batches
  double gradientNorm = 0;    ///< before clipping
  bool isBad = false;         ///< nothing was updated in this step
  std::int64_t updates = 0;   ///< updates applied so far: the number of steps that were good
  double lossScale = 0;       ///< of this step; 0: the loss is not scaled
  bool isOverflow = false;    ///< nothing was updated, and the scale is halved; not bad
  std::vector<double> parts;  ///< named by TrainStep::partNames(), each without its weight
};

/// Seconds of the host by part of a step. On a GPU, which works later, those of the launches.
struct StepSeconds {
  double forward = 0, backward = 0, optimizer = 0;
};

/// Holds optimizer, average and the flag that stops them at a loss or gradient norm that is not
/// finite or a spike.
class VITRINE_ENGINE_EXPORT TrainStep {
 public:
  /// \param groups  trained parameters, on their device; a step's gradients are those of these
  /// parameters
  TrainStep(TaskSession& session, const StepOptions& options, std::vector<ParameterGroup> groups);
  ~TrainStep();

  /// \param context  handed to the task's loss
  /// \param batches  on the parameters' device; the gradient is that of all of them at once,
  /// whatever their sizes
  /// \param limits  infinite ones cost nothing
  /// \returns [6 + parts] float32 on the device: loss, gradient norm, flag, updates, loss scale,
  /// its overflow, parts of the loss
  /// \throws ShapeError  a part of the loss is not one number
  at::Tensor run(StepContext& context, std::span<const Batch> batches, double learningRate,
                 const SpikeLimits& limits = {});
  [[nodiscard]] static StepReadings readingsOf(const at::Tensor& onCpu);

  /// Of the steps before the first one here.
  void setSpikesInRow(std::int64_t count);
  [[nodiscard]] Optimizer& optimizer() noexcept { return optimizer_; }
  /// State of optimizer and loss scale for a checkpoint.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> state() const;
  /// \throws FileError  as Optimizer::load()
  void load(const std::map<std::string, at::Tensor>& saved, std::int64_t updates);
  [[nodiscard]] Ema* ema() noexcept { return ema_.get(); }
  [[nodiscard]] const std::vector<std::string>& partNames() const noexcept { return partNames_; }
  /// Of the last run().
  [[nodiscard]] const StepSeconds& seconds() const noexcept { return seconds_; }

 private:
  /// A part of the loss over the batches of a step.
  struct Part {
    std::string name;
    double weight = 1;
    at::Tensor mean, sum, count;        ///< 0-d, without gradient
    std::vector<at::Tensor> gradients;  ///< of `sum`: one for each of the optimizer's parameters
  };
  [[nodiscard]] std::vector<LossPart> lossOf(StepContext& context, const Batch& batch);
  /// Forward and backward of a step's only batch. \returns  the loss
  [[nodiscard]] at::Tensor backward(StepContext& context, const Batch& batch,
                                    std::vector<Part>& parts);
  /// Forward and backward of one batch of several, added to `parts`. One backward pass for each
  /// part of the loss.
  void addBatch(StepContext& context, const Batch& batch, std::vector<Part>& parts);
  /// Their gradients into the parameters. \returns  the loss
  [[nodiscard]] at::Tensor addUp(std::vector<Part>& parts);
  /// Lets averaged networks begin where those that they follow are.
  /// \throws PluginError  they differ
  void followNetworks();
  void keepBuffers();
  void restoreBuffers(const at::Tensor& hold);
  /// \param overflow  0-d bool: this step is not bad for its gradient; or undefined
  [[nodiscard]] at::Tensor badFlag(const at::Tensor& loss, const at::Tensor& norm,
                                   const SpikeLimits& limits, const at::Tensor& overflow);
  /// The value that is backpropagated in the place of a sum.
  [[nodiscard]] at::Tensor scaled(const at::Tensor& loss) const;

  TaskSession& session_;
  StepOptions options_;
  Optimizer optimizer_;
  std::unique_ptr<Ema> ema_;
  std::vector<Ema> networkAverages_;  ///< of the networks that follow another one
  std::vector<std::pair<at::Tensor, at::Tensor>> followedBuffers_;  ///< theirs, and where from
  std::unique_ptr<LossScale> scale_;                                ///< of Float16
  at::Tensor skip_;    ///< 0-d float32: 1 in a bad step, or from the first one on
  at::Tensor spikes_;  ///< 0-d float32: spikes in a row
  bool areSpikesCounted_ = false;
  at::Tensor spikeLimits_;  ///< [2] float32: loss, gradient norm
  std::vector<at::Tensor> buffers_,
      kept_;  ///< where steps are skipped: what a forward pass changes
  std::vector<std::string> partNames_;
  StepSeconds seconds_;
};

/// Small device tensors on their way to the host: pushed each step, read `lag` steps later.
class VITRINE_ENGINE_EXPORT LateReader {
 public:
  enum class Take { Late, All };
  explicit LateReader(std::size_t lag = 4);
  ~LateReader();
  LateReader(const LateReader&) = delete;
  LateReader& operator=(const LateReader&) = delete;
  /// Starts the copy; does not wait.
  void push(const at::Tensor& value);
  /// The oldest value when more than `lag` are under way, or any for Take::All; undefined when
  /// there is none.
  [[nodiscard]] at::Tensor take(Take which);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine::train
