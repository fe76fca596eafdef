// The widgets of the Calibration page and what they do.
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSlider>
#include <QSpinBox>
#include <QTableWidget>
#include <QToolButton>
#include <cmath>

#include "ui/calibration/calibration_page.h"
#include "ui/calibration/sample_strip.h"
#include "ui/figures/cell_text.h"
#include "ui/figures/figure_view.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/flow_row.h"

namespace vitrine::ui {

namespace {

constexpr int kTemperatureSteps = 1000;  // of the slider, on a logarithmic scale

double temperatureAtPlace(int place) {
  const double share = static_cast<double>(place) / kTemperatureSteps;
  return kLeastTemperature * std::pow(kMostTemperature / kLeastTemperature, share);
}

QFrame* makeCalibrationCard(QWidget* parent, QVBoxLayout*& column) {
  auto* card = withRole(new QFrame(parent), "card");
  column = columnIn(card, {px(12), px(12), px(12), px(8)}, px(6));  // as a picture's title
  return card;
}

QHBoxLayout* makeCalibrationTitle(QWidget* card, const QString& title, QLabel** titleLabel,
                                  QLabel** about) {
  auto* line = rowIn(nullptr, {}, px(8));
  auto* label = withRole(new ElidedLabel(title, card), "title");
  line->addWidget(label, 1);
  auto* note = withRole(new ElidedLabel(card), "small");
  note->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  line->addWidget(note);
  if (titleLabel != nullptr) *titleLabel = label;
  if (about != nullptr) *about = note;
  return line;
}

}  // namespace

int placeOfTemperature(double temperature) {
  return static_cast<int>(
      std::lround(kTemperatureSteps * std::log(temperature / kLeastTemperature) /
                  std::log(kMostTemperature / kLeastTemperature)));
}

QComboBox* CalibrationPage::makeCombo(const QString& name, const QString& tip) {
  auto* combo = withName(new QComboBox(this), name, tip);
  combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  combo->setMinimumWidth(px(80));
  combo->setMaximumWidth(px(220));
  combo->setMaxVisibleItems(20);
  return combo;
}

QWidget* CalibrationPage::makeTools() {
  auto* bar = new FlowBar(content());
  FlowRow* row = &bar->row();
  edges_ = makeCombo(tr("Bin edges"), tr("Bins of one width, or of as many images each"));
  edges_->addItems({tr("Equal width"), tr("Equal mass")});
  connect(edges_, &QComboBox::activated, this, [this](int index) {
    Binning changed = choice_.binning;
    changed.edges = index == 1 ? Binning::Edges::EqualMass : Binning::Edges::EqualWidth;
    chooseBinning(changed);
  });
  row->addWidget(edges_);
  bins_ = withName(new QSpinBox(this), tr("Number of bins"), tr("Number of bins"));
  bins_->setRange(1, Binning::kMostBins);
  bins_->setSuffix(tr(" bins"));
  bins_->setValue(choice_.binning.bins);
  bins_->setMinimumWidth(px(84));
  connect(bins_, &QSpinBox::valueChanged, this, [this](int number) {
    if (isFilling_) return;
    Binning changed = choice_.binning;
    changed.bins = number;
    chooseBinning(changed);
  });
  row->addWidget(bins_);
  target_ = makeCombo(tr("Probability"),
                      tr("Binned quantity: the largest probability, or that of one class"));
  connect(target_, &QComboBox::activated, this, [this](int index) {
    Binning changed = choice_.binning;
    changed.target = target_->itemData(index).toInt();
    chooseBinning(changed);
  });
  row->addWidget(target_);
  which_ =
      makeCombo(tr("Split"), tr("The evaluation whose answers are drawn; splits are never mixed"));
  connect(which_, &QComboBox::activated, this, [this](int index) {
    choice_.which = {which_->itemData(index).toString().toStdString(),
                     which_->itemData(index, Qt::UserRole + 1).toString().toStdString()};
    choice_.bin = choice_.label = choice_.predicted = -1;
    recompute();
    Q_EMIT viewChanged();
  });
  row->addWidget(which_);
  gap_ = makeToolButton(tr("Gap"), tr("Hatch the gap between accuracy and confidence"), this);
  gap_->setCheckable(true);
  gap_->setChecked(true);
  connect(gap_, &QToolButton::clicked, this, [this](bool isOn) {
    choice_.hasGap = isOn;
    showReliability();
    Q_EMIT viewChanged();
  });
  row->addWidget(gap_);
  cues_ = makeToolButton(
      tr("Shape or texture"),
      tr("Which cue decides on images with the shape of one class and the texture of another, "
         "instead of the confusion matrix"),
      this);
  cues_->setCheckable(true);
  connect(cues_, &QToolButton::clicked, this, [this](bool isOn) {
    choice_.hasCues = isOn;
    showConfusion();
    showNotice();
    Q_EMIT viewChanged();
  });
  row->addWidget(cues_);
  addTools(*row, QStringLiteral("calibration"),
           tr("As PNG, SVG, PDF or CSV: the diagram, or the picture that had the focus last"));
  return bar;
}

QWidget* CalibrationPage::makeTemperature() {
  QVBoxLayout* column = nullptr;
  temperatureCard_ = makeCalibrationCard(content(), column);
  QLabel* title = nullptr;
  column->addLayout(
      makeCalibrationTitle(temperatureCard_, tr("Temperature"), &title, &temperatureAbout_));
  title->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Preferred);  // the note is cut first
  auto* line = rowIn(nullptr, {}, px(8));
  auto* letter = new QLabel(QStringLiteral("T"), temperatureCard_);
  line->addWidget(letter);
  temperature_ = withName(new QSlider(Qt::Horizontal, temperatureCard_), tr("Temperature"),
                          tr("Logits are divided by it: above 1 the model is less sure"));
  temperature_->setRange(0, kTemperatureSteps);
  temperature_->setSingleStep(5);
  temperature_->setPageStep(50);
  temperature_->setMinimumWidth(px(80));
  connect(temperature_, &QSlider::valueChanged, this, [this](int place) {
    if (isFilling_) return;
    // 1 can be hit.
    const bool isOne = std::abs(place - placeOfTemperature(1)) <= 2;
    chooseTemperature(isOne ? 1 : std::round(temperatureAtPlace(place) * 1000) / 1000);
  });
  line->addWidget(temperature_, 1);
  temperatureBox_ = withName(new QDoubleSpinBox(temperatureCard_), tr("Temperature, exactly"));
  temperatureBox_->setRange(kLeastTemperature, kMostTemperature);
  temperatureBox_->setDecimals(3);
  temperatureBox_->setSingleStep(0.05);
  temperatureBox_->setKeyboardTracking(false);
  temperatureBox_->setMinimumWidth(px(72));
  letter->setBuddy(temperatureBox_);
  connect(temperatureBox_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    if (!isFilling_) chooseTemperature(value);
  });
  line->addWidget(temperatureBox_);
  column->addLayout(line);
  errorsOverT_ =
      withName(new FigureView(temperatureCard_), tr("Calibration error over the temperature"));
  errorsOverT_->setMinimumHeight(px(160));
  errorsOverT_->setLeastRoom({240, 160});
  column->addWidget(errorsOverT_, 1);
  scores_ = withName(new QTableWidget(temperatureCard_), tr("Scores"));
  scores_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  scores_->setSelectionMode(QAbstractItemView::SingleSelection);
  scores_->setShowGrid(false);
  scores_->setTabKeyNavigation(false);
  scores_->setCornerButtonEnabled(false);  // it would select what cannot be selected
  scores_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  scores_->horizontalHeader()->setMinimumSectionSize(px(40));
  // Queued: a section that is stretched has its new size only after the signal.
  connect(scores_->horizontalHeader(), &QHeaderView::sectionResized, this,
          &CalibrationPage::breakTitles, Qt::QueuedConnection);
  scores_->horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
  scores_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  scores_->verticalHeader()->setDefaultSectionSize(px(22));
  scores_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  column->addWidget(scores_);
  auto* buttonBar = new FlowBar(temperatureCard_);
  FlowRow* buttons = &buttonBar->row();
  useFitted_ = new QPushButton(tr("Use fitted T"), temperatureCard_);
  useFitted_->setProperty("primary", true);
  useFitted_->setToolTip(tr("The temperature with the least negative log-likelihood"));
  connect(useFitted_, &QPushButton::clicked, this, [this] { chooseTemperature(0); });
  buttons->addWidget(useFitted_);
  reset_ = new QPushButton(tr("Reset"), temperatureCard_);
  reset_->setToolTip(tr("Back to the answers of the model, T = 1"));
  connect(reset_, &QPushButton::clicked, this, [this] { chooseTemperature(1); });
  buttons->addWidget(reset_);
  column->addWidget(buttonBar);
  return temperatureCard_;
}

