// The Playground: a model in memory draws what a form says, and every image can be replayed,
// verified and kept.
#pragma once

#include <QAction>
#include <QList>
#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/kit/background.h"
#include "ui/playground/draw_worker.h"
#include "ui/playground/drawable_runs.h"
#include "ui/workbench/page.h"
#include "ui/workbench/sampling/sample_pictures.h"

class QComboBox;
class QFrame;
class QLabel;
class QListWidget;
class QPushButton;
class QSlider;
class QSplitter;
class QToolButton;

namespace vitrine::ui {

class ElidedLabel;
class FactTable;
class FilmStrip;
class ImageBoard;
class PageStack;
class WrapLabel;

class PlaygroundPage final : public ReadingPage {
  Q_OBJECT
 public:
  explicit PlaygroundPage(Workbench& workbench, QWidget* parent = nullptr);
  ~PlaygroundPage() override;

  void waitUntilIdle() override;
  [[nodiscard]] Json viewState() const override;
  /// Names its runs by uuid.
  [[nodiscard]] Json figureState() const override;
  void setViewState(const Json& state) override;
  /// The images that are shown, with what they were drawn from; while the steps of one are
  /// exported, these.
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  friend class PlaygroundProbe;  ///< of tests

  /// The action of this page that a key stands for, although the window has it for another one.
  [[nodiscard]] QAction* ownAction(const QKeyEvent& event) const;
  // playground_layout.cpp
  QWidget* makeSettings();
  QWidget* makeBoard();
  QWidget* makeFilm();
  QWidget* makeSide();
  QWidget* makeLending();
  void makeActions();
  void placeSide();
  // playground_reading.cpp
  void readLater();
  void reload() override;
  void takeRuns(DrawableRuns found);
  void colourRuns();
  void takeKept(const std::string& database);
  void chooseRun(std::int64_t run);
  void fillForm(const std::string& sampler);
  void warm();
  void takeWarm(const Json& loaded, const QString& sampler);
  void showNothingDraws();
  void showLending();
  void showLendingPaused();
  [[nodiscard]] std::vector<std::int64_t> trainingRuns() const;
  void pauseTraining();
  /// A command was refused: runs that still train were not paused.
  void forgetUnpaused();
  void resumeTraining();
  void applyState();
  void takeRecipe(std::int64_t run, const Json& recipe);
  // playground_page.cpp
  void draw();
  void startDrawing();
  void showDrawing(std::shared_ptr<Drawing> drawing);
  void showProgress();
  void takeEnd(const QString& error);
  void showSelected();
  void showCost();
  void showButtons();
  /// "Draw", or its word where the settings make a text.
  [[nodiscard]] QString drawWord() const;
  void showError(const QString& error);
  // playground_side.cpp
  void showFilm(bool keepsStep);
  void showStep();
  [[nodiscard]] QString filmNote() const;
  void showRecipe();
  void showHistory();
  /// Reads the images that the texts shown describe, cell by cell.
  void readDescribed(std::size_t cell);
  /// Those that are here. \returns  those that are not, by split
  std::map<std::string, std::vector<std::int64_t>> takeDescribed(std::size_t cell);
  // playground_actions.cpp
  void replayAt(const std::array<double, 2>& at);
  void verify();
  void keep();
  void recall(Recall what);
  void showInfo();
  void copyCommand();
  /// \param isFilm  the steps of the selected image, not all images
  void exportShown(bool isFilm);
  [[nodiscard]] std::unique_ptr<Figure> filmFigure() const;
  /// Selects the image of a state, and asks its patch, as soon as it is drawn.
  void showWay();
  [[nodiscard]] Json wayState() const;
  [[nodiscard]] SampleSettings settings() const;
  [[nodiscard]] const DrawableRun* drawable(std::int64_t run) const;
  [[nodiscard]] QStringList classNames(std::int64_t run) const;
  [[nodiscard]] const DrawnImage* selectedImage() const;
  [[nodiscard]] const DrawnCell* selectedCell() const;
  [[nodiscard]] bool canReplay() const;

  Workbench& workbench_;
  Background lists_;
  DrawWorker worker_;
  SamplePictures pictures_;        ///< that are described
  std::size_t describedCell_ = 0;  ///< whose images are being read
  SamplePace pace_;
  DrawableRuns drawable_;
  DrawingOffer offer_;
  std::vector<std::shared_ptr<Drawing>> history_;
  std::string database_;  ///< uuid; "": the kept drawings were not read yet
  std::shared_ptr<Drawing> shown_;
  Json compared_;  ///< recipe of the image that was selected before
  Json recipe_;    ///< of the one that is
  std::int64_t run_ = 0;
  std::string sampler_;  ///< whose schema the form shows
  ModelChoice warmModel_;
  QString warmText_;
  bool wantsDraw_ = false;       ///< as soon as the model is there
  bool isSamplerKnown_ = false;  ///< the model said which one fits, or the user chose
  bool isSideBelow_ = false;
  std::optional<Json> pending_;  ///< a state that waits for the runs
  std::optional<Json> way_;      ///< the image and patch of a state that wait for the drawing
  bool isFilmFigure_ = false;    ///< figure() is that of the steps
  /// Runs that this page asked to pause, and whether they did.
  std::map<std::int64_t, bool> paused_;
  bool holdsQueue_ = false;  ///< it ran before this page paused the runs

  QTimer reloadTimer_, warmTimer_, playTimer_;
  PageStack* stack_;
  QSplitter *across_ = nullptr, *down_ = nullptr;
  QFrame* lending_ = nullptr;
  WrapLabel* lendingText_ = nullptr;
  QPushButton* lendingButton_ = nullptr;
  QComboBox* runBox_ = nullptr;
  SamplerForm* form_ = nullptr;
  WrapLabel *cost_ = nullptr, *problem_ = nullptr, *warmth_ = nullptr;
  QPushButton *drawButton_ = nullptr, *cancelButton_ = nullptr;
  ElidedLabel *boardTitle_ = nullptr, *boardAbout_ = nullptr, *filmTitle_ = nullptr;
  ImageBoard* board_ = nullptr;
  QComboBox *zoomBox_ = nullptr, *layerBox_ = nullptr, *headBox_ = nullptr;
  QToolButton* recipeButton_ = nullptr;  ///< folds the facts
  QToolButton *keepButton_ = nullptr, *exportButton_ = nullptr, *playButton_ = nullptr;
  QWidget *filmCard_ = nullptr, *side_ = nullptr;
  FilmStrip* film_ = nullptr;
  QSlider* slider_ = nullptr;
  QLabel* stepText_ = nullptr;
  WrapLabel* filmNote_ = nullptr;
  QLabel* picture_ = nullptr;
  WrapLabel *verdict_ = nullptr, *imageTitle_ = nullptr, *command_ = nullptr;
  FactTable* facts_ = nullptr;
  QListWidget* historyList_ = nullptr;
  QAction *draw_ = nullptr, *cancel_ = nullptr, *verify_ = nullptr, *keep_ = nullptr,
          *copy_ = nullptr, *recallAll_ = nullptr, *recallSeed_ = nullptr, *recallPrompt_ = nullptr,
          *recallRest_ = nullptr, *info_ = nullptr;
};

}  // namespace vitrine::ui
