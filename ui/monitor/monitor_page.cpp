#include "ui/monitor/monitor_page.h"

#include <QEvent>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "ui/shell/settings.h"
#include "ui/shell/theme.h"

namespace vitrine::ui {
namespace {

constexpr int kCardHeight = 240;
const char* const kMetricsKey = "monitor/metrics";

std::vector<std::string> defaultMetrics() {
  return {"train/loss", "test/top1", "optimizer/learning_rate",
          "analysis/attention_rank/rank80/layer1"};
}

}  // namespace

PageFactory monitorPageFactory() {
  return {QStringLiteral("monitor"), MonitorPage::tr("Monitor"),
          [](Workbench& workbench, QWidget* parent) -> Page* {
            return new MonitorPage(workbench, parent);
          }};
}

MonitorPage::MonitorPage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), cache_(workbench.store()) {
  setProperty("role", "canvas");
  setAttribute(Qt::WA_StyledBackground);
  settings_.smoothing = setting(QStringLiteral("monitor/smoothing"), 0.9).toDouble();

  canvas_ = new QWidget;
  canvas_->setProperty("role", "canvas");
  grid_ = new QGridLayout(canvas_);
  grid_->setContentsMargins(px(12), px(12), px(12), px(12));
  grid_->setSpacing(px(12));
  scroll_ = new QScrollArea;
  scroll_->setWidget(canvas_);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->viewport()->installEventFilter(this);

  auto* empty = new QWidget;
  auto* emptyLayout = new QVBoxLayout(empty);
  emptyText_ = new QLabel;
  emptyText_->setProperty("role", "muted");
  emptyText_->setAlignment(Qt::AlignCenter);
  emptyText_->setWordWrap(true);
  emptyAction_ = new QPushButton(tr("New experiment"));
  emptyAction_->setAccessibleName(tr("New experiment"));
  connect(emptyAction_, &QPushButton::clicked, this,
          [this] { workbench_.showPage(QStringLiteral("configure")); });
  emptyLayout->addStretch();
  emptyLayout->addWidget(emptyText_);
  emptyLayout->addSpacing(px(12));
  emptyLayout->addWidget(emptyAction_, 0, Qt::AlignCenter);
  emptyLayout->addStretch();

  stack_ = new QStackedWidget;
  stack_->addWidget(scroll_);
  stack_->addWidget(empty);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(stack_);

  makeTools();
  timer_.setSingleShot(true);
  connect(&timer_, &QTimer::timeout, this, &MonitorPage::refreshNow);
  connect(&workbench.selection(), &Selection::runsChanged, this, &MonitorPage::showRuns);
  connect(&workbench.watcher(), &RunWatcher::dataChanged, this, &MonitorPage::later);
  connect(&workbench.watcher(), &RunWatcher::runsChanged, this, [this] { later(); });
  connect(&workbench, &Workbench::runListVisibilityChanged, this, [this] {
    for (PlotCard* card : cards_)
      card->setLegend(card->plot().curves(), !workbench_.isRunListVisible());
  });
  connect(&workbench, &Workbench::themeChanged, this, [this] {
    for (PlotCard* card : cards_) {
      card->applyTheme();
      card->setLegend(card->plot().curves(), !workbench_.isRunListVisible());
    }
  });
  connect(scroll_->verticalScrollBar(), &QScrollBar::valueChanged, this, [this] {
    for (PlotCard* card : cards_) {
      if (card->isStale && card->isOnScreen()) refreshCard(*card);
    }
  });

  std::vector<std::string> wanted;
  for (const QString& name : setting(QLatin1String(kMetricsKey), QStringList()).toStringList()) {
    wanted.push_back(name.toStdString());
  }
  setMetrics(wanted.empty() ? defaultMetrics() : wanted);
  showRuns();
}

