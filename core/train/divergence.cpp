#include "core/train/divergence.h"

#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/statistics.h"
#include "core/files/checkpoint_folder.h"
#include "core/train/train_config.h"

namespace vitrine::train {

namespace {

constexpr const char* kRollbackFile = "rollback.json";

/// Readings are float32, and so is the comparison on the device.
double asRead(double limit) { return static_cast<double>(static_cast<float>(limit)); }

}  // namespace

DivergenceOptions divergenceFrom(const Config& stored) {
  const Config train = withTrainDefaults(stored);
  DivergenceOptions options;
  const std::string policy = train.text("divergence.policy");
  if (policy == "rollback") options.policy = DivergenceOptions::Policy::Rollback;
  if (policy == "skip") options.policy = DivergenceOptions::Policy::Skip;
  options.lossFactor = train.maybeReal("divergence.loss_factor");
  options.gradientFactor = train.maybeReal("divergence.gradient_factor");
  options.window = train.integer("divergence.window");
  options.spikeSteps = train.integer("divergence.spike_steps");
  options.maxRollbacks = train.integer("divergence.max_rollbacks");
  options.maxSkipped = train.integer("divergence.max_skipped");
  return options;
}

SpikeLimits DivergenceWatch::limits(std::int64_t step) const {
  SpikeLimits limits;
  if (!options_.hasSpikes()) return limits;
  const auto window = static_cast<std::size_t>(options_.window);
  std::vector<double> losses, norms;
  for (auto it = readings_.rbegin(); it != readings_.rend() && losses.size() < window; ++it) {
    if (it->step > step - kDelay) continue;
    losses.push_back(it->loss);
    norms.push_back(it->gradientNorm);
  }
  if (losses.size() < window) return limits;
  // A multiple of a median that is not positive says nothing.
  const auto limitOf = [](std::optional<double> factor, double middle, double& limit) {
    if (factor && middle > 0) limit = asRead(*factor * middle);
  };
  limitOf(options_.lossFactor, upperMedian(std::move(losses)), limits.loss);
  limitOf(options_.gradientFactor, upperMedian(std::move(norms)), limits.gradientNorm);
  return limits;
}

bool DivergenceWatch::isSpike(double loss, double gradientNorm, const SpikeLimits& limits) {
  return loss > limits.loss || gradientNorm > limits.gradientNorm;
}

void DivergenceWatch::heard(std::int64_t step, double loss, double gradientNorm, bool isApplied,
                            const SpikeLimits& limits) {
  skippedInRow_ = isApplied ? 0 : skippedInRow_ + 1;
  if (!options_.hasSpikes()) return;
  spikesInRow_ = isSpike(loss, gradientNorm, limits) ? spikesInRow_ + 1 : 0;
  if (!isApplied) return;
  readings_.push_back({step, loss, gradientNorm});
  while (readings_.size() > static_cast<std::size_t>(options_.window + kDelay))
    readings_.pop_front();
}

Json DivergenceWatch::state() const {
  if (!options_.hasSpikes() && skippedInRow_ == 0) return {};
  Json steps = Json::array(), losses = Json::array(), norms = Json::array();
  for (const Reading& reading : readings_) {
    steps.push_back(reading.step);
    losses.push_back(reading.loss);
    norms.push_back(reading.gradientNorm);
  }
  return Json{{"skipped_in_row", skippedInRow_},
              {"spikes_in_row", spikesInRow_},
              {"steps", steps},
              {"losses", losses},
              {"gradient_norms", norms}};
}

void DivergenceWatch::restore(const Json& state) {
  if (state.is_null()) return;
  try {
    skippedInRow_ = state.at("skipped_in_row").get<std::int64_t>();
    spikesInRow_ = state.at("spikes_in_row").get<std::int64_t>();
    const auto steps = state.at("steps").get<std::vector<std::int64_t>>();
    const auto losses = state.at("losses").get<std::vector<double>>();
    const auto norms = state.at("gradient_norms").get<std::vector<double>>();
    if (losses.size() != steps.size() || norms.size() != steps.size())
      throw FileError("state.json: the readings of its steps are not of one length");
    readings_.clear();
    for (std::size_t i = 0; i < steps.size(); ++i)
      readings_.push_back({steps[i], losses[i], norms[i]});
  } catch (const Json::exception& error) {
    throw FileError(std::string("state.json: its record of divergence is damaged: ") +
                    error.what());
  }
}

void writeRollback(const std::filesystem::path& runFolder, const Rollback& rollback) {
  writeFileAtomically(runFolder / kRollbackFile,
                      Json{{"format", 1},
                           {"number", rollback.number},
                           {"from_step", rollback.fromStep},
                           {"to_step", rollback.toStep},
                           {"batches_consumed", rollback.batchesConsumed}}
                              .dump(1) +
                          "\n");
}

std::optional<Rollback> readRollback(const std::filesystem::path& runFolder) {
  const std::filesystem::path file = runFolder / kRollbackFile;
  if (runFolder.empty() || !std::filesystem::exists(file)) return std::nullopt;
  const Json json = readJson(readTextFile(file));
  try {
    Rollback rollback;
    json.at("number").get_to(rollback.number);
    json.at("from_step").get_to(rollback.fromStep);
    json.at("to_step").get_to(rollback.toStep);
    json.at("batches_consumed").get_to(rollback.batchesConsumed);
    if (rollback.number < 1 || rollback.toStep < 0 || rollback.batchesConsumed < 0)
      throw FileError(file.string() + " has a number that cannot be; remove it");
    return rollback;
  } catch (const Json::exception&) {
    throw FileError(file.string() +
                    " is damaged; without it the run meets the batches of its last divergence "
                    "again: remove it to continue");
  }
}

}  // namespace vitrine::train
