#include "ui/live/live_page.h"

#include <QEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QThread>
#include <QVBoxLayout>
#include <utility>

#include "core/base/error.h"
#include "core/store/run_card.h"
#include "core/store/types.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/live/gl_view.h"
#include "ui/live/live_values.h"
#include "ui/live/raster_view.h"
#include "ui/workbench/help_viewer.h"
#include "ui/workbench/page_commands.h"
#include "ui/workbench/remote_link.h"
#include "ui/workbench/sampling/class_names.h"

namespace vitrine::ui {

namespace {

constexpr int kValuesWidth = 280;  // design pixels
constexpr int kLookMs = 50;        // frames come at most every 100 ms

/// What moves with the schedule is recorded under names of its own, not with the losses and scores.
bool isScheduleName(const std::string& name) {
  return name.starts_with("model/") || name.starts_with("task/");
}

LiveCurve curveOf(const std::vector<store::MetricPoint>& points) {
  LiveCurve curve;
  for (const store::MetricPoint& point : points) {
    const auto step = static_cast<double>(point.step);
    while (!curve.empty() && curve.back().first >= step) curve.pop_back();
    curve.emplace_back(step, point.value);
  }
  return curve;
}

}  // namespace

LivePage::LivePage(Workbench& workbench, QWidget* parent)
    : Page(parent),
      workbench_(workbench),
      scene_(model_, [this] { onChoice(); }),
      canvas_([this](LiveCanvas& canvas) { scene_.draw(canvas); }),
      reader_(workbench.store().file()),
      stack_(new QStackedWidget(this)),
      empty_(new EmptyPage(QString(), QString(), this)) {
  auto* column = columnIn(this, {});
  column->addWidget(stack_);
  live_ = new QWidget(stack_);
  auto* rows = columnIn(live_, {}, 0);
  auto* line = rowIn(nullptr, {px(12), px(4), px(12), px(4)}, px(12));
  state_ = new ElidedLabel(live_);
  status_ = withRole(new ElidedLabel(live_), "small");
  status_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  line->addWidget(state_);
  line->addWidget(status_, 1);
  rows->addLayout(line);
  place_ = columnIn(nullptr, {});
  auto* across = rowIn(nullptr, {}, 0);
  across->addLayout(place_, 1);
  values_ = new LiveValues(live_);
  valuesArea_ = makeFitArea(values_, live_);
  valuesArea_->setFixedWidth(px(kValuesWidth));
  valuesArea_->hide();
  across->addWidget(valuesArea_);
  rows->addLayout(across, 1);
  emptyArea_ = makeFitArea(empty_, this);
  stack_->addWidget(emptyArea_);
  stack_->addWidget(live_);
  setFocusPolicy(Qt::StrongFocus);
  makeActions();
  clock_.setInterval(kLookMs);
  connect(&clock_, &QTimer::timeout, this, &LivePage::look);
  connect(empty_, &EmptyPage::actionRequested, this, &LivePage::takeWayOn);
  connect(&enqueue_, &EnqueueProcess::finished, this,
          [this](const std::vector<std::int64_t>& runs) {
            workbench_.selectEnqueued(runs);  // watched once it trains
            explain();
          });
  connect(&enqueue_, &EnqueueProcess::failed, this, [this](const QString& sentence) {
    workbench_.showError(sentence);
    explain();
  });
  connect(&workbench_.selection(), &Selection::runsChanged, this, &LivePage::choose);
  connect(&workbench_.watcher(), &store::RunWatcher::runsChanged, this, &LivePage::choose);
  connect(&workbench_.queue(), &QueueService::viewChanged, this, &LivePage::explain);
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    canvas_.restyle();
    redraw();
  });
  explain();
}

LivePage::~LivePage() {
  delete ownWindow_;
  delete viewWidget_;  // before the canvas, whose textures it holds
}

