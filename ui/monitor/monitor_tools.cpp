// Tool bar, menus and files of the Monitor page.
#include <QActionGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QPointer>
#include <QTextStream>
#include <algorithm>

#include "core/base/text.h"
#include "ui/figures/painting.h"
#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/questions.h"
#include "ui/kit/theme.h"
#include "ui/monitor/alert_dialog.h"
#include "ui/monitor/monitor_page.h"
#include "ui/monitor/monitor_parts.h"
#include "ui/workbench/drawn_runs.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

const Smoothing kSmoothings[] = {kAutomaticSmoothing,
                                 {Smoothing::Kind::None, 0},
                                 {Smoothing::Kind::Ema, 0.3},
                                 {Smoothing::Kind::Ema, 0.6},
                                 {Smoothing::Kind::Ema, 0.8},
                                 {Smoothing::Kind::Ema, 0.9},
                                 {Smoothing::Kind::Ema, 0.95},
                                 {Smoothing::Kind::Ema, 0.99},
                                 {Smoothing::Kind::Centred, 5},
                                 {Smoothing::Kind::Centred, 11},
                                 {Smoothing::Kind::Centred, 25},
                                 {Smoothing::Kind::Centred, 51},
                                 {Smoothing::Kind::Centred, 101},
                                 {Smoothing::Kind::Centred, 251}};

/// Quantities of the horizontal axis but for other metrics, in the order of XAxis.
QStringList axisTexts() {
  return {MonitorPage::tr("step"), MonitorPage::tr("epoch"), MonitorPage::tr("running time"),
          MonitorPage::tr("local time")};
}

QString smoothingText(const Smoothing& smoothing) {
  if (smoothing.isAuto) return MonitorPage::tr("automatic");
  if (smoothing.kind == Smoothing::Kind::None) return MonitorPage::tr("none");
  if (smoothing.kind == Smoothing::Kind::Centred)
    return MonitorPage::tr("mean of %1").arg(count(static_cast<std::int64_t>(smoothing.amount)));
  return number(smoothing.amount, smoothing.amount > 0.9 ? 2 : 1);
}

}  // namespace

