// The widgets of the Playground.
#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QSplitter>
#include <QToolButton>
#include <array>
#include <functional>
#include <utility>

#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/playground/film_strip.h"
#include "ui/playground/image_board.h"
#include "ui/playground/playground_page.h"
#include "ui/workbench/fact_table.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

namespace {

constexpr int kSettingsWidth = 356, kSideWidth = 276;
constexpr int kSideFrom = 996;  // narrower pages have the side panel below the images

/// A picture that tells where it is clicked, as shares of its height and width.
class ClickedPicture final : public QLabel {
 public:
  ClickedPicture(QWidget* parent, std::function<void(const std::array<double, 2>&)> onClick)
      : QLabel(parent), onClick_(std::move(onClick)) {}

 protected:
  void mousePressEvent(QMouseEvent* event) override {
    const QPointF at = event->position();
    const QSizeF size = pixmap().size();
    if (QRectF({}, size).contains(at)) onClick_({at.y() / size.height(), at.x() / size.width()});
  }

 private:
  std::function<void(const std::array<double, 2>&)> onClick_;
};

struct PlayCard {
  QFrame* frame;
  QVBoxLayout* column;
  QHBoxLayout* head;
};

PlayCard playCard(QWidget* parent) {
  auto* frame = withRole(new QFrame(parent), "card");
  auto* column = columnIn(frame, {px(12), px(8), px(12), px(10)}, px(8));
  auto* head = rowIn(nullptr, {}, px(8));
  column->addLayout(head);
  return {frame, column, head};
}

ElidedLabel* playTitle(const QString& text, const char* role, QWidget* parent) {
  return withRole(new ElidedLabel(text, parent), role);
}

QToolButton* playButton(QAction* action, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setDefaultAction(action);
  button->setToolButtonStyle(Qt::ToolButtonTextOnly);
  return button;
}

}  // namespace

void PlaygroundPage::makeActions() {
  const auto make = [this](const QString& text, const QString& tip, const QKeySequence& key,
                           const auto& act) {
    QAction* action = makePageAction(text, tip, key, this);
    connect(action, &QAction::triggered, this, act);
    return action;
  };
  draw_ = make(tr("Draw"), tr("Draw, describe or write with these settings"),
               Qt::CTRL | Qt::Key_Return, [this] { draw(); });
  cancel_ = make(tr("Cancel drawing"), tr("End after the step in progress"),
                 Qt::CTRL | Qt::ALT | Qt::Key_Return, [this] {
                   wantsDraw_ = false;
                   worker_.cancel();
                   showButtons();
                 });
  for (QAction* one : {draw_, cancel_}) addAction(one);
  verify_ = make(tr("Verify"), tr("Make the selected image again and compare the pixels"),
                 Qt::Key_V, [this] { verify(); });
  keep_ = make(tr("Send to gallery"),
               tr("Draw the selected cell again and keep its images in the database, with their "
                  "recipes"),
               Qt::Key_G, [this] { keep(); });
  recallAll_ = make(tr("Recall all"), tr("Use every setting of the selected image"), Qt::Key_A,
                    [this] { recall(Recall::All); });
  recallSeed_ = make(tr("Seed"), tr("Use the seed of the selected image"), Qt::Key_S,
                     [this] { recall(Recall::Seed); });
  recallPrompt_ = make(tr("Prompt"), tr("Use the prompt or class of the selected image"), Qt::Key_P,
                       [this] { recall(Recall::Prompt); });
  recallRest_ = make(tr("Remix"), tr("Use every setting of the selected image but its seed"),
                     Qt::Key_R, [this] { recall(Recall::AllButSeed); });
  info_ = make(tr("Info"), tr("Show the recipe of the selected image"), Qt::Key_I,
               [this] { showInfo(); });
  copy_ = make(tr("Copy as command"), tr("Copy the command that draws the selected image"),
               Qt::CTRL | Qt::SHIFT | Qt::Key_C, [this] { copyCommand(); });
  addAction(copy_);
  const auto step = [&](const QString& text, const QKeySequence& key, int by) {
    addAction(make(text, text, key, [this, by] { film_->setStep(film_->step() + by); }));
  };
  step(tr("Previous step"), Qt::CTRL | Qt::Key_Left, -1);
  step(tr("Next step"), Qt::CTRL | Qt::Key_Right, 1);
}

