#include "ui/workbench/drawn_runs.h"

#include <QLabel>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>
#include <utility>

#include "ui/kit/fit_area.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

std::vector<std::int64_t> drawnRuns(const Selection& selection, std::size_t most,
                                    const std::set<std::int64_t>& preferred) {
  std::vector<std::int64_t> runs = selection.drawn();
  const std::int64_t current = selection.current();
  const bool isWanted = current != 0 && (runs.empty() || !selection.hidden().contains(current));
  if (isWanted && std::find(runs.begin(), runs.end(), current) == runs.end())
    runs.push_back(current);
  return firstRuns(std::move(runs), current, most, preferred);
}

std::vector<std::int64_t> firstRuns(std::vector<std::int64_t> runs, std::int64_t current,
                                    std::size_t most, const std::set<std::int64_t>& preferred) {
  if (runs.size() <= most) return runs;
  std::stable_partition(runs.begin(), runs.end(),
                        [&](std::int64_t run) { return preferred.contains(run); });
  if (const auto at = std::find(runs.begin(), runs.end(), current); at != runs.end())
    std::rotate(runs.begin(), at, at + 1);
  runs.resize(most);
  return runs;
}

QString runNameOf(const Workbench& workbench, std::int64_t run) {
  const auto& runs = workbench.runs();
  const auto found = runs.find(run);
  return found == runs.end() || found->second.name.empty()
             ? Workbench::tr("run %1").arg(run)
             : QString::fromStdString(found->second.name);
}

StepBar::StepBar(const QString& tip, QWidget* page)
    : QWidget(page), slider_(new QSlider(Qt::Horizontal, this)), text_(new QLabel(this)) {
  auto* line = rowIn(this, {}, px(8));
  auto* word = new QLabel(tr("Step"), this);
  word->setBuddy(slider_);
  slider_->setAccessibleName(tr("Step"));
  slider_->setToolTip(tr("%1 (Ctrl+\u2190, Ctrl+\u2192)").arg(tip));
  slider_->setPageStep(1);
  slider_->setMinimumWidth(px(80));
  line->addWidget(word);
  line->addWidget(slider_, 1);
  line->addWidget(text_);
  connect(slider_, &QSlider::valueChanged, this, [this] {
    tell();
    if (shown() >= 0) Q_EMIT chosen(shown());
  });
  for (const auto& [key, by] : {std::pair(Qt::Key_Left, -1), std::pair(Qt::Key_Right, 1)}) {
    new QShortcut(
        Qt::CTRL | key, page, this, [this, by = by] { move(by); }, Qt::WidgetWithChildrenShortcut);
  }
}

void StepBar::setSteps(std::vector<std::int64_t> steps, std::int64_t wanted) {
  steps_ = std::move(steps);
  const int last = std::max(0, static_cast<int>(steps_.size()) - 1);
  int place = last;
  if (wanted >= 0) {
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), wanted);
    place = std::max(0, static_cast<int>(after - steps_.begin()) - 1);
  }
  const QSignalBlocker quiet(slider_);
  slider_->setRange(0, last);
  slider_->setValue(place);
  slider_->setEnabled(steps_.size() > 1);
  tell();
}

std::int64_t StepBar::shown() const {
  const auto place = static_cast<std::size_t>(slider_->value());
  return place < steps_.size() ? steps_[place] : -1;
}

void StepBar::move(int by) { slider_->setValue(slider_->value() + by); }

void StepBar::tell() {
  text_->setText(steps_.empty()       ? QString()
                 : steps_.size() == 1 ? tr("%1, the only one").arg(count(shown()))
                                      : tr("%1 of %2").arg(count(shown()), count(steps_.back())));
}

AnalysisQueue::AnalysisQueue(Workbench& workbench, Words words, QObject* parent)
    : QObject(parent), workbench_(workbench), words_(std::move(words)) {}

AnalysisQueue::~AnalysisQueue() {
  disconnect();
  cancel();
}

