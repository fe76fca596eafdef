// The views of the Gallery, and the effects of a choice.
#include "ui/gallery/gallery_page.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <algorithm>
#include <array>

#include "ui/gallery/contact_sheet.h"
#include "ui/gallery/image_details.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/drawn_runs.h"

namespace vitrine::ui {

namespace {

constexpr int kReloadMs = 700;  // at most so often while a run writes
constexpr std::array kViews{std::pair{GalleryPage::View::Sheet, "sheet"},
                            std::pair{GalleryPage::View::ByStep, "by_step"},
                            std::pair{GalleryPage::View::RunsAndSteps, "runs_and_steps"}};

}  // namespace

GalleryPage::GalleryPage(Workbench& workbench, QWidget* parent)
    : ReadingPage(parent),
      workbench_(workbench),
      offer_(workbench),
      list_(workbench.store().file()),
      look_(workbench.store().file()),
      steps_(workbench.store().file()),
      loading_({&list_}, kReloadMs),
      thumbnails_(workbench.store().file(), kPictureBytes / 2, this),
      pictures_(workbench.store().file(), kPictureBytes / 2, this),
      stack_(new PageStack(this)) {
  setMinimumSize(240, 140);
  auto* column = columnIn(stack_->content(), {px(12), px(12), px(12), px(12)}, px(8));
  makeActions();
  column->addWidget(makeTop());
  column->addWidget(makeViews(), 1);
  connect(&stack_->empty(), &EmptyPage::actionRequested, this, [this] {
    hasOffer() ? offer_.press() : workbench_.showPage(QStringLiteral("playground"));
  });
  connect(&offer_, &DrawingOffer::changed, this, [this] {
    if (isRead_ && total_ == 0) afterReading();
  });
  // It says which runs can draw.
  connect(&workbench_, &Workbench::catalogReady, this, [this] {
    if (total_ == 0) changed();
  });
  connect(&stack_->empty(), &EmptyPage::cancelRequested, this, [this] {
    loading_.cancel();
    isStale_ = true;
    stack_->empty().showMessage(
        tr("Reading was cancelled: open the page again to read the images."), QString());
  });

  connect(&loading_, &LoadingState::again, this, &GalleryPage::reload);
  connect(&loading_, &LoadingState::waiting, this, [this] {
    if (!isRead_) stack_->empty().showMessage(tr("Reading the list of images\u2026"), QString());
    count_->setText(tr("Searching\u2026"));
  });
  connect(&loading_, &LoadingState::cancellable, this,
          [this] { stack_->empty().setCancelShown(!isRead_); });
  connect(&loading_, &LoadingState::done, this, [this] { stack_->empty().setCancelShown(false); });
  connect(&list_, &Background::failed, this, [this](const QString& sentence) {
    error_ = tr("The images cannot be read: %1").arg(sentence);
    afterReading();
  });
  for (Background* one : {&look_, &steps_}) {
    connect(one, &Background::failed, this,
            [this](const QString& sentence) { workbench_.showMessage(sentence); });
  }
  connect(&workbench_.watcher(), &store::RunWatcher::dataChanged, this,
          [this] { changed(loading_); });
  connect(&workbench_.selection(), &Selection::runsChanged, this, [this] {
    stepsOf_ = 0;
    if (isVisible() && view_ == View::RunsAndSteps) readSteps();
  });
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    showLook();
    sheet_->refresh();
  });
  showView();
  showTools();
}

GalleryPage::~GalleryPage() = default;

void GalleryPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  splitter_->setOrientation(width() < px(560) ? Qt::Vertical : Qt::Horizontal);
}

bool GalleryPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == search_ && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Down) {
    keyPart().setFocus(Qt::TabFocusReason);
    return true;
  }
  return Page::eventFilter(watched, event);
}

QString GalleryPage::runName(std::int64_t run) const { return runNameOf(workbench_, run); }

QString GalleryPage::describe(const store::ImageEntry& image) const {
  QString text = tr("%1, step %2, seed %3")
                     .arg(runName(image.run), count(image.step), QString::number(image.seed));
  if (model_.isStarred(image.id)) text += tr(", starred");
  if (const QStringList tags = model_.tags(image.id); !tags.isEmpty())
    text += QStringLiteral(", ") + tags.join(QStringLiteral(", "));
  return text;
}

void GalleryPage::setView(View view) {
  if (view == view_ && !isEnlarged_) return showView();
  view_ = view;
  isEnlarged_ = false;
  model_.setOrder(view == View::ByStep ? ImageOrder::Step : sheetOrder_);
  sheet_->refresh();
  if (current_ != 0) sheet_->setCurrent(current_);
  showView();
  if (view == View::RunsAndSteps) readSteps();
  Q_EMIT viewChanged();
}

