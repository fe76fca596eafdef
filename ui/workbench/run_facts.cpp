#include "ui/workbench/run_facts.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/experiment.h"
#include "core/config/lookup.h"
#include "core/config/toml/to_toml.h"
#include "core/config/train_schema.h"
#include "core/store/comparison.h"
#include "core/store/metrics/metric_format.h"
#include "core/store/metrics/metric_titles.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

QString sayOfRun(const char* text) { return QCoreApplication::translate("RunFacts", text); }

const double kMissing = std::nan("");

bool isMeasured(const std::vector<store::MetricSummary>& summaries, const std::string& name) {
  return std::any_of(summaries.begin(), summaries.end(),
                     [&](const store::MetricSummary& summary) { return summary.name == name; });
}

double last(const std::vector<store::MetricSummary>& summaries, const std::string& name) {
  for (const store::MetricSummary& summary : summaries) {
    if (summary.name == name) return summary.last;
  }
  return kMissing;
}

// Mean of the last values of all heads of a layer, or of the metric itself; NaN where there is
// none.
double lastMean(const std::vector<store::MetricSummary>& summaries, const std::string& stem) {
  double sum = 0;
  int heads = 0;
  for (const store::MetricSummary& summary : summaries) {
    if (summary.name != stem && !summary.name.starts_with(stem + "/head")) continue;
    sum += summary.last;
    ++heads;
  }
  return heads == 0 ? kMissing : sum / heads;
}

// "Accuracy, test", "86.1 %", and what that is.
Fact scoreFact(const std::string& metric, const std::vector<store::MetricSummary>& summaries,
               const store::MetricKinds& kinds) {
  const store::MetricKind kind = store::kindOf(kinds, metric);
  const store::MetricTitle title = store::metricTitle(metric, kind.title);
  const QString what = QString::fromStdString(kind.definition.empty() ? metric : kind.definition);
  return {sayOfRun(title.shortTitle.c_str()),
          metricText(store::metricFormat(metric, kind), last(summaries, metric)),
          sayOfRun("%1; at the last evaluation").arg(what)};
}

// "Rank at 80 %, layer 0" of "analysis/attention_rank/rank80/layer0".
Fact analysisFact(const std::string& metric, const std::vector<store::MetricSummary>& summaries,
                  const store::MetricKinds& kinds) {
  const store::MetricKind kind = store::kindOf(kinds, metric);
  QString label = sayOfRun(store::metricTitle(metric, kind.title).shortTitle.c_str());
  label.replace(QLatin1String(" %"), QStringLiteral("\u2009%"));
  const QString what = QString::fromStdString(kind.definition.empty() ? metric : kind.definition);
  return {label, metricText(store::metricFormat(metric, kind), lastMean(summaries, metric)),
          sayOfRun("%1; mean over heads, layers count from 0").arg(what)};
}

}  // namespace

QString deviceText(const std::string& device) {
  if (device == "auto") return sayOfRun("automatic");
  return device == "cpu" ? sayOfRun("CPU") : QString::fromStdString(device);
}

QString duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return QStringLiteral("\u2013");
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  const auto in = [](std::int64_t value, const QString& unit) {
    return count(value) + QStringLiteral("\u2009") + unit;
  };
  if (total < 60) return in(total, sayOfRun("s"));
  const bool isShort = total < 3600;
  const QString whole = isShort ? in(total / 60, sayOfRun("min")) : in(total / 3600, sayOfRun("h"));
  const std::int64_t rest = isShort ? total % 60 : total / 60 % 60;
  if (rest == 0) return whole;
  return whole + QLatin1Char(' ') + in(rest, isShort ? sayOfRun("s") : sayOfRun("min"));
}

QString namesOrText(const Json& value) {
  if (!value.is_array()) return valueText(value);
  QStringList names;
  for (const Json& one : value) {
    if (!stateMember(one, "name").is_string()) return valueText(value);
    names << stateWords(one, "name");
  }
  return names.join(QStringLiteral(", "));
}

QString aboutDuration(double seconds) {
  return seconds < 0.5 ? sayOfRun("less than a second")
                       : sayOfRun("about %1").arg(duration(seconds));
}

