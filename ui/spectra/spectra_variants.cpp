// The other variants of the experiment next to what is drawn: what their ranks say together and
// what the paper claims of them. One click starts those that are not trained.
#include <QPushButton>
#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/store/experiment_folder.h"
#include "ui/kit/fit_area.h"
#include "ui/spectra/spectra_page.h"
#include "ui/workbench/run_facts.h"
#include "ui/workbench/run_seconds.h"

namespace vitrine::ui {

namespace {

constexpr qsizetype kMostNamed = 4;

}  // namespace

QWidget* SpectraPage::makeVariants() {
  variants_ = new QWidget(content());
  auto* row = rowIn(variants_, {}, px(8));
  variantsText_ = withRole(new WrapLabel(variants_), "small");
  variantsText_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(variantsText_, 1);
  startVariants_ = new QPushButton(tr("Start the missing variants"), variants_);
  startVariants_->setToolTip(
      tr("Put the runs of the experiment whose variant is not trained into the queue"));
  connect(startVariants_, &QPushButton::clicked, this,
          [this] { workbench_.startRuns(missingVariants().runs, jobs::QueueEnd::Back); });
  row->addWidget(startVariants_, 0, Qt::AlignTop);
  openControls_ = new QPushButton(tr("Open the controls"), variants_);
  openControls_->setToolTip(
      tr("Models that differ in one cause of the rank each; Configure shows their cost"));
  connect(openControls_, &QPushButton::clicked, this, &SpectraPage::openControls);
  row->addWidget(openControls_, 0, Qt::AlignTop);
  variants_->hide();
  return variants_;
}

std::vector<const store::RunRow*> SpectraPage::runsOfExperiment() const {
  std::set<std::int64_t> experiments;
  for (const std::int64_t run : readOf_) {
    if (const store::RunRow* row = workbench_.run(run)) experiments.insert(row->experimentId);
  }
  std::vector<const store::RunRow*> rows;
  for (const auto& [id, row] : workbench_.runs()) {
    if (experiments.contains(row.experimentId)) rows.push_back(&row);
  }
  return rows;
}

SpectraPage::MissingVariants SpectraPage::missingVariants() const {
  using Variant = std::pair<std::int64_t, std::string>;
  const std::vector<const store::RunRow*> rows = runsOfExperiment();
  std::set<Variant> known;
  double seconds = 0;
  int measured = 0;
  for (const store::RunRow* row : rows) {
    const bool isDrawn = std::find(readOf_.begin(), readOf_.end(), row->id) != readOf_.end();
    const bool isDone = row->state == store::RunState::Done;
    if (isDrawn || isDone || store::isAlive(row->state))
      known.insert({row->experimentId, row->variant});
    if (const double own = isDone ? secondsOf(*row) : 0; own > 0) {
      seconds += own;
      ++measured;
    }
  }
  MissingVariants missing;
  for (const store::RunRow* row : rows) {
    if (row->variant.empty() || known.contains({row->experimentId, row->variant})) continue;
    missing.runs.push_back(row->id);
    const QString name = QString::fromStdString(row->variant);
    if (!missing.names.contains(name)) missing.names << name;
  }
  if (measured > 0) missing.seconds = seconds / measured * static_cast<double>(missing.runs.size());
  return missing;
}

SpectraPage::RankClaims SpectraPage::readRankClaims(
    store::RunReader& store, const std::vector<store::RunRow>& runs, const std::string& analysis,
    std::map<std::string, std::filesystem::path> folders) {
  RankClaims claims{.folders = std::move(folders)};
  const std::string measured = "analysis/" + analysis + "/";
  const auto isMeant = [&measured](const Claim& claim) {
    return claim.metric.starts_with(measured);
  };
  const store::QueryFunction query = [&store](const std::string& sql) { return store.query(sql); };
  try {
    std::set<std::filesystem::path> papers;
    for (const store::RunRow& run : runs) {
      const auto [folder, isNew] = claims.folders.try_emplace(run.experiment);
      if (isNew) folder->second = store::folderOfExperiment(run.experiment, experimentFolders());
      papers.insert(folder->second);
    }
    for (const std::filesystem::path& paper : papers) {
      for (ClaimRow& row : readClaimRows(query, runs, paper, isMeant))
        claims.rows.push_back(std::move(row));
    }
  } catch (const Error& error) {
    claims.error =
        tr("The claims of the paper cannot be read: %1").arg(QString::fromUtf8(error.what()));
  }
  return claims;
}

std::vector<std::int64_t> SpectraPage::runsOfControls() const {
  std::vector<std::int64_t> runs;
  std::set<std::string> variants;
  for (const auto& [id, row] : workbench_.runs()) {
    if (row.experiment == claims_.controls.title && variants.insert(row.variant).second)
      runs.push_back(id);
  }
  return runs;
}

QString SpectraPage::controlsSentence(bool areTrained) const {
  const std::string& title = claims_.controls.title;
  const std::vector<const store::RunRow*> drawn = runsOfExperiment();
  if (title.empty() || std::any_of(drawn.begin(), drawn.end(), [&](const store::RunRow* row) {
        return row->experiment == title;
      }))
    return {};
  const QString sentence =
      areTrained ? tr("Controls of these ranks are runs of the experiment \u201c%1\u201d.")
                 : tr("Controls of these ranks are trained by the experiment \u201c%1\u201d.");
  return sentence.arg(QString::fromStdString(title));
}

void SpectraPage::openControls() {
  const std::vector<std::int64_t> runs = runsOfControls();
  if (runs.empty())
    workbench_.openFile(QString::fromStdString(claims_.controls.file.string()));
  else
    workbench_.selection().setRuns(runs, runs.front());
}

void SpectraPage::showVariants() {
  QStringList sentences;
  if (seeds_.rank.size() > 1)
    sentences << tr("Rank at 80 %, %1: %2.").arg(headText().toLower(), seedVerdict(seeds_.rank));
  const MissingVariants missing = missingVariants();
  if (!missing.runs.empty()) {
    QStringList names = missing.names.mid(0, kMostNamed);
    if (names.size() < missing.names.size())
      names << tr("%1 more").arg(missing.names.size() - names.size());
    sentences << tr("Variants of the same experiment that are not trained: %1.")
                     .arg(names.join(QStringLiteral(", ")));
    const QString runs = counted(std::ssize(missing.runs), tr("run"), tr("runs"));
    sentences << (missing.seconds > 0
                      ? tr("Cost: %1, %2 together.").arg(runs, aboutDuration(missing.seconds))
                      : tr("Cost: %1.").arg(runs));
  }
  const bool areTrained = !runsOfControls().empty();
  const QString controls = controlsSentence(areTrained);
  if (!controls.isEmpty()) sentences << controls;
  variantsText_->setText(sentences.join(QLatin1Char(' ')));
  startVariants_->setVisible(!missing.runs.empty());
  openControls_->setText(areTrained ? tr("Select the controls") : tr("Open the controls"));
  openControls_->setVisible(!controls.isEmpty());
  variants_->setVisible(!sentences.isEmpty());
}

}  // namespace vitrine::ui