void MonitorPage::makeTools() {
  const auto tool = [this](const QString& text, const QString& tip) {
    auto* action = new QAction(text, this);
    action->setToolTip(tip);
    return action;
  };

  xAction_ = tool(tr("x: step"), tr("Quantity of the horizontal axis"));
  xMenu_ = new QMenu(this);
  xMenu_->setAccessibleName(tr("Horizontal axis"));
  xAction_->setMenu(xMenu_);
  connect(xMenu_, &QMenu::aboutToShow, this, &MonitorPage::fillAxisMenu);
  fillAxisMenu();

  smoothAction_ =
      tool(QString(),
           tr("The strong line; the raw one stays behind it. A number is the constant of an "
              "exponential moving average, corrected for its start; a mean has the point in its "
              "middle. Automatic leaves curves of fewer than 200 points as they are."));
  auto* smoothMenu = new QMenu(this);
  smoothMenu->setAccessibleName(tr("Smoothing"));
  smoothGroup_ = new QActionGroup(this);
  for (const Smoothing& smoothing : kSmoothings) {
    if (smoothing == Smoothing{Smoothing::Kind::Ema, 0.3} ||
        smoothing == Smoothing{Smoothing::Kind::Centred, 5}) {
      smoothMenu->addSeparator();
    }
    QString text = smoothingText(smoothing);
    if (smoothing.isAuto) {
      text = tr("automatic: EMA 0.9 from 200 points on");
    } else if (smoothing.kind == Smoothing::Kind::Ema) {
      text = tr("EMA %1").arg(text);
    }
    if (smoothing.kind == Smoothing::Kind::Centred) text = tr("centred %1 points").arg(text);
    QAction* choice = smoothMenu->addAction(text);
    choice->setCheckable(true);
    choice->setData(QString::fromStdString(toJson(smoothing).dump()));
    smoothGroup_->addAction(choice);
    connect(choice, &QAction::triggered, this, [this, smoothing] {
      PlotSettings changed = settings_;
      changed.smoothing = smoothing;
      storeSmoothing(smoothing);
      chooseSettings(changed);
    });
  }
  smoothAction_->setMenu(smoothMenu);
  makeSeedsTool();

  logYAction_ =
      tool(tr("Log y"),
           tr("Logarithmic vertical axes of all plots; Y or L: of the plot under the cursor"));
  logYAction_->setCheckable(true);
  logXAction_ = tool(
      tr("Log x"),
      tr("Logarithmic horizontal axes of all plots; X or Shift+L: of the plot under the cursor"));
  logXAction_->setCheckable(true);
  clipAction_ = tool(tr("Clip outliers"),
                     tr("Vertical axes from the 1st to the 99th percentile of the visible values; "
                        "arrows on the edge mark lines that continue beyond it"));
  clipAction_->setCheckable(true);
  for (QAction* action : {logYAction_, logXAction_, clipAction_}) {
    connect(action, &QAction::toggled, this, [this, action] {
      if (isSetting_) return;
      // Chosen for all plots, so for those with a choice of their own, too.
      for (auto& [metric, own] : ownAxes_) {
        if (action == logXAction_) own.isLogX.reset();
        if (action == logYAction_) own.isLogY.reset();
        if (action == clipAction_) own.isClipped.reset();
      }
      PlotSettings changed = settings_;
      changed.isLogY = logYAction_->isChecked();
      changed.isLogX = logXAction_->isChecked();
      changed.isClipped = clipAction_->isChecked();
      chooseSettings(changed);
    });
  }
  followAction_ = tool(tr("Follow"), tr("Keep the newest points visible; zooming ends it"));
  followAction_->setIcon(icon(Icon::Follow));
  followAction_->setCheckable(true);
  followAction_->setChecked(true);
  connect(followAction_, &QAction::toggled, this, &MonitorPage::setFollowing);
  connect(followAction_, &QAction::triggered, this, &MonitorPage::viewChanged);
  fitAction_ = tool(tr("Fit"), tr("Show all points (Home on a plot)"));
  fitAction_->setIcon(icon(Icon::Fit));
  connect(fitAction_, &QAction::triggered, this, &MonitorPage::fitAndFollow);
  metricsAction_ = tool(tr("Plots"), tr("Choose the metrics that are pinned to the top"));
  metricMenu_ = new QMenu(tr("Plots"), this);
  metricsAction_->setMenu(metricMenu_);
  connect(metricMenu_, &QMenu::aboutToShow, this, &MonitorPage::fillMetricMenu);
  makeMoreTools();
  setSettings(settings_);
}

void MonitorPage::makeMoreTools() {
  shareAction_ = new QAction(tr("Sync zoom"), this);
  shareAction_->setToolTip(tr("All plots show the x range that is chosen in one"));
  shareAction_->setCheckable(true);
  shareAction_->setChecked(true);
  connect(shareAction_, &QAction::toggled, this, [this](bool isOn) { isZoomShared_ = isOn; });
  connect(shareAction_, &QAction::triggered, this, &MonitorPage::viewChanged);
  // One button for rare choices: the tool bar is also there on a small screen.
  axesAction_ = new QAction(tr("Axes"), this);
  axesAction_->setToolTip(tr("Logarithmic axes, outliers, zoom of all plots together"));
  auto* axesMenu = new QMenu(tr("Axes"), this);
  axesMenu->setToolTipsVisible(true);
  axesMenu->addActions({logYAction_, logXAction_, clipAction_});
  axesMenu->addSeparator();
  axesMenu->addAction(shareAction_);
  axesAction_->setMenu(axesMenu);
  logAction_ = new QAction(tr("Log"), this);
  logAction_->setToolTip(tr("The log of the current run below the plots, with a search"));
  logAction_->setCheckable(true);
  connect(logAction_, &QAction::toggled, this, [this](bool isShown) {
    log_->setVisible(isShown);
    showCurrent();
  });
  connect(logAction_, &QAction::triggered, this, &MonitorPage::viewChanged);

  QAction* back = addAction(tr("Cursor to the previous point"), Qt::CTRL | Qt::Key_Left, this,
                            [this] { stepCursor(-1); });
  QAction* forward = addAction(tr("Cursor to the next point"), Qt::CTRL | Qt::Key_Right, this,
                               [this] { stepCursor(1); });
  QAction* find = addAction(tr("Search plots"), Qt::Key_Slash, this, [this] {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
  });
  showKeyOf(find, *search_);
  QAction* all = addAction(tr("Show all plots"), Qt::Key_Escape, this, [this] {
    if (!enlarged_.empty()) {
      enlarge({});
      Q_EMIT viewChanged();
      return;
    }
    focused_.clear();
    search({});
    scroll_->setFocus(Qt::ShortcutFocusReason);
    Q_EMIT viewChanged();
  });
  all->setToolTip(
      tr("Restores an enlarged plot, or clears the search; an export then has all visible plots"));
  QAction* logY = addAction(tr("Log y of the plot under the cursor"), Qt::Key_L, this,
                            [this] { switchLog(Qt::Vertical); });
  QAction* logX = addAction(tr("Log x of the plot under the cursor"), Qt::SHIFT | Qt::Key_L, this,
                            [this] { switchLog(Qt::Horizontal); });
  // A single letter acts only while the page has the focus, never in a text field.
  for (QAction* action : {back, forward, find, all, logY, logX})
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
}

