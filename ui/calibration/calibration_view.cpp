// Pictures and texts of the Calibration page.
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedWidget>
#include <QTableWidget>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "ui/calibration/calibration_page.h"
#include "ui/calibration/sample_strip.h"
#include "ui/figures/figure_view.h"
#include "ui/figures/line_chart.h"
#include "ui/kit/series/run_series.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostListed = 60;  // images of a bin
constexpr int kSharesShown = 5;
constexpr double kErrorRoom = 2.5;  // of the largest error that is named, what the axis shows

QString orDash(double value, const std::function<QString(double)>& text) {
  return std::isfinite(value) ? text(value) : QStringLiteral("\u2013");
}

}  // namespace

void CalibrationPage::showAll() {
  if (shown_.empty()) return;
  showReliability();
  showTemperature();
  showScores();
  showConfusion();
  showFilm();
  showImages();
  showNotice();
}

ReliabilityPicture CalibrationPage::reliabilityPicture() const {
  ReliabilityPicture picture;
  const CalibrationRun& main = *current();
  picture.title = tr("Reliability, %1").arg(QString::fromStdString(textOf(*choice_.which)));
  const bool isMass = choice_.binning.edges == Binning::Edges::EqualMass;
  picture.about = tr("%1 images \u00b7 step %2 \u00b7 %3")
                      .arg(count(main.now.scores.samples), count(main.step),
                           isMass ? tr("%1 bins of equal mass").arg(choice_.binning.bins)
                                  : tr("%1 bins of equal width").arg(choice_.binning.bins));
  picture.quantity =
      choice_.binning.target < 0
          ? tr("confidence")
          : tr("probability of %1")
                .arg(QString::fromStdString(main.predictions->nameOf(choice_.binning.target)));
  for (const auto& run : shown_)
    picture.lines.push_back({run->run, runName(run->run), run->temperature, run->now.bins});
  picture.current = static_cast<int>(*indexOfCurrent());
  if (main.temperature != 1) picture.before = main.atOne.bins;
  picture.hasGap = choice_.hasGap;
  picture.bin = choice_.bin;
  return picture;
}

void CalibrationPage::showReliability() {
  if (shown_.empty()) return;
  reliability_->setFigure(makeReliabilityFigure(reliabilityPicture(), FigureStyle{}));
}

std::unique_ptr<Figure> CalibrationPage::temperatureFigure(Words words) const {
  LineChart chart;
  if (words == Words::All) {
    chart.title = tr("Calibration error over temperature");
    chart.about = QString::fromStdString(textOf(*choice_.which));
    chart.footnote = temperatureAbout_->text();
  }
  chart.x.title = tr("temperature");
  chart.x.scale = AxisScale::Log;
  chart.x.range = {{kLeastTemperature, kMostTemperature}};
  chart.y.title = tr("ECE");
  chart.y.format = [](double value, int decimals) {
    return percent(value, std::max(decimals - 2, 0));
  };
  chart.y.target = 3;
  // Values far from the best would leave the best without height.
  double named = 0, most = 0;
  for (const auto& run : shown_) {
    for (const auto* at : {&run->atOne, &run->now, &run->atFitted})
      if (std::isfinite(at->scores.ece)) named = std::max(named, at->scores.ece);
    for (const double error : run->errors)
      if (std::isfinite(error)) most = std::max(most, error);
  }
  if (named > 0) chart.y.range = {{0, std::min(kErrorRoom * named, std::max(most, named))}};
  chart.legend =
      words == Words::All && shown_.size() > 1 ? FigureLegend::Below : FigureLegend::None;
  for (const auto& run : shown_) {
    ChartSeries line;
    line.name = runName(run->run);
    line.run = seriesOf(run->run);
    line.x = temperatureGrid();
    line.y = run->errors;
    line.x.resize(std::min(line.x.size(), line.y.size()));
    line.y.resize(line.x.size());
    chart.series.push_back(std::move(line));
  }
  for (const auto& run : shown_) {
    ChartSeries now;
    now.name = tr("%1, T %2").arg(runName(run->run), number(run->temperature, 2));
    now.run = seriesOf(run->run);
    now.draw = ChartSeries::Draw::Points;
    now.x = {run->temperature};
    now.y = {run->now.scores.ece};
    chart.series.push_back(std::move(now));
    const QString fitted = tr("fitted %1").arg(number(run->fitted.temperature, 2));
    const auto same =
        std::find_if(chart.notes.begin(), chart.notes.end(),
                     [&fitted](const ChartNote& note) { return note.text == fitted; });
    if (same != chart.notes.end())
      same->run = 0;  // of several runs
    else
      chart.notes.push_back(
          {run->fitted.temperature, std::nullopt, fitted, seriesOf(run->run)});
  }
  FigureStyle style{.run = seriesOf(currentRun())};
  return makeLineChart(std::move(chart), style);
}