void GalleryPage::setEnlarged(bool isEnlarged) {
  if (isEnlarged && current_ == 0) return;
  if (isEnlarged == isEnlarged_) return;
  isEnlarged_ = isEnlarged;
  showView();
  Q_EMIT viewChanged();
}

void GalleryPage::search(const QString& text) {
  typing_.stop();
  if (search_->text() != text) {
    const QSignalBlocker quiet(search_);
    search_->setText(text);
  }
  const ImageQuery query = parseImageQuery(text);
  sayIn(*problem_, query.error);
  if (!query.error.isEmpty() || query.search == query_.search) return;
  query_ = query;
  standing_.reset();
  reload();
  Q_EMIT viewChanged();
}

std::vector<std::int64_t> GalleryPage::chosen() const {
  const auto& picked = sheet_->picked();
  std::vector<std::int64_t> ids(picked.begin(), picked.end());
  if (view_ == View::RunsAndSteps || ids.empty()) {
    ids.clear();
    if (current_ != 0) ids.push_back(current_);
  }
  // As they stand on the sheet.
  std::sort(ids.begin(), ids.end(), [this](std::int64_t a, std::int64_t b) {
    return model_.indexOf(a) < model_.indexOf(b);
  });
  return ids;
}

void GalleryPage::setCurrent(std::int64_t id) {
  if (id == current_) return;
  current_ = id;
  sheet_->setCurrent(id);
  markCell();
  readLook();
  showVerdict();
  if (view_ == View::RunsAndSteps) readSteps();
  showTools();
}

// At once: the next key starts from it.
void GalleryPage::markCell() {
  const StepsTable& table = stepsView_->table();
  for (const auto& [place, cell] : table.cells) {
    if (cell.id != current_) continue;
    stepsView_->setCurrent(cell.run, cell.step);
    const auto at = std::find(table.steps.begin(), table.steps.end(), cell.step);
    const QSignalBlocker quiet(stepSlider_);
    stepSlider_->setValue(static_cast<int>(at - table.steps.begin()));
  }
}

void GalleryPage::chooseCurrent(std::int64_t id) {
  setCurrent(id);
  Q_EMIT viewChanged();
}

void GalleryPage::setOther(std::int64_t id) {
  if (id == current_) id = 0;
  if (id == other_) return;
  other_ = id;
  sheet_->setOther(id);
  stepsView_->setOther(id);
  readLook();
  showTools();
  showCount();
  Q_EMIT viewChanged();
}

void GalleryPage::moveBy(int by) {
  const int index = model_.indexOf(current_);
  if (index < 0 || index + by < 0 || index + by >= model_.count()) return;
  chooseCurrent(model_.at(index + by).id);
}

void GalleryPage::pickOther(int by, int rows) {
  const int from = model_.indexOf(other_ != 0 ? other_ : current_);
  if (from < 0) return;
  const auto next = [&](int index) {
    return rows != 0 ? sheet_->sheet().below(index, rows) : index + by;
  };
  int to = next(from);
  // The current one is not compared with itself.
  if (to >= 0 && to < model_.count() && model_.at(to).id == current_) to = next(to);
  if (to < 0 || to >= model_.count() || model_.at(to).id == current_) return;
  setOther(model_.at(to).id);
}

void GalleryPage::swapPair() {
  if (other_ == 0) {
    workbench_.showMessage(
        tr("Choose a second image first: Alt and an arrow key, or Alt and a click."));
    return;
  }
  std::swap(current_, other_);
  sheet_->setCurrent(current_);
  sheet_->setOther(other_);
  stepsView_->setOther(other_);
  readLook();
  if (view_ == View::RunsAndSteps) readSteps();
  showTools();
  Q_EMIT viewChanged();
}

void GalleryPage::nextCompareView() {
  if (other_ == 0) {
    workbench_.showMessage(
        tr("Choose a second image first: Alt and an arrow key, or Alt and a click."));
    return;
  }
  const int at = static_cast<int>(compare_) - 1;
  const int next = isEnlarged_ ? (at + 1) % static_cast<int>(compareActions_.size()) : at;
  compareActions_[next]->trigger();
}

void GalleryPage::setTile(int designPixels) {
  sheet_->setTile(designPixels);
  stepsView_->setTile(designPixels);
  const QSignalBlocker quiet(tileSlider_);
  tileSlider_->setValue(sheet_->tile());
  showCount();
}

void GalleryPage::toggleStar() {
  if (current_ == 0) return;
  changeTags(store::ImageTagRow::kStar, !model_.isStarred(current_));
}

