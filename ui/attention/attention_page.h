// The Attention page: where each head reads, for any image, step and query; two runs side by side
// show the same image, patch and step.
#pragma once

#include <QList>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/attention/attention_compute.h"
#include "ui/attention/attention_scene.h"
#include "ui/figures/figure.h"
#include "ui/kit/loading_state.h"
#include "ui/workbench/drawn_runs.h"
#include "ui/workbench/page.h"

class QAction;
class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QPushButton;
class QSlider;
class QSpinBox;
class QToolButton;

namespace vitrine::ui {

class AttentionPanel;
class PageStack;
class WrapLabel;

class AttentionPage final : public ReadingPage {
  Q_OBJECT
 public:
  explicit AttentionPage(Workbench& workbench, QWidget* parent = nullptr);
  ~AttentionPage() override;

  void waitUntilIdle() override;
  [[nodiscard]] QList<QAction*> tools() override { return tools_; }
  [[nodiscard]] Json viewState() const override;
  void setViewState(const Json& state) override;
  /// The pictures of all runs.
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  [[nodiscard]] const std::vector<AttentionPanel*>& panels() const { return panels_; }
  [[nodiscard]] std::int64_t shownStep() const;  ///< -1 where nothing is shown

  /// Takes an image of the user's in the place of a sample; null: back to the samples.
  void setOwnImage(const QImage& image, const QString& name);
  /// Requests the chosen attention that is missing from the models.
  void computeMissing();

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  static constexpr const char *kTrained = "model", *kAverage = "ema";
  /// Facts about one run.
  struct RunFacts {
    std::vector<store::ArtifactRow> rows;  ///< of its attention and pictures
    std::vector<AttentionEntry> entries;
    std::vector<store::CheckpointRow> checkpoints;
    Json config;
  };
  using Facts = std::map<std::int64_t, std::shared_ptr<const RunFacts>>;
  /// Names one image's attention that is kept in memory.
  struct ImageKey {
    std::int64_t run = 0, step = 0, sample = 0;
    std::string split;
    AttentionSeries series;
    double time = -1;
    std::string weights;
    std::int64_t map = 0;  ///< id of the first artifact; 0: computed
    auto operator<=>(const ImageKey&) const = default;
  };
  struct Shown {
    std::optional<ImageKey> wanted, present;
    std::uint64_t ticket = 0;               ///< of the computation in progress, or 0
    std::optional<TokenGrid::Place> asked;  ///< patch whose window was asked for last
    QString error;
  };