void CalibrationPage::showTemperature() {
  const CalibrationRun& run = *current();
  isFilling_ = true;
  temperature_->setValue(placeOfTemperature(run.temperature));
  temperatureBox_->setValue(run.temperature);
  isFilling_ = false;
  const QString where =
      run.fittedOn == run.predictions->split
          ? tr("fitted on the %1 images shown").arg(QString::fromStdString(run.fittedOn))
          : tr("fitted on the %1 split").arg(QString::fromStdString(run.fittedOn));
  temperatureAbout_->setText(
      run.fitted.isAtEdge
          ? tr("%1 \u00b7 %2; the best lies beyond this range").arg(runName(run.run), where)
          : tr("%1 \u00b7 %2").arg(runName(run.run), where));
  useFitted_->setEnabled(run.temperature != run.fitted.temperature);
  reset_->setEnabled(run.temperature != 1);
  errorsOverT_->setFigure(temperatureFigure(Words::Few));
}

void CalibrationPage::showScores() {
  struct Column {
    QString title;
    const CalibrationScores* scores;
    std::int64_t run;
  };
  const CalibrationRun& main = *current();
  const bool hasOthers = shown_.size() > 1;
  std::vector<Column> columns{{tr("T 1.00"), &main.atOne.scores, 0}};
  if (main.temperature != 1 && main.temperature != main.fitted.temperature)
    columns.push_back({tr("T %1").arg(number(main.temperature, 2)), &main.now.scores, 0});
  columns.push_back({(hasOthers ? tr("fitted\n%1") : tr("fitted %1"))  // names need the room
                         .arg(number(main.fitted.temperature, 2)),
                     &main.atFitted.scores, 0});
  for (const auto& run : shown_) {
    if (run->run != main.run) columns.push_back({runName(run->run), &run->now.scores, run->run});
  }
  struct Row {
    QString title, tip;
    std::function<QString(const CalibrationScores&)> text;
  };
  // The row names the unit, percent: columns of several runs fit next to each other.
  const auto share = [](double value) { return number(100 * value, 2); };
  const auto plain = [](double value) { return number(value, 3); };
  const std::vector<Row> rows{
      {tr("ECE, %"), tr("Gap of accuracy and confidence, mean over bins weighted by n"),
       [&](const CalibrationScores& s) { return orDash(s.ece, share); }},
      {tr("MCE, %"), tr("Largest gap of a bin"),
       [&](const CalibrationScores& s) { return orDash(s.mce, share); }},
      {tr("Classwise, %"), tr("ECE of each class's probability, mean over classes"),
       [&](const CalibrationScores& s) { return orDash(s.classwise, share); }},
      {tr("Brier"), tr("Mean squared distance of the probabilities from the label, 0 to 2"),
       [&](const CalibrationScores& s) { return orDash(s.brier, plain); }},
      {tr("NLL"), tr("Mean negative log-likelihood, nats"),
       [&](const CalibrationScores& s) { return orDash(s.nll, plain); }},
      {tr("Accuracy, %"), tr("Share of images that the model is right about"),
       [&](const CalibrationScores& s) { return orDash(s.accuracy, share); }}};
  scores_->setRowCount(static_cast<int>(rows.size()));
  scores_->setColumnCount(static_cast<int>(columns.size()));
  for (int column = 0; column < scores_->columnCount(); ++column) {
    const Column& one = columns[static_cast<std::size_t>(column)];
    auto* title = new QTableWidgetItem(one.title);
    title->setToolTip(one.run == 0 ? runName(main.run) : one.title);
    if (one.run != 0) {
      title->setForeground(seriesColor(seriesOf(one.run)));
      title->setData(Qt::UserRole, one.title);  // is shown in lines
    }
    scores_->setHorizontalHeaderItem(column, title);
    for (int row = 0; row < scores_->rowCount(); ++row) {
      const Row& line = rows[static_cast<std::size_t>(row)];
      auto* item = new QTableWidgetItem(line.text(*one.scores));
      item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      item->setToolTip(line.tip);
      scores_->setItem(row, column, item);
    }
  }
  for (int row = 0; row < scores_->rowCount(); ++row) {
    auto* title = new QTableWidgetItem(rows[static_cast<std::size_t>(row)].title);
    title->setToolTip(rows[static_cast<std::size_t>(row)].tip);
    scores_->setVerticalHeaderItem(row, title);
  }
  // A number is never cut: where columns have no room the table scrolls.
  QHeaderView* titles = scores_->horizontalHeader();
  int widest = px(40);
  for (int column = 0; column < scores_->columnCount(); ++column) {
    const bool isOther = columns[static_cast<std::size_t>(column)].run != 0;
    titles->setSectionResizeMode(
        column, hasOthers && !isOther ? QHeaderView::ResizeToContents : QHeaderView::Stretch);
    if (!hasOthers) widest = std::max(widest, titles->sectionSizeHint(column));
    for (int row = 0; row < scores_->rowCount(); ++row)
      widest = std::max(
          widest,
          scores_->fontMetrics().horizontalAdvance(scores_->item(row, column)->text()) + px(18));
  }
  titles->setMinimumSectionSize(widest);
  breakTitles();
  // As high as titles may become: their lines depend on the width.
  titles->setMinimumHeight(hasOthers ? kTitleLines * titles->fontMetrics().lineSpacing() + px(16)
                                     : 0);
  scores_->setFixedHeight(scores_->rowCount() * px(22) +
                          std::max(titles->minimumHeight(), titles->sizeHint().height()) +
                          scores_->horizontalScrollBar()->sizeHint().height() + px(4));
}

