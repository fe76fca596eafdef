#include "ui/monitor/monitor_page.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/monitor/monitor_parts.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {
namespace {

constexpr std::array kNoExtent{0.0, 1.0};  // shown without a point

}  // namespace

MonitorPage::MonitorPage(Workbench& workbench, QWidget* parent)
    : Page(parent),
      workbench_(workbench),
      reader_(workbench.store().file()),
      alerts_(AlertService::of(workbench)) {
  paintAs(this, "canvas");
  settings_.smoothing = storedSmoothing();
  cache_.setLimit(static_cast<std::size_t>(
                      std::max(16, setting(QStringLiteral("monitor/cache_mb"), 512).toInt()))
                  << 20);

  canvas_ = withRole(new QWidget, "canvas");
  column_ = columnIn(canvas_, {px(12), px(12), px(12), px(12)}, px(8));
  scroll_ = new QScrollArea;
  scroll_->setWidget(canvas_);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->viewport()->installEventFilter(this);

  empty_ = new EmptyPage(QString(), QString());
  connect(empty_, &EmptyPage::actionRequested, this, [this] {
    Selection& selection = workbench_.selection();
    if (selection.hidden().empty()) return workbench_.showPage(QStringLiteral("configure"));
    selection.setRuns(selection.runs(), selection.current());
  });

  search_ = makeSearchField(tr("Search plots"), QString(), this);
  search_->setToolTip(tr("Words of a metric's name or title; all must match"));
  search_->setMaximumWidth(px(220));
  connect(search_, &QLineEdit::textEdited, this, [this](const QString& text) {
    search(text);
    Q_EMIT viewChanged();
  });
  strip_ = new RunStrip;
  auto* top = rowIn(nullptr, {px(12), px(8), px(12), 0});
  top->addWidget(search_);
  top->addStretch();
  log_ = new LogPanel;
  log_->setFixedHeight(px(200));
  log_->hide();
  auto* plots = new QWidget;
  auto* plotsLayout = columnIn(plots, {}, 0);
  plotsLayout->addLayout(top);
  plotsLayout->addWidget(scroll_, 1);

  stack_ = new QStackedWidget;
  stack_->addWidget(plots);
  stack_->addWidget(empty_);
  auto* layout = columnIn(this, {}, 0);
  layout->addWidget(strip_);
  layout->addWidget(stack_, 1);
  layout->addWidget(log_);

  pinned_ = {};
  for (const QString& name :
       setting(QStringLiteral("monitor/metrics"), QStringList()).toStringList())
    pinned_.push_back(name.toStdString());
  isUsual_ = pinned_.empty();

  makeTools();
  timer_.setSingleShot(true);
  connect(&timer_, &QTimer::timeout, this, &MonitorPage::refreshNow);
  catchUp_.setSingleShot(true);
  catchUp_.setInterval(0);
  connect(&catchUp_, &QTimer::timeout, this, &MonitorPage::read);
  connect(&workbench.selection(), &Selection::runsChanged, this, [this] {
    // Another run became the current one: the curves and their zoom stay.
    if (workbench_.selection().drawn() == drawn_) return showCurrent();
    showRuns();
  });
  connect(&workbench.watcher(), &store::RunWatcher::dataChanged, this, &MonitorPage::later);
  connect(&workbench.watcher(), &store::RunWatcher::runsChanged, this, [this] {
    // What a card without curves says depends on the states of its runs.
    for (PlotCard* card : cards_) card->isStale = card->isStale || card->plot().curves().empty();
    showCurrent();
    later();
  });
  connect(&workbench, &Workbench::catalogReady, this, [this] {
    if (pinUsual()) rebuild();
    showCurrent();
  });
  connect(&workbench, &Workbench::runListVisibilityChanged, this, [this] {
    for (PlotCard* card : cards_) giveLegend(*card);
  });
  connect(&workbench, &Workbench::themeChanged, this, [this] {
    for (PlotCard* card : cards_) {
      card->applyTheme();
      giveLegend(*card);
    }
  });
  connect(&alerts_, &AlertService::raised, strip_,
          [this](const QString& sentence) { strip_->showAlert(sentence); });
  connect(&reader_, &Background::failed, this, [this](const QString& sentence) {
    isFailing_ = true;
    workbench_.showError(sentence);
  });
  connect(scroll_->verticalScrollBar(), &QScrollBar::valueChanged, &catchUp_,
          qOverload<>(&QTimer::start));
  showRuns();
}