QWidget* CalibrationPage::makeImages() {
  QVBoxLayout* column = nullptr;
  imagesCard_ = makeCalibrationCard(content(), column);
  QHBoxLayout* title =
      makeCalibrationTitle(imagesCard_, tr("Images"), &imagesTitle_, &imagesAbout_);
  column->addLayout(title);
  // The title has its row to itself: it says which images these are.
  auto* buttonBar = new FlowBar(imagesCard_);
  FlowRow* buttons = &buttonBar->row();
  column->addWidget(buttonBar);
  errors_ = makeToolButton(tr("Errors only"),
                           tr("Exclude the images that the model was right about"), imagesCard_);
  errors_->setCheckable(true);
  errors_->setChecked(true);
  connect(errors_, &QToolButton::clicked, this, [this](bool isOn) {
    choice_.onlyErrors = isOn;
    showImages();
    Q_EMIT viewChanged();
  });
  buttons->addWidget(errors_);
  allErrors_ = makeToolButton(tr("Misclassified"),
                              tr("All images that the model was wrong about, most confident first"),
                              imagesCard_);
  allErrors_->setCheckable(true);
  connect(allErrors_, &QToolButton::clicked, this, &CalibrationPage::chooseAllErrors);
  buttons->addWidget(allErrors_);
  auto* row = rowIn(nullptr, {}, px(12));
  strip_ = new SampleStrip(imagesCard_);
  attend_ = new QAction(tr("Open in Attention"), strip_);
  attend_->setToolTip(tr("Where the model looks in this image (Enter)"));
  attend_->setShortcuts({Qt::Key_Return, Qt::Key_Enter});
  attend_->setShortcutContext(Qt::WidgetShortcut);
  connect(attend_, &QAction::triggered, this, &CalibrationPage::openInAttention);
  strip_->addAction(attend_);
  strip_->setContextMenuPolicy(Qt::ActionsContextMenu);
  auto* attend = new QToolButton(imagesCard_);
  attend->setDefaultAction(attend_);
  buttons->addWidget(attend);
  auto* area = makeFitArea(strip_, imagesCard_);
  area->setMinimumHeight(px(132));
  area->setMinimumWidth(px(100));
  row->addWidget(area, 3);
  sample_ = withName(new FigureView(imagesCard_), tr("Chosen image"));
  sample_->setMinimumSize(px(160), px(140));
  sample_->setLeastRoom({200, 140});
  sample_->setEmptyText(tr("Choose an image."));
  row->addWidget(sample_, 2);
  column->addLayout(row, 1);
  connect(strip_, &SampleStrip::currentChanged, this, [this] { showSample(); });
  connect(&pictures_, &SamplePictures::arrived, this,
          [this](qint64 run, qint64 id, const QImage& picture) {
            if (run != currentRun()) return;
            strip_->setPicture(id, picture);
            const int at = strip_->current();
            if (at >= 0 && strip_->entries()[static_cast<std::size_t>(at)].id == id) showSample();
          });
  connect(&pictures_, &SamplePictures::ended, this, [this] {
    if (!pictures_.error().isEmpty()) imagesAbout_->setText(pictures_.error());
  });
  return imagesCard_;
}

