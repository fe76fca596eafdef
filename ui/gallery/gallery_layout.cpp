// The widgets and actions of the Gallery.
#include <QActionGroup>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolButton>

#include "ui/gallery/contact_sheet.h"
#include "ui/gallery/gallery_page.h"
#include "ui/gallery/image_details.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/menus.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

namespace {

constexpr int kTypingMs = 200;  // a pause in typing

QToolButton* actionButton(QAction* action, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setDefaultAction(action);
  button->setProperty(kListed, false);
  return button;
}

}  // namespace

QAction* GalleryPage::act(const QString& text, const QString& tip, const QKeySequence& keys,
                          std::function<void()> use) {
  QAction* action = addAction(text, keys, this, std::move(use));
  action->setToolTip(tip);
  // A single letter acts only while the page has the focus, never in a text field.
  action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  return action;
}

void GalleryPage::makeActions() {
  auto* views = new QActionGroup(this);
  const auto view = [&](View which, const QString& text, const QString& tip, Qt::Key key) {
    QAction* action = act(text, tip, key, [this, which] { setView(which); });
    action->setCheckable(true);
    action->setData(static_cast<int>(which));
    views->addAction(action);
    viewActions_ << action;
  };
  view(View::Sheet, tr("Contact sheet"), tr("All images that were found"), Qt::Key_1);
  view(View::ByStep, tr("By step"), tr("The same, grouped by training step"), Qt::Key_2);
  view(View::RunsAndSteps, tr("Runs \u00d7 steps"),
       tr("The same seed and condition by other runs and at other steps"), Qt::Key_3);
  enlarge_ = act(tr("Enlarge"),
                 tr("The current image as large as whole pixels allow; Space does the same"),
                 Qt::Key_4, [this] { setEnlarged(!isEnlarged_); });
  enlarge_->setCheckable(true);

  star_ = act(tr("Star image"), tr("Add or remove the star of the current image"), Qt::Key_S,
              [this] { toggleStar(); });
  act(tr("Tag image"), tr("Type a tag for the current image, or for all that are picked"),
      Qt::Key_T, [this] { details_->focusTag(); });
  find_ = act(tr("Find images"), tr("Search recipes, tags and runs"), Qt::Key_Slash, [this] {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
  });
  swap_ = act(tr("Swap A and B"), tr("Exchange the two images that are compared"), Qt::Key_C,
              [this] { swapPair(); });
  act(tr("Next comparison"), tr("Slider, side by side, difference, flicker"), Qt::Key_M,
      [this] { nextCompareView(); });
  endPair_ = act(tr("End comparison"), tr("Show one image again"), Qt::Key_Backspace,
                 [this] { setOther(0); });
  verify_ =
      act(tr("Verify"), tr("Make the current image again from its recipe and compare the pixels"),
          Qt::Key_V, [this] { verify(); });
  recall_ =
      act(tr("Recall settings"), tr("Open the Playground with every setting of the current image"),
          Qt::Key_A, [this] { recallSettings(); });
  const auto pick = [&](const QString& text, Qt::Key key, int by, int rows) {
    act(text, tr("Choose the image that the current one is compared with"), Qt::ALT | key,
        [this, by, rows] { pickOther(by, rows); });
  };
  pick(tr("Compare with the previous image"), Qt::Key_Left, -1, 0);
  pick(tr("Compare with the next image"), Qt::Key_Right, 1, 0);
  pick(tr("Compare with the image above"), Qt::Key_Up, 0, -1);
  pick(tr("Compare with the image below"), Qt::Key_Down, 0, 1);

  const auto compare = [&](ImageStage::View which, const QString& text, const QString& tip) {
    QAction* action = act(text, tip, {}, [this, which] {
      compare_ = which;
      stage_->setView(which);
      isEnlarged_ = current_ != 0;
      showView();
      Q_EMIT viewChanged();
    });
    action->setCheckable(true);
    compareActions_ << action;
  };
  compare(ImageStage::View::Slider, tr("Slider"),
          tr("A left of a line that you drag, B right of it"));
  compare(ImageStage::View::Side, tr("Side by side"), tr("A and B next to each other"));
  compare(ImageStage::View::Difference, tr("Difference"),
          tr("A minus B in colours, with the mean and the largest difference"));
  compare(ImageStage::View::Flicker, tr("Flicker"), tr("Now A, now B, twice a second"));

  auto* exportAction = new QAction(tr("Export"), this);
  exportAction->setToolTip(tr("Save images with their recipes inside"));
  exportMenu_ = new QMenu(tr("Export"), this);
  exportMenu_->setToolTipsVisible(true);
  exportAction->setMenu(exportMenu_);
  const auto entry = [this](const QString& text, const QString& tip, std::function<void()> use) {
    QAction* action = exportMenu_->addAction(text);
    action->setToolTip(tip);
    connect(action, &QAction::triggered, this, std::move(use));
  };
  entry(tr("Save image\u2026"), tr("The current image, pixel by pixel, as PNG with its recipe"),
        [this] {
          const QString file =
              askFile(tr("Save image"), QStringLiteral("image-%1.png").arg(current_),
                      tr("PNG image (*.png)"));
          if (!file.isEmpty()) saveImage(file);
        });
  entry(tr("Save as grid\u2026"),
        tr("The picked images, or those on the screen, as one PNG in whole pixels"), [this] {
          const QString file =
              askFile(tr("Save as grid"), QStringLiteral("images.png"), tr("PNG image (*.png)"));
          if (!file.isEmpty()) saveGrid(file);
        });
  entry(tr("Save as PDF\u2026"), tr("The picked images, or those on the screen, on paper"), [this] {
    const QString file =
        askFile(tr("Save as PDF"), QStringLiteral("images.pdf"), tr("PDF document (*.pdf)"));
    if (!file.isEmpty()) savePdf(file);
  });
  tools_ = {exportAction};
}

