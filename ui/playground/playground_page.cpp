// The views of the Playground: the drawing, the image that is selected, its steps and its recipe.
#include "ui/playground/playground_page.h"

#include <QComboBox>
#include <QDateTime>
#include <QEventLoop>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QSplitter>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "ui/figures/painting.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/playground/drawing_history.h"
#include "ui/playground/film_strip.h"
#include "ui/playground/image_board.h"
#include "ui/workbench/fact_table.h"
#include "ui/workbench/page_commands.h"
#include "ui/workbench/sampling/class_names.h"

namespace vitrine::ui {

namespace {

constexpr int kReloadEveryMs = 500;
constexpr int kWarmAfterMs = 300;  // typing is not a choice yet
constexpr int kPlayEveryMs = 200;
constexpr std::size_t kMostHistory = 100;

}  // namespace

PlaygroundPage::PlaygroundPage(Workbench& workbench, QWidget* parent)
    : ReadingPage(parent),
      workbench_(workbench),
      lists_(workbench.store().file()),
      worker_(workbench.models(), workbench.store().file()),
      pictures_(workbench.models()),
      offer_(workbench),
      stack_(new PageStack(this)) {
  setMinimumSize(240, 140);
  makeActions();
  auto* column = columnIn(stack_->content(), {px(12), px(12), px(12), px(12)}, px(12));
  column->addWidget(makeLending());
  across_ = withRole(new QSplitter(stack_->content()), "gap");
  across_->setChildrenCollapsible(false);
  across_->setHandleWidth(px(12));
  across_->addWidget(makeSettings());
  down_ = withRole(new QSplitter(Qt::Vertical, across_), "gap");
  down_->setChildrenCollapsible(false);
  down_->setHandleWidth(px(12));
  down_->addWidget(makeBoard());
  down_->addWidget(makeFilm());
  down_->setStretchFactor(0, 1);
  across_->addWidget(down_);
  column->addWidget(across_, 1);
  makeSide();
  placeSide();
  connect(&stack_->empty(), &EmptyPage::actionRequested, &offer_, &DrawingOffer::press);
  connect(&offer_, &DrawingOffer::changed, this, [this] {
    if (drawable_.runs.empty()) showNothingDraws();
  });

  for (auto [timer, milliseconds] :
       {std::pair(&reloadTimer_, kReloadEveryMs), std::pair(&warmTimer_, kWarmAfterMs)}) {
    timer->setSingleShot(true);
    timer->setInterval(milliseconds);
  }
  playTimer_.setInterval(kPlayEveryMs);
  connect(&reloadTimer_, &QTimer::timeout, this, &PlaygroundPage::reload);
  connect(&warmTimer_, &QTimer::timeout, this, &PlaygroundPage::warm);
  connect(&playTimer_, &QTimer::timeout, this, [this] {
    if (film_->step() + 1 >= film_->frameCount())
      playButton_->setChecked(false);
    else
      film_->setStep(film_->step() + 1);
  });
  connect(&workbench_.watcher(), &store::RunWatcher::dataChanged, this, [this] {
    isStale_ = true;
    showLending();
    if (isVisible()) readLater();
  });
  connect(&workbench_.queue(), &QueueService::viewChanged, this, &PlaygroundPage::showLending);
  connect(&workbench_.queue(), &QueueService::failed, this, &PlaygroundPage::forgetUnpaused);
  connect(&workbench_.selection(), &Selection::runsChanged, this, [this] {
    const std::int64_t current = workbench_.selection().current();
    if (drawable(current) != nullptr) chooseRun(current);
  });
  connect(&workbench_.selection(), &Selection::recalled, this, &PlaygroundPage::takeRecipe);
  connect(&workbench_, &Workbench::catalogReady, this, [this] { changed(); });
  connect(&workbench_, &Workbench::catalogFailed, this, [this](const QString& sentence) {
    if (drawable_.runs.empty()) stack_->showEmpty(sentence);
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    colourRuns();
    film_->update();
    board_->update();
    showHistory();
  });
  connect(&lists_, &Background::failed, this, [this](const QString& sentence) {
    stack_->showEmpty(tr("The runs cannot be read: %1").arg(sentence));
  });
  connect(&worker_, &DrawWorker::changed, this, &PlaygroundPage::showProgress);
  connect(&worker_, &DrawWorker::ended, this, &PlaygroundPage::takeEnd);
  connect(&pictures_, &SamplePictures::ended, this, [this] {
    // What cannot be read is not asked for again.
    const std::size_t cell = describedCell_;
    (void)takeDescribed(cell);
    readDescribed(cell + 1);
  });
  connect(&worker_, &DrawWorker::warmed, this, &PlaygroundPage::takeWarm);
  connect(&worker_, &DrawWorker::warmFailed, this, [this](const QString& sentence) {
    warmText_.clear();
    wantsDraw_ = false;
    showError(sentence);
    showButtons();
  });
  stack_->showEmpty(tr("Reading which runs can draw\u2026"));
  showButtons();
  showFilm(false);
  showRecipe();
}

PlaygroundPage::~PlaygroundPage() {
  // The answers to pending requests are dropped.
  worker_.disconnect(this);
}

void PlaygroundPage::waitUntilIdle() {
  placeSide();
  workbench_.waitForCards();
  if (isStale_) reload();
  lists_.waitUntilIdle();
  if (!worker_.isBusy() && !wantsDraw_) return;
  QEventLoop loop;
  connect(&worker_, &DrawWorker::ended, &loop, [&] {
    if (!wantsDraw_ && !worker_.isBusy()) loop.quit();
  });
  connect(&worker_, &DrawWorker::warmFailed, &loop, &QEventLoop::quit);
  loop.exec();
}

QAction* PlaygroundPage::ownAction(const QKeyEvent& event) const {
  const QKeySequence pressed(event.keyCombination());
  for (QAction* one : {draw_, cancel_}) {
    if (one->shortcuts().contains(pressed)) return one;
  }
  return nullptr;
}

// On this page the key that starts a run elsewhere draws.
bool PlaygroundPage::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride &&
      ownAction(*static_cast<QKeyEvent*>(event)) != nullptr) {
    event->accept();
    return true;
  }
  return Page::event(event);
}