PlotCard* MonitorPage::makeCard(const std::string& metric) {
  auto* card = new PlotCard(metric, metricCard(metric, &workbench_.store()), canvas_);
  CurvePlot& plot = card->plot();
  card->setSettings(settings_);
  connect(&plot, &CurvePlot::cursorMoved, this, [this, &plot](double x) { moveCursor(x, &plot); });
  connect(&plot, &CurvePlot::cursorLeft, this, [this] { moveCursor(std::nullopt, nullptr); });
  connect(&plot, &CurvePlot::fitAsked, this, &MonitorPage::fitAndFollow);
  connect(&plot, &CurvePlot::logAsked, this, [this](Qt::Orientation axis) {
    (axis == Qt::Horizontal ? logXAction_ : logYAction_)->toggle();
  });
  connect(&plot, &CurvePlot::menuAsked, this,
          [this, card](const QPoint& place) { showCardMenu(*card, place); });
  connect(&plot, &CurvePlot::picked, this, [this](double x) {
    if (settings_.x == XAxis::Step) workbench_.selection().setStep(std::llround(x));
  });
  connect(&plot, &CurvePlot::rangeChosen, this, [this, &plot](double from, double to) {
    // Somebody looks closer: new points must not move the picture any more.
    setFollowing(false);
    for (PlotCard* other : cards_) {
      if (&other->plot() != &plot) other->plot().showRange(from, to);
    }
  });
  return card;
}

void MonitorPage::setMetrics(const std::vector<std::string>& metrics) {
  for (PlotCard* card : cards_) card->deleteLater();
  cards_.clear();
  for (const std::string& metric : metrics) cards_.push_back(makeCard(metric));
  arrange();
  showRuns();
}

std::vector<std::string> MonitorPage::metrics() const {
  std::vector<std::string> names;
  for (const PlotCard* card : cards_) names.push_back(card->metric());
  return names;
}

void MonitorPage::removeCard(const std::string& metric) {
  std::vector<std::string> names = metrics();
  std::erase(names, metric);
  setMetrics(names);
}

// As many columns as hold a readable plot; the cards share the height while they can, then the page
// scrolls.
void MonitorPage::arrange() {
  while (QLayoutItem* item = grid_->takeAt(0)) delete item;
  const int width = std::max(scroll_->viewport()->width(), 1);
  const int number = static_cast<int>(cards_.size());
  const int columns = std::clamp(width / px(360), 1, std::max(1, number > 4 ? 3 : 2));
  const int rows = (number + columns - 1) / columns;
  for (int row = 0; row < std::max(grid_->rowCount(), rows); ++row) {
    grid_->setRowStretch(row, row < rows ? 1 : 0);
    grid_->setRowMinimumHeight(row, row < rows ? px(kCardHeight) : 0);
  }
  for (int column = 0; column < std::max(grid_->columnCount(), columns); ++column) {
    grid_->setColumnStretch(column, column < columns ? 1 : 0);
  }
  for (int i = 0; i < number; ++i) {
    grid_->addWidget(cards_[static_cast<std::size_t>(i)], i / columns, i % columns);
    cards_[static_cast<std::size_t>(i)]->show();
  }
}

void MonitorPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  arrange();
}

void MonitorPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  later();
}

bool MonitorPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == scroll_->viewport() && event->type() == QEvent::Resize) arrange();
  return Page::eventFilter(watched, event);
}

void MonitorPage::fillEmpty() {
  const bool hasRuns = !workbench_.selection().runs().empty();
  emptyText_->setText(
      tr("Curves of the selected runs appear here while they train.\n"
         "Select runs on the left, or start an experiment."));
  stack_->setCurrentIndex(hasRuns ? 0 : 1);
}

void MonitorPage::showRuns() {
  seen_.clear();
  readNew(true);
  for (PlotCard* card : cards_) giveCurves(*card);
  fillEmpty();
  fitAll();
}

void MonitorPage::giveCurves(PlotCard& card) {
  std::vector<PlottedCurve> curves;
  bool hasPoints = false;
  for (const std::int64_t id : workbench_.selection().runs()) {
    const CurveSeries& series = cache_.curve(id, card.metric());
    if (series.size() == 0) continue;
    hasPoints = true;
    const RunRow* row = workbench_.run(id);
    curves.push_back(
        {id, row == nullptr ? tr("run %1").arg(id) : QString::fromStdString(row->name), &series});
  }
  card.setHint(hasPoints ? QString()
                         : tr("No values yet.\nThe selected runs have not measured this."));
  card.plot().setCurves(curves);
  card.setLegend(curves, !workbench_.isRunListVisible());
}