void LivePage::makeActions() {
  const auto action = [this](const QString& text, Icon image, const QString& tip) {
    auto* made = new QAction(icon(image), text, this);
    made->setToolTip(tip);
    return made;
  };
  freeze_ = action(tr("Freeze"), Icon::Pause,
                   tr("Hold the picture while the training continues (Space)"));
  freeze_->setCheckable(true);
  connect(freeze_, &QAction::toggled, this, [this](bool isOn) {
    model_.freeze(isOn);
    redraw();
  });
  follow_ = action(tr("Follow"), Icon::Follow, tr("Go to the newest step (End)"));
  connect(follow_, &QAction::triggered, this, [this] {
    freeze_->setChecked(false);
    model_.scrub(std::nullopt);
    redraw();
  });
  own_ = action(tr("Own window"), Icon::Front, tr("Show the picture in a window of its own"));
  own_->setCheckable(true);
  own_->setProperty(kWhyNot, tr("no frame of a run was seen yet"));
  own_->setEnabled(false);
  connect(own_, &QAction::toggled, this, &LivePage::setOwnWindow);
  valuesAction_ =
      action(tr("Values"), Icon::Panel, tr("Show the numbers behind the picture as tables (T)"));
  valuesAction_->setCheckable(true);
  connect(valuesAction_, &QAction::toggled, this, [this](bool isOn) {
    valuesArea_->setVisible(isOn);
    redraw();
    Q_EMIT viewChanged();
  });
  export_ = new QAction(tr("Export"), this);
  export_->setToolTip(tr("Save a part of the picture as a figure"));
  auto* menu = new QMenu(tr("Export"), this);
  for (const auto& [text, part] :
       {std::pair(tr("Attention\u2026"), FigurePart::Attention),
        std::pair(tr("Schedule and loss change\u2026"), FigurePart::Schedule),
        std::pair(tr("Mask and attention matrix\u2026"), FigurePart::Matrices),
        std::pair(tr("Images being denoised\u2026"), FigurePart::Film),
        std::pair(tr("Step time\u2026"), FigurePart::Steps)}) {
    connect(menu->addAction(text), &QAction::triggered, this,
            [this, part = part] { exportPart(part); });
  }
  export_->setMenu(menu);
  reset_ =
      action(tr("Reset layout"), Icon::Refresh, tr("Restore the places of the floating windows"));
  connect(reset_, &QAction::triggered, this, [this] {
    canvas_.arrange();
    redraw();
  });
}

QList<QAction*> LivePage::tools() {
  return {freeze_, follow_, own_, reset_, valuesAction_, export_};
}

const store::RunRow* LivePage::otherRunning() {
  for (const auto& [id, row] : workbench_.runs()) {
    if (row.state == store::RunState::Running && id != run_) return &row;
  }
  return nullptr;
}

// A run that `train` stored is queued, too, and waits for nothing.
bool LivePage::hasWaiting() const { return !workbench_.queue().view().waiting().empty(); }

void LivePage::takeWayOn() {
  if (const store::RunRow* other = otherRunning())
    workbench_.selection().setRuns({other->id}, other->id);
  else if (hasWaiting())
    workbench_.showPage(QStringLiteral("queue"));
  else
    trainDemo();
}

void LivePage::trainDemo() {
  workbench_.attempt([&] {
    enqueue_.start(builtInText(QStringLiteral("experiments/demo.toml")).toStdString(), "demo",
                   workbench_.store().file(), jobs::QueueEnd::Front);
  });
  explain();
}

void LivePage::choose() {
  if (!isVisible() && ownWindow_ == nullptr) return;
  const std::int64_t id = workbench_.selection().current();
  const store::RunRow* row = id == 0 ? nullptr : workbench_.run(id);
  const bool canWatch = row != nullptr && workbench_.link() == nullptr &&
                        row->state == store::RunState::Running && store::isWorkerAlive(row->worker);
  if (row == nullptr || (id != run_ && !canWatch)) {
    leave();
    run_ = 0;
    model_.begin(0);
  } else if (canWatch && !(isWatching() && id == run_)) {
    watch(*row);
  } else if (!canWatch) {
    leave();  // what was seen stays to be looked at
  }
  explain();
}

