// The widgets of the Attention page and their keys.
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>
#include <limits>

#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/attention/attention_view.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/menus.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {

namespace {

QComboBox* attentionCombo(QWidget* parent, const QString& name, const QString& tip) {
  auto* combo = withName(new ElidedComboBox(parent), name, tip);
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(10);
  combo->setSizePolicy(QSizePolicy::Expanding, combo->sizePolicy().verticalPolicy());
  return combo;
}

QCheckBox* attentionBox(QWidget* parent, const QString& text, const QString& tip) {
  auto* box = new QCheckBox(text, parent);
  box->setToolTip(tip);
  return box;
}

}  // namespace

QWidget* AttentionPage::makeControls() {
  auto* bar = new FlowBar(stack_->content());
  FlowRow* row = &bar->row();
  row->setSpacing(px(8));
  series_ = attentionCombo(bar, tr("Matrix"), tr("Which matrix of which analysis is drawn"));
  series_->setMinimumContentsLength(20);
  weights_ = attentionCombo(bar, tr("Weights"),
                            tr("The trained weights of a checkpoint, or their moving average"));
  weights_->addItems({tr("Trained weights"), tr("Averaged weights")});
  image_ = new QSpinBox(bar);
  image_->setRange(0, std::numeric_limits<int>::max());
  image_->setAccessibleName(tr("Image"));
  image_->setToolTip(
      tr("Image number in the evaluation split ([ and ]: stored images, or those of a list)"));
  image_->setKeyboardTracking(false);
  splits_ = attentionCombo(bar, tr("Split"), tr("Which images the number counts"));
  splits_->hide();
  stored_ = withRole(new QLabel(bar), "small");
  open_ = new QToolButton(bar);
  open_->setText(tr("Open image\u2026"));
  open_->setToolTip(tr("Ask the model about your own image; it can also be dropped here"));
  back_ = makeToolButton(tr("Back to samples"), tr("Close your own image"), bar);
  back_->hide();
  query_ = attentionCombo(bar, tr("Query"),
                          tr("Query whose attention is drawn: click a patch or a word (arrow keys; "
                             "Home: class token or first word, End: mean)"));
  layout_ = attentionCombo(bar, tr("View"), tr("The map alone, over the image or next to it"));
  layout_->addItems({tr("Map"), tr("Overlay"), tr("Side by side")});
  layout_->setMinimumContentsLength(8);
  threshold_ = new QSlider(Qt::Horizontal, bar);
  threshold_->setRange(1, 100);
  threshold_->setValue(100);
  threshold_->setMinimumWidth(px(90));
  threshold_->setAccessibleName(tr("Mass that is shown, in percent"));
  threshold_->setToolTip(tr("The fewest keys that hold this share of the attention are drawn"));
  thresholdText_ = new QLabel(bar);
  thresholdText_->setMinimumWidth(px(72));
  sameScale_ = attentionBox(bar, tr("Same scale"),
                            tr("One range of colours for all maps and all runs shown"));
  sameScale_->setChecked(choice_.isSameScale);
  rollout_ = attentionBox(bar, tr("Rollout"), QString());
  distances_ = attentionBox(bar, tr("Distances"),
                            tr("How far each head reads, layer by layer, instead of its map"));
  follow_ = attentionBox(bar, tr("Follow pointer"),
                         tr("The patch under the pointer is the query, without a click"));
  row->addWidget(series_);
  row->addWidget(weights_);
  row->addWidget(splits_);
  row->addWidget(image_);
  row->addWidget(stored_);
  row->addWidget(open_);
  row->addWidget(back_);
  row->addStretch();
  row->addWidget(query_);
  row->addWidget(layout_);
  auto* mass = new QWidget(bar);
  auto* massRow = rowIn(mass, {}, px(8));
  auto* massName = new QLabel(tr("Mass"), mass);
  massName->setBuddy(threshold_);
  massRow->addWidget(massName);
  massRow->addWidget(threshold_);
  massRow->addWidget(thresholdText_);
  row->addWidget(mass);
  row->addWidget(sameScale_);
  row->addWidget(rollout_);
  row->addWidget(distances_);
  row->addWidget(follow_);

  connect(series_, &QComboBox::activated, this, [this](int index) {
    const QStringList words = series_->itemData(index).toStringList();
    chosen_ = {words.value(0).toStdString(), words.value(1).toStdString()};
    fillSamples();
    Q_EMIT viewChanged();
  });
  connect(weights_, &QComboBox::activated, this, [this](int index) {
    use_ = index == 1 ? kAverage : kTrained;
    isUseChosen_ = true;
    fillSeries();
    Q_EMIT viewChanged();
  });
  connect(image_, &QSpinBox::valueChanged, this, [this](int value) { setSample(value); });
  connect(splits_, &QComboBox::activated, this, [this](int index) {
    split_ = splits_->itemData(index).toString().toStdString();
    listed_.clear();
    fillSamples();
    Q_EMIT viewChanged();
  });
  connect(open_, &QToolButton::clicked, this, &AttentionPage::askForImage);
  connect(back_, &QToolButton::clicked, this, [this] { setOwnImage(QImage(), QString()); });
  connect(query_, &QComboBox::activated, this, [this](int index) {
    AttentionChoice next = choice_;
    next.query.kind = static_cast<QueryChoice::Kind>(query_->itemData(index).toPoint().x());
    next.query.token = query_->itemData(index).toPoint().y();
    choose(next);
  });
  connect(layout_, &QComboBox::activated, this, [this](int index) {
    AttentionChoice next = choice_;
    next.layout = static_cast<AttentionChoice::Layout>(index);
    choose(next);
  });
  connect(threshold_, &QSlider::valueChanged, this, [this](int value) {
    AttentionChoice next = choice_;
    next.share = value / 100.0;
    choose(next);
  });
  connect(sameScale_, &QCheckBox::toggled, this, [this](bool isOn) {
    AttentionChoice next = choice_;
    next.isSameScale = isOn;
    choose(next);
  });
  connect(rollout_, &QCheckBox::toggled, this, [this](bool isOn) {
    AttentionChoice next = choice_;
    next.isRollout = isOn;
    choose(next);
  });
  connect(distances_, &QCheckBox::toggled, this, [this](bool isOn) {
    AttentionChoice next = choice_;
    next.isDistances = isOn;
    choose(next);
  });
  connect(follow_, &QCheckBox::toggled, this, [this](bool isOn) {
    for (AttentionPanel* panel : panels_) panel->headView().setFollowing(isOn);
  });
  keepWheelForFocus(*bar);
  return bar;
}