QWidget* PlaygroundPage::makeLending() {
  lending_ = withRole(new QFrame(stack_->content()), "card");
  auto* line = rowIn(lending_, {px(12), px(6), px(12), px(6)}, px(8));
  lendingText_ = new WrapLabel(lending_);
  lendingText_->setTextFormat(Qt::RichText);
  lendingButton_ = new QPushButton(lending_);
  lendingButton_->setIconSize(QSize(px(12), px(12)));
  line->addWidget(lendingText_, 1);
  line->addWidget(lendingButton_);
  connect(lendingButton_, &QPushButton::clicked, this,
          [this] { paused_.empty() && !holdsQueue_ ? pauseTraining() : resumeTraining(); });
  lending_->hide();
  return lending_;
}

QWidget* PlaygroundPage::makeSettings() {
  auto [card, column, head] = playCard(across_);
  head->addWidget(playTitle(tr("Settings"), "title", card), 1);
  auto* inside = new QWidget(card);
  auto* rows = columnIn(inside, {0, 0, px(4), 0}, px(8));
  runBox_ =
      withName(new ElidedComboBox(inside), tr("Run"), tr("Runs that a sampler can draw with"));
  runBox_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  runBox_->setMinimumContentsLength(12);
  form_ = new SamplerForm(inside);
  rows->addWidget(runBox_);
  rows->addWidget(form_);
  rows->addStretch();
  keepWheelForFocus(*inside);
  auto* area = makeFitArea(inside, card);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
  column->addWidget(area, 1);
  problem_ = withName(withRole(new WrapLabel(card), "error"), tr("Problem"));
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  cost_ = withName(withRole(new WrapLabel(card), "small"), tr("Cost"));
  warmth_ = withRole(new WrapLabel(card), "small");
  column->addWidget(problem_);
  column->addWidget(cost_);
  column->addWidget(warmth_);
  auto* buttons = rowIn(nullptr, {}, px(8));
  drawButton_ = new QPushButton(tr("Draw"), card);
  drawButton_->setProperty("primary", true);
  drawButton_->setProperty(kListed, false);
  drawButton_->setToolTip(draw_->toolTip());
  cancelButton_ = new QPushButton(tr("Cancel"), card);
  cancelButton_->setProperty(kListed, false);
  cancelButton_->setToolTip(cancel_->toolTip());
  connect(drawButton_, &QPushButton::clicked, draw_, &QAction::trigger);
  connect(cancelButton_, &QPushButton::clicked, cancel_, &QAction::trigger);
  buttons->addWidget(drawButton_, 1);
  buttons->addWidget(cancelButton_);
  column->addLayout(buttons);
  card->setMinimumWidth(px(kSettingsWidth));
  connect(runBox_, &QComboBox::activated, this, [this](int index) {
    chooseRun(runBox_->itemData(index).toLongLong());
    Q_EMIT viewChanged();
  });
  connect(form_, &SamplerForm::edited, this, [this] {
    showError({});
    const Json values = form_->values();
    if (form_->axis(kRunKey) == SamplerForm::Axis::None && stateMember(values, kRunKey).is_string())
      chooseRun(stateWords(values, kRunKey).toLongLong());
    const std::string chosen = form_->values().value(kSamplerKey, sampler_);
    if (chosen != sampler_) {
      isSamplerKnown_ = true;
      fillForm(chosen);
    }
    warmTimer_.start();
    showCost();
    Q_EMIT viewChanged();
  });
  return card;
}