QList<QAction*> MonitorPage::tools() {
  return {xAction_,      smoothAction_, seedsAction_,   axesAction_,
          followAction_, fitAction_,    metricsAction_, logAction_};
}

void MonitorPage::fillAxisMenu() {
  emptyMenu(*xMenu_);
  const QStringList axes = axisTexts();
  for (int i = 0; i < axes.size(); ++i) {
    QAction* choice = xMenu_->addAction(axes[i]);
    choice->setCheckable(true);
    choice->setChecked(settings_.x == static_cast<XAxis>(i));
    connect(choice, &QAction::triggered, this, [this, i] {
      PlotSettings changed = settings_;
      changed.x = static_cast<XAxis>(i);
      changed.xMetric.clear();
      chooseSettings(changed);
    });
  }
  QMenu* metrics = xMenu_->addMenu(tr("another metric"));
  for (const std::string& metric : measured_) {
    if (metric.starts_with("analysis/")) continue;
    QAction* choice = metrics->addAction(menuText(metricCard(metric, kinds_).title));
    choice->setCheckable(true);
    choice->setChecked(settings_.x == XAxis::Metric && settings_.xMetric == metric);
    connect(choice, &QAction::triggered, this, [this, metric] {
      PlotSettings changed = settings_;
      changed.x = XAxis::Metric;
      changed.xMetric = metric;
      chooseSettings(changed);
    });
  }
  metrics->setEnabled(!metrics->isEmpty());
}

void MonitorPage::chooseSettings(const PlotSettings& settings) {
  setSettings(settings);
  Q_EMIT viewChanged();
}

void MonitorPage::setSettings(const PlotSettings& settings) {
  const bool isAxisChanged = settings.x != settings_.x || settings.xMetric != settings_.xMetric;
  const bool isRefitted = isAxisChanged || settings.isLogX != settings_.isLogX;
  const bool isRegrouped = settings.band != settings_.band;
  settings_ = settings;
  xAction_->setText(tr("x: %1").arg(settings.x == XAxis::Metric
                                        ? metricCard(settings.xMetric, kinds_).title
                                        : axisTexts().at(static_cast<int>(settings.x))));
  smoothAction_->setText(tr("Smoothing %1").arg(smoothingText(settings.smoothing)));
  const QString chosen = QString::fromStdString(toJson(settings.smoothing).dump());
  for (QAction* choice : smoothGroup_->actions())
    choice->setChecked(choice->data().toString() == chosen);
  seedsAction_->setText(settings.band == Spread::None ? tr("Seeds: each") : tr("Seeds: mean"));
  const bool hasSharedAxis = settings.x != XAxis::Wall && settings.x != XAxis::Metric;
  seedsAction_->setEnabled(hasSharedAxis);
  seedsAction_->setToolTip(hasSharedAxis
                               ? tr("The runs of a variant as the mean over its seeds with a band")
                               : tr("Seeds can only be averaged over step, epoch or running time"));
  for (QAction* choice : seedsGroup_->actions())
    choice->setChecked(choice->data().toInt() == static_cast<int>(settings.band));
  isSetting_ = true;
  logYAction_->setChecked(settings.isLogY);
  logXAction_->setChecked(settings.isLogX);
  clipAction_->setChecked(settings.isClipped);
  isSetting_ = false;
  for (PlotCard* card : cards_) applySettings(*card);
  if (isAxisChanged || isRegrouped) {
    for (PlotCard* card : cards_) {
      card->isStale = true;
      giveCurves(*card);
    }
    readAllAgain();
  }
  if (isRefitted) return fitAll();
  for (PlotCard* card : cards_) card->plot().refresh();
  read();
}