QWidget* AttentionPage::makeBottom() {
  auto* card = withRole(new QFrame(stack_->content()), "card");
  auto* rows = columnIn(card, {px(12), px(8), px(12), px(8)}, px(6));
  auto* line = new QHBoxLayout;
  line->setSpacing(px(8));
  steps_ = new StepBar(tr("Steps whose attention is stored, and checkpoints"), this);
  timeName_ = new QLabel(tr("Denoising"), card);
  time_ = attentionCombo(card, tr("Denoising time"),
                         tr("How much noise the model saw: one entry for each step kept"));
  line->addWidget(steps_, 1);
  line->addWidget(timeName_);
  line->addWidget(time_);
  rows->addLayout(line);
  offer_ = new QWidget(card);
  auto* inOffer = rowIn(offer_, {}, px(8));
  offerText_ = new WrapLabel(offer_);
  computeOffer_ = new QPushButton(offer_);
  computeOffer_->setToolTip(tr("Run the image through the model of a checkpoint"));
  inOffer->addWidget(offerText_, 1);
  inOffer->addWidget(computeOffer_, 0, Qt::AlignTop);
  offer_->hide();
  rows->addWidget(offer_);
  auto* bar = new FlowBar(card);
  bar->row().setSpacing(px(8));
  note_ = withRole(new WrapLabel(card), "small");
  always_ = attentionBox(bar, tr("Compute what is missing"),
                         tr("Compute the attention at once for an image or a step that is not "
                            "stored"));
  store_ = attentionBox(bar, tr("Store what is computed"),
                        tr("As artifacts of the run, so that it need not be computed again; up to "
                           "128 MB of each run"));
  store_->setChecked(true);
  bar->row().addWidget(always_);
  bar->row().addWidget(store_);
  rows->addWidget(bar);
  rows->addWidget(note_);
  connect(steps_, &StepBar::chosen, this, [this](qint64 step) {
    atStep_ = step;
    workbench_.selection().setStep(step);
    showImages();
    Q_EMIT viewChanged();
  });
  connect(computeOffer_, &QPushButton::clicked, this, &AttentionPage::computeOffer);
  connect(time_, &QComboBox::activated, this, [this](int index) {
    atTime_ = time_->itemData(index).toDouble();
    showImages();
    Q_EMIT viewChanged();
  });
  connect(always_, &QCheckBox::toggled, this, [this](bool isOn) {
    if (isOn) showImages();
  });
  return card;
}

