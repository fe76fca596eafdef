// The Artifacts page: any artifact by run, analysis, name and step; several runs stand side by
// side.
#pragma once

#include <QAction>
#include <QList>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/figures/figure.h"
#include "ui/kit/loading_state.h"
#include "ui/workbench/page.h"

class QCheckBox;
class QGridLayout;
class QLabel;
class QSplitter;
class QToolButton;
class QTreeWidget;

namespace vitrine::ui {

class AnalysisMenu;
struct AnalysedRun;
class FigureView;
class PageStack;
class StepBar;

class ArtifactsPage final : public ReadingPage {
  Q_OBJECT
 public:
  explicit ArtifactsPage(Workbench& workbench, QWidget* parent = nullptr);
  ~ArtifactsPage() override;

  void waitUntilIdle() override;
  [[nodiscard]] Json viewState() const override;
  void setViewState(const Json& state) override;
  /// The figures of all runs.
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  /// Shows one artifact of the selected runs. \param name  "": the first of the analysis; \param
  /// step  -1: the newest
  void showArtifact(const QString& analysis, const QString& name, std::int64_t step = -1);

  [[nodiscard]] QString analysis() const { return QString::fromStdString(chosen_.analysis); }
  [[nodiscard]] QString name() const { return QString::fromStdString(chosen_.name); }
  [[nodiscard]] std::int64_t shownStep() const;  ///< -1 where nothing is shown
  [[nodiscard]] const std::vector<FigureView*>& views() const { return views_; }

 public Q_SLOTS:
  /// Asks how large on paper and where to.
  void exportShown();
  void copyImage();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  friend class Probe;  ///< of tests
  struct Chosen {
    std::string analysis, name;
    bool operator==(const Chosen&) const = default;
  };
  using Rows = std::map<std::int64_t, std::vector<store::ArtifactRow>>;  ///< by run
  /// An artifact as it was read; an export makes its figure again of it.
  struct Content {
    std::int64_t id = -1;  ///< 0 where the run has none, -1 before anything was read
    QString kind;
    Json meta;
    std::shared_ptr<const std::vector<std::byte>> bytes;
    QImage picture;  ///< what the model looked at
  };
  struct Shown {
    std::int64_t run = 0;
    std::int64_t wanted = -1;  ///< as Content::id
    bool isCancelled = false;  ///< until the user chooses it again
    Content content;
    [[nodiscard]] bool isMissing() const { return wanted != content.id; }
  };
  struct Response;

  QWidget* makeList();
  QWidget* makeViewer();
  // artifacts_reading.cpp
  void reload() override;
  void takeRows(const std::vector<std::int64_t>& runs, Rows rows, const QString& failure);
  void showEmpty(const QString& sentence, bool hasButton);
  void readFigures();
  void takeFigure(Response& answer);
  void showWaiting();
  void showOpen();
  void cancelReading();
  // artifacts_compute.cpp
  void connectComputing();
  [[nodiscard]] std::vector<AnalysedRun> analysedRuns() const;
  void showComputing();
  // artifacts_page.cpp
  void showChoice();
  void arrangeViews();
  void chooseDefault();
  void fillTree();
  void fillSteps();
  void showFigures();
  void applyStyle();
  void showMeta();
  void moveImage(int by);
  void moveLayer(int by);
  void moveHead(int by);
  void onClicked(std::int64_t run, const FigureTarget& target);
  /// The shown artifact has cells whose images Calibration has.
  [[nodiscard]] bool isConfusion() const;
  void moveCell(const Figure& matrix, int right, int down);
  /// On Calibration: of the chosen cell, or all that the run is wrong about.
  enum class Images { OfCell, Misclassified };
  void openImages(std::int64_t run, Images which);
  /// On the page whose instrument it is: the same image, split, weights and matrix.
  void openInstrument();
  void focusOn(int image, int layer, int head);
  [[nodiscard]] std::vector<std::int64_t> runs() const;
  [[nodiscard]] const store::ArtifactRow* rowOf(std::int64_t run) const;
  [[nodiscard]] const store::ArtifactRow* firstRow() const;  ///< of the shown runs
  [[nodiscard]] QString runName(std::int64_t run) const;
  [[nodiscard]] Figure* firstFigure() const;
  [[nodiscard]] std::int64_t pixelsOf(
      const store::ArtifactRow& row) const;  ///< id of an artifact, or 0
  [[nodiscard]] QString fileName() const;

  Workbench& workbench_;
  Background lists_, figures_;
  LoadingState loading_;  ///< both of them
  PageStack* stack_;
  QSplitter* splitter_ = nullptr;
  QTreeWidget* tree_ = nullptr;
  QGridLayout* grid_ = nullptr;
  StepBar* stepBar_ = nullptr;
  QLabel* note_ = nullptr;
  QLabel* meta_ = nullptr;
  QToolButton *follow_ = nullptr, *cancel_ = nullptr;
  QToolButton *open_ = nullptr, *misclassified_ = nullptr;
  AnalysisMenu* analyses_ = nullptr;
  QLabel* computeText_ = nullptr;
  QList<QAction*> figureActions_;  ///< copy and export: of the button and of every figure
  QCheckBox* sameScale_ = nullptr;
  QCheckBox* wholeMatrix_ = nullptr;

  Rows rows_;
  std::vector<std::int64_t> rowsOf_;  ///< runs whose rows these are
  Chosen chosen_;
  std::optional<Chosen> asked_;       ///< to be complained about where it turns out not to be there
  bool isAsked_ = false;              ///< chosen_ was asked for by name, not by default
  std::optional<std::int64_t> step_;  ///< nothing: the newest, also when newer ones come
  std::vector<FigureView*> views_;
  std::vector<Shown> shown_;          ///< per view
  std::vector<std::int64_t> asking_;  ///< ids that figures_ reads
  FigureStyle style_;

  std::map<std::int64_t, Json> configs_;  ///< of the runs of rows_
};

}  // namespace vitrine::ui
