#include "core/train/reopen.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <utility>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/plugin/trained_values.h"
#include "core/train/modules.h"

namespace vitrine::train {

namespace {

/// Checks a table of `config` again. \param beside  keys that the schema does not know
void resolveAgain(Json& config, const char* table, const Schema& schema,
                  const std::vector<const char*>& beside) {
  Json values = config.at(table), kept = Json::object();
  for (const char* key : beside) {
    if (values.contains(key)) kept[key] = values[key];
    values.erase(key);
  }
  std::string sentences;
  for (const Problem& problem : resolveItem(schema, table, values))
    sentences += (sentences.empty() ? "" : "; ") + problem.sentence();
  if (!sentences.empty()) throw ConfigError(sentences);
  config[table] = std::move(values);
  config[table].update(kept);
}

/// The tensors of `from` under the model's names, as a file of them would give.
WeightSource sourceOf(Model& from) {
  WeightSource source;
  for (const auto& [name, tensor] : namedTensors(from))
    source.add(name, tensor.sizes().vec(), [tensor = tensor] { return tensor.detach(); }, {name});
  return source;
}

/// \returns  names that were resized
std::vector<std::string> copyModel(Model& from, Model& to) {
  WeightSource source = sourceOf(from);
  to.transform(source);
  std::vector<std::string> resized;
  for (const auto& [name, tensor] : namedTensors(to)) {
    if (!source.has(name) || tensor.sizes() != source.shape(name)) {
      throw ConfigError("the model has no place for its weights under other values: '" + name +
                        "' is " +
                        (source.has(name) ? c10::str(at::IntArrayRef(source.shape(name)))
                                          : std::string("not there")) +
                        " and would be " + c10::str(tensor.sizes()));
    }
    tensor.copy_(source.tensor(name));
    if (source.isResized(name)) resized.push_back(name);
  }
  return resized;
}

void copyNetworks(TaskSession& from, TaskSession& to) {
  std::map<std::string, at::Tensor> known;
  for (const auto& [name, tensor] : runTensors(from)) known[name] = tensor;
  for (const Network& network : to.networks()) {
    if (network.name.empty() || network.role == Network::Role::Frozen) continue;
    for (const auto& [name, tensor] : moduleTensors(*network.module, nameIn(network, ""))) {
      const auto found = known.find(name);
      if (found == known.end() || found->second.sizes() != tensor.sizes())
        throw ConfigError("network '" + network.name + "' has other tensors under these values");
      tensor.copy_(found->second);
    }
  }
}

}  // namespace

Json reconfigured(const Registry& registry, const Json& config, Json changed) {
  const Config whole(changed);
  const Architecture& architecture = registry.architecture(whole.text("model.architecture"));
  const auto* keeping = dynamic_cast<const KeepsTrainedValues*>(&architecture);
  if (keeping != nullptr && config.at("model") != changed.at("model"))
    changed["model"].update(keeping->trainedValues(Config(config.at("model"))), true);
  resolveAgain(changed, "model", architecture.card().schema, {"architecture", "preset"});
  resolveAgain(changed, "task", registry.task(whole.text("task.name")).card().schema, {"name"});
  Schema data = registry.dataset(whole.text("data.dataset")).card().schema;
  data.fields.insert(data.fields.end(), dataSchema().fields.begin(), dataSchema().fields.end());
  data.rules.insert(data.rules.end(), dataSchema().rules.begin(), dataSchema().rules.end());
  resolveAgain(changed, "data", data, {"dataset", "pipeline"});
  return changed;
}

Reopen reopenOf(const Registry& registry, const Json& config,
                const std::vector<AuxChoice>& auxiliaries) {
  return [&registry, config, auxiliaries](TaskSession& live, const Moment& moment,
                                          const Json& changes) {
    Json changed = config;
    changed.update(changes, true);
    ReopenedRun run{.config = reconfigured(registry, config, std::move(changed))};
    TrainerSetup setup =
        prepareRun(registry, run.config, moment.seed, {.auxiliaries = auxiliaries});
    run.session = std::move(setup.session);
    run.transforms = std::move(setup.evaluateTransforms);
    const at::NoGradGuard noGradient;
    moveModules(*run.session, moment.device);
    run.resized = copyModel(live.model(), run.session->model());
    run.resizePositions = WeightSource().resizePositions();
    copyNetworks(live, *run.session);
    const auto before = scheduledOf(live), after = scheduledOf(*run.session);
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      after[i].second->restoreScheduled(before[i].second->scheduledState());
      if (moment.isFinished) after[i].second->finish();
    }
    if (!moment.isFinished) placeAfterStep(*run.session, moment.position);
    (void)beginLook(*run.session,
                    {.device = moment.device, .seed = moment.seed, .step = moment.position.step});
    return run;
  };
}

}  // namespace vitrine::train
