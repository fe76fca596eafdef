#include "ui/compare/published_table.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/lookup.h"
#include "core/files/checkpoint_folder.h"
#include "core/store/experiment_folder.h"
#include "core/store/metrics/metric_titles.h"
#include "ui/compare/ablation_table.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

namespace fs = std::filesystem;

/// Letters and digits in lower case: "ImageNet-1k" and "imagenet_1k" are one name.
std::string plainName(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u)) out += static_cast<char>(std::tolower(u));
  }
  return out;
}

/// As in a list of variants: spaces and case do not count, signs do ("+ RoPE").
std::string plainVariant(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// Our metric for a printed one: "top1" is test/top1, "train_loss" is train/loss.
std::string ourMetric(const std::string& printed, const CompareData& data) {
  std::string split = printed;
  std::replace(split.begin(), split.end(), '_', '/');
  for (const std::string& wanted : {"test/" + printed, "validation/" + printed, split}) {
    for (const auto& [name, count] : data.names) {
      if (name == wanted) return name;
    }
  }
  return "";
}

/// What the other pages call the metric; of a metric that is not measured here, without a split.
QString titleOfPrinted(const std::string& printed, const std::string& ours,
                       const CompareData& data) {
  if (!ours.empty()) return data.titleOf(ours);
  const auto line = printed.find('_');
  std::string name = printed;
  for (const char* split : {"train", "validation", "test"})
    if (printed.substr(0, line) == split && line != std::string::npos) name[line] = '/';
  return QString::fromStdString(store::metricTitle(name).title);
}

/// All numbers of a metric have the same decimals.
void alignDecimals(std::vector<PublishedRow>& rows) {
  std::map<QString, std::vector<ShownNumber>> columns;
  for (const PublishedRow& row : rows)
    columns[row.title].push_back(shownNumber(row.ours, row.format));
  for (PublishedRow& row : rows)
    row.oursDecimals = columnDecimals(columns[row.title], row.format);
}

int decimalsOfPrint(double value) {
  const std::string text = formatReal(value);
  const auto dot = text.find('.');
  return dot == std::string::npos ? 0 : static_cast<int>(text.size() - dot - 1);
}

std::string textAt(const Json& config, std::string_view key) {
  const Json* value = valueAt(config, key);
  return value == nullptr || value->is_null() ? "" : valueText(*value).toStdString();
}

/// The condition that names the variant, or "".
std::string namingKey(const PublishedResult& result, const std::string& variant) {
  for (const auto& [key, value] : result.conditions) {
    if (!variant.empty() && plainVariant(value) == plainVariant(variant)) return key;
  }
  return "";
}

/// "Base/16, 384 px": papers put the size of a model into its name.
QString modelOf(const PublishedResult& result) {
  QStringList parts{QString::fromStdString(result.condition("model"))};
  if (const std::string pixels = result.condition("resolution"); !pixels.empty())
    parts << QObject::tr("%1 px").arg(QString::fromStdString(pixels));
  parts.removeAll(QString());
  return parts.join(QStringLiteral(", "));
}

/// Everything that is said of a number but what names the variant.
std::string otherConditions(const PublishedResult& result, const std::string& naming) {
  std::string text = result.place + '\n' + result.metric;
  for (const auto& [key, value] : result.conditions) {
    if (key != naming) text += '\n' + key + '=' + value;
  }
  return text;
}

/// "linear, 50 epochs" as published.toml writes it; "none" of another mask.
std::string softMaskOf(const Json& config) {
  if (textAt(config, "model.mask.kind") != "soft") return "none";
  return textAt(config, "model.mask.schedule") + ", " + textAt(config, "model.mask.epochs") +
         " epochs";
}

double numberAt(const Json& config, std::string_view key) {
  const Json* value = valueAt(config, key);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

/// How long the run trains and under which mask it ends.
QStringList trainingReasons(const PublishedResult& result, const Json& config) {
  QStringList reasons;
  const QString printed = QString::fromStdString(result.condition("epochs"));
  const std::string steps = textAt(config, "train.steps");
  const QString epochs = QString::fromStdString(textAt(config, "train.epochs"));
  if (printed.isEmpty()) {
    reasons << QObject::tr("the paper's epochs are not stated");
  } else if (!steps.empty()) {
    reasons << QObject::tr("%1 steps, not %2 epochs").arg(QString::fromStdString(steps), printed);
  } else if (epochs != printed) {
    reasons << QObject::tr("%1 epochs, not %2").arg(epochs, printed);
  }
  const std::string mask = softMaskOf(config), paperMask = result.condition("soft_mask");
  if (!paperMask.empty() && plainName(mask) != plainName(paperMask)) {
    reasons << QObject::tr("another soft mask: %1, not %2")
                   .arg(QString::fromStdString(mask), QString::fromStdString(paperMask));
  } else if (mask != "none" && steps.empty() &&
             numberAt(config, "model.mask.epochs") > numberAt(config, "train.epochs")) {
    reasons << QObject::tr("training ends before the soft mask does");
  }
  return reasons;
}

/// What the run starts from; a file of weights is taken for what its name says.
QStringList startReasons(const PublishedResult& result, const Json& config) {
  const std::string before = result.condition("pretrained_on");
  const QString paper = QString::fromStdString(before);
  const Json* init = valueAt(config, "init");
  const bool isFresh = init == nullptr || init->is_null();
  if (before.empty()) {
    return isFresh ? QStringList()
                   : QStringList(QObject::tr("starts from trained weights; the paper's does not"));
  }
  if (isFresh) return {QObject::tr("not pre-trained on %1").arg(paper)};
  QStringList reasons;
  const std::string weights = textAt(config, "init.weights");
  if (plainName(weights).find(plainName(before)) == std::string::npos) {
    reasons << QObject::tr("pre-training on %2 not confirmed for %1")
                   .arg(weights.empty() ? QObject::tr("another run")
                                        : QString::fromStdString(weights),
                        paper);
  }
  if (const std::string epochs = result.condition("pretraining_epochs"); !epochs.empty())
    reasons << QObject::tr("pre-training for %1 epochs not confirmed")
                   .arg(QString::fromStdString(epochs));
  return reasons;
}

QString orderText(double printedDifference, const SampleStatistics& ours) {
  const Outcome outcome = outcomeOf(ours, Direction::None);
  if (outcome == Outcome::Unknown) return {};
  if (printedDifference == 0) return {};
  if (outcome == Outcome::NoClearDifference) return QObject::tr("order unclear");
  return (outcome == Outcome::Higher) == (printedDifference > 0) ? QObject::tr("order kept")
                                                                 : QObject::tr("order reversed");
}

}  // namespace

QString oursText(const PublishedRow& row) {
  return numberText(shownNumber(row.ours, row.format), row.oursDecimals, Signed::No);
}

QString verdictText(const PublishedRow& row) {
  return row.reasons.isEmpty() ? toString(row.verdict)
                               : toString(row.verdict) + QStringLiteral(": ") +
                                     row.reasons.join(QStringLiteral("; "));
}

QString shortVerdictText(const PublishedRow& row) {
  if (row.reasons.isEmpty()) return toString(row.verdict);
  // "other data: fashion_mnist, not ImageNet-1k" begins with what it is about.
  const QString first = row.reasons.front().section(QStringLiteral(": "), 0, 0);
  const qsizetype more = row.reasons.size() - 1;
  QString text = toString(row.verdict) + QStringLiteral(": ") + first;
  if (more == 1) text += QObject::tr(", 1 more reason");
  if (more > 1) text += QObject::tr(", %1 more reasons").arg(more);
  return text;
}

QString toString(PublishedVerdict verdict) {
  switch (verdict) {
    case PublishedVerdict::Matches:
      return QObject::tr("matches");
    case PublishedVerdict::Differs:
      return QObject::tr("differs");
    case PublishedVerdict::Undecided:
      return QObject::tr("undecided");
    case PublishedVerdict::NotComparable:
      break;
  }
  return QObject::tr("not comparable");
}

fs::path publishedFileOf(const std::string& experiment, const std::vector<fs::path>& folders) {
  const fs::path folder = store::folderOfExperiment(experiment, folders);
  std::error_code none;
  return !folder.empty() && fs::exists(folder / "published.toml", none) ? folder / "published.toml"
                                                                        : fs::path();
}

QStringList incomparableReasons(const PublishedResult& result, const Json& config) {
  QStringList reasons;
  const std::string dataset = textAt(config, "data.dataset");
  const std::string printed = result.condition("dataset");
  if (printed.empty()) {
    reasons << QObject::tr("the paper's data are not stated");
  } else if (plainName(dataset) != plainName(printed)) {
    reasons << QObject::tr("other data: %1, not %2")
                   .arg(QString::fromStdString(dataset), QString::fromStdString(printed));
  }
  const std::string part = textAt(config, "data.train_samples");
  if (!part.empty() && part != "none")
    reasons << QObject::tr("a part of the data: %1 samples").arg(QString::fromStdString(part));
  for (const auto& [key, text] :
       {std::pair("data.train_share", QObject::tr("%1 of the data")),
        std::pair("data.holdout", QObject::tr("%1 of the data held out")),
        std::pair("data.test_share", QObject::tr("%1 of the test data"))}) {
    const double share = numberAt(config, key);
    if (share > 0 && share < 1)
      reasons << text.arg(QString::number(100 * share, 'g', 4) + QStringLiteral("\u2009%"));
  }
  const std::string tested = textAt(config, "data.test_samples");
  if (!tested.empty())
    reasons
        << QObject::tr("a part of the test data: %1 samples").arg(QString::fromStdString(tested));
  const std::string resolution = result.condition("resolution");
  const std::string size = textAt(config, "model.image_size");
  if (!resolution.empty() && resolution != size)
    reasons << (size.empty()
                    ? QObject::tr("a model without an image size, not %1 pixels")
                          .arg(QString::fromStdString(resolution))
                    : QObject::tr("%1 pixels, not %2")
                          .arg(QString::fromStdString(size), QString::fromStdString(resolution)));
  const std::string model = result.condition("model");
  const std::string preset = textAt(config, "model.preset");
  const std::string ownSize =
      preset.substr(preset.find('/') == std::string::npos ? 0 : preset.find('/') + 1);
  if (preset.empty() || preset == "none") {
    reasons << QObject::tr("custom model size, paper: %1").arg(QString::fromStdString(model));
  } else if (!plainName(model).ends_with(plainName(ownSize))) {
    reasons << QObject::tr("another model: %1, not %2")
                   .arg(QString::fromStdString(preset), QString::fromStdString(model));
  }
  return reasons + trainingReasons(result, config) + startReasons(result, config);
}

PublishedVerdict compareWithPrinted(double printed, int decimals, const SampleStatistics& ours) {
  if (ours.count < 2 || !std::isfinite(ours.interval.lower) || !std::isfinite(ours.interval.upper))
    return PublishedVerdict::NotComparable;
  const double half = 0.5 * std::pow(10, -decimals);
  if (printed < ours.interval.lower - half || printed > ours.interval.upper + half)
    return PublishedVerdict::Differs;
  constexpr double kWidest = 0.01;  // of the number, to either side
  return halfWidth(ours) <= std::max(half, kWidest * std::abs(printed))
             ? PublishedVerdict::Matches
             : PublishedVerdict::Undecided;
}

PublishedTable readPublishedTable(const store::QueryFunction& query, const CompareData& data,
                                  const CompareChoice& choice,
                                  const std::vector<fs::path>& folders) {
  PublishedTable table;
  if (data.variants.empty()) return table;
  try {
    const fs::path file = choice.publishedFile.isEmpty()
                              ? publishedFileOf(data.experiment, folders)
                              : fs::path(choice.publishedFile.toStdString());
    if (file.empty()) return table;
    table.file = QString::fromStdString(file.string());
    std::vector<Problem> problems;
    const PublishedNumbers numbers =
        readPublished(readTextFile(file.string()), file.filename().string(), problems);
    table.paper = QString::fromStdString(numbers.paper);
    table.total = numbers.results.size();
    if (!problems.empty()) {
      table.error = QString::fromStdString(problems.front().sentence());
      return table;
    }
    std::vector<store::RunRow> runs;
    for (const store::ComparedRun& run : data.runs) runs.push_back(run.row);
    table.claims = readClaimRows(query, runs, file.parent_path());

    // One reading for all metrics that occur.
    std::map<std::string, std::string> ours;
    std::set<std::string> wanted;
    // A number loses its last zero; the other ones of its table have it.
    std::map<std::pair<std::string, std::string>, int> decimals;
    for (const PublishedResult& result : numbers.results) {
      int& most = decimals[{result.place, result.metric}];
      most = std::max(most, decimalsOfPrint(result.value));
    }
    for (const PublishedResult& result : numbers.results) {
      const std::string metric = ourMetric(result.metric, data);
      ours[result.metric] = metric;
      if (!metric.empty()) wanted.insert(metric);
    }
    const store::Measurements measured =
        measure(query, data.runs, {wanted.begin(), wanted.end()}, choice.value, data.kinds);
    const auto sample = [&](std::size_t variant, const std::string& metric) {
      return sampleOf(data.variants[variant], data.runs, measured.values.at(metric),
                      measured.meanings.at(metric), choice.value, choice.unfinished);
    };
    const std::size_t baseline = data.baseline(choice);
    for (const PublishedResult& result : numbers.results) {
      for (std::size_t variant = 0; variant < data.variants.size(); ++variant) {
        const std::string naming = namingKey(result, data.variants[variant].name);
        if (naming.empty()) continue;
        PublishedRow row{.place = QString::fromStdString(result.place)};
        QStringList conditions;
        for (const auto& [key, value] : result.conditions) {
          if (key != "note" && key != "model" && key != "resolution")
            conditions << QString::fromStdString(value);
        }
        row.model = modelOf(result);
        row.conditions = conditions.join(QStringLiteral(", "));
        row.metric = QString::fromStdString(result.metric);
        row.title = titleOfPrinted(result.metric, ours[result.metric], data);
        row.value = result.value;
        row.decimals = decimals[{result.place, result.metric}];
        row.variant = variant;
        if (variant == baseline) row.order = QObject::tr("baseline");
        row.reasons = incomparableReasons(result, data.variants[variant].config);
        const std::string metric = ours[result.metric];
        if (metric.empty()) {
          row.reasons.prepend(QObject::tr("not measured here"));
        } else {
          // Papers print fractions in percent.
          const bool isFraction = measured.meanings.at(metric).unit == "fraction";
          const double factor = isFraction && result.value > 1 ? 100 : 1;
          if (factor > 1) row.title += QStringLiteral(" (%)");
          row.format = store::metricFormat(metric, store::kindOf(data.kinds, metric));
          if (row.format.isPercent) row.format = {false, factor > 1 ? row.format.decimals : -1};
          auto scaled = sample(variant, metric).values;
          for (auto& [seed, value] : scaled) value *= factor;
          std::vector<double> values;
          for (const auto& [seed, value] : scaled) values.push_back(value);
          row.ours = statisticsOf(values);
          if (row.ours.count == 0) row.reasons.prepend(QObject::tr("no finished run"));
          if (row.ours.count == 1)
            row.reasons.prepend(QObject::tr("one seed: no interval"));
          if (row.reasons.isEmpty())
            row.verdict = compareWithPrinted(result.value, row.decimals, row.ours);
          if (row.verdict == PublishedVerdict::Undecided)
            row.reasons << QObject::tr(
                "our interval is wider than 1 % of the number; run more "
                "seeds");
          for (const PublishedResult& other : numbers.results) {
            if (variant == baseline || namingKey(other, data.variants[baseline].name) != naming ||
                otherConditions(other, naming) != otherConditions(result, naming))
              continue;
            const PairedSample paired =
                pairedDifferences(sample(variant, metric).values, sample(baseline, metric).values);
            row.order = orderText(result.value - other.value, paired.statistics);
            break;
          }
        }
        table.rows.push_back(std::move(row));
      }
    }
    alignDecimals(table.rows);
    if (table.rows.empty()) {
      table.error =
          QObject::tr("None of the paper's %1 numbers names a variant of this experiment.")
              .arg(count(static_cast<std::int64_t>(table.total)));
    }
  } catch (const Error& error) {
    table.error = QString::fromUtf8(error.what());
  }
  return table;
}

}  // namespace vitrine::ui
