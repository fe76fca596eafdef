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
    auto* shortcut = new QShortcut(Qt::CTRL | key, page);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, this, [this, by = by] { move(by); });
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
  text_->setText(steps_.empty() ? QString()
                                : tr("%1 of %2").arg(count(shown()), count(steps_.back())));
}

RunAnalyses::RunAnalyses(Workbench& workbench, Words words, QWidget* parent)
    : QWidget(parent),
      workbench_(workbench),
      words_(std::move(words)),
      sentence_(new WrapLabel(this)),
      button_(new QPushButton(words_.compute, this)) {
  auto* row = rowIn(this, {}, px(8));
  sentence_->setProperty("role", QStringLiteral("small"));
  sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(sentence_, 1);
  button_->setToolTip(words_.tip);
  connect(button_, &QPushButton::clicked, this, &RunAnalyses::press);
  row->addWidget(button_, 0, Qt::AlignTop);
  hide();
}

RunAnalyses::~RunAnalyses() {
  disconnect();
  if (ModelService* models = workbench_.models(); models != nullptr && isComputing()) {
    waiting_.clear();
    models->cancel(ticket_);
  }
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
  button_->setText(isComputing() ? tr("Cancel") : words_.compute);
  button_->setVisible(hasButton);
  setVisible(hasButton || !sentence_->text().isEmpty());
}

void RunAnalyses::press() {
  ModelService* models = workbench_.models();
  if (models == nullptr) return;
  if (isComputing()) {
    waiting_.clear();
    models->cancel(ticket_);
    return;
  }
  problem_.clear();
  waiting_.assign(missing_.begin(), missing_.end());
  next();
}

QString RunAnalyses::status() const {
  if (!isComputing()) return problem_;
  return words_.computing.arg(current_) + (progress_.isEmpty() ? tr("\u2026") : progress_);
}

RunAnalyses::EmptyWords RunAnalyses::emptyWords(const QString& cannot, const QString& can) const {
  if (isComputing()) return {status(), tr("Cancel")};
  if (!problem_.isEmpty()) return {problem_, missing_.empty() ? QString() : tr("Compute again")};
  if (missing_.empty()) return {cannot, QString()};
  return {can, workbench_.models() == nullptr ? QString() : words_.compute};
}

void RunAnalyses::next() {
  ticket_ = 0;
  progress_.clear();
  if (waiting_.empty()) {
    dress();
    Q_EMIT ended();
    return;
  }
  const RunAnalysis one = std::move(waiting_.front());
  waiting_.pop_front();
  current_ = one.name;
  ModelService::Listener listener;
  listener.onPart = [this](const Json& answer) {
    const auto done = answer.find("done"), total = answer.find("total");
    if (done == answer.end() || total == answer.end() || !done->is_number_integer() ||
        !total->is_number_integer())
      return;
    progress_ =
        tr(": %1 of %2").arg(count(done->get<std::int64_t>()), count(total->get<std::int64_t>()));
    Q_EMIT progressed();
  };
  listener.onDone = [this](const Json&) { next(); };
  listener.onError = [this](const ModelError& error) {
    problem_ =
        error.kind == "cancelled" ? words_.cancelled : words_.failed.arg(current_, error.sentence);
    waiting_.clear();
    next();
  };
  ticket_ = workbench_.models()->compute(one.model, one.request, this, std::move(listener));
  dress();
  Q_EMIT progressed();
}

}  // namespace vitrine::ui