FilmPicture CalibrationPage::filmPicture() const {
  FilmPicture picture;
  picture.title = tr("Film over training, %1").arg(QString::fromStdString(textOf(*choice_.which)));
  picture.about = tr("T 1.00 \u00b7 ECE of the current run \u00b7 step");
  const CalibrationRun& main = *current();
  const std::int64_t step = shownStep();
  for (const CalibrationFrame& frame : frames_) {
    FilmPicture::Frame one{.step = frame.step, .ece = QStringLiteral("\u2013")};
    for (const CalibrationFrame::Line& line : frame.lines) {
      one.lines.emplace_back(line.run, line.bins);
      picture.names[line.run] = runName(line.run);
      if (line.run == main.run) one.ece = percent(line.ece, 1);
    }
    if (step < 0 || frame.step <= step)
      picture.shown = static_cast<int>(picture.frames.size());
    picture.frames.push_back(std::move(one));
  }
  return picture;
}

void CalibrationPage::showFilm() {
  if (shown_.empty()) return;
  stepBar_->setSteps(steps(), step_.value_or(-1));
  film_->setFigure(frames_.empty() ? nullptr : makeFilmFigure(filmPicture(), FigureStyle{}));
}

void CalibrationPage::chooseBin(int bin) {
  const CalibrationRun* run = current();
  if (run == nullptr) return;
  bin = std::clamp(bin, 0, static_cast<int>(run->now.bins.size()) - 1);
  choice_.bin = bin;
  choice_.label = choice_.predicted = -1;
  choice_.hasAllErrors = false;
  showReliability();
  showConfusion();
  showImages();
  Q_EMIT viewChanged();
}

