// The Gallery page: every image that any run generated; a contact sheet, the same picture over the
// training of several runs, and two images compared.
#pragma once

#include <QAction>
#include <QList>
#include <QTimer>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/gallery/gallery_figures.h"
#include "ui/gallery/gallery_model.h"
#include "ui/gallery/image_query.h"
#include "ui/gallery/steps_view.h"
#include "ui/gallery/thumbnails.h"
#include "ui/kit/loading_state.h"
#include "ui/workbench/page.h"
#include "ui/workbench/sampling/first_drawing.h"
#include "ui/workbench/sampling/image_again.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QScrollArea;
class QSlider;
class QSplitter;
class QStackedWidget;

namespace vitrine::ui {

class ContactSheet;
class ImageDetails;
class PageStack;

class GalleryPage final : public ReadingPage {
  Q_OBJECT
 public:
  enum class View { Sheet, ByStep, RunsAndSteps };
  /// Bytes of decoded pictures, small and whole ones together.
  static constexpr qsizetype kPictureBytes = 64 << 20;
  static constexpr int kLineParts = 1000;  ///< of the slider between two images

  explicit GalleryPage(Workbench& workbench, QWidget* parent = nullptr);
  ~GalleryPage() override;

  void waitUntilIdle() override;
  [[nodiscard]] QList<QAction*> tools() override { return tools_; }
  [[nodiscard]] Json viewState() const override;
  /// Picks what is in sight: another window has room for other images.
  [[nodiscard]] Json figureState() const override;
  void setViewState(const Json& state) override;
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  void setView(View view);
  void search(const QString& text);
  [[nodiscard]] const GalleryModel& model() const { return model_; }
  [[nodiscard]] std::int64_t current() const { return current_; }
  /// Ids that an export takes: those picked, else the current one.
  [[nodiscard]] std::vector<std::int64_t> chosen() const;
  void setCurrent(std::int64_t id);
  /// The image that is compared with the current one; 0: none.
  void setOther(std::int64_t id);
  void setEnlarged(bool isEnlarged);
  [[nodiscard]] ContactSheet& sheet() { return *sheet_; }
  [[nodiscard]] ImageStage& stage() { return *stage_; }

 public Q_SLOTS:
  void toggleStar();
  void swapPair();
  void nextCompareView();
  /// Makes the current image again and compares the pixels; ends that while it is under way.
  void verify();
  /// Opens the Playground with the settings of the current image.
  void recallSettings();
  void copyRecipe();
  void showRun();
  /// Each writes to that file with the recipes inside, and says so.
  void saveImage(const QString& file);
  void saveGrid(const QString& file);
  void savePdf(const QString& file);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  /// Down leads from the search to the images of the view.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // gallery_layout.cpp
  QWidget* makeTop();
  QWidget* makeViews();
  QWidget* makeSheet();
  QWidget* makeSteps();
  QWidget* makeStage();
  void makeActions();
  QAction* act(const QString& text, const QString& tip, const QKeySequence& keys,
               std::function<void()> use);
  void showView();
  /// What takes the keys in the view that is shown; without hits, the search.
  [[nodiscard]] QWidget& keyPart();
  void showCount();
  void showTools();
  // gallery_reading.cpp
  struct Look;
  void reload() override;
  void afterReading();
  /// Whether the empty page offers a run that draws, as there is none.
  [[nodiscard]] bool hasOffer() const;
  void readLook();
  void readSteps();
  void showLook();
  void showSteps();
  void changeTags(const std::string& tag, bool isOn);
  // gallery_export.cpp
  [[nodiscard]] std::vector<LabelledImage> readImages(const std::vector<std::int64_t>& ids);
  /// The images of runs and steps row by row, without a picture where a cell has none. Empty in
  /// another view, or where not all were read.
  [[nodiscard]] std::vector<LabelledImage> inTable(const std::vector<LabelledImage>& images) const;
  [[nodiscard]] std::unique_ptr<Figure> figureOf(const std::vector<LabelledImage>& images) const;
  /// [{"id", "run": uuid, "step", "seed"}] of those in the list, at most as many as a file holds.
  [[nodiscard]] Json namesOf(const std::vector<std::int64_t>& ids) const;
  using ImagesByRun = std::map<std::int64_t, std::vector<store::GeneratedImageRow>>;
  /// The image that such a name, or a recipe of recipesOf(), means here; 0: it is not here.
  /// \param read  images of runs, read once for several names
  [[nodiscard]] std::int64_t idOf(const Json& name, ImagesByRun& read);
  [[nodiscard]] std::vector<std::int64_t> inSight() const;
  [[nodiscard]] QString askFile(const QString& title, const QString& name, const QString& filter);
  [[nodiscard]] bool canExport();
  // gallery_again.cpp
  void takeVerdict(std::int64_t id, const Verdict& verdict);
  void showVerdict();
  // gallery_page.cpp
  void pickOther(int by, int rows);
  void moveBy(int by);
  void chooseCurrent(std::int64_t id);
  void setTile(int designPixels);
  void markCell();
  void takePicks();
  [[nodiscard]] QString runName(std::int64_t run) const;
  [[nodiscard]] QString describe(const store::ImageEntry& image) const;

