#include "app/vitrine/run/judged_plan.h"

#include <c10/core/Device.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "app/vitrine/run/run_start.h"
#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/config/plan_json.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "core/plugin/pipeline.h"
#include "core/train/device.h"

namespace vitrine::app {

namespace {

constexpr std::size_t kLargestPlan = std::size_t{1} << 30;

class Judge {
 public:
  Judge(const Registry& registry, JudgedPlan& judged) : registry_(registry), judged_(judged) {}

  void judge() {
    std::map<std::string, std::shared_ptr<const RunCost>> known;  // by kind
    for (const PlannedRun& run : judged_.plan.runs) {
      const auto [cost, isNew] = known.try_emplace(kindOf(run));
      if (isNew) cost->second = costOf(run);
      judged_.costs.push_back(cost->second);
      judgeObserved(Config(run.config));
    }
  }

 private:
  struct OpenedData {
    std::shared_ptr<const Dataset> dataset;
    std::string error;
  };

  std::shared_ptr<const RunCost> costOf(const PlannedRun& run) {
    const Config config(run.config);
    // No memory and no initial values: the largest named sizes are as quick as the smallest.
    const ScopedBuildDevice meta{c10::Device(c10::DeviceType::Meta)};
    auto cost = std::make_shared<RunCost>();
    std::shared_ptr<Model> model;
    try {
      model = registry_.architecture(config.text("model.architecture"))
                  .build(config.table("model"), run.seed);
    } catch (const ConfigError& error) {
      refuse(itemName(ItemKind::Architecture, config.text("model.architecture")), "model",
             error.what());
      return nullptr;
    }
    cost->parameters = parameterCount(*model);
    cost->blocks = model->cost();
    for (const BlockCost& block : cost->blocks) {
      cost->flops += block.flops;
      cost->macs += block.macs;
      cost->activationBytes += block.activationBytes;
    }
    std::shared_ptr<const Dataset> dataset;
    try {
      registry_.task(config.text("task.name")).requireStartable(config.table("task"), *model);
      const auto& [opened, problem] = datasetOf(config);
      dataset = opened;
      cost->dataProblem = problem;
      // Models that [aux] names may be trained by then and are not yet.
      const bool isComplete = !config.has("aux") || config.at("aux").empty();
      if (dataset != nullptr && isComplete) openTask(run, config, model, dataset);
    } catch (const ConfigError& error) {
      refuse(itemName(ItemKind::Task, config.text("task.name")), "task", error.what());
    }
    const train::MemoryInput input = train::memoryInputOf(
        config, cost->parameters, cost->blocks,
        registry_.optimizer(config.text("train.optimizer.name")), dataset.get());
    cost->memory = estimateMemory(input);
    cost->diskBytes = estimateDisk(input);
    judgeAverage(input.train, input.stepsPerEpoch);
    judgeDevice(config.text("train.device"), *cost);
    judgeWeights(run, *model);
    return cost;
  }

  /// A GPU that is not here may be on the machine that trains the run.
  void judgeDevice(const std::string& device, RunCost& cost) {
    if (device == "auto") return;  // asking for the GPUs takes time
    try {
      (void)train::resolveDevice(device);
    } catch (const RefusedError& error) {
      cost.deviceProblem = "train.device: " + std::string(error.what());
      warn(cost.deviceProblem);
    } catch (const ConfigError& error) {
      refuse("", "train.device", error.what());
    }
  }

  /// Those of a run are in a database, which a plan does not need. Of a run of the plan itself the
  /// tokens are known.
  void judgeWeights(const PlannedRun& run, Model& model) {
    if (!run.init) return;
    if (const int source = run.init->plannedRun; source >= 0) {
      try {
        train::requireSameTokens(model, run.config,
                                 judged_.plan.runs[static_cast<std::size_t>(source)].config,
                                 run.init->skip);
      } catch (const ConfigError& error) {
        refuse("", "init.run", error.what());
      }
    }
    if (run.init->weights.empty()) return;
    try {
      const std::string why = "run '" + run.name + "' starts from";
      train::requireInitFits(registry_, run.config, initChoiceOf(*run.init, why));
    } catch (const Error& error) {
      refuse("", "init.weights", error.what());
    }
  }

  void warn(const std::string& sentence) {
    std::vector<std::string>& warnings = judged_.warnings;
    if (std::find(warnings.begin(), warnings.end(), sentence) == warnings.end())
      warnings.push_back(sentence);
  }