void LivePage::watch(const store::RunRow& row) {
  leave();
  refused_.clear();
  if (row.id != run_ || runUuid_ != QString::fromStdString(row.uuid)) {
    model_.begin(row.totalSteps);
    freeze_->setChecked(false);
  }
  run_ = row.id;
  runUuid_ = QString::fromStdString(row.uuid);
  try {
    viewer_ = std::make_unique<live::Viewer>(row.worker.pid, row.uuid);
    wished_ = model_.wishes();
    viewer_->wish(wished_);
    trainer_ = viewer_->beat();
  } catch (const Error& error) {
    viewer_.reset();
    refused_ = QString::fromStdString(error.what());
    return;
  }
  begun_ = live::liveNow();
  clock_.start();
  readStored();
}

void LivePage::leave() {
  clock_.stop();
  viewer_.reset();
  trainer_ = live::TrainerState::Waiting;
}

void LivePage::readStored() {
  reader_.run([this, run = run_](store::RunReader& store,
                                 const std::atomic<bool>& isStale) -> Background::Finish {
    std::map<std::string, LiveCurve> schedule;
    const std::vector<std::string> names = store.metricNames(run);
    for (const std::string& name : names) {
      if (isStale) return [] {};
      if (isScheduleName(name)) schedule[name] = curveOf(store.points(run, name));
    }
    LiveCurve loss = curveOf(store.points(run, "train/loss"));
    QStringList classNames = readClassNames(store, isStale).of(run);
    return [this, run, names, task = store::taskOf(store.config(run)),
            classNames = std::move(classNames), schedule = std::move(schedule),
            loss = std::move(loss)]() mutable {
      if (run != run_) return;
      model_.setStored(std::move(schedule), std::move(loss));
      model_.unit = store::runCard(store::cardOf(workbench_.cards(), task), names, {}).unit;
      model_.classNames = std::move(classNames);
      redraw();
    };
  });
}

void LivePage::look() {
  if (viewer_ == nullptr) return;
  try {
    trainer_ = viewer_->beat();
  } catch (const Error& error) {
    refused_ = QString::fromStdString(error.what());
    leave();
    explain();
    return;
  }
  const live::Wishes wishes = model_.wishes();
  if (wishes != wished_) {
    wished_ = wishes;
    viewer_->wish(wishes);
  }
  if (const auto frame = viewer_->take()) takeFrame(*frame);
  if (trainer_ == live::TrainerState::Gone) {
    leave();
    trainer_ = live::TrainerState::Gone;
  }
  showStatus();
  if (!model_.hasFrame()) explain();
}

void LivePage::takeFrame(const std::vector<std::byte>& bytes) {
  auto frame = live::decode(bytes);
  if (!frame) return;  // not of this program: the next one may be
  const bool isFirst = !model_.hasFrame();
  model_.noteArrival(live::liveNow());
  model_.add(std::move(*frame));
  if (sharedImage_ != model_.image) shareFocus();
  if (isFirst) explain();
  if (!model_.isFrozen() || isFirst) redraw();
}

void LivePage::onChoice() {
  const live::Wishes wishes = model_.wishes();
  if (viewer_ != nullptr && wishes != wished_) {
    wished_ = wishes;
    viewer_->wish(wishes);
  }
  shareFocus();
  setAccessibleDescription(described());
  Q_EMIT viewChanged();
  redraw();
}