  Workbench& workbench_;
  DrawingOffer offer_;
  DrawingRuns drawing_;  ///< while there are no images
  Background list_, look_, steps_;
  LoadingState loading_;
  GalleryModel model_;
  Thumbnails thumbnails_, pictures_;

  PageStack* stack_;
  QStackedWidget* views_ = nullptr;
  QSplitter* splitter_ = nullptr;
  QLineEdit* search_ = nullptr;
  QTimer typing_;  ///< until what was typed is searched
  QLabel *count_ = nullptr, *problem_ = nullptr, *stepText_ = nullptr, *sightText_ = nullptr;
  QLabel* stepsNote_ = nullptr;
  QComboBox* order_ = nullptr;
  QSlider *tileSlider_ = nullptr, *groupSlider_ = nullptr, *stepSlider_ = nullptr;
  QSlider* lineSlider_ = nullptr;
  QWidget *groupRow_ = nullptr, *compareRow_ = nullptr;
  QScrollArea* stepsArea_ = nullptr;
  ContactSheet* sheet_ = nullptr;
  StepsView* stepsView_ = nullptr;
  ImageStage* stage_ = nullptr;
  ImageDetails* details_ = nullptr;
  QList<QAction*> tools_, viewActions_, compareActions_;
  QMenu* exportMenu_ = nullptr;
  QAction *enlarge_ = nullptr, *star_ = nullptr, *swap_ = nullptr, *find_ = nullptr,
          *endPair_ = nullptr, *verify_ = nullptr, *recall_ = nullptr;

  ImageQuery query_;
  ClassNames classNames_;
  std::int64_t namesHistory_ = -1;                ///< of the runs that the names were read from
  std::optional<store::ImageStanding> standing_;  ///< of what the model holds
  std::int64_t newestRead_ = 0, total_ = 0;       ///< of all images, found or not
  std::vector<std::pair<std::int64_t, std::string>> tagsRead_;  ///< by id
  QString error_;
  View view_ = View::Sheet;
  ImageOrder sheetOrder_ = ImageOrder::Newest;  ///< in the view Sheet
  ImageStage::View compare_ = ImageStage::View::Slider;
  std::int64_t current_ = 0, other_ = 0;
  bool isEnlarged_ = false, isRead_ = false;
  /// Picked images of a view that is shown again, until the list has been read.
  std::optional<std::set<std::int64_t>> wantedPicks_;

  /// The two images that are compared, as they were read.
  struct LookedAt {
    std::optional<store::GeneratedImageRow> a, b;
    QImage pictureA, pictureB;
    std::int64_t wantedA = 0, wantedB = 0;
  };
  LookedAt looked_;
  std::int64_t stepsOf_ = 0;  ///< the image whose table is shown
  /// The image that is made again.
  struct Check {
    std::int64_t image = 0;
    ModelService::Ticket ticket = 0;  ///< 0: none is
    double share = 0;
  };
  Check check_;
  std::map<std::int64_t, Verdict> verdicts_;  ///< by image
};

}  // namespace vitrine::ui