void PlaygroundPage::keyPressEvent(QKeyEvent* event) {
  if (QAction* own = ownAction(*event); own != nullptr) {
    own->trigger();
    return;
  }
  Page::keyPressEvent(event);
}

void PlaygroundPage::showEvent(QShowEvent* event) {
  ReadingPage::showEvent(event);
  showLending();
  if (warmText_.isEmpty()) warmTimer_.start();
}

void PlaygroundPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  // Not at once: a splitter deletes its handle. Qt's list of widgets that get a new style, from
  // which this resize can come, does not survive that.
  QMetaObject::invokeMethod(this, &PlaygroundPage::placeSide, Qt::QueuedConnection);
}

SampleSettings PlaygroundPage::settings() const {
  SampleSettings settings{.values = form_->values()};
  const auto take = [&](const char* key, std::string& into) {
    into = stateText(settings.values, key, into);
    settings.values.erase(key);
  };
  settings.model.run = run_;
  settings.values.erase(kRunKey);  // of a grid alone
  take(kCheckpointKey, settings.model.checkpoint);
  take(kWeightsKey, settings.model.use);
  take(kSamplerKey, settings.sampler);
  take("device", settings.model.device);
  return settings;
}

const DrawableRun* PlaygroundPage::drawable(std::int64_t run) const {
  const auto found = std::find_if(drawable_.runs.begin(), drawable_.runs.end(),
                                  [&](const DrawableRun& each) { return each.id == run; });
  return found == drawable_.runs.end() ? nullptr : &*found;
}