QWidget* GalleryPage::makeTop() {
  auto* bar = new FlowBar(stack_->content());
  FlowRow& row = bar->row();
  search_ =
      makeSearchField(tr("Search images"),
                      tr("Search: sampler:ddim class:3 guidance>2 step:400 starred tag:x"), this);
  search_->setToolTip(
      tr("Keys of the recipe with : = != < <= > >=, also run, step, seed, tag and starred; other "
         "words are searched in recipes and names of runs. Down goes to the images."));
  showKeyOf(find_, *search_);
  search_->setMinimumWidth(px(220));
  search_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(search_, &QLineEdit::editingFinished, this, [this] { search(search_->text()); });
  typing_.setSingleShot(true);
  typing_.setInterval(kTypingMs);
  connect(&typing_, &QTimer::timeout, this, [this] { search(search_->text()); });
  connect(search_, &QLineEdit::textChanged, this,
          [this](const QString& text) { text.isEmpty() ? search(text) : typing_.start(); });
  search_->installEventFilter(this);
  row.addWidget(search_);
  count_ = withRole(new QLabel(this), "muted");
  row.addWidget(count_);
  problem_ = withRole(new QLabel(this), "error");
  problem_->hide();
  row.addWidget(problem_);
  row.addStretch();
  for (QAction* action : viewActions_) row.addWidget(actionButton(action, this));
  row.addWidget(actionButton(enlarge_, this));
  order_ = withName(new QComboBox(this), tr("Order of the contact sheet"),
                    tr("Order of the contact sheet"));
  order_->addItem(tr("Newest first"), toString(ImageOrder::Newest));
  order_->addItem(tr("Oldest first"), toString(ImageOrder::Oldest));
  order_->addItem(tr("By run"), toString(ImageOrder::Run));
  connect(order_, &QComboBox::currentIndexChanged, this, [this] {
    sheetOrder_ =
        imageOrderFromString(order_->currentData().toString()).value_or(ImageOrder::Newest);
    if (view_ == View::Sheet) model_.setOrder(sheetOrder_);
    sheet_->refresh();
    if (current_ != 0) sheet_->setCurrent(current_);
    showCount();
    Q_EMIT viewChanged();
  });
  row.addWidget(order_);
  tileSlider_ = withName(new QSlider(Qt::Horizontal, this), tr("Size of the images"),
                         tr("Size of the images (Ctrl and the wheel)"));
  tileSlider_->setRange(ContactSheet::kLeastTile, ContactSheet::kMostTile);
  tileSlider_->setValue(64);
  tileSlider_->setPageStep(16);
  tileSlider_->setFixedWidth(px(90));
  connect(tileSlider_, &QSlider::valueChanged, this, [this](int value) {
    setTile(value);
    Q_EMIT viewChanged();
  });
  row.addWidget(tileSlider_);
  keepWheelForFocus(*bar);
  return bar;
}

