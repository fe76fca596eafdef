#include "plugins/tasks/generation/settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/words.h"
#include "plugins/tasks/generation/samplers.h"

namespace vitrine::generation {

namespace {

using diffusion::GuidedDenoiser;
using Time = GuidedDenoiser::Time;

/// Keys that one process alone reads.
constexpr std::array kPathKeys{"path", "prediction", "weight"};
constexpr std::array kStepKeys{"schedule", "steps", "variance"};

/// A key of [task.samples]; "auto" of a run that was stored before there was one.
std::string sampleWord(const Config& task, const char* key) {
  const std::string whole = std::string("samples.") + key;
  return task.has(whole) ? task.text(whole) : "auto";
}

diffusion::Guidance sampleGuidanceOf(const Config& task) {
  const bool isStated = task.has("samples.guidance_channels");
  return {task.real("samples.guidance"),
          isStated ? task.integer("samples.guidance_channels") : kGuidedChannels};
}

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

SampleChoice sampleChoiceOf(const Config& task, Time process) {
  SampleChoice choice{process == Time::Step ? Method::Ddim : Method::Ode};
  const std::string sampler = sampleWord(task, "sampler"), solver = sampleWord(task, "solver");
  if (sampler != "auto") {
    choice.method = valueOf<Method>("task.samples.sampler", sampler,
                                    {{"ddpm", Method::Ddpm},
                                     {"ddim", Method::Ddim},
                                     {"ode", Method::Ode},
                                     {"sde", Method::Sde}});
    try {
      requireProcess(process, choice.method);
    } catch (const ConfigError& error) {
      throw ConfigError(std::string("task.samples.sampler: ") + error.what());
    }
  }
  if (solver == "auto") return choice;
  const Schema schema = samplerSchema(choice.method);
  const Field* field = schema.find("solver");
  if (field == nullptr || !field->offers(solver)) {
    throw ConfigError("task.samples.solver = \"" + solver + "\" is not a solver of the sampler '" +
                      samplerName(choice.method) + "'" +
                      (field == nullptr
                           ? ", which has none; leave task.samples.solver away"
                           : "; take " + joined(field->choices) +
                                 ", or set task.samples.sampler to the sampler that has it"));
  }
  choice.solver = solver;
  return choice;
}

DrawSettings sampleSettingsOf(const Config& task, const GenerationSession& session) {
  const Time process = session.process();
  const SampleChoice choice = sampleChoiceOf(task, process);
  const diffusion::Guidance guidance = sampleGuidanceOf(task);
  std::int64_t steps = task.integer("samples.steps");
  if (process == Time::Step) steps = std::min(steps, session.steps().steps());
  Json values = samplerSchema(choice.method).defaults();
  values["steps"] = steps;
  values["guidance"] = guidance.scale;
  values["guidance_channels"] = guidance.channels;
  if (!choice.solver.empty()) values["solver"] = choice.solver;
  return drawSettings(session, choice.method, Config(std::move(values)));
}

void requireUsableSamples(const Config& task, double labelDrop, Time process) {
  (void)sampleChoiceOf(task, process);
  const std::int64_t count = task.integer("samples.count");
  if (count < 1) return;
  diffusion::requireGuidable(labelDrop, sampleGuidanceOf(task));
  if (count > kNeighbours || task.text("judge").empty()) return;
  throw ConfigError("task.samples.count = " + std::to_string(count) +
                    " is too few for a judge, which looks at " + std::to_string(kNeighbours) +
                    " neighbours of each sample; set " + std::to_string(kNeighbours + 1) +
                    " or more, or leave task.judge away");
}

}  // namespace vitrine::generation