void LivePage::explain() {
  const std::int64_t id = workbench_.selection().current();
  const store::RunRow* row = id == 0 ? nullptr : workbench_.run(id);
  const bool isShown = model_.hasFrame() && run_ == id;
  if (!isShown) {
    QString sentence, button;
    if (workbench_.link() != nullptr) {
      sentence = tr(
          "A run can be watched on the machine where it trains; this database is on another one.");
    } else if (!refused_.isEmpty()) {
      sentence = refused_;
    } else if (isWatching()) {
      sentence = tr("Waiting for the next step of \u201c%1\u201d\u2026")
                     .arg(row == nullptr ? QString() : QString::fromStdString(row->name));
    } else {
      sentence = row == nullptr ? tr("Select a run that trains: its attention, schedule and step "
                                     "time are shown here, live.")
                                : tr("\u201c%1\u201d is %2. A run is watched while it trains.")
                                      .arg(QString::fromStdString(row->name),
                                           QString::fromStdString(store::toString(row->state)));
      if (const store::RunRow* other = otherRunning()) {
        button = tr("Watch \u201c%1\u201d").arg(QString::fromStdString(other->name));
      } else if (hasWaiting()) {
        sentence += QLatin1Char(' ') + tr("Runs wait in the queue.");
        button = tr("Show the queue");
      } else if (enqueue_.isRunning()) {
        sentence = tr("One step of each model of the demo is tried, then they go into the queue.");
      } else {
        sentence += QLatin1Char(' ') +
                    tr("The demo trains two models. Cost: 2 runs, a minute or two on a laptop "
                       "without a GPU.");
        button = tr("Train the demo");
      }
    }
    empty_->showMessage(sentence, button);
    stack_->setCurrentWidget(emptyArea_);
    return;
  }
  if (viewWidget_ == nullptr)
    placeView(live_, openGlProblem().isEmpty() ? Painter::OpenGl : Painter::Processor);
  own_->setEnabled(true);
  stack_->setCurrentWidget(live_);
  showStatus();
}

void LivePage::showStatus() {
  if (stack_->currentWidget() != live_) return;
  const store::RunRow* row = run_ == 0 ? nullptr : workbench_.run(run_);
  const live::Frame& frame = model_.newest();
  // A long name leaves room for what is said about the run.
  const QString name = row == nullptr ? QString() : QString::fromStdString(row->name);
  const QString shown = state_->fontMetrics().elidedText(name, Qt::ElideMiddle, px(240));
  QString state = row == nullptr ? QString() : QStringLiteral(" \u00B7 ");
  if (trainer_ == live::TrainerState::Ended || trainer_ == live::TrainerState::Gone ||
      !isWatching())
    state += tr("not training any more; the last frames stay");
  else
    state += tr("step %1 of %2").arg(count(frame.step), count(frame.totalSteps));
  state_->setText(shown + state);
  state_->setWhole(shown == name ? QString() : name + state);
  QStringList facts;
  if (isWatching())
    facts << tr("%1 updates per second").arg(number(model_.framesPerSecond(live::liveNow()), 1));
  const double drawn = gl_ ? gl_->drawSeconds() : raster_ ? raster_->drawSeconds() : 0;
  if (drawn > 0)
    facts << tr("drawn in %1\u2009ms, %2")
                 .arg(number(drawn * 1e3, 1), gl_ ? gl_->renderer().section(QLatin1Char(' '), 0, 0)
                                                  : tr("by the processor"));
  facts << tr("frames cost %1 of the training time").arg(percent(frame.watchShare, 1));
  if (!frame.error.empty()) facts << QString::fromStdString(frame.error);
  status_->setText(facts.join(QStringLiteral(" \u00B7 ")));
  const QString problem = gl_ == nullptr ? openGlProblem() : QString();
  status_->setWhole(problem.isEmpty() ? QString() : status_->text() + QLatin1Char('\n') + problem);
  status_->setAccessibleDescription(problem);
}

void LivePage::redraw() {
  if (gl_) gl_->requestUpdate();
  if (raster_) raster_->redraw();
  if (valuesArea_ != nullptr && valuesAction_->isChecked()) values_->show(model_);
}

