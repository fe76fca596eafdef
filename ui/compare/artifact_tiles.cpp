#include "ui/compare/artifact_tiles.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/artifact/artifact.h"
#include "core/artifact/predictions.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "ui/figures/figure_view.h"
#include "ui/figures/side_by_side.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/analyses/analysis_menu.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {

namespace {

std::string idOf(const store::ArtifactRow& row) { return row.analysis + "/" + row.name; }

/// The kinds that come first.
int rankOf(const std::string& kind) {
  constexpr std::array kFirst{artifact_kind::kSpectrum, artifact_kind::kReliability,
                              artifact_kind::kImageGrid, artifact_kind::kAttention};
  const auto found = std::find(kFirst.begin(), kFirst.end(), kind);
  return static_cast<int>(found - kFirst.begin());
}

/// The condition of an image as text that orders it.
std::string conditionOf(const Json& recipe) {
  for (const char* key : {"class", "prompt"}) {
    if (recipe.contains(key)) return plainText(recipe.at(key));
  }
  const Json& settings = stateTable(recipe, "settings");
  return settings.contains("prompt") ? plainText(settings.at("prompt")) : "";
}

/// Settings that tell the images of one call apart, or change nothing in them.
constexpr std::array<std::string_view, 7> kNoChange{"class", "prompt",   "image",     "seed",
                                                    "count", "previews", "batch_size"};

bool isAveraged(const store::ArtifactRow& row) { return stateText(row.meta, "weights") == "ema"; }

/// What orders the artifacts of one name. Those of the run's own settings and trained weights are
/// alike in all runs, so that they come before newer ones.
auto orderOf(const store::ArtifactRow& row) {
  return std::tuple(!row.meta.contains("overrides"), !isAveraged(row), row.step);
}

}  // namespace

/// What one reading gave.
struct ArtifactTiles::Response {
  std::vector<Variant> variants;
  std::vector<Json> configs;
  std::vector<std::vector<store::ArtifactRow>> stored;
  std::vector<TileKind> kinds;
  std::string shown;
  std::vector<Tile> tiles;
};

std::vector<TileKind> sharedKinds(
    const std::vector<std::vector<store::ArtifactRow>>& artifacts,
    const std::vector<std::vector<store::GeneratedImageRow>>& images) {
  struct Found {
    TileKind kind;
    int rank = 0;
    std::size_t lastRun = 0;
  };
  std::map<std::string, Found> found;
  for (std::size_t run = 0; run < artifacts.size(); ++run) {
    for (const store::ArtifactRow& row : artifacts[run]) {
      if (row.kind == artifact_kind::kPredictions) continue;  // rows to be binned, not a picture
      Found& one = found[idOf(row)];
      if (one.kind.runs > 0 && one.lastRun == run) continue;
      one.lastRun = run;
      ++one.kind.runs;
      one.rank = rankOf(row.kind);
      one.kind.title = asWords(row.analysis);
      if (!row.name.empty() && row.name != row.analysis)
        one.kind.title += QStringLiteral(": ") + QString::fromStdString(row.name);
    }
  }
  for (const auto& each : images) {
    if (each.empty()) continue;
    Found& one = found[ArtifactTiles::kGenerated];
    ++one.kind.runs;
    one.rank = rankOf(artifact_kind::kImageGrid);
    one.kind.title = QObject::tr("Generated images");
  }
  const int least = artifacts.size() > 1 ? 2 : 1;
  std::vector<Found> shared;
  for (auto& [id, one] : found) {
    if (one.kind.runs < least) continue;
    one.kind.id = id;
    shared.push_back(one);
  }
  std::stable_sort(shared.begin(), shared.end(), [](const Found& a, const Found& b) {
    return std::tuple(-a.kind.runs, a.rank) < std::tuple(-b.kind.runs, b.rank);
  });
  std::vector<TileKind> kinds;
  for (Found& one : shared) kinds.push_back(std::move(one.kind));
  return kinds;
}

QStringList changesOf(const Json& recipe, const Catalog& catalog) {
  QStringList changes;
  if (stateText(recipe, "weights") == "ema") changes << QObject::tr("averaged weights");
  const ItemCard* sampler = catalog.find(ItemKind::Sampler, stateText(recipe, "sampler"));
  for (const auto& [key, value] : stateTable(recipe, "settings").items()) {
    const Field* field = sampler == nullptr ? nullptr : sampler->schema.find(key);
    const bool isOwn = field != nullptr ? field->defaultValue == value : value.is_null();
    if (!isOwn && std::find(kNoChange.begin(), kNoChange.end(), key) == kNoChange.end())
      changes << asWords(key) + QLatin1Char(' ') + valueText(value);
  }
  return changes;
}

