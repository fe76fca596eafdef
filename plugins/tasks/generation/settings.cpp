#include "plugins/tasks/generation/settings.h"

#include <array>

#include "core/base/error.h"

namespace vitrine::generation {

namespace {

using diffusion::GuidedDenoiser;
using Time = GuidedDenoiser::Time;

/// Keys that one process alone reads.
constexpr std::array kPathKeys{"path", "prediction", "weight"};
constexpr std::array kStepKeys{"schedule", "steps", "variance"};

}  // namespace

diffusion::StepOutput stepOutputOf(const Config& task) {
  diffusion::StepOutput form;
  const std::string variance = task.text("variance");
  if (variance == "fixed_small") form.variance = diffusion::StepVariance::FixedSmall;
  if (variance == "fixed_large") form.variance = diffusion::StepVariance::FixedLarge;
  return form;
}

diffusion::TransportOptions transportOptionsOf(const Config& task) {
  return {diffusion::pathOf(task.text("path")),
          diffusion::pathPredictionOf(task.text("prediction")),
          diffusion::pathWeightOf(task.text("weight"))};
}

double labelDropOf(const Config& task, const GuidedDenoiser& model) {
  return task.maybeReal("label_drop").value_or(model.labelDrop());
}

Time processOf(const Config& task, const GuidedDenoiser& model) {
  const std::string word = task.text("process");
  const Time own = model.timeUnit();
  if (word == "auto") return own;
  const Time asked = word == "ddpm" ? Time::Step : Time::Flow;
  if (asked != own)
    throw ConfigError(
        own == Time::Step
            ? "task.process = \"transport\" needs a model whose time runs from 0 to 1, and this "
              "one counts steps; take sit or sit_llama, or set task.process = \"ddpm\""
            : "task.process = \"ddpm\" needs a model that counts steps, and the time of this one "
              "runs from 0 to 1; take dit or dit_llama, or set task.process = \"transport\"");
  return asked;
}

void requireReadKeys(const Config& task, Time process) {
  const bool isFlow = process == Time::Flow;
  const Schema schema = GenerationTask().card().schema;
  for (const char* key : isFlow ? kStepKeys : kPathKeys) {
    const Json value = task.at(key);
    if (value == schema.find(key)->defaultValue) continue;
    const std::string name = std::string("task.") + key;
    throw ConfigError(
        name + " = " + value.dump() +
        (isFlow ? " is read where a model counts the steps of a diffusion, and the time of this "
                  "one runs from 0 to 1; leave " +
                      name + " away, or take dit or dit_llama"
                : " is read where the time of a model runs from 0 to 1, and this one counts the "
                  "steps of a diffusion; leave " +
                      name + " away, or take sit or sit_llama"));
  }
  if (isFlow && task.text("prediction") == "velocity" && task.text("weight") != "none") {
    throw ConfigError("task.weight = \"" + task.text("weight") +
                      "\" weights the loss of noise and score, and task.prediction = \"velocity\" "
                      "has a loss without weight; set task.weight = \"none\", or "
                      "task.prediction = \"noise\" or \"score\"");
  }
}

void requireUsableSamples(const Config& task, double labelDrop) {
  const std::int64_t count = task.integer("samples.count");
  if (count < 1) return;
  diffusion::requireGuidable(labelDrop, {task.real("samples.guidance"), kGuidedChannels});
  if (count > kNeighbours || task.text("judge").empty()) return;
  throw ConfigError("task.samples.count = " + std::to_string(count) +
                    " is too few for a judge, which looks at " + std::to_string(kNeighbours) +
                    " neighbours of each sample; set " + std::to_string(kNeighbours + 1) +
                    " or more, or leave task.judge away");
}

}  // namespace vitrine::generation