  /// Warns of averaged weights that still are mostly those of the start when the run ends.
  void judgeAverage(const Config& train, double stepsPerEpoch) {
    constexpr double kMostOfStart = 0.1;
    const auto decay = train.maybeReal("ema.decay");
    if (!decay || train.flag("ema.warmup")) return;
    const auto steps = train.maybeInteger("steps"), epochs = train.maybeInteger("epochs");
    const double total = steps    ? static_cast<double>(*steps)
                         : epochs ? static_cast<double>(*epochs) * stepsPerEpoch
                                  : 0;
    const double share = std::pow(*decay, total);
    if (total <= 0 || share <= kMostOfStart) return;
    warn("train.ema.decay = " + formatReal(*decay) + " leaves " +
         std::to_string(std::llround(100 * share)) +
         " % of the first weights in the average after " + std::to_string(std::llround(total)) +
         " steps; set train.ema.warmup = true, or a smaller decay");
  }

  /// Opened once per distinct [data] table: reading the files takes longer than anything else here.
  /// Null, and why, where it cannot be opened here: the files may be on another machine.
  const OpenedData& datasetOf(const Config& config) {
    const auto [opened, isNew] = datasets_.try_emplace(config.at("data").dump());
    OpenedData& data = opened->second;
    if (!isNew) return data;
    try {
      data.dataset = registry_.openData(config.table("data"));
      judged_.data.push_back(data.dataset);
    } catch (const FileError& error) {
      data.error = error.what();
      warn(data.error);
    }
    return data;
  }

  void openTask(const PlannedRun& run, const Config& config, const std::shared_ptr<Model>& model,
                const std::shared_ptr<const Dataset>& dataset) {
    TaskSetup setup;
    setup.task = config.table("task");
    setup.data = config.table("data");
    setup.model = model;
    setup.pipeline = makePipeline(registry_, config, dataset, run.seed);
    setup.registry = &registry_;
    setup.seed = run.seed;
    setup.batchSize = config.integer("train.batch_size");
    setup.evaluationBatchSize = config.integer("train.evaluation_batch_size");
    (void)registry_.task(config.text("task.name")).open(setup);
  }

  void judgeObserved(const Config& config) {
    const Task& task = registry_.task(config.text("task.name"));
    const Json observed = config.at("observe");
    for (const auto& [id, values] : observed.items()) {
      try {
        registry_.analysis(id).requireStartable(Config(values), task);
      } catch (const ConfigError& error) {
        refuse(itemName(ItemKind::Analysis, id), "observe." + id, error.what());
      }
    }
  }

  void refuse(const std::string& item, const std::string& key, const std::string& message) {
    std::vector<Problem>& problems = judged_.plan.problems;
    if (std::any_of(problems.begin(), problems.end(),
                    [&](const Problem& known) { return known.message == message; }))
      return;
    Problem& problem = problems.emplace_back();
    problem.code = ProblemCode::ItemRefused;
    problem.item = item;
    problem.key = key;
    problem.message = message;
  }