std::vector<store::GeneratedImageRow> comparableImages(
    const std::vector<store::GeneratedImageRow>& images, const Catalog& catalog,
    std::size_t most) {
  using Call = std::tuple<bool, qsizetype, std::int64_t, std::string, QStringList>;
  const auto callOf = [&catalog](const store::GeneratedImageRow& image) {
    const QStringList changes = changesOf(image.recipe, catalog);
    const bool isTrained = stateText(image.recipe, "weights") != "ema";
    return Call(isTrained, -changes.size(), image.step, stateText(image.recipe, "sampler"),
                changes);
  };
  std::map<Call, std::vector<const store::GeneratedImageRow*>> calls;
  for (const store::GeneratedImageRow& image : images) calls[callOf(image)].push_back(&image);
  std::vector<store::GeneratedImageRow> shown;
  if (calls.empty()) return shown;
  // Of several with one seed and condition the newest.
  std::map<std::tuple<std::string, std::uint64_t>, const store::GeneratedImageRow*> bySeed;
  for (const store::GeneratedImageRow* image : calls.rbegin()->second)
    bySeed[{conditionOf(image->recipe), image->seed}] = image;
  for (const auto& [key, image] : bySeed) {
    const bool isOneSize = shown.empty() || (shown.front().width == image->width &&
                                             shown.front().height == image->height);
    if (isOneSize && shown.size() < most) shown.push_back(*image);
  }
  return shown;
}

ArtifactTiles::ArtifactTiles(Workbench& workbench, QWidget* parent)
    : QWidget(parent), workbench_(workbench), reader_(workbench.store().file()) {
  auto* column = columnIn(this, {}, px(8));
  auto* row = rowIn(nullptr, {}, px(8));
  kind_ =
      withName(new QComboBox(this), tr("Artifact"), tr("Artifacts shared by two or more variants"));
  kind_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  kind_->setMinimumContentsLength(18);
  connect(kind_, &QComboBox::activated, this, [this](int index) {
    const std::string id = kind_->itemData(index).toString().toStdString();
    show(variants_, id);
    Q_EMIT kindChosen(id);
  });
  row->addWidget(kind_, 1);
  about_ = withRole(new QLabel(this), "small");
  row->addWidget(about_, 1);
  const auto shown = [this] {
    std::vector<AnalysedRun> runs;
    for (std::size_t i = 0; i < variants_.size(); ++i) {
      const bool isRead = i < configs_.size() && i < stored_.size();
      runs.push_back(
          {variants_[i].run, isRead ? &configs_[i] : nullptr, isRead ? &stored_[i] : nullptr});
    }
    return runs;
  };
  analyses_ = new AnalysisMenu(
      workbench_, tr("An analysis of the newest checkpoint of each variant"), shown, this);
  row->addWidget(analyses_);
  connect(analyses_, &AnalysisMenu::progressed, this, &ArtifactTiles::showComputing);
  connect(analyses_, &AnalysisMenu::computed, this, [this](const std::string& analysis) {
    forget();  // what was computed is not among what was read
    show(variants_, analysis + "/");
    Q_EMIT kindChosen(wanted_);
  });
  connect(analyses_, &AnalysisMenu::failed, this, [this](const QString& sentence) {
    reload();
    workbench_.showError(sentence);
  });
  column->addLayout(row);
  empty_ = new EmptyPage(tr("Artifacts shared by two or more variants appear here."),
                         tr("Compute\u2026"), this);
  connect(empty_, &EmptyPage::actionRequested, this, [this] { analyses_->press(*empty_); });
  empty_->hide();
  column->addWidget(empty_, 1);
  auto* tiles = new QWidget(this);
  grid_ = new QGridLayout(tiles);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(px(12));
  column->addWidget(tiles, 4);
}

ArtifactTiles::~ArtifactTiles() = default;

void ArtifactTiles::show(std::vector<Variant> variants, const std::string& kind) {
  if (variants.size() > kMostTiles) variants.resize(kMostTiles);
  const bool isSame = variants == variants_ && kind == wanted_;
  variants_ = std::move(variants);
  wanted_ = kind;
  if (!isSame || !isRead_) reload();
}