std::vector<Fact> runFacts(const store::RunRow& row,
                           const std::vector<store::MetricSummary>& summaries,
                           const Json& environment, const store::RunCard& card,
                           const store::MetricKinds& kinds) {
  std::vector<Fact> facts;
  const QString none = QStringLiteral("\u2013");
  QString progress = none;
  if (row.totalSteps > 0 && row.step > 0) {
    const double share = static_cast<double>(row.step) / static_cast<double>(row.totalSteps);
    progress = QStringLiteral("%1 / %2 \u00b7 %3")
                   .arg(count(row.step), count(row.totalSteps), percent(share, 1));
  } else if (row.step > 0) {
    progress = count(row.step);
  }
  facts.push_back(
      {sayOfRun("Progress"), progress, sayOfRun("optimizer steps completed, of those planned")});
  facts.push_back({sayOfRun("Remaining"),
                   isAlive(row.state) && row.step > 0 ? duration(row.remainingSeconds) : none,
                   sayOfRun("at the present speed, evaluations included")});
  const QString unit = QString::fromStdString(card.unit);
  facts.push_back({sayOfRun("Speed"),
                   row.imagesPerSecond > 0
                       ? number(row.imagesPerSecond, 0) + QStringLiteral("\u2009%1/s").arg(unit)
                       : none,
                   sayOfRun("%1 trained on per second of running time").arg(unit)});
  double loss = last(summaries, store::kTrainLoss);
  if (std::isnan(loss) && row.step > 0) loss = row.loss;
  facts.push_back({sayOfRun(store::metricTitle(store::kTrainLoss).title.c_str()),
                   metricText(store::metricFormat(store::kTrainLoss, {}), loss),
                   sayOfRun("training objective of the last recorded step")});
  for (const std::string& metric : card.headline) {
    if (metric == store::kTrainLoss) continue;  // it has its row
    // A score that an ended run never measured, as that of an absent judge, has no row.
    const bool hasEnded =
        row.state == store::RunState::Done || row.state == store::RunState::Failed;
    if (!hasEnded || isMeasured(summaries, metric))
      facts.push_back(scoreFact(metric, summaries, kinds));
  }
  for (const std::string& metric : card.morePlots) {
    if (!metric.starts_with("analysis/")) continue;
    Fact fact = analysisFact(metric, summaries, kinds);
    // "ECE" of an analysis is "ECE, test" again: the row that has a value stays.
    const auto same = std::find_if(facts.begin(), facts.end(), [&fact](const Fact& other) {
      return other.label == fact.label || other.label.startsWith(fact.label + QLatin1String(", "));
    });
    if (same == facts.end())
      facts.push_back(std::move(fact));
    else if (same->value == none)
      *same = std::move(fact);
  }
  QString device = row.device.empty() ? none : deviceText(row.device);
  // A script that logs a run may write anything there.
  const std::int64_t threads = stateInteger(environment, "threads", 0);
  if (threads > 0)
    device += QStringLiteral(", ") + counted(threads, sayOfRun("thread"), sayOfRun("threads"));
  facts.push_back({sayOfRun("Device"), device, sayOfRun("device that computed the run")});
  if (row.memoryBytes > 0) {
    facts.push_back({sayOfRun("Memory"),
                     QString::fromStdString(formatBytes(row.memoryBytes)),
                     sayOfRun("peak resident size on a CPU, peak allocated on a GPU")});
  }
  if (row.latestCheckpoint >= 0) {
    facts.push_back({sayOfRun("Checkpoint"), sayOfRun("step %1").arg(count(row.latestCheckpoint)),
                     sayOfRun("newest complete checkpoint: a resume continues from there")});
  }
  return facts;
}

std::vector<Fact> environmentFacts(const Json& environment) {
  std::vector<Fact> facts;
  if (!environment.is_object()) return facts;
  for (const auto& [key, value] : flatten(environment)) {
    if (key == "plugins") {
      for (const Json& plugin : value) {
        if (!plugin.is_object()) continue;
        facts.push_back({sayOfRun("plugin %1").arg(valueText(plugin.value("id", Json()))),
                         valueText(plugin.value("version", Json())),
                         sayOfRun("SHA-256 %1").arg(valueText(plugin.value("sha256", Json())))});
      }
      continue;
    }
    const QString text = value.is_null() ? QStringLiteral("\u2013") : valueText(value);
    facts.push_back({QString::fromStdString(key), text, QString()});
  }
  return facts;
}

std::vector<Fact> configFacts(const Json& config, const Json& baseline, const Json& origins,
                              ConfigFilter filter) {
  std::map<std::string, Json> base;
  if (filter == ConfigFilter::Baseline) {
    for (auto& [key, value] : flatten(baseline)) base.emplace(key, value);
  }
  std::vector<Fact> facts;
  for (const auto& [key, value] : flatten(config)) {
    const QString layer = valueText(stateTable(origins, key).value("layer", Json("")));
    QString tip = layer.isEmpty() ? QString() : sayOfRun("from: %1").arg(layer);
    if (filter == ConfigFilter::Baseline) {
      const auto other = base.find(key);
      if (other != base.end() && other->second == value) continue;
      tip = (other == base.end() ? sayOfRun("the baseline has no such key")
                                 : sayOfRun("baseline: %1").arg(valueText(other->second))) +
            (tip.isEmpty() ? QString() : QLatin1Char('\n') + tip);
    }
    if (filter == ConfigFilter::Default && (layer.isEmpty() || layer == QLatin1String("default")))
      continue;
    facts.push_back({QString::fromStdString(key), valueText(value), tip});
  }
  return facts;
}