QStringList PlaygroundPage::classNames(std::int64_t run) const {
  const DrawableRun* one = drawable(run);
  const auto names =
      one == nullptr ? drawable_.classNames.end() : drawable_.classNames.find(one->dataset);
  return names == drawable_.classNames.end() ? QStringList() : names->second;
}

const DrawnCell* PlaygroundPage::selectedCell() const {
  if (shown_ == nullptr) return nullptr;
  const auto cell = static_cast<std::size_t>(board_->selected().cell);
  return cell < shown_->cells.size() ? &shown_->cells[cell] : nullptr;
}

const DrawnImage* PlaygroundPage::selectedImage() const {
  const DrawnCell* cell = selectedCell();
  const auto image = static_cast<std::size_t>(board_->selected().image);
  return cell != nullptr && image < cell->images.size() ? &cell->images[image] : nullptr;
}

bool PlaygroundPage::canReplay() const {
  const DrawnCell* cell = selectedCell();
  if (selectedImage() == nullptr) return false;
  const Schema schema = samplerSchema(workbench_.catalog(), cell->settings.sampler);
  return schema.find("attention") != nullptr && schema.find("previews") != nullptr;
}

// A click is answered at once: a model that is still being loaded draws as soon as it is there.
void PlaygroundPage::draw() {
  if (drawable(run_) == nullptr || !form_->error().isEmpty() || worker_.isBusy()) return;
  showError({});
  if (!isSamplerKnown_ && (worker_.isWarming() || warmTimer_.isActive())) {
    wantsDraw_ = true;
    if (warmTimer_.isActive()) {
      warmTimer_.stop();
      warm();
    }
    showButtons();
    return;
  }
  startDrawing();
}

void PlaygroundPage::startDrawing() {
  wantsDraw_ = false;
  auto drawing = std::make_shared<Drawing>();
  drawing->number = history_.empty() ? 1 : history_.back()->number + 1;
  drawing->at = QDateTime::currentDateTime();
  const DrawableRun* run = drawable(run_);
  if (run != nullptr) drawing->runName = run->name;
  drawing->base = settings();
  drawing->className = classNameIn(classNames(run_), drawing->base.values.value("class", Json()));
  drawing->grid = form_->grid();
  for (SampleSettings& cell : cellsOf(drawing->base, drawing->grid)) {
    DrawnCell& made = drawing->cells.emplace_back();
    made.settings = std::move(cell);
  }
  if (history_.size() >= kMostHistory) history_.erase(history_.begin());
  history_.push_back(drawing);
  warmTimer_.stop();
  worker_.draw(drawing);
  showDrawing(drawing);
  showHistory();
  Q_EMIT viewChanged();
}

void PlaygroundPage::showDrawing(std::shared_ptr<Drawing> drawing) {
  if (drawing == shown_) return;
  shown_ = std::move(drawing);
  playButton_->setChecked(false);
  board_->setDrawing(shown_);
  showSelected();
  showProgress();
  readDescribed(0);
}

void PlaygroundPage::showProgress() {
  if (shown_ == nullptr) return showButtons();
  const bool isDrawn =
      worker_.work() == DrawWorker::Work::Draw && shown_->state == Drawing::State::Drawing;
  board_->refresh(isDrawn ? worker_.share() : -1);
  boardTitle_->setText(shown_->title());
  QStringList about{shown_->countText()};
  if (shown_->seconds > 0) about << tr("%1\u202fs").arg(number(shown_->seconds, 1));
  if (shown_->state == Drawing::State::Drawing) about << tr("drawing");
  if (shown_->state == Drawing::State::Cancelled) about << tr("cancelled");
  if (shown_->state == Drawing::State::Failed) about << tr("failed");
  if (shown_->state == Drawing::State::Kept)
    about = QStringList{tr("from an earlier start: A recalls its settings, then draw")};
  boardAbout_->setText(about.join(QStringLiteral(" \u00b7 ")));
  boardAbout_->setAccessibleDescription(
      shown_->firstSeconds < 0
          ? QString()
          : tr("The first picture came after %1\u202fs").arg(number(shown_->firstSeconds, 2)));
  if (isDrawn) {
    showFilm(false);
    const DrawnImage* image = selectedImage();
    if (image != nullptr && image->recipe != recipe_) showRecipe();
  }
  showButtons();
}