void CalibrationPage::chooseAllErrors() {
  if (shown_.empty()) return;
  choice_.bin = choice_.label = choice_.predicted = -1;
  choice_.hasAllErrors = true;
  showReliability();
  showConfusion();
  showImages();
  Q_EMIT viewChanged();
}

void CalibrationPage::onSteered(Picture picture, int right, int down) {
  if (shown_.empty()) return;
  if (picture == Picture::Reliability) {
    const int last = static_cast<int>(current()->now.bins.size()) - 1;
    chooseBin(choice_.bin < 0 ? (right > 0 ? 0 : last) : choice_.bin + right);
  } else if (picture == Picture::Confusion) {
    moveCell(right, down);
  } else if (picture == Picture::Film) {
    stepBar_->move(right);
  }
}

void CalibrationPage::showImages() {
  const CalibrationRun& run = *current();
  const bool isCell = choice_.label >= 0;
  const bool isBin = !isCell && choice_.bin >= 0 && choice_.bin < std::ssize(run.now.bins);
  const bool isAllErrors = choice_.hasAllErrors && !isCell && !isBin;
  const bool isOneClass = run.binning.target >= 0 && canBinClasses(*run.predictions) &&
                          run.binning.target < run.predictions->classes;
  const QString target = isBin && isOneClass
                             ? QString::fromStdString(run.predictions->nameOf(run.binning.target))
                             : QString();
  // Cells and errors are of the predictions, whatever class the bins are of.
  CalibrationResult ofPredictions;
  const bool isOfPredictions = isOneClass && !isBin;
  if (isOfPredictions) ofPredictions.confidence = confidenceAt(*run.predictions, run.temperature);
  const CalibrationResult& answers = isOfPredictions ? ofPredictions : run.now;
  const Confidence& confidence = answers.confidence;
  listed_.clear();
  QString title = tr("Images"), about = tr("choose a bin, a cell or Misclassified");
  if (isCell || isBin || isAllErrors) {
    listed_ = samplesIn(answers, [&](std::size_t i) {
      const int label = run.predictions->labels[i], predicted = confidence.predicted[i];
      if (isAllErrors) return label != predicted;
      return isCell ? label == choice_.label && predicted == choice_.predicted
                    : run.now.binOf[i] == choice_.bin;
    });
  }
  const auto all = std::ssize(listed_);
  // "41 errors", or "60 of 332 errors" where not all are listed.
  const auto listed = [this](std::int64_t whole, const QString& one, const QString& many) {
    const auto most = static_cast<std::int64_t>(std::min(listed_.size(), kMostListed));
    return most < whole ? tr("%1 of %2").arg(count(most), counted(whole, one, many))
                        : counted(whole, one, many);
  };
  const QString image = tr("image"), images = tr("images");
  const auto errors = std::count_if(listed_.begin(), listed_.end(),
                                    [&](std::size_t i) { return confidence.isHit[i] == 0; });
  if (isBin && isOneClass) {
    const ReliabilityBin& bin = run.now.bins[static_cast<std::size_t>(choice_.bin)];
    title = tr("Bin %1\u2013%2: %3, those not of %4 first")
                .arg(number(bin.lower, 2), number(bin.upper, 2), listed(all, image, images),
                     target);
    about = tr("%1 are %2 \u00b7 mean probability %3")
                .arg(percent(bin.accuracy, 1), target, percent(bin.confidence, 1));
  } else if (isBin) {
    const ReliabilityBin& bin = run.now.bins[static_cast<std::size_t>(choice_.bin)];
    if (choice_.onlyErrors) listed_.resize(static_cast<std::size_t>(errors));
    title = choice_.onlyErrors ? tr("Bin %1\u2013%2: %3, most confident first")
                                     .arg(number(bin.lower, 2), number(bin.upper, 2))
                                     .arg(listed(errors, tr("error"), tr("errors")))
                               : tr("Bin %1\u2013%2: %3, errors first")
                                     .arg(number(bin.lower, 2), number(bin.upper, 2))
                                     .arg(listed(all, image, images));
    about = tr("%1 \u00b7 accuracy %2 \u00b7 confidence %3")
                .arg(counted(all, image, images), percent(bin.accuracy, 1),
                     percent(bin.confidence, 1));
  } else if (isCell) {
    title = tr("true %1, predicted %2: %3")
                .arg(QString::fromStdString(run.predictions->nameOf(choice_.label)),
                     QString::fromStdString(run.predictions->nameOf(choice_.predicted)),
                     listed(all, image, images));
    about = runName(run.run);
  } else if (isAllErrors) {
    const QString words = tr("misclassified");
    title = tr("%1, most confident first").arg(listed(all, words, words));
    about = tr("%1 \u00b7 of %2 images").arg(runName(run.run), count(run.now.scores.samples));
  }
  if (listed_.size() > kMostListed) listed_.resize(kMostListed);
  errors_->setVisible(isBin && !isOneClass);
  allErrors_->setChecked(isAllErrors);
  imagesTitle_->setText(title);
  imagesAbout_->setText(about);
  std::vector<SampleStrip::Entry> entries;
  for (const std::size_t i : listed_) {
    SampleStrip::Entry entry;
    entry.id = run.predictions->ids[i];
    entry.label = QString::fromStdString(run.predictions->nameOf(run.predictions->labels[i]));
    entry.predicted = QString::fromStdString(run.predictions->nameOf(confidence.predicted[i]));
    entry.target = target;
    entry.confidence = confidence.values[i];
    entry.isRight = confidence.isHit[i] != 0;
    entry.picture = pictures_.picture(run.run, run.predictions->split, entry.id);
    entries.push_back(std::move(entry));
  }
  const std::int64_t before = chosenSample();
  if (!entries.empty()) wantedSample_ = -1;
  int again = entries.empty() ? -1 : 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (before >= 0 && entries[i].id == before) again = static_cast<int>(i);
  }
  {
    const QSignalBlocker quiet(strip_);
    strip_->setEntries(std::move(entries));
    strip_->setCurrent(again);
  }
  showSample();
  fetchPictures();
}