QWidget* CalibrationPage::makeFilm() {
  QVBoxLayout* column = nullptr;
  filmCard_ = makeCalibrationCard(content(), column);
  column->setContentsMargins(0, 0, 0, px(8));
  film_ = withName(new FigureView(filmCard_), tr("Film of the diagram over training"));
  film_->setSteered(true);
  film_->setMinimumHeight(px(150));
  film_->setLeastRoom({260, 130});
  column->addWidget(film_, 1);
  stepAnalyses_->layout()->setContentsMargins(px(12), 0, px(12), 0);
  column->addWidget(stepAnalyses_);
  stepBar_ = new StepBar(tr("Steps whose answers are stored"), this);
  stepBar_->layout()->setContentsMargins(px(12), 0, px(12), 0);
  column->addWidget(stepBar_);
  connect(stepBar_, &StepBar::chosen, this, &CalibrationPage::chooseStep);
  connect(film_, &FigureView::clicked, this, [this](const FigureTarget& target) {
    if (target.image >= 0 && target.image < std::ssize(frames_))
      chooseStep(frames_[static_cast<std::size_t>(target.image)].step);
  });
  connect(film_, &FigureView::steered, this,
          [this](int right, int down) { onSteered(Picture::Film, right, down); });
  return filmCard_;
}

void CalibrationPage::arrange() {
  if (stackParts({reliability_, temperatureCard_, imagesCard_, confusion_, filmCard_}, 2)) return;
  grid_->addWidget(reliability_, 0, 0);
  grid_->addWidget(temperatureCard_, 0, 1);
  grid_->addWidget(imagesCard_, 1, 0);
  grid_->addWidget(confusion_, 1, 1, 2, 1);
  grid_->addWidget(filmCard_, 2, 0);
  grid_->setColumnStretch(0, 4);
  grid_->setColumnStretch(1, 3);
  grid_->setRowStretch(0, 5);
  grid_->setRowStretch(1, 3);
  grid_->setRowStretch(2, 3);
}

// The name of a run in up to three lines. A longer one keeps its beginning and its end; its tip has
// all of it.
void CalibrationPage::breakTitles() {
  const QHeaderView& header = *scores_->horizontalHeader();
  const QFontMetrics metrics = header.fontMetrics();
  for (int column = 0; column < scores_->columnCount(); ++column) {
    QTableWidgetItem* title = scores_->horizontalHeaderItem(column);
    const QString name = title != nullptr ? title->data(Qt::UserRole).toString() : QString();
    if (name.isEmpty()) continue;
    const int room = header.sectionSize(column) - 2 * px(8) - px(4);
    QStringList lines = cellLines(QFontMetricsF(metrics), name, room);
    if (lines.size() > kTitleLines) {
      const QString cut = metrics.elidedText(lines[1] + QChar(0x2026), Qt::ElideRight, room);
      lines = {lines.first(), cut, lines.last()};
    }
    title->setText(lines.join(QLatin1Char('\n')));
  }
}

}  // namespace vitrine::ui
