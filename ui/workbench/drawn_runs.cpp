#include "ui/workbench/drawn_runs.h"

#include <QStringList>
#include <algorithm>
#include <map>
#include <set>

#include "core/config/lookup.h"
#include "core/store/comparison.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

std::vector<std::int64_t> drawnRuns(const Selection& selection, std::size_t most) {
  std::vector<std::int64_t> runs = selection.drawn();
  const std::int64_t current = selection.current();
  const bool isWanted = current != 0 && (runs.empty() || !selection.hidden().contains(current));
  if (isWanted && std::find(runs.begin(), runs.end(), current) == runs.end())
    runs.push_back(current);
  if (runs.size() > most) {
    if (const auto at = std::find(runs.begin(), runs.end(), current); at != runs.end())
      std::rotate(runs.begin(), at, at + 1);
    runs.resize(most);
  }
  return runs;
}

QString runNameOf(const Workbench& workbench, std::int64_t run) {
  const auto& runs = workbench.runs();
  const auto found = runs.find(run);
  return found == runs.end() || found->second.name.empty()
             ? Workbench::tr("run %1").arg(run)
             : QString::fromStdString(found->second.name);
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
  const std::vector<std::string> keys = differingKeys(variants);
  std::map<std::string, int> named;
  for (const store::VariantGroup& variant : variants) ++named[variant.name];
  std::set<std::int64_t> experiments;
  for (const store::ComparedRun& run : runs) experiments.insert(run.row.experimentId);
  std::map<QString, int> taken;
  std::vector<QString> labels;
  for (const store::VariantGroup& variant : variants) {
    QString label = QString::fromStdString(variant.name);
    if (label.isEmpty() || named[variant.name] > 1) {
      QStringList parts;
      for (const std::string& key : keys) {
        const Json* value = valueAt(variant.config, key);
        if (value != nullptr && !value->is_null())
          parts << shortKey(key, keys) + QLatin1Char(' ') + valueText(*value);
      }
      const QString told = parts.join(QStringLiteral(", "));
      if (!told.isEmpty()) label += (label.isEmpty() ? QString() : QStringLiteral(": ")) + told;
      if (label.isEmpty()) label = QStringLiteral("all runs");
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
  return centre == Centre::Mean ? QStringLiteral("mean") : QStringLiteral("median");
}

QString nameOf(Spread spread) {
  switch (spread) {
    case Spread::None:
      return QStringLiteral("no band");
    case Spread::Deviation:
      return QStringLiteral("standard deviation");
    case Spread::StandardError:
      return QStringLiteral("standard error");
    case Spread::Interval:
      return QStringLiteral("95\u2009% interval");
    case Spread::Range:
      return Workbench::tr("minimum to maximum");
    case Spread::Quartiles:
      break;
  }
  return QStringLiteral("quartiles");
}

QString bandText(Centre centre, Spread spread) {
  if (spread == Spread::None) return nameOf(centre);
  if (spread == Spread::Deviation || spread == Spread::StandardError)
    return nameOf(centre) + QStringLiteral(" \u00b1 ") + nameOf(spread);
  return nameOf(centre) + QStringLiteral(", band: ") + nameOf(spread);
}

}  // namespace vitrine::ui