void AttentionPage::makeKeys() {
  addHeadKeys(
      *this, [this](int by) { moveSample(by); }, [this](int by) { moveLayer(by); },
      [this](int by) { moveHead(by); });
}

// The picture shows the values of the controls.
void AttentionPage::dressControls() {
  const QSignalBlocker quietShare(threshold_), quietScale(sameScale_), quietRollout(rollout_),
      quietDistances(distances_), quietQuery(query_), quietLayout(layout_);
  threshold_->setValue(static_cast<int>(choice_.share * 100 + 0.5));
  thresholdText_->setText(choice_.share >= 1 ? tr("all keys")
                                             : tr("%1 of mass").arg(percent(choice_.share, 0)));
  sameScale_->setChecked(choice_.isSameScale);
  rollout_->setChecked(choice_.isRollout);
  distances_->setChecked(choice_.isDistances);
  layout_->setCurrentIndex(static_cast<int>(choice_.layout));
  back_->setVisible(!own_.isNull());
  query_->clear();
  const auto add = [this](const QString& text, QueryChoice::Kind kind, int token) {
    query_->addItem(text, QPoint(static_cast<int>(kind), token));
    const bool isToken = kind == QueryChoice::Kind::Token;
    if (choice_.query.kind == kind && (!isToken || choice_.query.token == token))
      query_->setCurrentIndex(query_->count() - 1);
  };
  const AttentionPanel* panel = leading();
  QString why;
  if (panel != nullptr) {
    const AttentionScene& scene = panel->scene();
    const AttentionLayer& layer = scene.layerAt(scene.layer());
    const std::optional<int> asked = scene.query(scene.layer());
    const std::vector<int> words = layer.queryGrid.offGrid();
    if (layer.queryGrid.rows > 0) {
      const bool isPatch = asked && *asked != kMeanQuery &&
                           layer.queryGrid.cells[static_cast<std::size_t>(*asked)].isOnGrid();
      add(isPatch ? layer.queryGrid.name(*asked) : tr("patch"), QueryChoice::Kind::Patch, 0);
      if (isPatch) query_->setCurrentIndex(query_->count() - 1);
    }
    for (std::size_t i = 0; i < words.size() && i < 200; ++i) {
      add(layer.queryGrid.words.value(words[i]), QueryChoice::Kind::Token, static_cast<int>(i));
      if (asked == words[i]) query_->setCurrentIndex(query_->count() - 1);
    }
    add(tr("mean of all queries"), QueryChoice::Kind::Mean, 0);
    why = scene.whyNoRollout();
  }
  query_->setVisible(query_->count() > 0);
  query_->setEnabled(panel != nullptr);
  rollout_->setEnabled(panel != nullptr && (why.isEmpty() || choice_.isRollout));
  rollout_->setToolTip(why.isEmpty() ? tr("Products of the mean attention from the image up to a "
                                          "layer, with the residual path as half an identity")
                                     : why);
  QStringList notes;
  if (const auto selected = workbench_.selection().drawn().size();
      panels_.size() > 1 && selected > panels_.size())
    notes << tr("%1 of %2 selected runs are drawn.").arg(panels_.size()).arg(selected);
  for (const AttentionPanel* one : panels_) {
    const QString reason = one->scene().whyNoRollout();
    if (!choice_.isRollout || reason.isEmpty()) continue;
    notes << (panels_.size() > 1 ? tr("%1: %2").arg(runName(one->run()), reason) : reason);
  }
  notes << tr(
      "Attention shows where a head reads, not why the model decides. Keys: , . layer, < > "
      "head, [ ] image, arrows patch, Ctrl+arrows step.");
  note_->setText(notes.join(QLatin1Char('\n')));
  showOffer();
}

}  // namespace vitrine::ui
