#include "ui/workbench/export_dialog.h"

#include <QClipboard>
#include <QEvent>
#include <QFormLayout>
#include <QGuiApplication>
#include <cmath>
#include <initializer_list>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "ui/figures/line_chart.h"
#include "ui/kit/questions.h"
#include "ui/kit/settings.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {
namespace {

const char* const kPaperKey = "export/paper";
const char* const kFormatKey = "export/format";
const QByteArray kPaperProperty = QByteArrayLiteral("paper/");

QDoubleSpinBox* spinOf(double low, double high, double step, int decimals, const QString& suffix,
                       const QString& name) {
  auto* spin = new QDoubleSpinBox;
  spin->setRange(low, high);
  spin->setSingleStep(step);
  spin->setDecimals(decimals);
  spin->setSuffix(suffix);
  spin->setAccessibleName(name);
  return spin;
}

}  // namespace

FigurePaper storedPaper() {
  const QByteArray text = setting(QLatin1String(kPaperKey), QByteArray()).toByteArray();
  return paperFromJson(readJson(text.toStdString()));
}

ExportDialog::ExportDialog(Figure& figure, Recipe recipe, QString offered, QWidget* parent)
    : QDialog(parent), figure_(figure), recipe_(std::move(recipe)), offered_(std::move(offered)) {
  setWindowTitle(tr("Export figure"));
  format_ = withName(new QComboBox, tr("Format"));
  format_->addItems({tr("PNG, pixels"), tr("SVG, vectors"), tr("PDF, vectors, fonts embedded"),
                     tr("CSV, the values that are drawn")});
  format_->setCurrentIndex(
      std::clamp(setting(QLatin1String(kFormatKey), 2).toInt(), 0, format_->count() - 1));
  size_ = withName(new QComboBox, tr("Size"));
  size_->addItem(tr("Single column, 85\u2009mm"), FigurePaper::kSingleColumn);
  size_->addItem(tr("Double column, 175\u2009mm"), FigurePaper::kDoubleColumn);
  size_->addItem(tr("Another width"), 0.0);
  width_ = spinOf(20, 2000, 5, 1, tr("\u2009mm"), tr("Width"));
  ratio_ = spinOf(0.1, 5, 0.05, 2, {}, tr("Height divided by width"));
  font_ = spinOf(3, 48, 0.5, 1, tr("\u2009pt"), tr("Font size"));
  font_->setToolTip(tr("Of the numbers on the axes, as printed; titles are a little larger"));
  dots_ = spinOf(50, 1200, 50, 0, tr("\u2009dpi"), tr("Resolution"));
  dots_->setToolTip(tr("Pixels per inch of a PNG"));
  titles_ = withName(new QCheckBox(tr("Axis titles")), tr("Axis titles"));
  legend_ = withName(new QComboBox, tr("Legend"));
  legend_->addItem(tr("As in the chart"), -1);
  legend_->addItem(tr("Below"), static_cast<int>(FigureLegend::Below));
  legend_->addItem(tr("Right"), static_cast<int>(FigureLegend::Right));
  legend_->addItem(tr("Inside, where there is room"), static_cast<int>(FigureLegend::Inside));
  legend_->addItem(tr("None"), static_cast<int>(FigureLegend::None));

  title_ = withName(new QCheckBox(tr("Title")), tr("Title"),
                    tr("The first line of a chart; on paper the caption replaces it"));
  markers_ = withName(new QSpinBox, tr("Markers"));
  markers_->setRange(0, FigurePaper::kMostMarked);
  markers_->setSpecialValueText(tr("As in the chart"));
  markers_->setPrefix(tr("every "));
  markers_->setSuffix(tr(" points"));

  auto* form = new QFormLayout;
  form->setSpacing(px(8));
  form->setLabelAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  form->addRow(tr("Format"), format_);
  form->addRow(tr("Size"), size_);
  form->addRow(tr("Width"), width_);
  form->addRow(tr("Height / width"), ratio_);
  form->addRow(tr("Font size"), font_);
  form->addRow(tr("Resolution"), dots_);
  form->addRow(tr("Legend"), legend_);
  form->addRow(tr("Markers"), markers_);
  form->addRow(QString(), titles_);
  form->addRow(QString(), title_);
  facts_ = wrappedLabel("small", this);
  problem_ = new QLabel;
  problem_->setWordWrap(true);
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  problem_->hide();

  makeWords();
  form->addRow(tr("x label"), xTitle_);
  form->addRow(tr("y label"), yTitle_);
  form->addRow(tr("Series"), series_);
  const auto* chart = dynamic_cast<const LineChartFigure*>(&figure_);
  for (QWidget* words : {static_cast<QWidget*>(xTitle_), static_cast<QWidget*>(yTitle_),
                         static_cast<QWidget*>(series_), static_cast<QWidget*>(title_)})
    form->setRowVisible(words, chart != nullptr && (words != series_ || series_->count() > 0));

  auto* side = new QVBoxLayout;
  side->addLayout(form);
  side->addWidget(facts_);
  side->addWidget(problem_);
  side->addStretch();
  preview_ = withRole(new QLabel, "canvas");
  preview_->setAlignment(Qt::AlignCenter);
  preview_->installEventFilter(this);
  preview_->setMinimumSize(px(360), px(280));
  preview_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
  preview_->setAccessibleName(tr("Preview"));

  auto* copy = withName(new QPushButton(tr("Copy picture")), tr("Copy picture"));
  auto* close = withName(new QPushButton(tr("Close")), tr("Close"));
  export_ = withName(new QPushButton(tr("Export\u2026")), tr("Export"));
  export_->setProperty("primary", true);
  export_->setDefault(true);
  auto* buttons = rowIn(nullptr, {}, px(8));
  buttons->addWidget(copy);
  buttons->addStretch();
  buttons->addWidget(close);
  buttons->addWidget(export_);

  auto* middle = rowIn(nullptr, {}, px(16));
  middle->addLayout(side);
  middle->addWidget(preview_, 1);
  auto* layout = columnIn(this, {px(16), px(16), px(16), px(16)}, px(16));
  layout->addLayout(middle, 1);
  layout->addLayout(buttons);
  resize(px(860), px(600));

  const FigurePaper chosen = paperFor(figure_, storedPaper());
  fill(chosen);
  connect(size_, &QComboBox::activated, this, [this] {
    const double width = size_->currentData().toDouble();
    if (width > 0) width_->setValue(width);
    width_->setEnabled(width <= 0);
    if (width <= 0) width_->setFocus();
  });
  for (QDoubleSpinBox* spin : {width_, ratio_, font_, dots_})
    connect(spin, &QDoubleSpinBox::valueChanged, this, &ExportDialog::refresh);
  for (QCheckBox* box : {titles_, title_})
    connect(box, &QCheckBox::toggled, this, &ExportDialog::refresh);
  connect(markers_, &QSpinBox::valueChanged, this, &ExportDialog::refresh);
  for (QLineEdit* edit : {xTitle_, yTitle_})
    connect(edit, &QLineEdit::textChanged, this, &ExportDialog::refresh);
  connect(series_, &QListWidget::itemChanged, this, [this](QListWidgetItem* item) {
    // A name that was taken away is the series' own again.
    if (item->text().trimmed().isEmpty()) item->setText(ownNames_[series_->row(item)]);
    refresh();
  });
  for (QComboBox* box : {format_, legend_})
    connect(box, &QComboBox::currentIndexChanged, this, &ExportDialog::refresh);
  connect(copy, &QPushButton::clicked, this, &ExportDialog::copy);
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(export_, &QPushButton::clicked, this, &ExportDialog::askAndExport);
  refresh();
}