ArtifactTiles::Tile ArtifactTiles::readTile(store::RunReader& store, const Variant& variant,
                                            const std::string& kind,
                                            const std::vector<store::ArtifactRow>& artifacts,
                                            const std::vector<store::GeneratedImageRow>& images,
                                            const Catalog& catalog) {
  Tile tile{.title = variant.label, .series = variant.series};
  if (kind == kGenerated) {
    const std::vector<store::GeneratedImageRow> chosen =
        comparableImages(images, catalog, kMostImages);
    Json labels = Json::array();
    constexpr int kChannels = 3;
    std::int64_t count = 0;
    for (const store::GeneratedImageRow& row : chosen) {
      const std::vector<std::byte> png = store.generatedImagePng(row.id);
      QImage picture = QImage::fromData(reinterpret_cast<const uchar*>(png.data()),
                                        static_cast<int>(png.size()), "PNG")
                           .convertToFormat(QImage::Format_RGB888);
      if (picture.width() != row.width || picture.height() != row.height) continue;
      for (int y = 0; y < picture.height(); ++y) {
        const auto* line = reinterpret_cast<const std::byte*>(picture.constScanLine(y));
        tile.bytes.insert(tile.bytes.end(), line, line + picture.width() * kChannels);
      }
      const std::string condition = conditionOf(row.recipe);
      const std::string seed = tr("seed %1").arg(row.seed).toStdString();
      labels.push_back(condition.empty() ? seed : condition + ", " + seed);
      ++count;
    }
    if (count == 0) {
      tile.missing = tr("%1 has generated no images.").arg(variant.label);
      return tile;
    }
    tile.kind = QString::fromLatin1(artifact_kind::kImageGrid);
    tile.meta = {{"version", 1},
                 {"dtype", "uint8"},
                 {"shape", {count, chosen.front().height, chosen.front().width, kChannels}},
                 {"labels", labels}};
    tile.title += tr(", step %1").arg(ui::count(chosen.front().step));
    const Json& recipe = chosen.front().recipe;
    QStringList drawn = changesOf(recipe, catalog);
    if (const std::string sampler = stateText(recipe, "sampler"); !sampler.empty())
      drawn.prepend(asWords(sampler));
    for (const QString& word : drawn) tile.title += QStringLiteral(", ") + word;
    return tile;
  }
  const store::ArtifactRow* found = nullptr;
  for (const store::ArtifactRow& row : artifacts) {
    if (idOf(row) == kind && (found == nullptr || orderOf(row) >= orderOf(*found))) found = &row;
  }
  if (found == nullptr) {
    tile.missing = tr("%1 has no \u201c%2\u201d.").arg(variant.label, QString::fromStdString(kind));
    return tile;
  }
  tile.kind = QString::fromStdString(found->kind);
  tile.meta = found->meta;
  tile.bytes = store.artifactData(found->id);
  tile.title += tr(", step %1").arg(ui::count(found->step));
  if (isAveraged(*found)) tile.title += tr(", averaged weights");
  return tile;
}

void ArtifactTiles::reload() {
  isRead_ = true;
  reader_.run([variants = variants_, wanted = wanted_, catalog = workbench_.catalog(), this](
                  store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    std::vector<std::vector<store::ArtifactRow>> artifacts;
    std::vector<std::vector<store::GeneratedImageRow>> images;
    for (const Variant& variant : variants) {
      if (isStale) return {};
      artifacts.push_back(store.artifacts(variant.run));
      images.push_back(store.generatedImages(variant.run));
    }
    auto answer = std::make_shared<Response>();
    for (const Variant& variant : variants) {
      try {
        answer->configs.push_back(store.config(variant.run));
      } catch (const NotFoundError&) {  // its run was deleted meanwhile
        answer->configs.push_back(nullptr);
      }
    }
    answer->variants = variants;
    answer->kinds = sharedKinds(artifacts, images);
    for (const TileKind& kind : answer->kinds) {
      const bool isOfAnalysis = wanted.ends_with('/') && kind.id.starts_with(wanted);
      if (answer->shown.empty() && (kind.id == wanted || isOfAnalysis)) answer->shown = kind.id;
    }
    if (answer->shown.empty() && !answer->kinds.empty()) answer->shown = answer->kinds.front().id;
    for (std::size_t i = 0; i < variants.size() && !answer->shown.empty(); ++i) {
      if (isStale) return {};
      try {
        answer->tiles.push_back(
            readTile(store, variants[i], answer->shown, artifacts[i], images[i], catalog));
      } catch (const NotFoundError& error) {  // its run was deleted meanwhile
        answer->tiles.push_back({.missing = QString::fromUtf8(error.what())});
      }
    }
    answer->stored = std::move(artifacts);
    return [this, answer] { take(std::move(*answer)); };
  });
}

