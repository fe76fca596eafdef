#include "ui/workbench/claims/claim_rows.h"

#include <QCoreApplication>
#include <QObject>
#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "core/files/checkpoint_folder.h"
#include "core/store/claimed_runs.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"
#include "ui/workbench/claims/shown_number.h"

namespace vitrine::ui {

namespace fs = std::filesystem;

namespace {

QString unitText(const store::MetricFormat& format) {
  if (!format.isPercent) return {};
  return QStringLiteral("\u2009") + QLatin1String(format.unit());
}

}  // namespace

std::vector<fs::path> experimentFolders() {
  std::vector<fs::path> folders;
  const fs::path program = QCoreApplication::applicationDirPath().toStdString();
  for (const fs::path& root :
       {program.parent_path() / "share/vitrine/experiments", fs::path(VITRINE_EXPERIMENTS)}) {
    std::error_code none;
    if (fs::is_directory(root, none)) folders.push_back(root);
  }
  return folders;
}

std::vector<ClaimRow> readClaimRows(const store::QueryFunction& query,
                                    const std::vector<store::RunRow>& runs, const fs::path& folder,
                                    const ClaimFilter& isMeant) {
  std::vector<ClaimRow> rows;
  const fs::path file = folder / "claims.toml";
  std::error_code none;
  if (folder.empty() || !fs::exists(file, none)) return rows;
  const store::MetricKinds kinds = store::metricKinds(query);
  std::vector<Problem> problems;
  for (Claim& claim : readClaims(readTextFile(file), file.string(), problems)) {
    if (isMeant && !isMeant(claim)) continue;
    const fs::path path = folder / claim.experiment;
    if (!fs::exists(path, none)) continue;
    const ClaimedExperiment experiment(readTextFile(path), path.string());
    const bool isHere = std::any_of(runs.begin(), runs.end(), [&](const store::RunRow& run) {
      return run.experiment == experiment.title();
    });
    if (!isHere) continue;
    Judgement judgement = store::judgeClaim(query, runs, claim, experiment);
    if (!judgement.leftOut.empty()) {
      const QString leftOut = QString::fromStdString(judgement.leftOut);
      judgement.reason += QObject::tr("; not counted: %1").arg(leftOut).toStdString();
    }
    const store::MetricFormat format = store::claimFormat(claim, kinds);
    rows.push_back({std::move(claim), std::move(judgement), format});
  }
  return rows;
}

QString measuredText(const ClaimRow& row) {
  const SampleStatistics& s = row.judgement.statistics;
  const QString text = meanText(s, row.format);
  return s.count > 0 ? text + unitText(row.format) : text;
}

QString thresholdText(const ClaimRow& row) {
  const double threshold = row.judgement.threshold;
  return shortNumber(row.format.isPercent ? 100 * threshold : threshold) + unitText(row.format);
}

QString evidenceText(const ClaimRow& row) {
  const auto seeds = static_cast<std::int64_t>(row.judgement.statistics.count);
  if (seeds == 0) return QString::fromStdString(row.judgement.reason);
  const bool isStrict = !row.claim.above && row.claim.margin == 0;
  const QString claimed =
      isStrict ? QObject::tr("above 0") : QObject::tr("at least %1").arg(thresholdText(row));
  return QObject::tr("measured %1, claimed %2, %3")
      .arg(measuredText(row), claimed, counted(seeds, QObject::tr("seed"), QObject::tr("seeds")));
}

QString claimsCsv(const std::vector<ClaimRow>& rows) {
  QString text = QStringLiteral("claim,verdict,n,mean,lower,upper,threshold,why\n");
  for (const ClaimRow& row : rows) {
    const SampleStatistics& s = row.judgement.statistics;
    const auto measured = [&s](double value) {
      return s.count == 0 ? QString() : csvNumber(value);
    };
    text += QStringLiteral("%1,%2,%3,%4,%5,%6,%7,%8\n")
                .arg(csvText(QString::fromStdString(row.claim.name)),
                     QString::fromStdString(toString(row.judgement.verdict)),
                     QString::number(s.count), measured(s.mean), measured(s.interval.lower),
                     measured(s.interval.upper), csvNumber(row.judgement.threshold),
                     csvText(QString::fromStdString(row.judgement.reason)));
  }
  return text;
}

QString verdictWords(Verdict verdict) {
  const QString word = QString::fromStdString(toString(verdict));
  if (verdict == Verdict::Reproduced) return QStringLiteral("\u2713 ") + word;
  return verdict == Verdict::Contradicted ? QStringLiteral("\u2717 ") + word : word;
}

QColor verdictColor(Verdict verdict) {
  if (verdict == Verdict::Reproduced) return themeColors().ok;
  return verdict == Verdict::Contradicted ? themeColors().bad : themeColors().muted;
}

}  // namespace vitrine::ui