// What the chart calls its axes and series, to be written over.
void ExportDialog::makeWords() {
  xTitle_ = withName(new QLineEdit, tr("Label of the x axis"));
  yTitle_ = withName(new QLineEdit, tr("Label of the y axis"));
  for (QLineEdit* edit : {xTitle_, yTitle_}) edit->setMaxLength(FigurePaper::kLongestName);
  series_ =
      withName(new QListWidget, tr("Names of the series"),
               tr("F2 or a double click changes a name; an empty name restores the original"));
  series_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  series_->setMaximumHeight(px(96));
  const auto* chart = dynamic_cast<const LineChartFigure*>(&figure_);
  if (chart == nullptr) return;
  xTitle_->setPlaceholderText(chart->chart().x.title);
  yTitle_->setPlaceholderText(chart->chart().y.title);
  for (const ChartSeries& series : chart->chart().series) {
    if (ownNames_.size() == FigurePaper::kMostNames) break;
    ownNames_ << series.name;
    auto* item = new QListWidgetItem(series.name, series_);
    item->setFlags(item->flags() | Qt::ItemIsEditable);
    item->setHidden(series.name.isEmpty());
  }
}

void ExportDialog::setPaper(const FigurePaper& paper) {
  fill(paper);
  refresh();
}

void ExportDialog::fill(const FigurePaper& paper) {
  isFilling_ = true;
  width_->setValue(paper.width);
  ratio_->setValue(paper.ratio);
  font_->setValue(paper.fontPoints);
  dots_->setValue(paper.dotsPerInch);
  titles_->setChecked(paper.hasAxisTitles);
  title_->setChecked(paper.hasTitle);
  markers_->setValue(paper.markerEvery);
  xTitle_->setText(paper.xTitle);
  yTitle_->setText(paper.yTitle);
  for (int row = 0; row < series_->count(); ++row) {
    const QString name = paper.seriesNames.value(row);
    series_->item(row)->setText(name.isEmpty() ? ownNames_[row] : name);
  }
  legend_->setCurrentIndex(
      std::max(0, legend_->findData(paper.legend ? static_cast<int>(*paper.legend) : -1)));
  const int known = size_->findData(paper.width);
  size_->setCurrentIndex(known >= 0 ? known : size_->count() - 1);
  isFilling_ = false;
}