QWidget* PlaygroundPage::makeBoard() {
  auto [card, column, head] = playCard(down_);
  boardTitle_ = playTitle(tr("Images"), "title", card);
  boardAbout_ = playTitle(QString(), "muted", card);
  boardAbout_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  head->addWidget(boardTitle_, 2);
  head->addWidget(boardAbout_, 3);
  board_ = new ImageBoard(card);
  connect(board_, &ImageBoard::placeClicked, this, &PlaygroundPage::replayAt);
  column->addWidget(board_->area(), 1);
  auto* bar = new FlowBar(card);
  FlowRow& row = bar->row();
  keepButton_ = playButton(keep_, card);
  exportButton_ = new QToolButton(card);
  exportButton_->setText(tr("Export figure\u2026"));
  connect(exportButton_, &QToolButton::clicked, this, [this] { exportShown(false); });
  zoomBox_ = withName(new QComboBox(card), tr("Zoom"),
                      tr("Pixels of the screen for each pixel of an image"));
  zoomBox_->addItem(tr("Zoom to fit"), 0);
  for (const int zoom : {1, 2, 3, 4, 6, 8}) zoomBox_->addItem(tr("Zoom %1").arg(zoom), zoom);
  connect(zoomBox_, &QComboBox::activated, this, [this](int index) {
    board_->setZoom(zoomBox_->itemData(index).toInt());
    Q_EMIT viewChanged();
  });
  row.addWidget(keepButton_);
  row.addWidget(exportButton_);
  row.addStretch();
  row.addWidget(zoomBox_);
  column->addWidget(bar);
  connect(board_, &ImageBoard::selectionChanged, this, &PlaygroundPage::showSelected);
  for (QAction* one : {verify_, keep_, recallAll_, recallSeed_, recallPrompt_, recallRest_, info_})
    board_->addAction(one);
  return card;
}

QWidget* PlaygroundPage::makeFilm() {
  auto [card, column, head] = playCard(down_);
  filmCard_ = card;
  filmTitle_ = playTitle(tr("Denoising"), "title", card);
  auto* bar = new FlowBar(card);
  head->addWidget(bar);
  layerBox_ = withName(new QComboBox(card), tr("Layer of the attention"));
  headBox_ = withName(new QComboBox(card), tr("Head of the attention"));
  playButton_ = makeToolButton(tr("Play"), tr("Show the steps one after the other"), card);
  playButton_->setCheckable(true);
  playButton_->setIcon(icon(Icon::Play));
  playButton_->setIconSize(QSize(px(12), px(12)));
  playButton_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  auto* exportFilm = makeToolButton(tr("Export steps\u2026"),
                                    tr("Save the steps of this image as a figure"), card);
  connect(exportFilm, &QToolButton::clicked, this, [this] { exportShown(true); });
  bar->row().addWidget(filmTitle_);
  bar->row().addStretch();
  for (QWidget* one : {static_cast<QWidget*>(layerBox_), static_cast<QWidget*>(headBox_),
                       static_cast<QWidget*>(playButton_), static_cast<QWidget*>(exportFilm)})
    bar->row().addWidget(one);
  film_ = new FilmStrip(card);
  column->addWidget(film_);
  auto* line = rowIn(nullptr, {}, px(8));
  stepText_ = new QLabel(card);
  slider_ = withName(new QSlider(Qt::Horizontal, card), tr("Step of the image"),
                     tr("Steps that were kept"));
  slider_->setPageStep(1);
  line->addWidget(stepText_);
  line->addWidget(slider_, 1);
  column->addLayout(line);
  filmNote_ = withRole(new WrapLabel(card), "small");
  column->addWidget(filmNote_);
  for (QAction* one : {verify_, keep_, recallAll_, recallSeed_, recallPrompt_, recallRest_, info_})
    film_->addAction(one);
  connect(film_, &FilmStrip::patchRequested, this, &PlaygroundPage::replayAt);
  connect(film_, &FilmStrip::stepChanged, this, &PlaygroundPage::showStep);
  connect(slider_, &QSlider::valueChanged, this, [this](int step) { film_->setStep(step); });
  const auto choose = [this] {
    film_->setChannel(layerBox_->currentData().toInt(), headBox_->currentData().toInt());
    showStep();
    Q_EMIT viewChanged();
  };
  connect(layerBox_, &QComboBox::activated, this, choose);
  connect(headBox_, &QComboBox::activated, this, choose);
  connect(playButton_, &QToolButton::toggled, this, [this](bool isOn) {
    if (isOn && film_->step() + 1 >= film_->frameCount()) film_->setStep(0);
    isOn ? playTimer_.start() : playTimer_.stop();
  });
  return card;
}