  const Registry& registry_;
  JudgedPlan& judged_;
  std::map<std::string, OpenedData> datasets_;
};

Json totalsOf(const RunCost& cost) {
  return Json{{"parameters", cost.parameters},
              {"flops", cost.flops},
              {"macs", cost.macs},
              {"activation_bytes", cost.activationBytes},
              {"memory_bytes", cost.memory.peakBytes},
              {"disk_bytes", cost.diskBytes}};
}

Json madeBy(const LoadedPlugins& plugins) {
  Json hashes = Json::object();
  for (const PluginManifest& plugin : plugins.loaded) hashes[plugin.id] = plugin.sha256;
  return {{"vitrine", VITRINE_VERSION}, {"plugins", std::move(hashes)}};
}

void requireMadeHere(const Json& by, const LoadedPlugins& plugins) {
  const Json here = madeBy(plugins);
  if (by == here) return;
  const auto version = by.at("vitrine").get<std::string>();
  if (version != VITRINE_VERSION)
    throw RefusedError("the plan was made by Vitrine " + version +
                       ", this is Vitrine " VITRINE_VERSION "; check the experiment again");
  const std::vector<Difference> other = difference(by.at("plugins"), here.at("plugins"));
  throw RefusedError("the plan was made with other plugins than those here" +
                     (other.empty() ? "" : " ('" + other.front().key + "' is another)") +
                     "; check the experiment again");
}

double bytesAt(const Json& totals, const char* key) {
  const auto bytes = totals.at(key).get<double>();
  if (!(bytes >= 0 && bytes < 1e18))
    throw ConfigError(std::string("the plan's ") + key + " is " + totals.at(key).dump() +
                      ", which is not a size; check the experiment again");
  return bytes;
}

}  // namespace

std::string kindOf(const PlannedRun& run) {
  // How long a run is and how often it is evaluated decides how many checkpoints it keeps.
  Json kind = run.config;
  for (const char* key : {"seed", "schedule", "record_every"}) kind["train"].erase(key);
  kind["train"]["optimizer"].erase("learning_rate");
  kind["train"]["optimizer"].erase("weight_decay");
  kind.erase("observe");
  return kind.dump();
}

JudgedPlan judgePlan(const Registry& registry, Plan plan) {
  JudgedPlan judged{.plan = std::move(plan)};
  if (judged.plan.problems.empty()) Judge(registry, judged).judge();
  return judged;
}

JudgedPlan judgeFile(const Engine& engine, const std::string& file,
                     const std::vector<std::string>& overrides) {
  JudgedPlan judged =
      judgePlan(engine.registry, planFile(file, engine.registry.catalog(), overrides));
  requireValid(judged.plan.problems);
  return judged;
}

Json toJson(const JudgedPlan& judged, const LoadedPlugins& plugins) {
  Json out = toJson(judged.plan);
  out["made_by"] = madeBy(plugins);
  out["warnings"] = judged.warnings;
  out["totals"] = nullptr;
  out["memory"] = Json::array();
  out["blocks"] = Json::array();
  const auto& costs = judged.costs;
  for (std::size_t i = 0; i < judged.plan.runs.size(); ++i) {
    const bool isKnown = i < costs.size() && costs[i] != nullptr;
    out["runs"][i]["totals"] = isKnown ? totalsOf(*costs[i]) : Json(nullptr);
    out["runs"][i]["data_problem"] = isKnown ? costs[i]->dataProblem : "";
  }
  if (costs.empty() || costs.front() == nullptr) return out;
  const RunCost& first = *costs.front();
  out["totals"] = totalsOf(first);
  out["totals"]["runs"] = judged.plan.runs.size();
  for (const train::MemoryPart& part : first.memory.parts)
    out["memory"].push_back({{"name", part.name}, {"bytes", part.bytes}, {"doc", part.doc}});
  for (const BlockCost& block : first.blocks) {
    const auto colon = block.kind.find(':');
    out["blocks"].push_back(
        {{"name", block.name},
         {"kind", block.kind.substr(0, colon)},
         {"operator", colon == std::string::npos ? "" : block.kind.substr(colon + 1)},
         {"parameters", block.parameters},
         {"flops", block.flops},
         {"macs", block.macs},
         {"activation_bytes", block.activationBytes}});
  }
  return out;
}

JudgedPlan readJudgedPlan(const std::string& file, const Engine& engine) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) throw NotFoundError("there is no plan " + file);
  }
  std::istream& in = file == "-" ? std::cin : opened;
  std::string text;
  for (std::string part(1 << 20, '\0'); in && text.size() <= kLargestPlan;) {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > kLargestPlan) throw FileError(file + " is larger than 1 GiB: it is not a plan");
  const Json json = readJson(text);
  if (!json.is_object() || !json.contains("plan") || !json.contains("made_by"))
    throw ConfigError((file == "-" ? "standard input" : file) +
                      std::string(" is not a whole plan; `vitrine check FILE --json` prints one"));
  try {
    requireMadeHere(json.at("made_by"), engine.plugins);
    JudgedPlan judged{.plan = planFromJson(json, engine.registry.catalog()),
                      .warnings = json.at("warnings").get<std::vector<std::string>>()};
    for (const Json& run : json.at("runs")) {
      auto cost = std::make_shared<RunCost>();
      cost->memory.peakBytes = bytesAt(run.at("totals"), "memory_bytes");
      cost->diskBytes = bytesAt(run.at("totals"), "disk_bytes");
      cost->dataProblem = run.at("data_problem").get<std::string>();
      judged.costs.push_back(std::move(cost));
    }
    return judged;
  } catch (const Json::exception& error) {
    throw ConfigError(std::string("this is not a whole plan of `vitrine check --json`: ") +
                      error.what());
  }
}

}  // namespace vitrine::app