FigurePaper ExportDialog::paper() const {
  FigurePaper paper;
  paper.width = width_->value();
  paper.ratio = ratio_->value();
  paper.fontPoints = font_->value();
  paper.dotsPerInch = dots_->value();
  paper.hasAxisTitles = titles_->isChecked();
  paper.hasTitle = title_->isChecked();
  paper.markerEvery = markers_->value();
  paper.xTitle = xTitle_->text().simplified();
  paper.yTitle = yTitle_->text().simplified();
  bool hasNames = false;
  for (int row = 0; row < series_->count(); ++row) {
    const QString name = series_->item(row)->text().simplified().left(FigurePaper::kLongestName);
    const bool isOwn = name == ownNames_[row].simplified();
    paper.seriesNames << (isOwn ? QString() : name);
    hasNames = hasNames || !isOwn;
  }
  if (!hasNames) paper.seriesNames.clear();
  if (legend_->currentData().toInt() >= 0)
    paper.legend = static_cast<FigureLegend>(legend_->currentData().toInt());
  return paper;
}

FigureFormat ExportDialog::format() const {
  return static_cast<FigureFormat>(format_->currentIndex());
}

void ExportDialog::refresh() {
  if (isFilling_) return;
  const FigurePaper chosen = highEnough(figure_, paper());
  const QSizeF size = chosen.millimetres();
  const bool isPicture = format() != FigureFormat::Csv;
  QString facts =
      isPicture
          ? tr("%1 \u00d7 %2\u2009mm").arg(number(size.width(), 1), number(size.height(), 1))
          : tr("The values as text, without a size");
  if (format() == FigureFormat::Png) {
    facts += tr(", %1 \u00d7 %2 pixels")
                 .arg(count(std::llround(size.width() / 25.4 * chosen.dotsPerInch)),
                      count(std::llround(size.height() / 25.4 * chosen.dotsPerInch)));
  }
  facts += tr(". The file contains its recipe: dropped on the window, it opens the chart.");
  if (const QString lost = paperProblem(figure_, chosen); isPicture && !lost.isEmpty())
    facts += QLatin1Char(' ') + lost;
  facts_->setText(facts);
  for (QWidget* choice : std::initializer_list<QWidget*>{
           size_, ratio_, font_, legend_, markers_, titles_, title_, xTitle_, yTitle_, series_})
    choice->setEnabled(isPicture);
  width_->setEnabled(isPicture && size_->currentData().toDouble() <= 0);
  dots_->setEnabled(format() == FigureFormat::Png);
  const double ratio = devicePixelRatioF();
  const QSizeF room = QSizeF(preview_->size()) - QSizeF(px(24), px(24));
  const double perMillimetre =
      std::min(room.width() / size.width(), room.height() / size.height()) * ratio;
  if (!(perMillimetre > 0)) return;
  try {
    QImage image = paperPicture(figure_, chosen, perMillimetre);
    image.setDevicePixelRatio(ratio);
    preview_->setPixmap(QPixmap::fromImage(image));
    preview_->setAccessibleDescription(figure_.summary());
    problem_->hide();
  } catch (const Error& error) {
    sayIn(*problem_, QString::fromUtf8(error.what()));
  }
}