QWidget* PlaygroundPage::makeSide() {
  auto [card, column, head] = playCard(this);
  side_ = card;
  head->addWidget(playTitle(tr("Image"), "title", card), 1);
  head->addWidget(playButton(verify_, card));
  auto* inside = new QWidget(card);
  auto* rows = columnIn(inside, {0, 0, px(4), 0}, px(8));
  imageTitle_ = new WrapLabel(inside);
  picture_ = withName(
      new ClickedPicture(inside, [this](const std::array<double, 2>& at) { replayAt(at); }),
      tr("Selected image"));
  picture_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  verdict_ = withName(withRole(new WrapLabel(inside), "small"), tr("Verification"));
  verdict_->setTextFormat(Qt::RichText);
  facts_ = new FactTable(tr("Recipe"), inside);
  facts_->setLabelWidth(134);
  recipeButton_ = makeFoldButton(tr("Recipe"), inside);
  showKeyOf(info_, *recipeButton_);
  recipeButton_->setChecked(false);
  connect(recipeButton_, &QToolButton::toggled, this, [this](bool isOpen) {
    facts_->setVisible(isOpen && recipe_.is_object());
    Q_EMIT viewChanged();
  });
  command_ = new WrapLabel(inside);
  useMonoFont(*command_);
  command_->setProperty("role", "small");
  command_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  command_->setAccessibleName(tr("Command"));
  auto* bar = new FlowBar(inside);
  bar->row().setSpacing(px(6));
  for (QAction* one : {copy_, recallAll_, recallRest_, recallSeed_, recallPrompt_})
    bar->row().addWidget(playButton(one, inside));
  auto* past = playTitle(tr("History"), "title", inside);
  historyList_ = withName(new QListWidget(inside), tr("History of drawings"),
                          tr("Shows a drawing; A recalls its settings"));
  historyList_->setIconSize(QSize(px(32), px(32)));
  historyList_->setMinimumHeight(px(120));
  historyList_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  historyList_->setTextElideMode(Qt::ElideRight);
  rows->addWidget(imageTitle_);
  rows->addWidget(picture_);
  rows->addWidget(verdict_);
  rows->addWidget(command_);
  rows->addWidget(bar);
  rows->addWidget(recipeButton_);
  rows->addWidget(facts_);
  rows->addWidget(past);
  rows->addWidget(historyList_, 1);
  for (QAction* one :
       {verify_, keep_, recallAll_, recallSeed_, recallPrompt_, recallRest_, info_}) {
    historyList_->addAction(one);
    facts_->addAction(one);
  }
  column->addWidget(makeFitArea(inside, card), 1);
  card->setMinimumWidth(px(kSideWidth));
  connect(historyList_, &QListWidget::currentRowChanged, this, [this](int row) {
    const int index = static_cast<int>(history_.size()) - 1 - row;
    if (row < 0 || index < 0) return;
    showDrawing(history_[static_cast<std::size_t>(index)]);
  });
  return card;
}

// Next to the images where there is room for three columns, else below them.
void PlaygroundPage::placeSide() {
  const bool isBelow = width() < px(kSideFrom);
  if (side_->parentWidget() != nullptr && isBelow == isSideBelow_ &&
      (across_->indexOf(side_) >= 0 || down_->indexOf(side_) >= 0))
    return;
  isSideBelow_ = isBelow;
  side_->setMinimumHeight(isBelow ? px(320) : 0);
  (isBelow ? down_ : across_)->addWidget(side_);
  side_->show();
  // Room that is left belongs to the images.
  if (!isBelow) across_->setSizes({px(kSettingsWidth), width(), px(kSideWidth)});
  across_->setStretchFactor(0, 0);
  across_->setStretchFactor(1, 1);
}

}  // namespace vitrine::ui