QWidget* GalleryPage::makeSheet() {
  auto* card = withRole(new QFrame(views_), "card");
  auto* column = columnIn(card, {px(8), px(8), px(8), px(8)}, px(6));
  sheet_ = new ContactSheet(
      model_, thumbnails_, [this](const store::ImageEntry& image) { return describe(image); },
      card);
  column->addWidget(sheet_, 1);
  connect(sheet_, &ContactSheet::currentChosen, this, &GalleryPage::chooseCurrent);
  connect(sheet_, &ContactSheet::otherChosen, this, &GalleryPage::setOther);
  connect(sheet_, &ContactSheet::activated, this, [this] {
    if (current_ == 0 && model_.count() > 0) chooseCurrent(model_.at(0).id);
    setEnlarged(true);
  });
  connect(sheet_, &ContactSheet::tileChosen, this, [this](int tile) {
    setTile(tile);
    Q_EMIT viewChanged();
  });
  connect(sheet_, &ContactSheet::pickedChanged, this, &GalleryPage::showCount);
  connect(sheet_, &ContactSheet::scrolled, this, &GalleryPage::showCount);
  groupRow_ = new QWidget(card);
  auto* steps = rowIn(groupRow_, {});
  auto* name = new QLabel(tr("Step"), groupRow_);
  groupSlider_ = withName(new QSlider(Qt::Horizontal, groupRow_), tr("Step"));
  groupSlider_->setPageStep(1);
  name->setBuddy(groupSlider_);
  stepText_ = new QLabel(groupRow_);
  steps->addWidget(name);
  steps->addWidget(groupSlider_, 1);
  steps->addWidget(stepText_);
  connect(groupSlider_, &QSlider::valueChanged, this, [this](int group) {
    sheet_->showGroup(group);
    showCount();
  });
  column->addWidget(groupRow_);
  sightText_ = withRole(new ElidedLabel(card), "small");
  column->addWidget(sightText_);
  return card;
}

QWidget* GalleryPage::makeSteps() {
  auto* card = withRole(new QFrame(views_), "card");
  auto* column = columnIn(card, {px(12), px(8), px(12), px(8)}, px(6));
  stepsNote_ = withRole(new WrapLabel(card), "small");
  column->addWidget(stepsNote_);
  stepsView_ = new StepsView(
      pictures_, [this](std::int64_t run) { return runName(run); }, card);
  stepsView_->setStars([this](std::int64_t id) { return model_.isStarred(id); });
  connect(stepsView_, &StepsView::currentChosen, this, &GalleryPage::chooseCurrent);
  connect(stepsView_, &StepsView::otherChosen, this, &GalleryPage::setOther);
  connect(stepsView_, &StepsView::activated, this, [this] { setEnlarged(true); });
  stepsArea_ = makeFitArea(stepsView_, card);
  column->addWidget(stepsArea_, 1);
  auto* line = new QHBoxLayout;
  auto* name = new QLabel(tr("Step"), card);
  stepSlider_ = withName(new QSlider(Qt::Horizontal, card), tr("Step of all runs"));
  stepSlider_->setPageStep(1);
  name->setBuddy(stepSlider_);
  line->addWidget(name);
  line->addWidget(stepSlider_, 1);
  column->addLayout(line);
  connect(stepSlider_, &QSlider::valueChanged, this, [this](int index) {
    const StepsTable& table = stepsView_->table();
    if (index < 0 || index >= static_cast<int>(table.steps.size())) return;
    const std::int64_t step = table.steps[static_cast<std::size_t>(index)];
    const SamePicture* one = nullptr;
    for (const auto& [place, cell] : table.cells)
      if (cell.id == current_) one = table.at(cell.run, step);
    for (const std::int64_t other : table.runs)
      if (one == nullptr) one = table.at(other, step);
    if (one != nullptr) chooseCurrent(one->id);
  });
  return card;
}