bool ExportDialog::eventFilter(QObject* watched, QEvent* event) {
  // The size of the picture is known only once the layout has given its place.
  if (watched == preview_ && event->type() == QEvent::Resize) refresh();
  return QDialog::eventFilter(watched, event);
}

void ExportDialog::exportTo(const QString& file) {
  recipe_.paper = paper();
  saveFigure(figure_, file, recipe_);
  written_ = file;
  storeSetting(QLatin1String(kPaperKey),
               QByteArray::fromStdString(toJson(recipe_.paper.withoutWords()).dump()));
  storeSetting(QLatin1String(kFormatKey), format_->currentIndex());
}

void ExportDialog::askAndExport() {
  const QString ending = endingOf(format());
  static constexpr std::array kNames{"PNG", "SVG", "PDF", "CSV"};
  const QString file = askSaveFile(
      this, tr("Export figure"), offered_ + ending,
      tr("%1 (*%2)").arg(QLatin1String(kNames[static_cast<std::size_t>(format())]), ending));
  if (file.isEmpty()) return;
  try {
    exportTo(file);
    accept();
  } catch (const Error& error) {
    sayIn(*problem_, QString::fromUtf8(error.what()));
  }
}

void ExportDialog::copy() {
  try {
    const FigurePaper chosen = paper();
    QImage image = paperPicture(figure_, chosen, chosen.dotsPerInch / 25.4);
    image.setDevicePixelRatio(1);
    QGuiApplication::clipboard()->setImage(image);
  } catch (const Error& error) {
    sayIn(*problem_, QString::fromUtf8(error.what()));
  }
}

void exportFigure(QWidget* parent, Workbench& workbench, Figure& figure, const Recipe& recipe,
                  const QString& name) {
  ExportDialog dialog(figure, recipe, name, parent);
  const QByteArray key = kPaperProperty + QByteArray::fromStdString(recipe.page);
  if (const QByteArray kept = workbench.property(key).toByteArray(); !kept.isEmpty()) {
    dialog.setPaper(paperFromJson(readJson(kept.toStdString())));
    workbench.setProperty(key, QVariant());  // the next one is another figure
  }
  dialog.exec();
  if (!dialog.written().isEmpty())
    workbench.showMessage(ExportDialog::tr("Wrote %1.").arg(dialog.written()));
}

void keepPaper(Workbench& workbench, const Recipe& recipe) {
  workbench.setProperty(kPaperProperty + QByteArray::fromStdString(recipe.page),
                        QByteArray::fromStdString(toJson(recipe.paper).dump()));
}

void exportFigureOf(QWidget* parent, Workbench& workbench, Page& page, const QString& pageId) {
  const std::unique_ptr<Figure> figure = page.figure();
  if (figure == nullptr) {
    workbench.showMessage(
        ExportDialog::tr("There is no figure to export here: show a chart first."));
    return;
  }
  exportFigure(parent, workbench, *figure, recipeOf(workbench, pageId, page), pageId);
}

}  // namespace vitrine::ui