void MonitorPage::fillMetricMenu() {
  emptyMenu(*metricMenu_);
  std::set<std::string> names = measured_;
  names.insert(pinned_.begin(), pinned_.end());
  std::map<QString, QMenu*> families;
  for (const std::string& name : names) {
    QMenu*& menu = families[groupOf(name)];
    if (menu == nullptr) menu = metricMenu_->addMenu(menuText(groupOf(name)));
    QAction* action = menu->addAction(menuText(metricCard(name, kinds_).title));
    action->setCheckable(true);
    const bool isPinned = std::find(pinned_.begin(), pinned_.end(), name) != pinned_.end();
    action->setChecked(isPinned);
    connect(action, &QAction::triggered, this, [this, name, isPinned] {
      setPinned(name, !isPinned);
      Q_EMIT viewChanged();
    });
  }
  metricMenu_->addSeparator();
  connect(metricMenu_->addAction(tr("Default plots")), &QAction::triggered, this, [this] {
    setUsualMetrics();
    Q_EMIT viewChanged();
  });
}

void MonitorPage::setLog(PlotCard& card, Qt::Orientation axis, bool isLog) {
  OwnAxes& own = ownAxes_[card.metric()];
  const bool isX = axis == Qt::Horizontal;
  (isX ? own.isLogX : own.isLogY) = isLog;
  applySettings(card);
  if (const Extent all = extent(isLog); isX && all) {
    card.plot().fit((*all)[0], (*all)[1]);
  } else {
    card.plot().refresh();
  }
  Q_EMIT viewChanged();
}

void MonitorPage::setClipped(PlotCard& card, bool isClipped) {
  ownAxes_[card.metric()].isClipped = isClipped;
  applySettings(card);
  card.plot().refresh();
  Q_EMIT viewChanged();
}

void MonitorPage::fitCard(PlotCard& card) {
  const Extent all = extent(card.plot().settings().isLogX);
  if (all) card.plot().fit((*all)[0], (*all)[1]);
  Q_EMIT viewChanged();
}

void MonitorPage::switchLog(Qt::Orientation axis) {
  for (PlotCard* card : cards_) {
    if (!card->plot().underMouse() && !card->plot().hasFocus()) continue;
    const PlotSettings& now = card->plot().settings();
    return setLog(*card, axis, axis == Qt::Horizontal ? !now.isLogX : !now.isLogY);
  }
  (axis == Qt::Horizontal ? logXAction_ : logYAction_)->trigger();
}

void MonitorPage::showCardMenu(PlotCard& card, const QPoint& place) {
  QMenu menu(this);
  QAction* large = menu.addAction(enlarged_.empty() ? tr("En&large") : tr("Show a&ll plots"));
  QAction* fit = menu.addAction(icon(Icon::Fit), tr("&Fit this plot"));
  const auto checked = [&menu](const QString& text, bool isOn) {
    QAction* made = menu.addAction(text);
    made->setCheckable(true);
    made->setChecked(isOn);
    return made;
  };
  QAction* logY = checked(tr("Log &y of this plot"), card.plot().settings().isLogY);
  QAction* logX = checked(tr("Log &x of this plot"), card.plot().settings().isLogX);
  QAction* clip = checked(tr("Clip &outliers of this plot"), card.plot().settings().isClipped);
  QMenu* sizeMenu = menu.addMenu(tr("&Size"));
  auto* sizes = new QActionGroup(sizeMenu);
  for (const auto& [text, size] :
       {std::pair{tr("&Small"), PlotSize::Small}, std::pair{tr("&Medium"), PlotSize::Medium},
        std::pair{tr("&Full width"), PlotSize::Full}}) {
    QAction* made = sizes->addAction(sizeMenu->addAction(text));
    made->setCheckable(true);
    made->setChecked(this->size(card.metric()) == size);
    made->setData(static_cast<int>(size));
  }
  menu.addSeparator();
  QAction* note = menu.addAction(tr("Add &note\u2026"));
  QAction* forget = menu.addAction(tr("Remove the n&otes of this plot"));
  forget->setEnabled(!card.plot().notes().empty());
  QAction* alert = menu.addAction(tr("&Alerts\u2026"));
  menu.addSeparator();
  QAction* figure = menu.addAction(tr("&Export figure\u2026"));
  QAction* copy = menu.addAction(icon(Icon::Copy), tr("&Copy picture"));
  QAction* values = menu.addAction(tr("Export &data\u2026"));
  menu.addSeparator();
  const bool isPinned = std::find(pinned_.begin(), pinned_.end(), card.metric()) != pinned_.end();
  QAction* pin = menu.addAction(isPinned ? tr("&Unpin") : tr("&Pin to the top"));
  // The card may go while the menu is open: a run that writes can change the metrics of the page.
  const QPointer<PlotCard> alive(&card);
  const std::optional<double> clicked = cursor_;  // the mouse leaves the plot for the menu
  QAction* chosen = menu.exec(place);
  if (alive == nullptr) return;
  if (chosen == large) Q_EMIT card.plot().enlargeRequested();
  if (chosen == logY) setLog(card, Qt::Vertical, logY->isChecked());
  if (chosen == logX) setLog(card, Qt::Horizontal, logX->isChecked());
  if (chosen == clip) setClipped(card, clip->isChecked());
  if (chosen == fit) fitCard(card);
  if (chosen != nullptr && chosen->actionGroup() == sizes)
    setSize(card.metric(), static_cast<PlotSize>(chosen->data().toInt()));
  if (chosen == note) askNote(card, clicked);
  if (chosen == forget) askRemoveNotes(card);
  if (chosen == alert) askAlerts(card);
  if (chosen == figure) exportCard(card);
  if (chosen == copy) QGuiApplication::clipboard()->setPixmap(card.grab());
  if (chosen == values) saveValues(card);
  if (chosen == pin) Q_EMIT card.pinRequested();
}

