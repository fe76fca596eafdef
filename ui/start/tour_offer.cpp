#include "ui/start/tour_offer.h"

#include <QDesktopServices>
#include <QUrl>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/edit/document.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/help_viewer.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {

namespace {

QString tourFile(const std::string& name) {
  return QStringLiteral("experiments/tour/") + QString::fromStdString(name);
}

}  // namespace

TourOffer::TourOffer(Workbench& workbench, QObject* parent)
    : QObject(parent), workbench_(workbench) {
  std::vector<Problem> problems;
  tour_ = readTour(builtInText(tourFile("tour.toml")).toStdString(), "tour.toml", problems);
  for (const Tour::Part& part : tour_.parts) {
    Problem problem;
    Part own{.text = builtInText(tourFile(part.experiment)).toStdString()};
    if (const auto document = parseDocument(own.text, problem)) own.title = document->title;
    parts_.push_back(std::move(own));
  }
  enqueue_.setLink(workbench_.link());
  connect(&enqueue_, &EnqueueProcess::finished, this,
          [this](const std::vector<std::int64_t>& runs) {
            workbench_.selectEnqueued(runs);
            enqueueNext();
          });
  connect(&report_, &HeadlessQuestion::finished, this, &TourOffer::takeReport);
  connect(&report_, &HeadlessQuestion::failed, this, [this](const QString& reason) {
    endReport(tr("The report was not written: %1").arg(reason));
  });
  connect(&enqueue_, &EnqueueProcess::failed, this, [this](const QString& sentence) {
    error_ = sentence;
    waiting_.clear();
    show();
    Q_EMIT changed();
  });
}

QString TourOffer::cost() const {
  return tr("about %1 minutes on %2")
      .arg(QString::fromStdString(formatReal(tour_.minutes, 3)),
           QString::fromStdString(tour_.measuredOn));
}

QFrame* TourOffer::makeCard() {
  QVBoxLayout* inside = nullptr;
  QFrame* card = startCard(QString::fromStdString(tour_.title), inside);
  inside->addWidget(startLabel(QString::fromStdString(tour_.about), "muted"));
  inside->addWidget(startLabel(atStart(cost()) + QLatin1Char('.'), "muted"));
  button_ = new StartButton;
  button_->setIcon(icon(Icon::Play));
  connect(button_, &QPushButton::clicked, this, &TourOffer::act);
  state_ = startLabel(QString(), "small");
  state_->setAccessibleName(tr("State of the tour"));
  inside->addWidget(button_, 0, Qt::AlignLeft);
  inside->addWidget(state_);
  inside->addStretch(1);
  return card;
}

TourOffer::Standing TourOffer::standing() const {
  Standing now;
  bool isBusy = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    bool isThere = false;
    for (const auto& [id, row] : workbench_.runs()) {
      if (row.experiment != parts_[i].title) continue;
      isThere = true;
      now.runs.push_back(id);
      now.step += row.step;
      now.total += row.totalSteps;
      const bool isWaiting = row.state == store::RunState::Queued;
      isBusy = isBusy || isWaiting || isAlive(row.state);
      if (row.state != store::RunState::Done && !isAlive(row.state) && !isWaiting)
        now.broken.push_back(id);
    }
    if (!isThere) now.parts.push_back(i);
  }
  if (report_.isRunning()) {
    now.stage = Stage::Reporting;
  } else if (enqueue_.isRunning() || !waiting_.empty()) {
    now.stage = Stage::Preparing;
  } else if (now.runs.empty()) {
    now.stage = Stage::Missing;
  } else if (!now.broken.empty() || (!now.parts.empty() && !isBusy)) {
    now.stage = Stage::Broken;
  } else {
    now.stage = isBusy || !now.parts.empty() ? Stage::Training : Stage::Trained;
  }
  return now;
}

void TourOffer::act() {
  const Standing now = standing();
  error_.clear();
  switch (now.stage) {
    case Stage::Missing:
    case Stage::Broken:
      if (!now.broken.empty()) workbench_.startRuns(now.broken, jobs::QueueEnd::Front);
      waiting_ = now.parts;
      enqueueNext();
      return;
    case Stage::Training:
      workbench_.selection().setRuns(now.runs, now.runs.front());
      workbench_.showPage(QStringLiteral("monitor"));
      return;
    case Stage::Trained:
      writeReport();
      return;
    case Stage::Preparing:
    case Stage::Reporting:
      return;
  }
}

void TourOffer::enqueueNext() {
  if (waiting_.empty()) {
    show();
    workbench_.showPage(QStringLiteral("queue"));
    Q_EMIT changed();
    return;
  }
  const Part& part = parts_[waiting_.front()];
  waiting_.erase(waiting_.begin());
  try {
    enqueue_.start(part.text, part.title, workbench_.store().file(), jobs::QueueEnd::Back);
  } catch (const Error& error) {
    error_ = QString::fromUtf8(error.what());
    waiting_.clear();
  }
  show();
}

/// `vitrine demo --tour` finds the runs trained: it samples, draws and reports.
void TourOffer::writeReport() {
  if (workbench_.link() != nullptr) {
    error_ = tr("The database is on another machine: run `vitrine demo --tour` there.");
    show();
    return;
  }
  report_.askAbout(workbench_.store().file(), {QStringLiteral("demo"), QStringLiteral("--tour"),
                                               QStringLiteral("--no-window")});
  show();
}

void TourOffer::takeReport(const Json& answer) {
  reportFile_ = stateWords(answer, "report");
  if (reportFile_.isEmpty())
    return endReport(tr("The report was not written; `vitrine demo --tour` says why."));
  endReport({});
  QDesktopServices::openUrl(QUrl::fromLocalFile(reportFile_));
}

void TourOffer::endReport(const QString& error) {
  error_ = error;
  if (!error.isEmpty()) reportFile_.clear();
  show();
  Q_EMIT changed();
}

void TourOffer::show() {
  const Standing now = standing();
  QString sentence;
  button_->setReady(now.stage != Stage::Preparing && now.stage != Stage::Reporting);
  switch (now.stage) {
    case Stage::Missing:
      button_->setText(tr("Run the tour"));
      break;
    case Stage::Preparing:
      button_->setText(tr("Preparing the tour"));
      sentence = tr("One step of each model is tried, then all of them go into the queue.");
      break;
    case Stage::Training:
      button_->setText(tr("Show the tour"));
      sentence =
          now.total > 0
              ? tr("Training: %1 of the steps that are known.")
                    .arg(percent(static_cast<double>(now.step) / static_cast<double>(now.total), 0))
              : tr("The models wait in the queue.");
      break;
    case Stage::Broken:
      button_->setText(tr("Continue the tour"));
      sentence = tr("The tour ended before it was finished; it continues from its checkpoints.");
      break;
    case Stage::Trained:
      button_->setText(tr("Write the report"));
      sentence = reportFile_.isEmpty()
                     ? tr("All models are trained. The report samples images first.")
                     : tr("The report is %1.").arg(reportFile_);
      break;
    case Stage::Reporting:
      button_->setText(tr("Writing the report"));
      sentence = tr("Images are sampled, then the figures are drawn.");
      break;
  }
  setStartState(*state_, error_.isEmpty() ? sentence : error_, !error_.isEmpty());
}

}  // namespace vitrine::ui
