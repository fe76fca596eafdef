// Trainer's reaction to a loss that is not finite, or a spike.
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/checkpoint_use.h"
#include "core/train/trainer_state.h"

namespace vitrine::train {

namespace {

std::string shown(double value) {
  return std::isfinite(value) ? formatReal(value, 4) : formatReal(value);
}

/// "the loss of step 7 is nan", "the gradient norm of step 9 is 80, above the limit of 12".
std::string causeOf(std::int64_t step, double loss, double gradientNorm,
                    const SpikeLimits& limits) {
  const bool isFinite = std::isfinite(loss) && std::isfinite(gradientNorm);
  const bool isLoss = isFinite ? loss > limits.loss : !std::isfinite(loss);
  std::string text = std::string(isLoss ? "the loss" : "the gradient norm") + " of step " +
                     std::to_string(step) + " is " + shown(isLoss ? loss : gradientNorm);
  if (isFinite) text += ", above the limit of " + shown(isLoss ? limits.loss : limits.gradientNorm);
  return text;
}

std::string kindOf(double loss, double gradientNorm) {
  return std::isfinite(loss) && std::isfinite(gradientNorm) ? "spike" : "non_finite";
}

/// The first eight of many ids.
std::string someOf(const std::vector<std::int64_t>& samples) {
  std::string list;
  for (std::size_t i = 0; i < samples.size() && i < 8; ++i)
    list += (i == 0 ? "" : ", ") + std::to_string(samples[i]);
  if (samples.size() > 8) list += ", and " + std::to_string(samples.size() - 8) + " more";
  return list;
}

}  // namespace

std::vector<std::int64_t> Trainer::State::samplesOf(std::int64_t ofStep) const {
  for (const StepIds& ids : recentIds) {
    if (ids.step == ofStep) return ids.samples;
  }
  return {};
}

void Trainer::State::heard(const Sent& at, const StepReadings& readings) {
  if (readings.isOverflow) {
    ++skippedSteps;
    sink.event({at.step, "loss_scale",
                "a gradient of step " + std::to_string(at.step) + " overflows at a loss scale of " +
                    formatReal(readings.lossScale) + "; the step is left out and the scale halved",
                Json{{"loss_scale", readings.lossScale}, {"skipped", skippedSteps}}});
    return;
  }
  watch.heard(at.step, readings.loss, readings.gradientNorm, !readings.isBad, at.limits);
  if (!readings.isBad) return;
  Failure bad{at.step, readings.loss, readings.gradientNorm, at.batchesConsumed, at.limits, 0};
  if (divergence.policy != DivergenceOptions::Policy::Skip) {
    failure = bad;
    return;
  }
  ++skippedSteps;
  if (watch.skippedInRow() > divergence.maxSkipped) {
    bad.skippedInRow = watch.skippedInRow();
    failure = bad;
    return;
  }
  const std::vector<std::int64_t> samples = samplesOf(at.step);
  sink.event({at.step, "step_skipped",
              causeOf(at.step, bad.loss, bad.gradientNorm, bad.limits) +
                  "; the step is left out; samples of its batch: " + someOf(samples),
              Json{{"cause", kindOf(bad.loss, bad.gradientNorm)},
                   {"loss", formatReal(bad.loss)},
                   {"gradient_norm", formatReal(bad.gradientNorm)},
                   {"sample_ids", samples},
                   {"skipped", skippedSteps}}});
}

TrainerResult Trainer::State::rollBack(const std::string& cause, const Json& facts) {
  const std::int64_t from = failure->step;
  // A checkpoint within the spike is not a good one.
  const std::int64_t firstBad = from - watch.spikesInRow() + (watch.spikesInRow() > 0 ? 1 : 0);
  std::vector<CheckpointFolder> listed = listCheckpoints(setup.checkpointFolder);
  std::erase_if(listed, [&](const CheckpointFolder& each) {
    if (each.step < firstBad) return false;
    removeCheckpoint(each.folder);  // it stays while a process reads it
    return true;
  });
  const auto good = newestCheckpoint(listed, [&](const std::string& why) {
    sink.event({from, "checkpoint_damaged", why, Json::object()});
  });
  Rollback rollback{rollbacks + 1, from, good ? good->step : 0, failure->batchesConsumed};
  writeRollback(setup.checkpointFolder, rollback);
  Json data = facts;
  data["to_step"] = rollback.toStep;
  data["number"] = rollback.number;
  const std::string reason = cause + "; going back to step " + std::to_string(rollback.toStep) +
                             ", without the batches since then (rollback " +
                             std::to_string(rollback.number) + " of " +
                             std::to_string(divergence.maxRollbacks) + ")";
  sink.event({from, "rollback", reason, data});
  sink.flush();
  TrainerResult result{Outcome::RolledBack, reason, from - 1, seconds(), lastScores};
  if (good) result.resumeFrom = good->folder;
  return result;
}

TrainerResult Trainer::State::diverged() {
  if (writer) writer->wait();
  if (probeThread) probeThread->wait();
  deliverSaves();
  deliverFindings();
  const Failure bad = *failure;
  const std::vector<std::int64_t> samples = samplesOf(bad.step);
  std::string cause = causeOf(bad.step, bad.loss, bad.gradientNorm, bad.limits);
  Json facts{{"step", bad.step},
             {"loss", formatReal(bad.loss)},
             {"gradient_norm", formatReal(bad.gradientNorm)},
             {"sample_ids", samples}};
  std::string weights = "; the weights are those after step " + std::to_string(bad.step - 1);
  if (divergence.policy == DivergenceOptions::Policy::Rollback) {
    if (setup.checkpointFolder.empty()) {
      weights = "; there is no folder with a checkpoint to go back to";
    } else if (rollbacks >= divergence.maxRollbacks) {
      weights = "; the run was rolled back " + std::to_string(rollbacks) + " times before";
    } else {
      try {
        return rollBack(cause, facts);
      } catch (const FileError& error) {
        weights = std::string("; it cannot be rolled back: ") + error.what();
      }
    }
  }
  if (bad.skippedInRow > 0) {
    weights = "; it is the " + std::to_string(bad.skippedInRow) +
              "th step in a row that would have to be left out";
  }
  const std::string reason = cause + weights + "; samples of its batch: " + someOf(samples);
  sink.event({bad.step, kindOf(bad.loss, bad.gradientNorm), reason, facts});
  sink.flush();
  return {Outcome::Failed, reason, bad.step - 1, seconds(), lastScores};
}

}  // namespace vitrine::train