void AnalysisQueue::start(const std::vector<RunAnalysis>& analyses) {
  if (isRunning() || workbench_.models() == nullptr) return;
  error_.clear();
  waiting_.assign(analyses.begin(), analyses.end());
  next();
}

void AnalysisQueue::cancel() {
  waiting_.clear();
  if (isRunning() && workbench_.models() != nullptr) workbench_.models()->cancel(ticket_);
}

QString AnalysisQueue::sentence() const {
  if (!isRunning()) return {};
  return words_.computing.arg(current_.name) + (progress_.isEmpty() ? tr("\u2026") : progress_);
}

void AnalysisQueue::next() {
  ticket_ = 0;
  progress_.clear();
  if (waiting_.empty()) {
    Q_EMIT ended(stateText(current_.request, "item"));
    return;
  }
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  ModelService::Listener listener;
  listener.onPart = [this](const Json& answer) {
    const std::int64_t done = stateInteger(answer, "done", -1);
    const std::int64_t total = stateInteger(answer, "total", -1);
    if (done < 0 || total < 0) return;
    progress_ = tr(": %1 of %2").arg(count(done), count(total));
    Q_EMIT progressed();
  };
  listener.onDone = [this](const Json&) { next(); };
  listener.onError = [this](const ModelError& error) {
    error_ = error.kind == "cancelled" ? words_.cancelled
                                       : words_.failed.arg(current_.name, error.sentence);
    // Pages say more after it.
    if (!error_.endsWith(QLatin1Char('.'))) error_ += QLatin1Char('.');
    waiting_.clear();
    next();
  };
  ticket_ =
      workbench_.models()->compute(current_.model, current_.request, this, std::move(listener));
  Q_EMIT progressed();
}

RunAnalyses::RunAnalyses(Workbench& workbench, const Words& words, QWidget* parent)
    : QWidget(parent),
      workbench_(workbench),
      compute_(words.compute),
      queue_(workbench, {words.computing, words.cancelled, words.failed}),
      sentence_(new WrapLabel(this)),
      button_(new QPushButton(compute_, this)) {
  auto* row = rowIn(this, {}, px(8));
  sentence_->setProperty("role", QStringLiteral("small"));
  sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(sentence_, 1);
  button_->setToolTip(words.tip);
  connect(button_, &QPushButton::clicked, this, &RunAnalyses::press);
  row->addWidget(button_, 0, Qt::AlignTop);
  connect(&queue_, &AnalysisQueue::progressed, this, [this] {
    dress();
    Q_EMIT progressed();
  });
  connect(&queue_, &AnalysisQueue::ended, this, [this] {
    dress();
    Q_EMIT ended();
  });
  hide();
}

void RunAnalyses::setMissing(std::vector<RunAnalysis> missing) {
  missing_ = std::move(missing);
  dress();
}

void RunAnalyses::showMessage(const QString& sentence) {
  sentence_->setText(sentence);
  dress();
}

void RunAnalyses::dress() {
  const bool hasButton = isComputing() || (!missing_.empty() && workbench_.models() != nullptr);
  button_->setText(isComputing() ? tr("Cancel") : compute_);
  button_->setVisible(hasButton);
  setVisible(hasButton || !sentence_->text().isEmpty());
}

void RunAnalyses::press() {
  if (isComputing())
    queue_.cancel();
  else
    queue_.start(missing_);
}

QString RunAnalyses::status() const { return isComputing() ? queue_.sentence() : queue_.error(); }

RunAnalyses::EmptyWords RunAnalyses::emptyWords(const QString& cannot, const QString& can) const {
  if (isComputing()) return {status(), tr("Cancel")};
  if (!queue_.error().isEmpty())
    return {queue_.error(), missing_.empty() ? QString() : tr("Compute again")};
  if (missing_.empty()) return {cannot, QString()};
  return {can, workbench_.models() == nullptr ? QString() : compute_};
}

}  // namespace vitrine::ui
