// The Spectra page: singular values of the attention of every head, how many of them hold most of
// the sum. Also how that changes while a run trains.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ui/spectra/rank_controls.h"
#include "ui/spectra/seed_curves.h"
#include "ui/spectra/spectra_figures.h"
#include "ui/workbench/analyses/results_page.h"

class QComboBox;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace vitrine::ui {

class FigureView;
class WrapLabel;

class SpectraPage final : public ResultsPage {
  Q_OBJECT
 public:
  explicit SpectraPage(Workbench& workbench, QWidget* parent = nullptr);

  [[nodiscard]] Json viewState() const override;
  void setViewState(const Json& state) override;
  /// The picture that had the focus last; the heads before that.
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  /// The runs that are drawn.
  [[nodiscard]] const std::vector<std::shared_ptr<const SpectraRun>>& shown() const {
    return shown_;
  }
  [[nodiscard]] std::int64_t shownStep() const;  ///< -1 where nothing is shown
  /// Also about runs that are not alike.
  [[nodiscard]] QString notice() const override;

 private:
  enum class Picture { Heads, Share, Waterfall, Controls, Effective, Stable };
  struct Choice {
    double threshold = 0.8;
    bool isLog = true;
    bool isValues = false;
    bool isSameScale = true;
    bool hasSeeds = false;  ///< curves are means over seeds
    int layer = 0, head = 0;  ///< head -1: the mean of the layer
  };
  /// Means over seeds of both scores, of all selected runs.
  struct SeedScores {
    std::vector<SeedCurve> effective, stable;
    std::vector<SeedCurve> rank;  ///< of every run of the experiment, whatever is selected
  };
  /// What the paper claims of the ranks that are drawn.
  struct RankClaims {
    std::vector<ClaimRow> rows;
    QString error;  ///< why they cannot be read; "" where they can
    std::map<std::string, std::filesystem::path> folders;  ///< of the paper, by experiment
    RankControls controls;                                 ///< of the runs that are drawn
    /// By architecture and analysis, as they were looked up.
    std::map<std::pair<std::string, std::string>, RankControls> knownControls;
  };
  struct Facts : RunBasics {
    std::vector<StoredSpectrum> stored;
    std::vector<std::pair<std::string, Json>> settings;  ///< of the configuration
  };

  /// Variants of the experiment of the drawn runs none of whose runs is drawn, done or in progress.
  struct MissingVariants {
    std::vector<std::int64_t> runs;
    QStringList names;
    double seconds = 0;  ///< that they will take; 0: not known
  };

  // spectra_layout.cpp
  QWidget* makeTools();
  FigureView* makeView(const QString& name, int leastHeight);
  void connectViews();
  void arrange() override;
  // spectra_page.cpp
  void reload() override;
  void takeFacts(const std::vector<std::int64_t>& runs, std::map<std::int64_t, Facts> facts);
  void readRuns();
  void takeRuns(std::vector<std::shared_ptr<const SpectraRun>> shown, SpectrumCache cache,
                SeedScores seeds, RankClaims claims);
  void chooseThreshold(double threshold);
  void chooseHead(int layer, int head);
  [[nodiscard]] bool hasShown() const override { return !shown_.empty(); }
  [[nodiscard]] std::vector<std::int64_t> steps() const override;
  /// Where the longest training of what is shown ends.
  [[nodiscard]] std::int64_t lastStep() const;
  void showStep() override { showAll(); }
  // spectra_view.cpp
  void showAll() override;
  void makeRoom();
  void showHeads();
  void showShare();
  void showWaterfall();
  void showControls();
  void showCurves();
  void showSteps();
  void showNotice() override;
  [[nodiscard]] std::unique_ptr<Figure> headsFigure() const;
  [[nodiscard]] std::unique_ptr<Figure> shareFigure() const;
  [[nodiscard]] std::unique_ptr<Figure> waterfallFigure() const;
  [[nodiscard]] std::unique_ptr<Figure> controlsFigure() const;
  [[nodiscard]] std::unique_ptr<Figure> curveFigure(const QString& title,
                                                    RankCurve SpectraRun::*curve,
                                                    const std::vector<SeedCurve>& seeds) const;
  [[nodiscard]] QString headText() const;
  [[nodiscard]] QString differenceOf(std::int64_t run) const;
  [[nodiscard]] bool isTraining(std::int64_t run) const;
  /// Of the chosen layer and head in a spectrum; empty where it has none.
  [[nodiscard]] HeadSpectrum headOf(const Spectrum& spectrum) const;
  // spectra_variants.cpp
  QWidget* makeVariants();
  void showVariants();
  [[nodiscard]] std::vector<const store::RunRow*> runsOfExperiment() const;
  [[nodiscard]] MissingVariants missingVariants() const;
  /// What is said of controls that another experiment trains; "" where the drawn runs are of it.
  [[nodiscard]] QString controlsSentence(bool areTrained) const;
  /// One run of each variant of that experiment in this database.
  [[nodiscard]] std::vector<std::int64_t> runsOfControls() const;
  void openControls();
  /// \param runs  all of the experiments \param analysis  that measures the ranks
  /// \param folders  those that are known
  [[nodiscard]] static RankClaims readRankClaims(
      store::RunReader& store, const std::vector<store::RunRow>& runs, const std::string& analysis,
      std::map<std::string, std::filesystem::path> folders);
  // spectra_compute.cpp
  [[nodiscard]] std::vector<std::int64_t> runsWithout() const;
  [[nodiscard]] std::string architectureOf(std::int64_t run) const;  ///< "": not known
  /// The analysis that makes spectra of a run's model, by what cards say; "" where none does.
  [[nodiscard]] std::string analysisOf(std::int64_t run) const;
  [[nodiscard]] QString whyNone() const;  ///< of the runs whose model no analysis can look at
  /// Columns that the waterfall lacks and stored checkpoints can give, as what is drawn was made.
  [[nodiscard]] std::vector<RunAnalysis> columnsWithout() const;
  /// \param checkpoints  that are loaded \param run  the first whose spectra are missing
  [[nodiscard]] QString costOf(std::size_t checkpoints, std::int64_t run) const;
  [[nodiscard]] QString costOfMissing() const;  ///< of the newest checkpoint of each run

  Background &lists_, &spectra_;
  Choice choice_;
  Picture picture_ = Picture::Heads;
  std::map<std::int64_t, Facts> facts_;
  std::vector<std::shared_ptr<const SpectraRun>> shown_;
  SpectrumCache cache_;
  SeedScores seeds_;
  RankClaims claims_;

  QSpinBox* threshold_ = nullptr;
  QComboBox* headChoice_ = nullptr;
  QToolButton *log_ = nullptr, *values_ = nullptr, *sameScale_ = nullptr, *meanOfSeeds_ = nullptr,
              *follow_ = nullptr;
  QWidget* variants_ = nullptr;
  WrapLabel* variantsText_ = nullptr;
  QPushButton *startVariants_ = nullptr, *openControls_ = nullptr;
  FigureView *heads_ = nullptr, *share_ = nullptr, *waterfall_ = nullptr, *controls_ = nullptr,
             *effective_ = nullptr, *stable_ = nullptr;
};

}  // namespace vitrine::ui