void ArtifactTiles::take(Response answer) {
  configs_ = std::move(answer.configs);
  stored_ = std::move(answer.stored);
  kinds_ = std::move(answer.kinds);
  shown_ = answer.shown;
  tiles_ = std::move(answer.tiles);
  {
    const QSignalBlocker quiet(kind_);
    kind_->clear();
    for (const TileKind& kind : kinds_) {
      kind_->addItem(kind.title, QString::fromStdString(kind.id));
      if (kind.id == shown_) kind_->setCurrentIndex(kind_->count() - 1);
    }
    kind_->setEnabled(kinds_.size() > 1);
  }
  while (views_.size() > tiles_.size()) {
    grid_->removeWidget(views_.back());
    views_.back()->hide();
    views_.back()->deleteLater();
    views_.pop_back();
  }
  while (views_.size() < tiles_.size()) {
    auto* view = new FigureView(this);
    view->setMinimumHeight(px(180));
    view->setFocusPolicy(Qt::StrongFocus);
    if (action_ != nullptr) view->addAction(action_);
    view->setContextMenuPolicy(Qt::ActionsContextMenu);
    views_.push_back(view);
  }
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const Tile& tile = tiles_[i];
    views_[i]->setAccessibleName(tile.title);
    views_[i]->setEmptyText(tile.missing);
    views_[i]->setFigure(tile.missing.isEmpty() ? makeFigure(tile.kind, tile.meta, tile.bytes)
                                                : nullptr);
  }
  showComputing();
  arrange();
  applyTheme();
}

void ArtifactTiles::showComputing() {
  const QString sentence = analyses_->sentence();
  const bool isComputing = !sentence.isEmpty();
  std::vector<std::int64_t> runs;
  for (const Variant& variant : variants_) runs.push_back(variant.run);
  const QString about = tr("newest step with the run's own settings \u00b7 one scale");
  about_->setText(isComputing ? sentence : kinds_.empty() ? QString() : about);
  if (isComputing) {
    empty_->showMessage(sentence, tr("Cancel"));
  } else if (canCompute(workbench_, runs)) {
    empty_->showMessage(
        tr("Artifacts shared by two or more variants appear here. Compute an analysis of "
           "each, or select analyses under Observe when you configure runs."),
        tr("Compute\u2026"));
  } else {
    empty_->showMessage(
        tr("Artifacts shared by two or more variants appear here. Select analyses under "
           "Observe when you configure runs."),
        QString());
  }
  empty_->setVisible(kinds_.empty());
}

void ArtifactTiles::style(std::vector<std::pair<Figure*, const Tile*>> figures) const {
  std::optional<std::array<double, 2>> range;
  for (const auto& [figure, tile] : figures) {
    figure->setStyle({.title = tile->title, .run = tile->series});
    if (const auto one = figure->valueRange()) {
      range = range ? std::array{std::min((*range)[0], (*one)[0]), std::max((*range)[1], (*one)[1])}
                    : *one;
    }
  }
  for (const auto& [figure, tile] : figures) {
    FigureStyle own = figure->style();
    own.range = range;
    figure->setStyle(own);
  }
}

void ArtifactTiles::applyTheme() {
  std::vector<std::pair<Figure*, const Tile*>> figures;
  for (std::size_t i = 0; i < views_.size(); ++i)
    if (views_[i]->figure() != nullptr) figures.emplace_back(views_[i]->figure(), &tiles_[i]);
  style(std::move(figures));
  for (FigureView* view : views_) view->refresh();
}

std::unique_ptr<Figure> ArtifactTiles::figure() const {
  std::vector<std::pair<QString, std::unique_ptr<Figure>>> all;
  std::vector<std::pair<Figure*, const Tile*>> figures;
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const Tile& tile = tiles_[i];
    if (!tile.missing.isEmpty()) continue;
    all.emplace_back(tile.title, makeFigure(tile.kind, tile.meta, tile.bytes));
    figures.emplace_back(all.back().second.get(), &tile);
  }
  if (all.empty()) return nullptr;
  style(std::move(figures));
  if (all.size() == 1) return std::move(all.front().second);
  const int columns = all.size() > 4 ? 3 : 2;
  return std::make_unique<SideBySide>(std::move(all), columns, FigureStyle());
}

void ArtifactTiles::arrange() {
  const int count = static_cast<int>(views_.size());
  const int most = std::max(1, width() / px(280));
  const int columns = std::clamp(count > 4 ? 3 : 2, 1, std::max(1, std::min(count, most)));
  for (int i = 0; i < count; ++i) {
    grid_->addWidget(views_[static_cast<std::size_t>(i)], i / columns, i % columns);
    views_[static_cast<std::size_t>(i)]->show();
  }
  const int rows = count == 0 ? 0 : (count + columns - 1) / columns;
  for (int column = 0; column < std::max(grid_->columnCount(), columns); ++column)
    grid_->setColumnStretch(column, column < columns ? 1 : 0);
  for (int row = 0; row < std::max(grid_->rowCount(), rows); ++row)
    grid_->setRowStretch(row, row < rows ? 1 : 0);
}

void ArtifactTiles::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

}  // namespace vitrine::ui