void MonitorPage::askNote(PlotCard& card, std::optional<double> x) {
  const std::int64_t run = workbench_.selection().current();
  const store::RunRow* row = workbench_.run(run);
  if (row == nullptr) return;
  std::int64_t step = row->step;
  const CurveSeries& curve = cache_.curve(keyOf(run, card));
  const std::ptrdiff_t place = x ? curve.at(settings_.x, *x) : -1;
  if (place >= 0) step = std::llround(curve.x(XAxis::Step)[static_cast<std::size_t>(place)]);
  const std::string metric = card.metric();  // the card may go while the dialog is open
  const auto text = askText(this, tr("Note"),
                            tr("Note on %1 of %2 at step %3")
                                .arg(card.card().title, QString::fromStdString(row->name),
                                     count(step)),
                            {}, tr("Store note"));
  if (text) addNote(run, metric, step, *text);
}

void MonitorPage::askAlerts(PlotCard& card) {
  const std::string metric = card.metric();
  const QPointer<PlotCard> alive(&card);
  AlertDialog dialog(card.card().title, metric, alerts_.rulesOf(metric), this);
  if (dialog.exec() != QDialog::Accepted) return;
  alerts_.setRulesOf(metric, dialog.rules());
  if (alive) alive->setWatched(!dialog.rules().empty());
}

void MonitorPage::saveValues(PlotCard& card) {
  QString name = QString::fromStdString(card.metric()).replace(QLatin1Char('/'), QLatin1Char('-'));
  const QPointer<PlotCard> alive(&card);
  const QString path =
      askSaveFile(this, tr("Export data"), name + QStringLiteral(".csv"), tr("Table (*.csv)"));
  if (path.isEmpty() || alive == nullptr) return;
  workbench_.attempt([&] {
    QByteArray text;
    QTextStream out(&text);
    out << "run,name,step,epoch,time,value\n";
    // Of every run, also where several are one curve.
    for (const std::int64_t run : workbench_.selection().drawn()) {
      const CurveSeries& curve = cache_.curve(keyOf(run, card));
      const QString title = csvText(runNameOf(workbench_, run));
      const auto step = curve.x(XAxis::Step), epoch = curve.x(XAxis::Epoch),
                 time = curve.x(XAxis::Time), value = curve.y();
      for (std::size_t i = 0; i < value.size(); ++i) {
        out << run << ',' << title << ',' << QString::number(static_cast<qint64>(step[i])) << ','
            << QString::fromStdString(formatReal(epoch[i])) << ','
            << QString::fromStdString(formatReal(time[i])) << ','
            << QString::fromStdString(formatReal(value[i])) << '\n';
      }
    }
    out.flush();
    writeFile(path, text);
    workbench_.showMessage(tr("Saved %1.").arg(path));
  });
}

}  // namespace vitrine::ui