PlotCard* MonitorPage::makeCard(const std::string& metric) {
  auto* card = new PlotCard(metric, metricCard(metric, kinds_), canvas_);
  CurvePlot& plot = card->plot();
  applySettings(*card);
  card->isStale = true;
  card->setWatched(!alerts_.rulesOf(metric).empty());
  plot.installEventFilter(this);
  connect(&plot, &CurvePlot::cursorMoved, this, [this, &plot](double x) { moveCursor(x, &plot); });
  connect(&plot, &CurvePlot::cursorLeft, this, [this] { moveCursor(std::nullopt, nullptr); });
  connect(&plot, &CurvePlot::fitRequested, this, &MonitorPage::fitAndFollow);
  connect(&plot, &CurvePlot::logRequested, this, [this, card](Qt::Orientation axis) {
    const PlotSettings& now = card->plot().settings();
    setLog(*card, axis, axis == Qt::Horizontal ? !now.isLogX : !now.isLogY);
  });
  connect(&plot, &CurvePlot::enlargeRequested, this, [this, metric] {
    enlarge(enlarged_ == metric ? std::string() : metric);
    Q_EMIT viewChanged();
  });
  connect(&plot, &CurvePlot::menuRequested, this,
          [this, card](const QPoint& place) { showCardMenu(*card, place); });
  connect(&plot, &CurvePlot::picked, this, [this](double x) {
    if (settings_.x == XAxis::Step) workbench_.selection().setStep(std::llround(x));
  });
  connect(&plot, &CurvePlot::rangeChosen, this, [this, &plot](double from, double to) {
    // The user looks closer: new points must not move the picture any more.
    isFitWanted_ = false;
    ranges_ = nullptr;
    setFollowing(false);
    if (isZoomShared_) {
      for (PlotCard* other : cards_) {
        if (&other->plot() != &plot) other->plot().showRange(from, to);
      }
    }
    Q_EMIT viewChanged();
  });
  connect(card, &PlotCard::pinRequested, this, [this, metric] {
    const bool isPinned = std::find(pinned_.begin(), pinned_.end(), metric) != pinned_.end();
    // The card is the sender: it goes when the event has been dealt with.
    QMetaObject::invokeMethod(
        this,
        [this, metric, isPinned] {
          setPinned(metric, !isPinned);
          Q_EMIT viewChanged();
        },
        Qt::QueuedConnection);
  });
  connect(card, &PlotCard::bellRequested, this, [this, card] { askAlerts(*card); });
  return card;
}

PlotCard* MonitorPage::card(const std::string& metric) const {
  for (PlotCard* card : cards_)
    if (card->metric() == metric) return card;
  return nullptr;
}

bool MonitorPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == scroll_->viewport() && event->type() == QEvent::Resize) {
    arrange();
    catchUp_.start();
  }
  if (event->type() == QEvent::FocusIn) {
    for (const PlotCard* card : cards_) {
      if (watched == &const_cast<PlotCard*>(card)->plot()) focused_ = card->metric();
    }
  }
  return Page::eventFilter(watched, event);
}

void MonitorPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  arrange();
  catchUp_.start();
}

void MonitorPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  later();
  catchUp_.start();
}

void MonitorPage::fillEmpty() {
  const Selection& selection = workbench_.selection();
  stack_->setCurrentIndex(selection.drawn().empty() ? 1 : 0);
  if (selection.hidden().empty())
    empty_->showMessage(tr("Curves of the selected runs appear here while they train.\n"
                           "Select runs on the left, or start an experiment."),
                        tr("New experiment"));
  else
    empty_->showMessage(tr("All selected runs are hidden."), tr("Show them"));
}