void CalibrationPage::fetchPictures() {
  const CalibrationRun* run = current();
  if (run == nullptr || listed_.empty() || !isVisible()) return;
  std::vector<std::int64_t> ids;
  for (const std::size_t i : listed_) ids.push_back(run->predictions->ids[i]);
  pictures_.fetch({.run = run->run}, run->predictions->split, ids);
  if (!pictures_.error().isEmpty()) imagesAbout_->setText(pictures_.error());
}

std::unique_ptr<Figure> CalibrationPage::sampleFigure() const {
  const CalibrationRun* run = current();
  const int at = strip_->current();
  if (run == nullptr || at < 0 || at >= std::ssize(listed_)) return nullptr;
  const std::size_t sample = listed_[static_cast<std::size_t>(at)];
  SamplePicture picture;
  picture.title = tr("Image %1").arg(run->predictions->ids[sample]);
  picture.about = tr("%1 \u00b7 T %2")
                      .arg(QString::fromStdString(run->predictions->split),
                           number(run->temperature, 2));
  picture.picture = strip_->entries()[static_cast<std::size_t>(at)].picture;
  for (int k = 0; k < run->predictions->classes; ++k)
    picture.names << QString::fromStdString(run->predictions->nameOf(k));
  picture.shares = sharesOf(*run->predictions, sample, run->temperature, kSharesShown);
  picture.label = run->predictions->labels[sample];
  picture.predicted = run->now.confidence.predicted[sample];
  return makeSampleFigure(std::move(picture), FigureStyle{});
}

void CalibrationPage::showSample() {
  sample_->setFigure(sampleFigure());
  attend_->setEnabled(strip_->current() >= 0);
  const bool isChosen = choice_.bin >= 0 || choice_.label >= 0 || choice_.hasAllErrors;
  sample_->setEmptyText(strip_->entries().empty() && isChosen ? tr("There are no such images.")
                                                              : tr("Choose an image."));
}

}  // namespace vitrine::ui
