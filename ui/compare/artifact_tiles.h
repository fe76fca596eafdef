// Artifacts of several variants side by side, on one scale: spectra, reliability diagrams, maps,
// and the images that each generated.
#pragma once

#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/store/types.h"
#include "ui/figures/figure.h"
#include "ui/kit/background.h"

class QAction;
class QComboBox;
class QGridLayout;
class QLabel;

namespace vitrine::ui {

class AnalysisMenu;
class EmptyPage;
class FigureView;
class Workbench;

/// A kind of artifact that runs share.
struct TileKind {
  std::string id;  ///< "attention_rank/probe"; "generated images"
  QString title;   ///< "attention rank: probe"
  int runs = 0;    ///< how many have it
};
/// What at least two of the runs have (one, where there is one run). What most have comes first,
/// and spectra, reliability diagrams and images before others.
[[nodiscard]] std::vector<TileKind> sharedKinds(
    const std::vector<std::vector<store::ArtifactRow>>& artifacts,
    const std::vector<std::vector<store::GeneratedImageRow>>& images);

/// What was changed for an image, as it is shown: "averaged weights", "guidance 3".
[[nodiscard]] QStringList changesOf(const Json& recipe, const Catalog& catalog);

/// Images that one sampler drew with the same settings at one step: with the fewest changes, then
/// the newest. By condition and seed: those that two runs draw alike stand at the same place.
/// \param most  of them
[[nodiscard]] std::vector<store::GeneratedImageRow> comparableImages(
    const std::vector<store::GeneratedImageRow>& images, const Catalog& catalog, std::size_t most);

class ArtifactTiles : public QWidget {
  Q_OBJECT
 public:
  static constexpr std::size_t kMostTiles = 12, kMostImages = 16;
  static constexpr const char* kGenerated = "generated images";

  explicit ArtifactTiles(Workbench& workbench, QWidget* parent = nullptr);
  ~ArtifactTiles() override;

  /// A variant, by the run that stands for it.
  struct Variant {
    QString label;
    std::int64_t run = 0;
    std::int64_t series = 0;  ///< whose colour it has
    [[nodiscard]] bool operator==(const Variant&) const = default;
  };
  /// Reads what they have. \param kind  TileKind::id, or "analysis/" for any of that analysis; ""
  /// or not there: the first
  void show(std::vector<Variant> variants, const std::string& kind);
  /// Runs may have written: the next show() reads again.
  void forget() { isRead_ = false; }
  void waitUntilIdle() { reader_.waitUntilIdle(); }
  [[nodiscard]] Background& reader() { return reader_; }

  [[nodiscard]] const std::vector<TileKind>& kinds() const { return kinds_; }
  [[nodiscard]] const std::string& shown() const { return shown_; }
  [[nodiscard]] const std::vector<FigureView*>& views() const { return views_; }
  /// All tiles in one picture; nullptr where there is none.
  [[nodiscard]] std::unique_ptr<Figure> figure() const;
  void addTileAction(QAction* action) { action_ = action; }
  void applyTheme();

 Q_SIGNALS:
  /// The user chose another kind.
  void kindChosen(const std::string& id);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// What was read for a variant; an export makes its figure again of it.
  struct Tile {
    QString title;
    std::int64_t series = 0;
    QString kind;
    Json meta;
    std::vector<std::byte> bytes;
    QString missing;  ///< a sentence instead
  };
  struct Response;
  static Tile readTile(store::RunReader& store, const Variant& variant, const std::string& kind,
                       const std::vector<store::ArtifactRow>& artifacts,
                       const std::vector<store::GeneratedImageRow>& images,
                       const Catalog& catalog);
  void reload();
  void take(Response answer);
  void showComputing();
  void arrange();
  void style(std::vector<std::pair<Figure*, const Tile*>> figures) const;

  Workbench& workbench_;
  Background reader_;
  QComboBox* kind_;
  QLabel* about_;
  AnalysisMenu* analyses_;
  EmptyPage* empty_;
  QGridLayout* grid_;
  QAction* action_ = nullptr;
  std::vector<Variant> variants_;
  std::vector<Json> configs_;                            ///< of the runs of variants_
  std::vector<std::vector<store::ArtifactRow>> stored_;  ///< of the same
  std::vector<TileKind> kinds_;
  std::string wanted_, shown_;
  bool isRead_ = false;
  std::vector<Tile> tiles_;
  std::vector<FigureView*> views_;
};

}  // namespace vitrine::ui
