// vitrine check: what an experiment file means and what it will cost, before anything runs.
#include <c10/core/Device.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/engine.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/selection.h"
#include "core/model/build_device.h"
#include "core/model/weights.h"
#include "core/plugin/pipeline.h"
#include "core/train/memory.h"

namespace vitrine::app {

namespace {

/// What one run's model costs.
struct Cost {
  std::int64_t parameters = 0;
  double flops = 0, macs = 0, activationBytes = 0;
  std::vector<BlockCost> blocks;
  train::MemoryEstimate memory;
};

struct Report {
  Plan plan;
  std::vector<std::string> warnings;
  std::vector<std::optional<Cost>> costs;  ///< per run
};

/// Opened once per distinct [data] table: reading the files takes longer than anything else here.
class Datasets {
 public:
  explicit Datasets(const Registry& registry) : registry_(registry) {}
  std::shared_ptr<const Dataset> open(const Json& data) {
    const std::string key = data.dump();
    if (const auto found = opened_.find(key); found != opened_.end()) return found->second;
    auto dataset = registry_.dataset(data.at("dataset").get<std::string>()).open(Config(data));
    opened_.emplace(key, dataset);
    return dataset;
  }

 private:
  const Registry& registry_;
  std::map<std::string, std::shared_ptr<const Dataset>> opened_;
};

std::shared_ptr<Model> modelOf(const Registry& registry, const PlannedRun& run) {
  const Json& model = run.config.at("model");
  return registry.architecture(model.at("architecture").get<std::string>())
      .build(Config(model), run.seed);
}

Cost costOf(const Registry& registry, const PlannedRun& run) {
  // No memory and no initial values: the largest named sizes are as quick as the smallest.
  const ScopedBuildDevice meta{c10::Device(c10::DeviceType::Meta)};
  const auto built = modelOf(registry, run);
  Cost cost;
  cost.parameters = parameterCount(*built);
  cost.blocks = built->cost();
  for (const BlockCost& block : cost.blocks) {
    cost.flops += block.flops;
    cost.macs += block.macs;
    cost.activationBytes += block.activationBytes;
  }
  return cost;
}

void addWarning(Report& report, const std::string& sentence) {
  const auto& known = report.warnings;
  if (std::find(known.begin(), known.end(), sentence) == known.end())
    report.warnings.push_back(sentence);
}

/// Opens dataset and task as a run would, so that what only they can judge is judged here.
/// \returns  the dataset, null where it cannot be opened here
std::shared_ptr<const Dataset> judgeData(const Registry& registry, const PlannedRun& run,
                                         Datasets& datasets, Report& report) {
  const Config config(run.config);
  std::shared_ptr<const Dataset> dataset;
  try {
    dataset = datasets.open(run.config.at("data"));
  } catch (const FileError& problem) {
    // The experiment may be right and the files on another machine.
    addWarning(report, problem.what());
    return nullptr;
  }
  // Models that [aux] names may be trained by then and are not yet.
  if (config.has("aux") && !config.at("aux").empty()) return dataset;
  const ScopedBuildDevice meta{c10::Device(c10::DeviceType::Meta)};
  TaskSetup setup;
  setup.task = config.table("task");
  setup.data = config.table("data");
  setup.model = modelOf(registry, run);
  setup.pipeline = makePipeline(registry, config, dataset, run.seed);
  setup.registry = &registry;
  setup.seed = run.seed;
  setup.batchSize = config.integer("train.batch_size");
  setup.evaluationBatchSize = config.integer("train.evaluation_batch_size");
  (void)registry.task(config.text("task.name")).open(setup);
  return dataset;
}

/// What an item refused that only its code can judge. \param key  "model.architecture"
void addProblem(Report& report, const PlannedRun& run, const std::string& key, ItemKind kind,
                const std::string& message) {
  for (const Problem& known : report.plan.problems) {
    if (known.message == message) return;
  }
  Problem problem;
  problem.code = ProblemCode::ItemRefused;
  problem.item = itemName(kind, Config(run.config).text(key));
  problem.key = key.substr(0, key.find('.'));
  problem.message = message;
  report.plan.problems.push_back(problem);
}

/// Warns of averaged weights that still are mostly those of the start when the run ends.
void judgeAverage(const Config& train, double stepsPerEpoch, Report& report) {
  constexpr double kMostOfStart = 0.1;
  const auto decay = train.maybeReal("ema.decay");
  if (!decay || train.flag("ema.warmup")) return;
  const auto steps = train.maybeInteger("steps"), epochs = train.maybeInteger("epochs");
  const double total = steps    ? static_cast<double>(*steps)
                       : epochs ? static_cast<double>(*epochs) * stepsPerEpoch
                                : 0;
  const double share = std::pow(*decay, total);
  if (total <= 0 || share <= kMostOfStart) return;
  addWarning(report, "train.ema.decay = " + formatReal(*decay) + " leaves " +
                         std::to_string(std::llround(100 * share)) +
                         " % of the first weights in the average after " +
                         std::to_string(std::llround(total)) +
                         " steps; set train.ema.warmup = true, or a smaller decay");
}

void judge(const Registry& registry, Report& report) {
  Datasets datasets(registry);
  std::map<std::string, Cost> known;  // by [model]
  for (const PlannedRun& run : report.plan.runs) {
    auto& slot = report.costs.emplace_back();
    try {
      const std::string key = run.config.at("model").dump();
      if (known.find(key) == known.end()) known[key] = costOf(registry, run);
      slot = known[key];
    } catch (const ConfigError& problem) {
      addProblem(report, run, "model.architecture", ItemKind::Architecture, problem.what());
      continue;
    }
    std::shared_ptr<const Dataset> dataset;
    try {
      dataset = judgeData(registry, run, datasets, report);
    } catch (const ConfigError& problem) {
      addProblem(report, run, "task.name", ItemKind::Task, problem.what());
    }
    const train::MemoryInput input = train::memoryInputOf(
        Config(run.config), slot->parameters, slot->blocks,
        registry.optimizer(Config(run.config).text("train.optimizer.name")), dataset.get());
    slot->memory = estimateMemory(input);
    judgeAverage(input.train, input.stepsPerEpoch, report);
  }
}

Json totalsOf(const Cost& cost) {
  return Json{{"parameters", cost.parameters},
              {"flops", cost.flops},
              {"macs", cost.macs},
              {"activation_bytes", cost.activationBytes},
              {"memory_bytes", cost.memory.peakBytes}};
}

/// Runs of the plan, by place, that must be done before this one, beside `depends_on`.
Json needsOf(const PlannedRun& run) {
  Json needs = Json::array();
  for (const AuxSource& aux : run.auxiliaries) {
    if (aux.plannedRun >= 0) needs.push_back(aux.plannedRun);
  }
  for (const int from : run.selectedFrom) needs.push_back(from);
  return needs;
}

Json toJsonReport(const Report& report) {
  Json out = Json::object();
  out["title"] = report.plan.title;
  Json problems = Json::array();
  for (const Problem& problem : report.plan.problems) problems.push_back(toJson(problem));
  out["problems"] = problems;
  out["warnings"] = report.warnings;
  out["totals"] = nullptr;
  out["memory"] = Json::array();
  out["blocks"] = Json::array();
  const bool hasCost = !report.costs.empty() && report.costs.front();
  if (hasCost) {
    const Cost& first = *report.costs.front();
    out["totals"] = totalsOf(first);
    out["totals"]["runs"] = report.plan.runs.size();
    for (const train::MemoryPart& part : first.memory.parts) {
      out["memory"].push_back({{"name", part.name}, {"bytes", part.bytes}, {"doc", part.doc}});
    }
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
  }
  Json runs = Json::array();
  for (std::size_t i = 0; i < report.plan.runs.size(); ++i) {
    const PlannedRun& run = report.plan.runs[i];
    Json origins = Json::object();
    for (const auto& [key, origin] : run.origins)
      origins[key] = {{"layer", origin.layer}, {"line", origin.line}};
    runs.push_back(
        {{"name", run.name},
         {"variant", run.variant},
         {"stage", run.stage},
         {"seed", run.seed},
         {"depends_on", run.dependsOn < 0 ? Json(nullptr) : Json(run.dependsOn)},
         {"init", run.init ? initToJson(*run.init) : Json(nullptr)},
         {"part", run.part == RunPart::Grid    ? "grid"
                  : run.part == RunPart::Refit ? "refit"
                                               : "plain"},
         {"selection", run.selection},
         {"needs", needsOf(run)},
         {"config", run.config},
         {"origins", origins},
         {"totals", i < report.costs.size() && report.costs[i] ? totalsOf(*report.costs[i])
                                                               : Json(nullptr)}});
  }
  out["runs"] = runs;
  Json excluded = Json::array();
  for (const ExcludedRun& run : report.plan.excluded) {
    Json point = Json::object();
    for (const auto& [key, value] : run.point) point[key] = value;
    excluded.push_back({{"name", run.name},
                        {"variant", run.variant},
                        {"values", point},
                        {"runs_before", run.place}});
  }
  out["left_out"] = excluded;
  return out;
}

std::string plain(const Json& value) {
  if (value.is_null()) return "none";
  return plainText(value);
}

std::string configText(const PlannedRun& run) {
  Table table{{"key", "value", "from"}, {}};
  const Config config(run.config);
  for (const auto& [key, origin] : run.origins) {
    table.rows.push_back(
        {key, plain(config.at(key)),
         origin.layer + (origin.line > 0 ? ", line " + std::to_string(origin.line) : "")});
  }
  return toText(table);
}

/// Blocks of one kind within one layer are many; a table per kind and per layer would hide the
/// total.
std::string blocksText(const Cost& cost) {
  Table table{{"block", "kind", "parameters", "MFLOPs", "MMACs", "activations"}, {}};
  for (const BlockCost& block : cost.blocks) {
    table.rows.push_back({block.name, block.kind, block.parameters, block.flops / 1e6,
                          block.macs / 1e6, formatBytes(block.activationBytes)});
  }
  return toText(table);
}

/// What [[exclude]] takes away, one line each; "" where there is nothing.
std::string excludedText(const Plan& plan) {
  if (plan.excluded.empty()) return {};
  constexpr std::size_t kMostNamed = 50;  // --json has all of them
  Table table{{"left out by [[exclude]]", "variant", "values"}, {}};
  for (const ExcludedRun& run : plan.excluded) {
    if (table.rows.size() == kMostNamed) break;
    const std::string values =
        joined(run.point, [](const auto& each) { return each.first + " = " + plain(each.second); });
    table.rows.push_back({run.name, run.variant, values});
  }
  std::string text = toText(table);
  if (plan.excluded.size() > kMostNamed)
    text += "... and " + formatCount(static_cast<long long>(plan.excluded.size() - kMostNamed)) +
            " more; --json has all\n";
  return text;
}

/// What [select] does, in a sentence and a table of its candidates; "" where there is none.
std::string selectionText(const Plan& plan) {
  const auto isOf = [](RunPart part) {
    return [part](const PlannedRun& run) { return run.part == part; };
  };
  const auto refit = std::find_if(plan.runs.begin(), plan.runs.end(), isOf(RunPart::Refit));
  if (refit == plan.runs.end()) return {};
  const auto grid = std::count_if(plan.runs.begin(), plan.runs.end(), isOf(RunPart::Grid));
  const auto refits = std::count_if(plan.runs.begin(), plan.runs.end(), isOf(RunPart::Refit));
  const auto first = std::find_if(plan.runs.begin(), plan.runs.end(), isOf(RunPart::Grid));
  const double holdout = Config(first->config).real("data.holdout");
  const Json& selection = refit->selection;
  std::string text = "selection: " + std::to_string(grid) + " runs leave out " +
                     formatReal(100 * holdout, 4) +
                     " % of the training set and are scored on it by " +
                     selection.at("metric").get<std::string>() + " (" +
                     selection.at("direction").get<std::string>() + " is better); " +
                     std::to_string(refits) + (refits == 1 ? " run takes" : " runs take") +
                     " the best values and all of the training set\n";
  Table table{{"candidate", "values", "runs"}, {}};
  for (const Json& candidate : selection.at("candidates")) {
    table.rows.push_back(
        {table.rows.size() + 1, candidateText(candidate), candidate.at("runs").size()});
  }
  return text + toText(table);
}

std::string forPeople(const Report& report) {
  const Plan& plan = report.plan;
  std::string text = plan.title + ": " + std::to_string(plan.runs.size()) +
                     (plan.runs.size() == 1 ? " run" : " runs");
  if (!plan.excluded.empty())
    text += ", " + std::to_string(plan.excluded.size()) + " left out by [[exclude]]";
  text += "\n";
  if (plan.runs.empty()) return text;
  text += "\n" + configText(plan.runs.front());
  if (report.costs.front()) {
    const Cost& cost = *report.costs.front();
    text += "\n" + blocksText(cost);
    text += "\nparameters         " + formatCount(cost.parameters) + "\n";
    text += "FLOPs per image    " + formatReal(cost.flops / 1e6, 5) +
            " M (flops: a multiply-add counts as two, every operation)\n";
    text += "MACs per image     " + formatReal(cost.macs / 1e6, 5) +
            " M (macs: multiply-adds of matrix products and convolutions, what papers print as "
            "FLOPs)\n";
    text += "memory, estimated  " + formatBytes(cost.memory.peakBytes) +
            " above the loaded program, on the CPU\n\n";
    Table memory{{"memory", "", "for"}, {}};
    for (const train::MemoryPart& part : cost.memory.parts)
      memory.rows.push_back({part.name, formatBytes(part.bytes), part.doc});
    text += toText(memory);
  }
  if (plan.runs.size() > 1) {
    Table runs{{"run", "name", "parameters", "memory", "differs from run 1"}, {}};
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
      const std::string changes =
          joined(difference(plan.runs.front().config, plan.runs[i].config),
                 [](const Difference& change) { return change.key + " = " + plain(change.after); });
      const auto& cost = report.costs[i];
      runs.rows.push_back(
          {i + 1, plan.runs[i].name, cost ? Json(formatCount(cost->parameters)) : Json(nullptr),
           cost ? Json(formatBytes(cost->memory.peakBytes)) : Json(nullptr), changes});
    }
    text += "\n" + toText(runs);
  }
  const std::string selection = selectionText(plan);
  if (!selection.empty()) text += "\n" + selection;
  const std::string excluded = excludedText(plan);
  if (!excluded.empty()) text += "\n" + excluded;
  return text;
}

}  // namespace

int checkVerb(const Arguments& arguments) {
  CommandLine line(
      "check", {"vitrine check experiments/illama/quick.toml",
                "vitrine check experiments/vit/quick.toml model.depth=6 train.epochs=2 --json"});
  ExperimentChoice asked;
  addExperiment(line, asked);
  line.parse(arguments);

  Engine engine;
  loadEngine(engine);
  Report report;
  report.plan = planFile(asked.file, engine.registry.catalog(), asked.overrides);
  if (report.plan.problems.empty()) judge(engine.registry, report);
  if (line.wantsJson()) {
    print(toJsonReport(report));
    return static_cast<int>(report.plan.problems.empty() ? ExitCode::Done : ExitCode::BadUsage);
  }
  for (const std::string& warning : report.warnings) log::warning(warning);
  requireValid(report.plan.problems);
  print(forPeople(report));
  return 0;
}

}  // namespace vitrine::app