QString repeatCommand(const store::RunRow& row, const Json& config) {
  const QString file = QStringLiteral("run-%1.toml").arg(row.id);
  const QString title = QString::fromStdString(tomlString(row.experiment + ", repeated"));
  return QStringLiteral("cat > %1 <<'VITRINE'\ntitle = %2\n%3\nVITRINE\nvitrine train %1\n")
      .arg(file, title, QString::fromStdString(toToml(withOwnTrainKeys(config))).trimmed());
}

std::vector<std::string> differingKeys(const std::vector<store::VariantGroup>& variants) {
  std::vector<std::string> keys;
  std::set<std::string> seen;
  for (std::size_t i = 1; i < variants.size(); ++i) {
    for (const Difference& change : difference(variants.front().config, variants[i].config)) {
      if (seen.insert(change.key).second) keys.push_back(change.key);
    }
  }
  return keys;
}

QString shortKey(const std::string& key, const std::vector<std::string>& keys) {
  std::size_t from = key.size();
  while (from > 0) {
    const std::size_t dot = from < 2 ? std::string::npos : key.rfind('.', from - 2);
    from = dot == std::string::npos ? 0 : dot + 1;
    const std::string ending = key.substr(from);
    // Alone these words say nothing.
    if (from > 0 && (ending == "kind" || ending == "mode" || ending == "name")) continue;
    const bool isUnique = std::none_of(keys.begin(), keys.end(), [&](const std::string& other) {
      return other != key && (other == ending || other.ends_with("." + ending));
    });
    if (isUnique) break;
  }
  return QString::fromStdString(key.substr(from));
}

std::vector<QString> variantLabels(const std::vector<store::ComparedRun>& runs,
                                   const std::vector<store::VariantGroup>& variants) {
  constexpr qsizetype kMostParts = 6;
  // A variant is told from the others of its experiment that have its name, or from all of them
  // where it has none. The title of the experiment tells it from the rest.
  using Peers = std::pair<std::int64_t, std::string>;
  std::map<Peers, std::vector<store::VariantGroup>> peers;
  std::set<std::int64_t> experiments;
  for (const store::VariantGroup& variant : variants) {
    const std::int64_t experiment = runs[variant.runs.front()].row.experimentId;
    experiments.insert(experiment);
    peers[{experiment, ""}].push_back(variant);
    if (!variant.name.empty()) peers[{experiment, variant.name}].push_back(variant);
  }
  std::map<Peers, std::vector<std::string>> keysOf;
  for (const auto& [among, alike] : peers) keysOf[among] = differingKeys(alike);
  std::map<QString, int> taken;
  std::vector<QString> labels;
  for (const store::VariantGroup& variant : variants) {
    const Peers among{runs[variant.runs.front()].row.experimentId, variant.name};
    QString label = QString::fromStdString(variant.name);
    if (label.isEmpty() || peers[among].size() > 1) {
      const std::vector<std::string>& keys = keysOf[among];
      QStringList parts;
      for (const std::string& key : keys) {
        const Json* value = valueAt(variant.config, key);
        if (value != nullptr && !value->is_null())
          parts << shortKey(key, keys) + QLatin1Char(' ') + valueText(*value);
      }
      if (const qsizetype more = parts.size() - kMostParts; more > 0) {
        parts.resize(kMostParts);
        parts << sayOfRun("%1 more").arg(more);
      }
      const QString told = parts.join(QStringLiteral(", "));
      if (!told.isEmpty()) label += (label.isEmpty() ? QString() : QStringLiteral(": ")) + told;
      if (label.isEmpty()) label = sayOfRun("all runs");
    }
    if (experiments.size() > 1) {
      label = QString::fromStdString(runs[variant.runs.front()].row.experiment) +
              QStringLiteral(" \u203a ") + label;
    }
    // Two variants never share a label: figures and the baseline are chosen by it.
    const int number = ++taken[label];
    if (number > 1) label += QStringLiteral(" (%1)").arg(number);
    labels.push_back(label);
  }
  return labels;
}

QString nameOf(Centre centre) {
  return centre == Centre::Mean ? sayOfRun("mean") : sayOfRun("median");
}

QString nameOf(Spread spread) {
  switch (spread) {
    case Spread::None:
      return sayOfRun("no band");
    case Spread::Deviation:
      return sayOfRun("standard deviation");
    case Spread::StandardError:
      return sayOfRun("standard error");
    case Spread::Interval:
      return sayOfRun("95\u2009% interval");
    case Spread::Range:
      return sayOfRun("minimum to maximum");
    case Spread::Quartiles:
      break;
  }
  return sayOfRun("quartiles");
}

QString bandText(Centre centre, Spread spread) {
  if (spread == Spread::None) return nameOf(centre);
  if (spread == Spread::Deviation || spread == Spread::StandardError)
    return nameOf(centre) + QStringLiteral(" \u00b1 ") + nameOf(spread);
  return nameOf(centre) + sayOfRun(", band: ") + nameOf(spread);
}

}  // namespace vitrine::ui