Json GalleryPage::viewState() const {
  const char* view = kViews.front().second;
  for (const auto& [one, name] : kViews)
    if (one == view_) view = name;
  return {{"view", view},
          {"search", search_->text().toStdString()},
          {"order", toString(sheetOrder_).toStdString()},
          {"tile", sheet_->tile()},
          {"image", current_},
          {"other", other_},
          {"names", namesOf({current_, other_})},
          {"images", namesOf({sheet_->picked().begin(), sheet_->picked().end()})},
          {"enlarged", isEnlarged_},
          {"compare", toString(compare_).toStdString()},
          {"line", stage_->line()}};
}

void GalleryPage::setViewState(const Json& state) {
  if (!state.is_object()) return;
  const QString view = stateWords(state, "view");
  for (const auto& [one, name] : kViews)
    if (view == QLatin1String(name)) view_ = one;
  if (const auto order = imageOrderFromString(stateWords(state, "order"));
      order && *order != ImageOrder::Step)
    sheetOrder_ = *order;
  model_.setOrder(view_ == View::ByStep ? ImageOrder::Step : sheetOrder_);
  {
    const QSignalBlocker quiet(order_);
    order_->setCurrentIndex(order_->findData(toString(sheetOrder_)));
  }
  if (const std::int64_t tile = stateInteger(state, "tile", 0); tile > 0)
    setTile(static_cast<int>(std::clamp<std::int64_t>(tile, 1, ContactSheet::kMostTile)));
  if (const auto compare = stageViewFromString(stateWords(state, "compare"));
      compare && *compare != ImageStage::View::One)
    compare_ = *compare;
  if (const auto line = state.find("line"); line != state.end() && line->is_number())
    lineSlider_->setValue(qRound(std::clamp(line->get<double>(), 0.0, 1.0) * kLineParts));
  // Another database has other numbers for the same images.
  std::map<std::int64_t, std::int64_t> here;
  ImagesByRun read;
  const auto idsIn = [&](const char* key) {
    std::set<std::int64_t> ids;
    for (const Json& one : stateList(state, key)) {
      const std::int64_t id = stateInteger(one, "id", 0);
      if (id <= 0) continue;
      const auto [known, isNew] = here.try_emplace(id, 0);
      if (isNew) known->second = idOf(one, read);
      if (known->second > 0) ids.insert(known->second);
    }
    return ids;
  };
  (void)idsIn("names");
  std::set<std::int64_t> picked = idsIn("images");
  const auto idHere = [&](const char* key) {
    const std::int64_t id = std::max<std::int64_t>(0, stateInteger(state, key, 0));
    const auto known = here.find(id);
    return known == here.end() ? id : known->second;
  };
  std::int64_t image = idHere("image");
  if (image == 0 && !picked.empty()) image = *picked.begin();
  if (state.contains("images")) wantedPicks_ = std::move(picked);
  if (std::any_of(here.begin(), here.end(), [](const auto& one) { return one.second == 0; }))
    workbench_.showMessage(tr("An image of this view is not in this database."));
  current_ = image;
  other_ = idHere("other");
  if (other_ == current_) other_ = 0;
  isEnlarged_ = current_ != 0 && stateFlag(state, "enlarged");
  sheet_->refresh();
  sheet_->setCurrent(current_);
  sheet_->setOther(other_);
  stepsView_->setOther(other_);
  search(stateWords(state, "search"));
  if (isRead_ && !list_.isBusy()) takePicks();
  readLook();
  if (view_ == View::RunsAndSteps) readSteps();
  showView();
  showTools();
}

void GalleryPage::takePicks() {
  if (wantedPicks_) sheet_->setPicked(std::move(*wantedPicks_));
  wantedPicks_.reset();
}

QString GalleryPage::howToRead() const {
  return tr(
      "Every image that the runs of this database generated. The search compares keys of an "
      "image's recipe: sampler:ddim class:3 guidance>2 run:12 step:400 starred tag:paper. A minus "
      "negates a word. Any other word is searched in recipes, names of classes and names of "
      "runs.\n\n"
      "Runs and steps shows the same seed and condition by other runs and at other steps. Where "
      "another setting differs, the cell has a \u2260 and its tool tip names it. Two images are "
      "compared pixel by pixel: in the difference, orange is where A is brighter, blue where B is. "
      "The scale ends at the largest difference. Flicker changes twice a second.\n\n"
      "Verify makes an image again from its recipe and compares the pixels: the same recipe gives "
      "the same pixels on one machine. Recall settings opens the Playground with them.\n\n"
      "Equal pixels have an equal SHA-256. Enlarged images are never smoothed.");
}

}  // namespace vitrine::ui