void LivePage::placeView(QWidget* into, Painter painter) {
  delete viewWidget_;
  if (painter == Painter::OpenGl) {
    gl_ = new GlView(canvas_);
    gl_->installEventFilter(this);
    viewWidget_ = QWidget::createWindowContainer(gl_, into);
    viewWidget_->setFocusPolicy(Qt::StrongFocus);
  } else {
    raster_ = new RasterView(canvas_, into);
    viewWidget_ = raster_;
  }
  viewWidget_->setAccessibleName(tr("Live picture of the model"));
  viewWidget_->setMinimumSize(px(320), px(240));
  if (into == live_)
    place_->addWidget(viewWidget_, 1);
  else
    into->layout()->addWidget(viewWidget_);
  viewWidget_->show();
}

void LivePage::setOwnWindow(bool isOn) {
  if (viewWidget_ == nullptr) return;
  const Painter painter = gl_ ? Painter::OpenGl : Painter::Processor;
  if (isOn) {
    ownWindow_ = new QWidget(this, Qt::Window);
    ownWindow_->setWindowTitle(tr("Live"));
    (new QVBoxLayout(ownWindow_))->setContentsMargins(0, 0, 0, 0);
    ownWindow_->installEventFilter(this);
    ownWindow_->resize(px(1100), px(720));
    placeView(ownWindow_, painter);
    away_ = new EmptyPage(tr("The picture is in a window of its own."), tr("Show it here"), live_);
    connect(away_, &EmptyPage::actionRequested, own_, [this] { own_->setChecked(false); });
    place_->addWidget(away_, 1);
    away_->show();
    ownWindow_->show();
  } else {
    // Not deleted at once: its button may have been clicked.
    place_->removeWidget(away_);
    away_->hide();
    away_->deleteLater();
    placeView(live_, painter);
    // Not deleted at once: it may be on its way of closing.
    QWidget* closing = ownWindow_;
    ownWindow_.clear();
    closing->hide();
    closing->deleteLater();
    if (!isVisible()) leave();
  }
}

bool LivePage::eventFilter(QObject* object, QEvent* event) {
  if (object == ownWindow_ && event->type() == QEvent::Close) {
    own_->setChecked(false);
    return true;
  }
  if ((object == gl_ || object == ownWindow_) && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (ownWindow_ == nullptr || key->key() != Qt::Key_Escape)
      return takeKey(key->key(), key->modifiers());
    // Not closed at once: the view that has the key is deleted with its window.
    QMetaObject::invokeMethod(ownWindow_.data(), &QWidget::close, Qt::QueuedConnection);
    return true;
  }
  return Page::eventFilter(object, event);
}

void LivePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  choose();
}

void LivePage::hideEvent(QHideEvent* event) {
  Page::hideEvent(event);
  // A page behind another is not watched; its own window is.
  if (ownWindow_ == nullptr) leave();
}

void LivePage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::FontChange) {
    canvas_.restyle();
    redraw();
  }
}

void LivePage::waitUntilIdle() {
  if (isVisible()) choose();
  reader_.waitUntilIdle();
  // A picture of a run that trains shows its first frame, not the waiting for it. A trainer that
  // has not seen the window in a second may be far from its next step.
  const double start = live::liveNow();
  const auto limit = [this] { return trainer_ == live::TrainerState::Waiting ? 1.0 : 5.0; };
  while (isWatching() && !model_.hasFrame() && live::liveNow() - start < limit()) {
    look();
    QThread::msleep(10);
  }
}

QImage LivePage::snapshot(QSize size, double scale) {
  const bool isGl = gl_ != nullptr;
  if (isGl) placeView(live_, Painter::Processor);
  const QImage image = Page::snapshot(size, scale);
  if (isGl) placeView(ownWindow_ ? ownWindow_.data() : live_, Painter::OpenGl);
  return image;
}

}  // namespace vitrine::ui
