// vitrine check: what an experiment file means and what it will cost, before anything runs.
#include <algorithm>

#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/judged_plan.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/selection.h"
#include "core/config/telling.h"

namespace vitrine::app {

namespace {

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
std::string blocksText(const RunCost& cost) {
  Table table{{"block", "kind", "parameters", "MFLOPs", "MMACs", "activations"}, {}};
  for (const BlockCost& block : cost.blocks) {
    table.rows.push_back({block.name, block.kind, block.parameters, block.flops / 1e6,
                          block.macs / 1e6, formatBytes(block.activationBytes)});
  }
  return toText(table);
}

/// Runs that [[exclude]] removes, one line each; "" for none.
std::string excludedText(const Plan& plan) {
  if (plan.excluded.empty()) return {};
  constexpr std::size_t kMostNamed = 50;  // --json has all of them
  Table table{{"excluded by [[exclude]]", "variant", "values"}, {}};
  for (const ExcludedRun& run : plan.excluded) {
    if (table.rows.size() == kMostNamed) break;
    const std::string values =
        joined(run.point, [](const auto& each) { return each.first + " = " + plain(each.second); });
    table.rows.push_back({run.name, run.variant, values});
  }
  std::string text = toText(table);
  if (plan.excluded.size() > kMostNamed)
    text += "... and " + formatCount(plan.excluded.size() - kMostNamed) + " more; --json has all\n";
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

std::string forPeople(const JudgedPlan& judged) {
  const Plan& plan = judged.plan;
  std::string text = plan.title + ": " + std::to_string(plan.runs.size()) +
                     (plan.runs.size() == 1 ? " run" : " runs");
  if (!plan.excluded.empty())
    text += ", " + std::to_string(plan.excluded.size()) + " excluded by [[exclude]]";
  text += "\n";
  if (plan.runs.empty()) return text;
  text += "\n" + configText(plan.runs.front());
  if (judged.costs.front()) {
    const RunCost& cost = *judged.costs.front();
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
    std::vector<const Json*> configs;
    for (const PlannedRun& run : plan.runs) configs.push_back(&run.config);
    const auto changes = tellingDifferences(configs, 0);
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
      const auto& cost = judged.costs[i];
      runs.rows.push_back({i + 1, plan.runs[i].name,
                           cost ? Json(formatCount(cost->parameters)) : Json(nullptr),
                           cost ? Json(formatBytes(cost->memory.peakBytes)) : Json(nullptr),
                           tellingText(changes[i])});
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
  const JudgedPlan judged =
      judgePlan(engine.registry, planFile(asked.file, engine.registry.catalog(), asked.overrides));
  if (line.wantsJson()) {
    print(toJson(judged, engine.plugins));
    return static_cast<int>(judged.plan.problems.empty() ? ExitCode::Done : ExitCode::BadUsage);
  }
  for (const std::string& warning : judged.warnings) log::warning(warning);
  requireValid(judged.plan.problems);
  print(forPeople(judged));
  return 0;
}

}  // namespace vitrine::app
