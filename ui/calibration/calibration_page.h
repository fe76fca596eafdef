// The Calibration page: whether a classifier is as sure as it is right. Bins, temperature and steps
// are chosen here. It also shows the images behind them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/calibration/calibration_data.h"
#include "ui/calibration/calibration_figures.h"
#include "ui/figures/cues/cue_picture.h"
#include "ui/workbench/analyses/results_page.h"
#include "ui/workbench/sampling/sample_pictures.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QPushButton;
class QSlider;
class QSpinBox;
class QTableWidget;
class QToolButton;

namespace vitrine::ui {

class FigureView;
class SampleStrip;

/// Of the slider, whose places are equal steps of the logarithm.
[[nodiscard]] int placeOfTemperature(double temperature);

class CalibrationPage final : public ResultsPage {
  Q_OBJECT
 public:
  explicit CalibrationPage(Workbench& workbench, QWidget* parent = nullptr);

  [[nodiscard]] Json viewState() const override;
  void setViewState(const Json& state) override;
  /// The picture that had the focus last; the diagram before that.
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  /// The runs that are drawn, the current one among them.
  [[nodiscard]] const std::vector<std::shared_ptr<const CalibrationRun>>& shown() const {
    return shown_;
  }
  /// Whose bars, images and confusion are shown; nullptr where nothing is.
  [[nodiscard]] const CalibrationRun* current() const;
  [[nodiscard]] QString notice() const override;

 private:
  enum class Picture { Reliability, Temperature, Confusion, Film, Sample };
  struct Choice {
    Binning binning;
    std::optional<AnswersOf> which;
    std::map<std::int64_t, double> temperatures;  ///< by run; 0: the fitted one; missing: 1
    bool hasGap = true;
    bool onlyErrors = true;
    bool hasCues = false;  ///< in the place of the confusion matrix
    int bin = -1;
    int label = -1, predicted = -1;  ///< the chosen cell
    bool hasAllErrors = false;       ///< in the place of a bin or a cell
  };
  /// Decisions between shape and texture that a run has stored.
  struct StoredCues {
    std::int64_t step = 0;
    AnswersOf which;
    CueDecisions decisions;
  };
  struct Stored : RunBasics {
    std::vector<StoredAnswers> answers;
    std::int64_t samples = 0;      ///< of its last evaluation; 0: not known
    std::vector<StoredCues> cues;  ///< by step
    std::string dataset;           ///< that the run trains on; "": not known
  };
  struct FilmLine {
    Binning binning;
    std::vector<ReliabilityBin> bins;
    double ece = 0;
  };