  // attention_layout.cpp
  QWidget* makeControls();
  QWidget* makeBottom();
  void makeKeys();
  void dressControls();
  // attention_runs.cpp
  void reload() override;
  void takeFacts(const std::vector<std::int64_t>& runs, Facts facts, const QString& failure);
  void showContent();
  void fillWeights();
  void fillSeries();
  void fillSamples();
  void fillTimes();
  void fillSplits();
  [[nodiscard]] std::set<std::string> splits() const;  ///< that images here are known of
  /// Whose images are shown; "": the one that evaluations end with, whose name is not known yet.
  [[nodiscard]] std::string shownSplit() const;
  [[nodiscard]] static ImageKey keyOf(std::int64_t run, const AttentionEntry& entry);
  void fillSteps();
  [[nodiscard]] std::vector<AttentionEntry> entriesOf(std::int64_t run) const;
  [[nodiscard]] AttentionSeries seriesOf(std::int64_t run) const;
  [[nodiscard]] std::optional<AttentionEntry> entryOf(std::int64_t run) const;
  /// The newest checkpoint up to the step that is shown, as of the stored attention; -1: none.
  [[nodiscard]] std::int64_t checkpointOf(std::int64_t run) const;
  void showImages();
  void readImages();
  void showPanel(std::size_t index);
  void sayReading(std::size_t index);
  void showWaiting();
  void keep(const ImageKey& key, std::shared_ptr<const AttentionImage> image);
  // attention_asking.cpp
  [[nodiscard]] std::vector<AttentionWay> waysOf(std::int64_t run) const;
  [[nodiscard]] std::optional<AttentionWay> wayOf(std::int64_t run) const;
  [[nodiscard]] QString whyNothing(std::int64_t run) const;
  /// Of computing what is missing of all runs.
  [[nodiscard]] QString costOfMissing() const;
  /// Whether a Compute would ask the model of this run.
  [[nodiscard]] bool isMissing(std::size_t index) const;
  void compute(std::size_t index);
  /// Names the query or the newer checkpoint that can be computed for what is shown.
  void showOffer();
  void computeOffer();
  [[nodiscard]] bool isAnyQueryMissing() const;
  /// Whether the model that a Compute would ask is that of the picture.
  [[nodiscard]] bool isOfCheckpoint(std::size_t index) const;
  /// Whether only one of the wanted layers has been computed.
  [[nodiscard]] bool isPartShown(std::size_t index) const;
  /// An image of the same model that shows which layers there are; null where one layer cannot be
  /// asked for first.
  [[nodiscard]] std::shared_ptr<const AttentionImage> knownLayers(std::int64_t run,
                                                                  const AttentionWay& way) const;
  void cancelComputing(std::size_t index);
  [[nodiscard]] bool isQueryMissing(std::size_t index) const;
  /// Whether the patch that is chosen lies in a window that has not been asked for.
  [[nodiscard]] bool isWindowMissing(std::size_t index) const;
  /// Of one run's attention, how many bytes may still be stored unasked.
  [[nodiscard]] std::int64_t roomToStore(std::int64_t run) const;
  /// Patches of the same image and step that are in memory.
  void addKnownQueries(std::int64_t run, const AttentionEntry& entry,
                       std::shared_ptr<const AttentionImage>& image) const;
  /// The choice of layer again where its place among the layers has changed, or where another
  /// window of the layer has the query.
  void followLayer(int number, int window);
  void takeOwnImage(const QImage& image, const QString& name);
  void askForImage();
  void openOwnImage(const QString& file);
  // attention_page.cpp
  void arrangePanels();
  void showChoice();
  void choose(const AttentionChoice& choice);
  void onTarget(const FigureTarget& target);
  void askToken(int token);
  void moveQuery(int down, int right);
  void moveLayer(int by);
  void moveHead(int by);
  void moveSample(int by);
  void setSample(std::int64_t sample);
  void exportShown();
  [[nodiscard]] AttentionPanel* leading() const;  ///< the first panel with an image
  [[nodiscard]] std::vector<std::int64_t> runs() const;
  [[nodiscard]] QString runName(std::int64_t run) const;
  void tellSelection();

  Workbench& workbench_;
  Background lists_, images_;
  LoadingState loading_;  ///< both of them
  PageStack* stack_;
  QHBoxLayout* panelRow_ = nullptr;
  QComboBox *series_ = nullptr, *query_ = nullptr, *layout_ = nullptr, *time_ = nullptr,
            *weights_ = nullptr, *splits_ = nullptr;
  QSpinBox* image_ = nullptr;
  QSlider* threshold_ = nullptr;
  StepBar* steps_ = nullptr;
  QLabel *thresholdText_ = nullptr, *stored_ = nullptr, *timeName_ = nullptr;
  QCheckBox *sameScale_ = nullptr, *rollout_ = nullptr, *distances_ = nullptr, *follow_ = nullptr,
            *always_ = nullptr, *store_ = nullptr;
  QToolButton *open_ = nullptr, *back_ = nullptr;
  QWidget* offer_ = nullptr;
  QPushButton* computeOffer_ = nullptr;
  WrapLabel *note_ = nullptr, *offerText_ = nullptr;
  QList<QAction*> tools_;

  Facts facts_;
  std::vector<std::int64_t> runsOf_;  ///< runs whose facts these are
  AttentionSeries chosen_;
  std::string use_ = kTrained;  ///< which weights
  bool isUseChosen_ = false;    ///< by the user, not from the stored ones
  std::int64_t sample_ = 0;
  std::string split_;            ///< of the sample, where one was chosen
  bool isSampleChosen_ = false;  ///< by the user, not from the stored ones
  /// Samples that another page listed: keys go through them. Empty: through those stored.
  std::vector<std::int64_t> listed_;
  int focusedImage_ = 0;         ///< of the selection, when it was looked at last
  std::optional<double> atTime_;
  std::optional<std::int64_t> atStep_;  ///< nothing: the newest
  /// Step of a checkpoint that is newer than all attention of the image, or -1.
  std::int64_t newestMissing_ = -1;
  AttentionChoice choice_;
  QImage own_;
  QString ownName_;
  std::vector<AttentionPanel*> panels_;
  std::vector<Shown> shown_;  ///< of each panel
  std::map<ImageKey, std::shared_ptr<const AttentionImage>> kept_;
  std::vector<ImageKey> recent_;                                  ///< of kept_, the newest last
  std::map<std::int64_t, std::vector<AttentionEntry>> computed_;  ///< by run
};

}  // namespace vitrine::ui