void MonitorPage::showCurrent() {
  const store::RunRow* row = workbench_.run(workbench_.selection().current());
  strip_->showRun(row, row == nullptr ? std::string() : cardOfRuns({row->id}).unit);
  if (log_->isHidden()) return;
  const std::filesystem::path files = store::filesFolder(workbench_.store().file());
  log_->setFile(row == nullptr
                    ? QString()
                    : QString::fromStdString(store::placeBelow(files, row->logFile).string()));
}

void MonitorPage::showRuns() {
  drawn_ = workbench_.selection().drawn();
  showCurrent();
  measured_ = measured();
  pinUsual();
  rebuild();
  ranges_ = nullptr;
  grouped_.clear();
  for (PlotCard* card : cards_) {
    card->isStale = true;
    giveCurves(*card);
  }
  fillEmpty();
  fitAll();
  pruneCache();
  readAllAgain();
}

MonitorPage::Extent MonitorPage::extent(bool isLog) const {
  bool isFound = false;
  double from = 0, to = 0;
  for (PlotCard* card : cards_) {
    double a = 0, b = 0;
    if (!card->plot().extent(a, b, isLog)) continue;
    from = isFound ? std::min(from, a) : a;
    to = isFound ? std::max(to, b) : b;
    isFound = true;
  }
  // Room for the half of a dot that lies beyond the first and the last point.
  if (isFound && to > from) {
    constexpr double kRoom = 0.008;
    if (isLog) {
      const double factor = std::pow(to / from, kRoom);
      from /= factor;
      to *= factor;
    } else {
      const double room = (to - from) * kRoom;
      from -= room;
      to += room;
    }
  }
  if (!isFound) return std::nullopt;
  return std::array{from, to};
}

void MonitorPage::fitAll() {
  const Extent linear = extent(false), logarithmic = extent(true);
  isFitWanted_ = true;  // also by curves that are still to be read
  for (PlotCard* card : cards_) {
    const auto [from, to] =
        (card->plot().settings().isLogX ? logarithmic : linear).value_or(kNoExtent);
    card->plot().fit(from, to);
  }
}

void MonitorPage::fitAndFollow() {
  setFollowing(true);
  fitAll();
  Q_EMIT viewChanged();
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
  const auto& runs = workbench_.selection().drawn();
  if (runs.empty() || cards_.empty()) return;
  CurvePlot& plot = cards_.front()->plot();
  if (plot.curves().empty()) return;
  const auto xs = plot.curves().front().series->x(settings_.x);
  auto place = static_cast<std::ptrdiff_t>(xs.size()) - 1;
  // The cursor may be between two points, and several points may be at one place.
  if (cursor_ && direction > 0)
    place = std::upper_bound(xs.begin(), xs.end(), *cursor_) - xs.begin();
  else if (cursor_)
    place = std::lower_bound(xs.begin(), xs.end(), *cursor_) - xs.begin() - 1;
  place = std::clamp<std::ptrdiff_t>(place, 0, static_cast<std::ptrdiff_t>(xs.size()) - 1);
  moveCursor(xs[static_cast<std::size_t>(place)], &plot);
}

void MonitorPage::waitUntilIdle() {
  timer_.stop();
  catchUp_.stop();
  if (!workbench_.selection().drawn().empty()) workbench_.waitForCards();
  ++version_;
  isFailing_ = false;
  isReadingAll_ = true;
  layout()->activate();
  // A reading may make new cards, whose curves are wanted too.
  do {
    reader_.waitUntilIdle();
    read();
  } while (reader_.isBusy());
  isReadingAll_ = false;
  // Cards and groups that came with what was read have their places now, not with the next event.
  layOutNow();
  layout()->activate();
  for (PlotCard* card : cards_) {
    giveCurves(*card);
    card->isStale = false;
  }
  showCurrent();
  fillEmpty();
  if (isFollowing_) {
    fitAll();
    isFitWanted_ = false;
  } else {
    for (PlotCard* card : cards_) card->plot().refresh();
  }
}

}  // namespace vitrine::ui