// Reads what the selected runs have gained; true if a curve changed.
bool MonitorPage::readNew(bool isAll) {
  bool isChanged = false;
  try {
    for (const std::int64_t id : workbench_.selection().runs()) {
      const RunRow* row = workbench_.run(id);
      const bool isLive = row != nullptr && isAlive(row->state);
      const std::int64_t sequence = row == nullptr ? 0 : row->changeSequence;
      const auto last = seen_.find(id);
      if (!isAll && !isLive && last != seen_.end() && last->second == sequence) continue;
      for (const PlotCard* card : cards_)
        isChanged = cache_.update(id, card->metric()) || isChanged;
      // A run that has just ended is read once more.
      if (!isLive) seen_[id] = sequence;
    }
  } catch (const Error& error) {
    workbench_.say(QString::fromUtf8(error.what()));
  }
  return isChanged;
}

void MonitorPage::later() {
  if (!isVisible() || timer_.isActive()) return;
  const qint64 passed = sinceRefresh_.isValid() ? sinceRefresh_.elapsed() : kRefreshMs;
  timer_.start(static_cast<int>(std::max<qint64>(0, kRefreshMs - passed)));
}

void MonitorPage::refreshNow() {
  sinceRefresh_.restart();
  if (!readNew(false)) return;
  for (PlotCard* card : cards_) {
    card->isStale = true;
    if (card->isOnScreen()) refreshCard(*card);
  }
}

void MonitorPage::refreshCard(PlotCard& card) {
  card.isStale = false;
  giveCurves(card);
  double from = 0, to = 0;
  if (isFollowing_ && extent(from, to)) {
    card.plot().showRange(from, to);
  } else {
    card.plot().refresh();
  }
}

bool MonitorPage::extent(double& from, double& to) const {
  bool isFound = false;
  for (PlotCard* card : cards_) {
    double a = 0, b = 0;
    if (!card->plot().extent(a, b)) continue;
    from = isFound ? std::min(from, a) : a;
    to = isFound ? std::max(to, b) : b;
    isFound = true;
  }
  // Room for the half of a dot that lies beyond the first and the last point.
  if (isFound && to > from) {
    constexpr double kRoom = 0.008;
    if (settings_.isLogX) {
      const double factor = std::pow(to / from, kRoom);
      from /= factor;
      to *= factor;
    } else {
      const double room = (to - from) * kRoom;
      from -= room;
      to += room;
    }
  }
  return isFound;
}

void MonitorPage::fitAll() {
  double from = 0, to = 1;
  if (!extent(from, to)) to = 1;
  for (PlotCard* card : cards_) card->plot().fit(from, to);
}

void MonitorPage::fitAndFollow() {
  setFollowing(true);
  fitAll();
}

void MonitorPage::setFollowing(bool isFollowing) {
  if (followAction_->isChecked() != isFollowing) followAction_->setChecked(isFollowing);
  if (isFollowing == isFollowing_) return;
  isFollowing_ = isFollowing;
  if (isFollowing_) fitAll();
}

void MonitorPage::moveCursor(std::optional<double> x, const CurvePlot* under) {
  // On a step axis the line stands on whole steps.
  if (x && settings_.x == XAxis::Step) x = std::round(*x);
  cursor_ = x;
  for (PlotCard* card : cards_) card->plot().setCursor(x, &card->plot() == under);
}

void MonitorPage::stepCursor(int direction) {
  const auto& runs = workbench_.selection().runs();
  if (runs.empty() || cards_.empty()) return;
  CurvePlot& plot = cards_.front()->plot();
  if (plot.curves().empty()) return;
  const auto xs = plot.curves().front().series->x(settings_.x);
  auto place = static_cast<std::ptrdiff_t>(xs.size()) - 1;
  if (cursor_) {
    place = std::lower_bound(xs.begin(), xs.end(), *cursor_) - xs.begin() + direction;
  }
  place = std::clamp<std::ptrdiff_t>(place, 0, static_cast<std::ptrdiff_t>(xs.size()) - 1);
  moveCursor(xs[static_cast<std::size_t>(place)], &plot);
}

void MonitorPage::settle() {
  timer_.stop();
  readNew(true);
  arrange();
  layout()->activate();
  for (PlotCard* card : cards_) giveCurves(*card);
  fillEmpty();
  fitAll();
  for (PlotCard* card : cards_) card->plot().replot(QCustomPlot::rpImmediateRefresh);
}

}  // namespace vitrine::ui