QWidget* GalleryPage::makeStage() {
  auto* card = withRole(new QFrame(views_), "card");
  auto* column = columnIn(card, {px(8), px(8), px(8), px(8)}, px(6));
  auto* bar = new FlowBar(card);
  bar->row().setSpacing(px(6));
  for (QAction* action : compareActions_) bar->row().addWidget(actionButton(action, card));
  bar->row().addWidget(actionButton(swap_, card));
  bar->row().addWidget(actionButton(endPair_, card));
  compareRow_ = bar;
  column->addWidget(bar);
  stage_ = new ImageStage(card);
  column->addWidget(stage_, 1);
  lineSlider_ = withName(new QSlider(Qt::Horizontal, card), tr("Line between A and B"),
                         tr("Line between A and B (Shift+\u2190, Shift+\u2192)"));
  lineSlider_->setRange(0, kLineParts);
  lineSlider_->setValue(kLineParts / 2);
  lineSlider_->setPageStep(kLineParts / 10);
  column->addWidget(lineSlider_);
  connect(lineSlider_, &QSlider::valueChanged, this, [this](int value) {
    stage_->setLine(static_cast<double>(value) / kLineParts);
    Q_EMIT viewChanged();
  });
  connect(stage_, &ImageStage::lineMoved, this,
          [this](double share) { lineSlider_->setValue(qRound(share * kLineParts)); });
  connect(stage_, &ImageStage::stepRequested, this, &GalleryPage::moveBy);
  connect(stage_, &ImageStage::closed, this, [this] { setEnlarged(false); });
  return card;
}

QWidget* GalleryPage::makeViews() {
  splitter_ = new QSplitter(stack_->content());
  splitter_->setChildrenCollapsible(false);
  views_ = new QStackedWidget(splitter_);
  views_->addWidget(makeSheet());
  views_->addWidget(makeSteps());
  views_->addWidget(makeStage());
  auto* none = new EmptyPage(QString(), tr("Clear the search"), views_);
  none->setObjectName(QStringLiteral("noHits"));
  connect(none, &EmptyPage::actionRequested, this, [this] { search(QString()); });
  views_->addWidget(none);
  splitter_->addWidget(views_);
  details_ = new ImageDetails(this);
  connect(details_, &ImageDetails::starToggled, this,
          [this](bool isOn) { changeTags(store::ImageTagRow::kStar, isOn); });
  connect(details_, &ImageDetails::tagAdded, this, [this](const QString& tag) {
    changeTags(tag.toStdString(), true);
    keyPart().setFocus();
  });
  connect(details_, &ImageDetails::tagRemoved, this,
          [this](const QString& tag) { changeTags(tag.toStdString(), false); });
  const auto button = [this](const QString& text, const QString& tip, auto use) {
    auto* made = makeToolButton(text, tip, this);
    connect(made, &QToolButton::clicked, this, use);
    details_->addButton(made);
  };
  details_->addButton(actionButton(verify_, this));
  details_->addButton(actionButton(recall_, this));
  button(tr("Copy recipe"), tr("The recipe of the image as JSON, to the clipboard"),
         &GalleryPage::copyRecipe);
  button(tr("Show run"), tr("Select the run of the image and show its curves"),
         &GalleryPage::showRun);
  auto* area = makeFitArea(details_, splitter_);
  area->setMinimumWidth(px(200));
  splitter_->addWidget(area);
  splitter_->setStretchFactor(0, 1);
  splitter_->setSizes({px(640), px(290)});  // without scrolling aside
  return splitter_;
}