void PlaygroundPage::takeEnd(const QString& error) {
  if (shown_ != nullptr) {
    for (const DrawnCell& cell : shown_->cells) {
      if (!cell.isDone() || cell.images.empty()) continue;
      pace_.learn(cell.settings, cell.seconds,
                  stateInteger(cell.images.front().recipe, "evaluations"));
    }
  }
  // A process that ended took the model with it; the next request loads it again.
  if (shown_ != nullptr && shown_->state == Drawing::State::Failed) warmText_.clear();
  showError(error);
  showProgress();
  showFilm(true);
  showRecipe();
  showHistory();
  showCost();
  keepDrawings(database_, history_);
  readDescribed(0);
  showWay();
}

// What the process said stands alone here: it begins as a sentence does.
void PlaygroundPage::showError(const QString& error) {
  const QString sentence = atStart(error);
  sayIn(*problem_, sentence);
  if (!sentence.isEmpty()) workbench_.showMessage(sentence);
}

void PlaygroundPage::showSelected() {
  playButton_->setChecked(false);
  showFilm(false);
  showRecipe();
  showButtons();
}

void PlaygroundPage::showCost() {
  const QString problem = form_->error();
  if (!problem.isEmpty()) {
    cost_->setText(problem);
  } else if (run_ != 0) {
    const SampleCost cost = pace_.costOf(cellsOf(settings(), form_->grid()));
    cost_->setText(costText(cost, makesTextOnly(workbench_.catalog(), sampler_)));
  }
  showButtons();
}

QString PlaygroundPage::drawWord() const {
  if (drawable(run_) == nullptr) return tr("Draw");
  if (!describedImage(settings()).isEmpty()) return tr("Describe");
  return makesTextOnly(workbench_.catalog(), sampler_) ? tr("Write") : tr("Draw");
}

void PlaygroundPage::showButtons() {
  const bool isBusy = worker_.isBusy() || wantsDraw_;
  const bool canDraw =
      worker_.canCompute() && drawable(run_) != nullptr && form_->error().isEmpty() && !isBusy;
  draw_->setEnabled(canDraw);
  drawButton_->setEnabled(canDraw);
  draw_->setText(drawWord());
  drawButton_->setText(draw_->text());
  cancel_->setEnabled(isBusy);
  cancelButton_->setEnabled(isBusy);
  const bool hasImage = selectedImage() != nullptr && !isBusy;
  verify_->setEnabled(hasImage);
  const DrawnCell* cell = selectedCell();
  keep_->setEnabled(cell != nullptr && cell->isDone() && !isBusy);
  for (QAction* one : {recallAll_, recallSeed_, recallPrompt_, recallRest_, copy_})
    one->setEnabled(cell != nullptr);
  info_->setEnabled(recipe_.is_object());
  const QString noImage =
      isBusy ? tr("an image is being drawn") : tr("choose an image that is done");
  for (QAction* one : {verify_, keep_}) one->setProperty(kWhyNot, noImage);
  for (QAction* one : {recallAll_, recallSeed_, recallPrompt_, recallRest_, copy_, info_})
    one->setProperty(kWhyNot, tr("choose an image"));
  cancel_->setProperty(kWhyNot, tr("nothing is being drawn"));
  exportButton_->setEnabled(shown_ != nullptr);
  QString warmth = warmText_;
  if (wantsDraw_ || worker_.isWarming()) warmth = tr("Loading the model\u2026");
  sayIn(*warmth_, warmth);
  problem_->setVisible(!problem_->text().isEmpty());
}

}  // namespace vitrine::ui
