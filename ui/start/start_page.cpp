#include "ui/start/start_page.h"

#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QResizeEvent>
#include <QScrollArea>
#include <QTimer>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/edit/document.h"
#include "core/remote/place.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/help_viewer.h"
#include "ui/workbench/recent_databases.h"
#include "ui/workbench/remote_link.h"

namespace vitrine::ui {
namespace {

constexpr std::size_t kMostRows = 6;  // of runs and of databases
constexpr int kTwoColumns = 760;      // px of width from which cards stand side by side
constexpr int kWidest = 1080;

}  // namespace

StartPage::StartPage(Workbench& workbench, const std::vector<PageFactory>& others, QWidget* parent)
    : Page(parent), workbench_(workbench) {
  Problem problem;
  const auto demo =
      parseDocument(builtInText(QStringLiteral("experiments/demo.toml")).toStdString(), problem);
  if (demo) demoTitle_ = QString::fromStdString(demo->title);
  headline_ = new QLabel(tr("Vitrine Studio"));
  QFont large = titleFont();
  large.setPixelSize(px(22));
  headline_->setFont(large);
  place_ = startLabel(QString(), "muted");

  auto* column = new QWidget;
  column->setMaximumWidth(px(kWidest));
  grid_ = new QGridLayout;
  grid_->setSpacing(px(12));
  first_ = makeFirst();
  tour_ = new TourOffer(workbench_, this);
  tourCard_ = tour_->makeCard();
  resumable_ = makeResumable();
  recent_ = makeRecent();
  pages_ = makePages(others);
  auto* inColumn = columnIn(column, {px(16), px(24), px(16), px(16)}, px(4));
  inColumn->addWidget(headline_);
  inColumn->addWidget(place_);
  inColumn->addSpacing(px(12));
  inColumn->addLayout(grid_);
  inColumn->addStretch(1);

  auto* canvas = withRole(new QWidget, "canvas");
  auto* centred = rowIn(canvas, {});
  centred->addStretch(1);
  centred->addWidget(column, 100);
  centred->addStretch(1);
  auto* scroll = new QScrollArea;
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setAccessibleName(tr("Start"));
  scroll->setWidget(canvas);
  auto* layout = columnIn(this, {});
  layout->addWidget(scroll);

  connect(&workbench_.queue(), &QueueService::viewChanged, this, &StartPage::later);
  connect(&workbench_.watcher(), &store::RunWatcher::dataChanged, this, &StartPage::later);
  connect(tour_, &TourOffer::changed, this, &StartPage::later);
  enqueue_.setLink(workbench_.link());
  connect(&enqueue_, &EnqueueProcess::finished, this,
          [this](const std::vector<std::int64_t>& runs) {
            workbench_.selectEnqueued(runs);
            showAll();  // the focus that comes back belongs to this page
            workbench_.showPage(QStringLiteral("monitor"));
          });
  connect(&enqueue_, &EnqueueProcess::failed, this, [this](const QString& sentence) {
    demoProblem_ = sentence;
    showAll();
  });
  showAll();
}

QFrame* StartPage::makeFirst() {
  QVBoxLayout* inside = nullptr;
  QFrame* card = startCard(tr("First steps"), inside);
  inside->addWidget(startLabel(
      tr("The demo trains two models on Fashion-MNIST, a plain vision transformer and one with a "
         "soft causal mask. Each trains 5 epochs, a minute or two on a laptop without a GPU. "
         "Curves, attention ranks and calibration appear while it runs."),
      "muted"));
  demo_ = new StartButton(tr("Run the demo"));
  demo_->setProperty("primary", true);
  demo_->setIcon(icon(Icon::Play, IconTint::OnAccent));
  connect(demo_, &QPushButton::clicked, this, &StartPage::runDemo);
  auto* create = new QPushButton(tr("New experiment"));
  connect(create, &QPushButton::clicked, this,
          [this] { workbench_.showPage(QStringLiteral("configure")); });
  auto* buttons = rowIn(nullptr, {}, px(8));
  buttons->addWidget(demo_);
  buttons->addWidget(create);
  buttons->addStretch(1);
  demoState_ = startLabel(QString(), "small");
  demoState_->setAccessibleName(tr("State of the demo"));
  inside->addLayout(buttons);
  inside->addWidget(demoState_);
  inside->addStretch(1);
  return card;
}

QFrame* StartPage::makeResumable() {
  QVBoxLayout* inside = nullptr;
  QFrame* card = startCard(tr("Continue"), inside);
  resumableText_ = startLabel(QString(), "muted");
  resumableRows_ = columnIn(nullptr, {}, 0);
  resumeAll_ = new QPushButton(tr("Resume all"));
  connect(resumeAll_, &QPushButton::clicked, this, [this] {
    workbench_.startRuns(workbench_.queue().view().resumable, jobs::QueueEnd::Back);
  });
  inside->addWidget(resumableText_);
  inside->addLayout(resumableRows_);
  inside->addWidget(resumeAll_, 0, Qt::AlignLeft);
  inside->addStretch(1);
  return card;
}

QFrame* StartPage::makeRecent() {
  QVBoxLayout* inside = nullptr;
  QFrame* card = startCard(tr("Other databases"), inside);
  recentRows_ = columnIn(nullptr, {}, 0);
  inside->addLayout(recentRows_);
  inside->addStretch(1);
  return card;
}

QFrame* StartPage::makePages(const std::vector<PageFactory>& others) {
  QVBoxLayout* inside = nullptr;
  QFrame* card = startCard(tr("Pages worth seeing first"), inside);
  for (const PageFactory& page : others) {
    if (page.about.isEmpty()) continue;
    auto* open = withName(new QPushButton(page.title), tr("Open %1").arg(page.title));
    open->setMinimumWidth(px(104));
    connect(open, &QPushButton::clicked, this, [this, id = page.id] { workbench_.showPage(id); });
    auto* line = rowIn(nullptr, {}, px(12));
    line->addWidget(open, 0, Qt::AlignTop);
    line->addWidget(startLabel(page.about, "small"), 1);
    inside->addLayout(line);
  }
  inside->addStretch(1);
  return card;
}

void StartPage::runDemo() {
  std::vector<std::int64_t> runs;
  switch (demoNow(runs)) {
    case Demo::Done:
    case Demo::Waiting:
    case Demo::Running:
      workbench_.selection().setRuns(runs, runs.front());
      workbench_.showPage(QStringLiteral("monitor"));
      return;
    case Demo::Broken:
      workbench_.startRuns(runs, jobs::QueueEnd::Front);
      workbench_.selection().setRuns(runs, runs.front());
      workbench_.showPage(QStringLiteral("monitor"));
      return;
    case Demo::Preparing:
      return;
    case Demo::Missing:
      break;
  }
  demoProblem_.clear();
  try {
    enqueue_.start(builtInText(QStringLiteral("experiments/demo.toml")).toStdString(),
                   demoTitle_.toStdString(), workbench_.store().file(), jobs::QueueEnd::Front);
  } catch (const Error& error) {
    demoProblem_ = QString::fromUtf8(error.what());
  }
  showAll();
}

StartPage::Demo StartPage::demoNow(std::vector<std::int64_t>& runs) const {
  if (enqueue_.isRunning()) return Demo::Preparing;
  bool isRunning = false, isWaiting = false, isBroken = false;
  for (const auto& [id, row] : workbench_.runs()) {
    if (row.experiment != demoTitle_.toStdString()) continue;
    runs.push_back(id);
    const bool isQueued = row.state == store::RunState::Queued;
    isRunning = isRunning || isAlive(row.state);
    isWaiting = isWaiting || isQueued;
    isBroken = isBroken || (row.state != store::RunState::Done && !isAlive(row.state) && !isQueued);
  }
  if (runs.empty()) return Demo::Missing;
  if (isRunning) return Demo::Running;
  if (isBroken) return Demo::Broken;
  return isWaiting ? Demo::Waiting : Demo::Done;
}

void StartPage::showDemo() {
  std::vector<std::int64_t> runs;
  const Demo demo = demoNow(runs);
  demo_->setReady(demo != Demo::Preparing);
  QString state;
  switch (demo) {
    case Demo::Missing:
      demo_->setText(tr("Run the demo"));
      break;
    case Demo::Preparing:
      demo_->setText(tr("Preparing the demo"));
      state = tr("One step of each model is tried, then both go into the queue.");
      break;
    case Demo::Waiting:
      demo_->setText(tr("Show the demo"));
      state = tr("Both models wait in the queue.");
      break;
    case Demo::Running: {
      demo_->setText(tr("Show the demo"));
      std::int64_t step = 0, total = 0;
      for (const std::int64_t id : runs) {
        step += workbench_.runs().at(id).step;
        total += workbench_.runs().at(id).totalSteps;
      }
      state = total > 0
                  ? tr("Training: %1 of all steps.")
                        .arg(percent(static_cast<double>(step) / static_cast<double>(total), 0))
                  : tr("Training.");
      break;
    }
    case Demo::Broken:
      demo_->setText(tr("Continue the demo"));
      state = tr("The demo ended before it was finished; it continues from its checkpoints.");
      break;
    case Demo::Done:
      demo_->setText(tr("Show the demo"));
      state = tr("Both models are trained. Artifacts shows the results of the analyses.");
      break;
  }
  if (!demoProblem_.isEmpty()) state = demoProblem_;
  setStartState(*demoState_, state, !demoProblem_.isEmpty());
}

void StartPage::showResumable() {
  std::vector<StartRow> rows;
  const QueueView& queue = workbench_.queue().view();
  std::vector<std::int64_t> shown = queue.running;
  const std::size_t alive = shown.size();
  shown.insert(shown.end(), queue.resumable.begin(), queue.resumable.end());
  for (std::size_t i = 0; i < shown.size() && i < kMostRows; ++i) {
    const std::int64_t id = shown[i];
    const auto found = queue.rows.find(id);
    if (found == queue.rows.end()) continue;
    const store::RunRow& row = found->second;
    const bool isRunning = i < alive;
    const QString name = QStringLiteral("#%1 %2").arg(id).arg(QString::fromStdString(row.name));
    const QString act = isRunning ? tr("Watch") : tr("Resume");
    QString about = QString::fromStdString(toString(row.state));
    if (row.totalSteps > 0)
      about += tr(" \u00b7 step %1 of %2").arg(count(row.step), count(row.totalSteps));
    if (!isRunning && !row.reason.empty())
      about += QStringLiteral(" \u00b7 ") + QString::fromStdString(row.reason);
    const QString actName = QStringLiteral("%1 %2").arg(act, name);
    rows.push_back({actName, name, about, act, actName, {}, [this, id, isRunning] {
                      workbench_.selection().setRuns({id}, id);
                      if (isRunning)
                        workbench_.showPage(QStringLiteral("monitor"));
                      else
                        workbench_.startRuns({id}, jobs::QueueEnd::Back);
                    }});
  }
  const auto waiting = static_cast<std::int64_t>(queue.waiting().size());
  if (waiting > 0) {
    rows.push_back({QStringLiteral("queue"),
                    waiting == 1 ? tr("1 run waits in the queue")
                                 : tr("%1 runs wait in the queue").arg(count(waiting)),
                    queue.mode == store::QueueMode::Running
                        ? tr("it starts by itself when a device is free")
                        : tr("the queue is paused: nothing new starts"),
                    tr("Queue"),
                    tr("Show the queue"),
                    {},
                    [this] { workbench_.showPage(QStringLiteral("queue")); }});
  }
  showStartRows(*resumableRows_, rows);
  const std::size_t hidden = shown.size() > kMostRows ? shown.size() - kMostRows : 0;
  if (shown.empty() && waiting == 0) {
    resumableText_->setText(
        tr("Nothing is running and nothing was interrupted. Runs that a crash or a "
           "pause ended are offered here and continue from their newest checkpoint."));
  } else if (hidden > 0) {
    resumableText_->setText(
        tr("%1 more are on the Queue page.").arg(count(static_cast<qint64>(hidden))));
  }
  resumableText_->setVisible((shown.empty() && waiting == 0) || hidden > 0);
  resumeAll_->setVisible(queue.resumable.size() > 1);
}

void StartPage::showRecent() {
  std::vector<StartRow> rows;
  const RemoteLink* link = workbench_.link();
  const QString here = link != nullptr
                           ? link->url()
                           : QFileInfo(QString::fromStdString(workbench_.store().file().string()))
                                 .absoluteFilePath();
  for (const QString& file : recentDatabases()) {
    if (file == here || rows.size() == kMostRows) continue;
    const QFileInfo info(file);
    const bool isRemote = remote::isRemotePlace(file.toStdString());
    const QString name = isRemote
                             ? file.section(QLatin1Char('?'), 0, 0).section(QLatin1Char('/'), -1)
                             : info.fileName();
    rows.push_back({file, name,
                    isRemote ? file
                             : QStringLiteral("%1 \u00b7 %2")
                                   .arg(QString::fromStdString(formatBytes(info.size())),
                                        QDir::toNativeSeparators(info.absolutePath())),
                    tr("Open"), tr("Open %1").arg(name), tr("In a window of its own"),
                    [this, file] { workbench_.openFile(file); }});
  }
  showStartRows(*recentRows_, rows);
  recent_->setVisible(!rows.empty());
}

void StartPage::showAll() {
  const auto runs = static_cast<std::int64_t>(workbench_.runs().size());
  // Of another machine it is the database there, not the copy of it.
  const RemoteLink* link = workbench_.link();
  const QString place =
      link != nullptr
          ? link->url()
          : QDir::toNativeSeparators(QString::fromStdString(workbench_.store().file().string()));
  place_->setText(
      tr("%1 \u00b7 %2")
          .arg(place, runs == 0 ? tr("no runs yet") : counted(runs, tr("run"), tr("runs"))));
  showDemo();
  tour_->show();
  showResumable();
  showRecent();
  // Two columns where there is room.
  const bool isWide = width() >= px(kTwoColumns);
  QList<QFrame*> cards{first_, tourCard_, resumable_};
  if (!recent_->isHidden()) cards << recent_;
  cards << pages_;
  if (cards == placed_ && isWide == isPlacedWide_) return;  // laying out again is not for nothing
  placed_ = cards;
  isPlacedWide_ = isWide;
  for (QFrame* card : cards) grid_->removeWidget(card);
  for (int i = 0; i < cards.size(); ++i) {
    const bool isLastAlone = isWide && i == cards.size() - 1 && i % 2 == 0;
    grid_->addWidget(cards[i], isWide ? i / 2 : i, isWide ? i % 2 : 0, 1, isLastAlone ? 2 : 1);
  }
  grid_->setColumnStretch(0, 1);
  grid_->setColumnStretch(1, isWide ? 1 : 0);
}

void StartPage::later() {
  if (isPlanned_ || !isVisible()) return;
  isPlanned_ = true;
  QTimer::singleShot(250, this, [this] {
    isPlanned_ = false;
    showAll();
  });
}

void StartPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  showAll();
}

void StartPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const bool wasWide = event->oldSize().width() >= px(kTwoColumns);
  if (wasWide != (event->size().width() >= px(kTwoColumns))) showAll();
}

void StartPage::waitUntilIdle() {
  workbench_.queue().waitUntilIdle();
  showAll();
  // New rows are shown and laid out now, not at the next turn of the event loop.
  for (QVBoxLayout* rows : {resumableRows_, recentRows_}) {
    for (int i = 0; i < rows->count(); ++i) rows->itemAt(i)->widget()->show();
  }
  layOutNow();
}

PageFactory startPage(std::vector<PageFactory> others) {
  return {QStringLiteral("start"), StartPage::tr("Start"),
          [others = std::move(others)](Workbench& workbench, QWidget* parent) {
            return new StartPage(workbench, others, parent);
          }};
}

}  // namespace vitrine::ui