void GalleryPage::showView() {
  for (QAction* action : viewActions_)
    action->setChecked(!isEnlarged_ && action->data().toInt() == static_cast<int>(view_));
  enlarge_->setChecked(isEnlarged_);
  int place = view_ == View::RunsAndSteps ? 1 : 0;
  if (isRead_ && model_.count() == 0) place = 3;
  if (isEnlarged_) place = 2;
  const bool hadFocus = views_->currentWidget() != nullptr && views_->isAncestorOf(focusWidget());
  views_->setCurrentIndex(place);
  if (hadFocus && place != 3) keyPart().setFocus();
  order_->setEnabled(view_ == View::Sheet && !isEnlarged_);
  tileSlider_->setEnabled(!isEnlarged_);
  groupRow_->setVisible(view_ == View::ByStep);
  stage_->setView(compare_);
  lineSlider_->setVisible(other_ != 0 && compare_ == ImageStage::View::Slider);
  compareRow_->setVisible(other_ != 0);
  for (int i = 0; i < compareActions_.size(); ++i)
    compareActions_[i]->setChecked(isEnlarged_ && static_cast<int>(compare_) == i + 1);
  showCount();
}

QWidget& GalleryPage::keyPart() {
  if (views_->currentIndex() == 1) return *stepsView_;
  if (views_->currentIndex() == 2) return *stage_;
  if (views_->currentIndex() == 3) return *search_;
  return *sheet_;
}

void GalleryPage::showTools() {
  star_->setEnabled(current_ != 0);
  star_->setProperty(kWhyNot, tr("choose an image"));
  enlarge_->setEnabled(current_ != 0);
  enlarge_->setProperty(kWhyNot, tr("choose an image"));
  verify_->setEnabled(current_ != 0 && workbench_.models() != nullptr);
  verify_->setProperty(kWhyNot, current_ == 0 ? tr("choose an image")
                                              : tr("nothing can be computed with this database"));
  recall_->setEnabled(current_ != 0);
  recall_->setProperty(kWhyNot, tr("choose an image"));
  const bool isPair = other_ != 0;
  for (QAction* action : {swap_, endPair_}) {
    action->setEnabled(isPair);
    action->setProperty(kWhyNot, tr("choose a second image with Alt and an arrow key"));
  }
  for (QAction* action : compareActions_) {
    action->setEnabled(isPair);
    action->setProperty(kWhyNot, tr("choose a second image with Alt and an arrow key"));
  }
  lineSlider_->setVisible(isPair && compare_ == ImageStage::View::Slider);
  compareRow_->setVisible(isPair);
}

void GalleryPage::showCount() {
  const int found = model_.count();
  const std::int64_t all = query_.search.empty() ? found : total_;
  const QString images = counted(all, tr("image"), tr("images"));
  count_->setText(query_.search.empty() ? images : tr("%1 of %2").arg(count(found), images));
  const auto [first, last] = sheet_->inSight();
  QString text = first < 0
                     ? QString()
                     : tr("%1 to %2 of %3").arg(count(first + 1), count(last + 1), count(found));
  if (const auto picked = sheet_->picked().size(); picked > 0)
    text += tr(" \u00b7 %1 picked").arg(count(static_cast<std::int64_t>(picked)));
  if (other_ != 0)
    text += tr(" \u00b7 Enlarge compares A and B");
  else if (found > 1)
    text += tr(" \u00b7 pick two with Ctrl, or another with Alt and an arrow, to compare them");
  sightText_->setText(text);
  if (view_ != View::ByStep) return;
  const QSignalBlocker quiet(groupSlider_);
  const int groups = static_cast<int>(model_.groups().size());
  groupSlider_->setRange(0, std::max(0, groups - 1));
  groupSlider_->setEnabled(groups > 1);
  const int group = sheet_->groupInSight();
  if (group < 0) return;
  groupSlider_->setValue(group);
  stepText_->setText(count(model_.groups()[static_cast<std::size_t>(group)].step));
}

}  // namespace vitrine::ui