  // calibration_layout.cpp
  QWidget* makeTools();
  QWidget* makeTemperature();
  QWidget* makeImages();
  QWidget* makeFilm();
  QComboBox* makeCombo(const QString& name, const QString& tip);
  void arrange() override;
  // calibration_page.cpp
  void reload() override;
  void takeStored(const std::vector<std::int64_t>& runs, std::map<std::int64_t, Stored> stored);
  void fillControls();
  void fillTargets();
  void recompute();
  void takeShown(std::vector<std::shared_ptr<const CalibrationRun>> shown, PredictionCache cache);
  void readFilm();
  void chooseBinning(const Binning& binning);
  void chooseTemperature(double temperature);
  [[nodiscard]] std::int64_t currentRun() const;
  [[nodiscard]] double temperatureOf(std::int64_t run) const;
  [[nodiscard]] bool hasShown() const override { return !shown_.empty(); }
  [[nodiscard]] std::vector<std::int64_t> steps() const override;
  void showStep() override { recompute(); }
  /// The chosen step, or the first with answers where that is later; -1: the newest.
  [[nodiscard]] std::int64_t shownStep() const;
  [[nodiscard]] std::optional<std::size_t> indexOfCurrent() const;
  // calibration_view.cpp
  void showAll() override;
  void showReliability();
  void showTemperature();
  void showScores();
  static constexpr int kTitleLines = 3;  ///< of a run's name above its scores
  void breakTitles();
  void showFilm();
  void showImages();
  void showSample();
  void showNotice() override;
  void chooseBin(int bin);
  void chooseAllErrors();
  void onSteered(Picture picture, int right, int down);
  void fetchPictures();
  [[nodiscard]] ReliabilityPicture reliabilityPicture() const;
  [[nodiscard]] FilmPicture filmPicture() const;
  /// On the page the card says what the figure says alone on paper.
  enum class Words { Few, All };
  [[nodiscard]] std::unique_ptr<Figure> temperatureFigure(Words words) const;
  [[nodiscard]] std::unique_ptr<Figure> sampleFigure() const;
  // calibration_cells.cpp
  void showConfusion();
  [[nodiscard]] ConfusionPicture confusionPicture() const;
  /// Of the runs that have stored decisions; nullptr where none has.
  [[nodiscard]] std::unique_ptr<Figure> cueFigure() const;
  /// Classes of the confusion matrix: of many those that are confused most.
  [[nodiscard]] std::vector<int> drawnClasses() const;
  void chooseCell(int label, int predicted);
  void chooseDrawnCell(int row, int column);
  void moveCell(int right, int down);
  // calibration_export.cpp
  [[nodiscard]] std::int64_t chosenSample() const;  ///< its id; -1: none
  void openInAttention();
  // calibration_compute.cpp
  [[nodiscard]] std::vector<std::int64_t> runsWithout() const;
  [[nodiscard]] bool canAnswer(std::int64_t run) const;
  /// Of runs that cannot answer, a sentence; "" where there are none.
  [[nodiscard]] QString whyNone() const;
  /// Runs that are drawn, whose data have images with two cues, and that have no decisions stored.
  [[nodiscard]] std::vector<std::int64_t> runsWithoutCues() const;
  /// \param analysis  its id
  [[nodiscard]] QString costOf(const std::vector<std::int64_t>& runs,
                               const QString& analysis = QStringLiteral("calibration")) const;
  /// Runs with the steps of checkpoints that were not evaluated on the drawn split.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> checkpointsWithout() const;
  /// \param checkpoint  -1: the newest
  [[nodiscard]] RunAnalysis answersOf(std::int64_t run, std::int64_t checkpoint = -1) const;

  Background &lists_, &numbers_, &films_;
  SamplePictures pictures_;
  Choice choice_;
  Picture picture_ = Picture::Reliability;
  std::map<std::int64_t, Stored> stored_;
  std::vector<std::shared_ptr<const CalibrationRun>> shown_;
  PredictionCache cache_;
  std::map<std::int64_t, FilmLine> filmLines_;  ///< by artifact
  std::vector<CalibrationFrame> frames_;
  std::vector<std::size_t> listed_;  ///< samples of the strip
  std::int64_t wantedSample_ = -1;   ///< of a view that is shown again, until samples are listed

  QComboBox *edges_ = nullptr, *target_ = nullptr, *which_ = nullptr;
  QSpinBox* bins_ = nullptr;
  QToolButton *gap_ = nullptr, *cues_ = nullptr, *errors_ = nullptr, *allErrors_ = nullptr;
  QAction* attend_ = nullptr;
  QWidget *temperatureCard_ = nullptr, *imagesCard_ = nullptr, *filmCard_ = nullptr;
  QLabel *imagesTitle_ = nullptr, *imagesAbout_ = nullptr, *temperatureAbout_ = nullptr;
  QPushButton *useFitted_ = nullptr, *reset_ = nullptr;
  FigureView *reliability_ = nullptr, *errorsOverT_ = nullptr, *confusion_ = nullptr,
             *film_ = nullptr, *sample_ = nullptr;
  QSlider* temperature_ = nullptr;
  QDoubleSpinBox* temperatureBox_ = nullptr;
  QTableWidget* scores_ = nullptr;
  SampleStrip* strip_ = nullptr;
};

}  // namespace vitrine::ui
