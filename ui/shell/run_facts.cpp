#include "ui/shell/run_facts.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/experiment.h"
#include "core/config/to_toml.h"
#include "core/config/train_schema.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

QString sayOfRun(const char* text) { return QCoreApplication::translate("RunFacts", text); }

const double kMissing = std::nan("");

QString plain(const Json& value) {
  if (value.is_null()) return QStringLiteral("none");
  if (value.is_string()) return QString::fromStdString(value.get<std::string>());
  if (value.is_boolean())
    return value.get<bool>() ? QStringLiteral("true") : QStringLiteral("false");
  if (value.is_number_float()) return QString::fromStdString(formatReal(value.get<double>()));
  if (value.is_array()) {
    QStringList parts;
    for (const Json& part : value) parts << plain(part);
    return parts.join(QStringLiteral(", "));
  }
  return QString::fromStdString(value.dump());
}

double last(const std::vector<MetricSummary>& summaries, const std::string& name) {
  for (const MetricSummary& summary : summaries) {
    if (summary.name == name) return summary.last;
  }
  return kMissing;
}

// Mean of the last values of all heads of a layer; NaN where there is none.
double meanRank(const std::vector<MetricSummary>& summaries, const std::string& layer) {
  double sum = 0;
  int heads = 0;
  for (const MetricSummary& summary : summaries) {
    if (summary.name != layer && !summary.name.starts_with(layer + "/head")) continue;
    sum += summary.last;
    ++heads;
  }
  return heads == 0 ? kMissing : sum / heads;
}

}  // namespace

QString duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return QStringLiteral("\u2013");
  const auto total = static_cast<std::int64_t>(std::llround(seconds));
  const QString gap = QStringLiteral("\u2009");
  if (total < 60) return QString::number(total) + gap + sayOfRun("s");
  if (total < 3600) {
    return QString::number(total / 60) + gap + sayOfRun("min") + QLatin1Char(' ') +
           QString::number(total % 60) + gap + sayOfRun("s");
  }
  return count(total / 3600) + gap + sayOfRun("h") + QLatin1Char(' ') +
         QString::number(total / 60 % 60) + gap + sayOfRun("min");
}

std::vector<Fact> runFacts(const RunRow& row, const std::vector<MetricSummary>& summaries,
                           const Json& environment) {
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
  facts.push_back({sayOfRun("Speed"),
                   row.imagesPerSecond > 0 ? number(row.imagesPerSecond, 0) +
                                                 QStringLiteral("\u2009") + sayOfRun("images/s")
                                           : none,
                   sayOfRun("training images per second of running time")});
  double loss = last(summaries, "train/loss");
  if (std::isnan(loss) && row.step > 0) loss = row.loss;
  facts.push_back({sayOfRun("Loss (train)"), number(loss, 4),
                   sayOfRun("training objective of the last recorded step")});
  facts.push_back({sayOfRun("Accuracy (test)"), percent(last(summaries, "test/top1"), 1),
                   sayOfRun("top-1 on the test split, at the last evaluation")});
  facts.push_back(
      {sayOfRun("ECE (15 bins)"), percent(last(summaries, "test/ece"), 1),
       sayOfRun("expected calibration error on the test split, at the last evaluation")});
  facts.push_back(
      {sayOfRun("Rank at 80\u2009%, layer 1"),
       number(meanRank(summaries, "analysis/attention_rank/rank80/layer1"), 1),
       sayOfRun("fewest singular values of the attention matrix that hold 80 % of their "
                "sum; mean over heads; "
                "layers count from 0")});
  QString device = row.device.empty() ? none : QString::fromStdString(row.device);
  if (device == QLatin1String("cpu")) device = sayOfRun("CPU");
  const int threads = environment.is_object() ? environment.value("threads", 0) : 0;
  if (threads > 0)
    device += QStringLiteral(", ") + counted(threads, sayOfRun("thread"), sayOfRun("threads"));
  facts.push_back({sayOfRun("Device"), device, sayOfRun("what the run computed on")});
  if (row.memoryBytes > 0) {
    facts.push_back({sayOfRun("Memory"),
                     QString::fromStdString(formatBytes(static_cast<double>(row.memoryBytes))),
                     sayOfRun("peak resident size on a CPU, peak allocated on a GPU")});
  }
  if (row.latestCheckpoint >= 0) {
    facts.push_back({sayOfRun("Checkpoint"), sayOfRun("step %1").arg(count(row.latestCheckpoint)),
                     sayOfRun("newest complete checkpoint: a resume goes on from there")});
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
        facts.push_back({sayOfRun("plugin %1").arg(plain(plugin.value("id", Json()))),
                         plain(plugin.value("version", Json())),
                         sayOfRun("SHA-256 %1").arg(plain(plugin.value("sha256", Json())))});
      }
      continue;
    }
    const QString text = value.is_null() ? QStringLiteral("\u2013") : plain(value);
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
    QString layer;
    if (origins.is_object() && origins.contains(key) && origins[key].is_object()) {
      layer = plain(origins[key].value("layer", Json("")));
    }
    QString tip = layer.isEmpty() ? QString() : sayOfRun("from: %1").arg(layer);
    if (filter == ConfigFilter::Baseline) {
      const auto other = base.find(key);
      if (other != base.end() && other->second == value) continue;
      tip = (other == base.end() ? sayOfRun("the baseline has no such key")
                                 : sayOfRun("baseline: %1").arg(plain(other->second))) +
            (tip.isEmpty() ? QString() : QLatin1Char('\n') + tip);
    }
    if (filter == ConfigFilter::Default && (layer.isEmpty() || layer == QLatin1String("default")))
      continue;
    facts.push_back({QString::fromStdString(key), plain(value), tip});
  }
  return facts;
}

QString repeatCommand(const RunRow& row, const Json& config) {
  const QString file = QStringLiteral("run-%1.toml").arg(row.id);
  const QString title = QString::fromStdString(tomlString(row.experiment + ", repeated"));
  return QStringLiteral("cat > %1 <<'VITRINE'\ntitle = %2\n%3\nVITRINE\nvitrine train %1\n")
      .arg(file, title, QString::fromStdString(toToml(withOwnTrainKeys(config))).trimmed());
}

}  // namespace vitrine::ui
