#include "ui/spectra/seed_curves.h"

#include <QObject>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/statistics.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

/// "12.3 ± 0.4"; without an interval of two values or more the value alone.
QString withInterval(const SampleStatistics& statistics) {
  constexpr int kPlainDecimals = 2, kMostDecimals = 3;
  const double half = halfWidth(statistics);
  if (!std::isfinite(half))
    return QString::fromStdString(formatFixed(statistics.mean, kPlainDecimals));
  // Seeds may agree to the last digit, or in all of them.
  const int decimals = half > 0 ? std::clamp(decimalsFor(half), 0, kMostDecimals) : kPlainDecimals;
  return QStringLiteral("%1 \u00b1 %2")
      .arg(QString::fromStdString(formatFixed(statistics.mean, decimals)),
           QString::fromStdString(formatFixed(half, decimals)));
}

}  // namespace

std::vector<SeedCurve> readSeedCurves(store::RunReader& store,
                                      const std::vector<std::int64_t>& runs,
                                      const std::string& metric) {
  std::vector<store::RunRow> rows;
  std::map<std::int64_t, std::map<std::int64_t, double>> points;  // by run, then by step
  std::map<std::int64_t, store::MetricValue> values;
  for (const std::int64_t run : runs) {
    rows.push_back(store.run(run));
    for (const store::MetricPoint& point : store.points(run, metric)) {
      points[run][point.step] = point.value;
      values[run].last = point.value;
      values[run].lastStep = point.step;
    }
  }
  const std::vector<store::ComparedRun> compared =
      store::comparedRuns([&store](const std::string& sql) { return store.query(sql); }, rows);
  std::vector<SeedCurve> curves;
  bool hasSeeds = false;
  for (const store::VariantGroup& variant : store::variantsOf(compared)) {
    SeedCurve curve;
    curve.name = QString::fromStdString(variant.name);
    curve.sample = store::sampleOf(variant, compared, values, {}, {}, store::Unfinished::Counted);
    if (curve.sample.runs.empty()) continue;
    curve.run = curve.sample.runs.begin()->second;
    hasSeeds = hasSeeds || curve.sample.runs.size() > 1;
    for (const auto& [step, first] : points[curve.run]) {
      std::vector<double> seeds;
      for (const auto& [seed, run] : curve.sample.runs) {
        const auto found = points[run].find(step);
        if (found != points[run].end()) seeds.push_back(found->second);
      }
      if (seeds.size() != curve.sample.runs.size()) continue;
      const SampleStatistics statistics = statisticsOf(seeds);
      const bool hasBand = seeds.size() > 1;
      curve.steps.push_back(static_cast<double>(step));
      curve.mean.push_back(statistics.mean);
      curve.lower.push_back(hasBand ? statistics.interval.lower : statistics.mean);
      curve.upper.push_back(hasBand ? statistics.interval.upper : statistics.mean);
    }
    curves.push_back(std::move(curve));
  }
  if (!hasSeeds) curves.clear();
  return curves;
}

QString seedVerdict(const std::vector<SeedCurve>& curves) {
  QStringList parts;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const SeedCurve& curve = curves[i];
    QString part = QObject::tr("%1 %2 (%3)")
                       .arg(curve.name, withInterval(curve.sample.statistics),
                            counted(std::ssize(curve.sample.values), QObject::tr("seed"),
                                    QObject::tr("seeds")));
    if (i > 0) {
      const PairedSample paired =
          pairedDifferences(curve.sample.values, curves.front().sample.values);
      const std::string word = toString(outcomeOf(paired.statistics, Direction::None));
      if (!word.empty())
        part +=
            QObject::tr(", %1: %2%3 against %4 (%5)")
                .arg(QString::fromStdString(word),
                     paired.statistics.mean > 0 ? QStringLiteral("+") : QString(),
                     withInterval(paired.statistics), curves.front().name,
                     counted(std::ssize(paired.keys), QObject::tr("pair"), QObject::tr("pairs")));
    }
    parts << part;
  }
  return parts.join(QStringLiteral("; "));
}

}  // namespace vitrine::ui
