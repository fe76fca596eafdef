#include "ui/attention/attention_reading.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

TokenGrid gridFrom(const std::vector<TokenPlace>& places, int tokens, const QStringList& words) {
  TokenGrid grid = TokenGrid::of(tokenCells(places, tokens), words);
  if (static_cast<std::int64_t>(grid.rows) * grid.columns > 1 << 20)
    throw FileError("the patch grid is too large to draw");
  return grid;
}

/// Layers of one artifact, as they are stored.
struct ReadMaps {
  std::vector<AttentionLayer> layers;
  std::vector<TokenPlace> keyPlaces;  ///< on the grid of the queries; empty: the cells
  std::optional<QSize> whole;  ///< of windows: the grid that they are cut from, where it is said
};

std::vector<float> weightsFrom(const ArrayView& view, std::int64_t first, std::int64_t count) {
  std::vector<float> weights(static_cast<std::size_t>(count));
  if (view.dtype == "float32") {  // as nearly always: millions of them
    std::memcpy(weights.data(), view.bytes.data() + first * std::int64_t{sizeof(float)},
                weights.size() * sizeof(float));
    return weights;
  }
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(view.at(first + static_cast<std::int64_t>(i)));
  return weights;
}

ReadMaps mapsFrom(const Json& meta, const std::vector<std::byte>& data) {
  const ArrayView view = arrayOf(meta, data);
  if (view.shape.size() != 4)
    throw FileError("attention needs the shape [layers, heads, queries, keys]");
  const std::vector<int> sides = sidesOf(view, {1024, 1024, 65'536, 65'536});
  if (view.count() == 0) throw FileError("attention has no values");
  const int queries = sides[2], keys = sides[3];
  const Json& numbers = stateMember(meta, "layers");
  const Json& scans = stateMember(meta, "scan_positions");
  ReadMaps maps;
  if (const Json& whole = stateMember(meta, "grid");
      whole.size() == 2 && whole[0].is_number_integer() && whole[1].is_number_integer()) {
    const auto rows = whole[0].get<std::int64_t>(), columns = whole[1].get<std::int64_t>();
    const auto most = static_cast<std::int64_t>(kMostGrid);
    if (rows < 1 || columns < 1 || rows > most || columns > most)
      throw FileError("meta.grid is not the size of a grid");
    maps.whole = QSize(static_cast<int>(columns), static_cast<int>(rows));
  }
  maps.keyPlaces = tokenPlaces(stateMember(meta, "key_places"), keys, "key_places");
  const auto positions = [&](const char* own) { return meta.contains(own) ? own : "positions"; };
  const char* queryKey = positions("query_positions");
  const char* keyKey = positions("key_positions");
  const TokenGrid queryGrid = gridFrom(tokenPlaces(stateMember(meta, queryKey), queries, queryKey),
                                       queries, metaTexts(meta, {"query_words"}));
  const TokenGrid keyGrid = gridFrom(tokenPlaces(stateMember(meta, keyKey), keys, keyKey), keys,
                                     metaTexts(meta, {"key_words"}));
  const std::int64_t perLayer = view.count() / sides[0];
  for (int index = 0; index < sides[0]; ++index) {
    AttentionLayer layer;
    const auto at = static_cast<std::size_t>(index);
    const bool isNumbered =
        numbers.size() == static_cast<std::size_t>(sides[0]) && numbers[at].is_number_integer();
    layer.number = isNumbered ? numbers[at].get<int>() : index;
    layer.window = static_cast<int>(stateInteger(meta, "window", -1));
    layer.heads = sides[1];
    layer.queries = queries;
    layer.keys = keys;
    layer.weights = weightsFrom(view, index * perLayer, perLayer);
    layer.queryGrid = queryGrid;
    layer.keyGrid = keyGrid;
    // Layers that scan in another order.
    if (queries == keys && scans.size() == static_cast<std::size_t>(sides[0])) {
      layer.queryGrid = gridFrom(tokenPlaces(scans[at], keys, "scan_positions"), keys, {});
      layer.keyGrid = layer.queryGrid;
    }
    if (layer.window < 0) {
      // Of a grid some queries may have been kept, or none.
      if (maps.keyPlaces.empty()) layer.queryGrid.grow(keyGrid.rows, keyGrid.columns);
      layer.queryGrid.frame = QRectF(0, 0, 1, 1);
      layer.keyGrid.frame = QRectF(0, 0, 1, 1);
      if (!maps.keyPlaces.empty()) layer.keyGrid.places = maps.keyPlaces;
    }
    maps.layers.push_back(std::move(layer));
  }
  return maps;
}

/// The rows and columns of the grid that a layer's windows are cut from. They are the next layer's
/// or the one's before it, where that sees all of it.
const TokenGrid* wholeGridOf(const std::vector<AttentionLayer>& layers, int number,
                             const TokenPlace& farthest) {
  for (const int neighbour : {number + 1, number - 1}) {
    for (const AttentionLayer& layer : layers) {
      if (layer.number != neighbour || layer.window >= 0) continue;
      if (layer.queryGrid.rows > farthest[0] && layer.queryGrid.columns > farthest[1])
        return &layer.queryGrid;
    }
  }
  return nullptr;
}

/// Puts a window where it is in the image. \param places  of its keys in the whole grid
void placeWindow(AttentionLayer& layer, const std::vector<TokenPlace>& places,
                 std::optional<QSize> whole, const std::vector<AttentionLayer>& layers) {
  TokenPlace least{kMostGrid, kMostGrid}, most{0, 0};
  for (const TokenPlace& place : places) {
    if (place[0] < 0) continue;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      least[axis] = std::min(least[axis], place[axis]);
      most[axis] = std::max(most[axis], place[axis]);
    }
  }
  if (least[0] > most[0]) return;
  if (!whole) {
    const TokenGrid* grid = wholeGridOf(layers, layer.number, most);
    if (grid == nullptr) return;
    whole = QSize(grid->columns, grid->rows);
  }
  const QRectF frame(least[1] / whole->width(), least[0] / whole->height(),
                     (most[1] + 1 - least[1]) / whole->width(),
                     (most[0] + 1 - least[0]) / whole->height());
  layer.queryGrid.frame = frame;
  layer.keyGrid.frame = frame;
}

/// Whether rows are probabilities, and whether any weight is negative.
void judgeRows(AttentionImage& image) {
  constexpr double kTolerance = 1e-2;
  for (const AttentionLayer& layer : image.layers) {
    const auto keys = static_cast<std::size_t>(layer.keys);
    for (std::size_t row = 0; row * keys < layer.weights.size(); ++row) {
      double sum = 0;
      for (const float weight : std::span(layer.weights).subspan(row * keys, keys)) {
        if (std::isnan(weight)) continue;
        image.isSigned = image.isSigned || weight < 0;
        sum += static_cast<double>(weight);
      }
      image.sumsToOne = image.sumsToOne && std::abs(sum - 1) <= kTolerance;
    }
  }
}

QImage pictureOf(const AttentionEntry& entry, const store::ArtifactRow& row,
                 const std::vector<std::byte>& data) {
  if (row.kind == artifact_kind::kImage)
    return QImage::fromData(reinterpret_cast<const uchar*>(data.data()),
                            static_cast<int>(data.size()), "PNG");
  const ArrayView view = arrayOf(row.meta, data);
  if (view.shape.size() != 4 || entry.pictureIndex < 0 || entry.pictureIndex >= view.shape[0])
    return {};
  const std::vector<int> sides = sidesOf(view, {65'536, 8192, 8192, 4});
  QImage picture(sides[2], sides[1], QImage::Format_RGB32);
  const std::int64_t channels = sides[3];
  std::int64_t at = entry.pictureIndex * view.count() / view.shape[0];
  for (int y = 0; y < sides[1]; ++y) {
    for (int x = 0; x < sides[2]; ++x, at += channels) {
      const auto value = [&](std::int64_t c) {
        return static_cast<int>(view.at(at + std::min(c, channels - 1)));
      };
      picture.setPixel(x, y, qRgb(value(0), value(1), value(2)));
    }
  }
  return picture;
}

}  // namespace

QString AttentionSeries::title() const {
  QString text = asWords(analysis);
  if (!matrix.empty()) text += QStringLiteral(", ") + QString::fromStdString(matrix);
  return text;
}

std::vector<AttentionEntry> attentionEntries(const std::vector<store::ArtifactRow>& rows) {
  using Key =
      std::tuple<AttentionSeries, std::int64_t, std::int64_t, double, std::string, std::string>;
  std::map<Key, std::map<std::string, std::int64_t>> maps;  // newest id by name
  std::map<Key, AttentionEntry> entries;
  const auto timeOf = [](const store::ArtifactRow& row) -> std::optional<double> {
    // Of what no sampler drew, `time` is that of the run.
    const auto found = row.meta.find("time");
    if (!row.meta.contains("seed") && !row.meta.contains("first_seed")) return std::nullopt;
    return found != row.meta.end() && found->is_number() ? std::optional(found->get<double>())
                                                         : std::nullopt;
  };
  for (const store::ArtifactRow& row : rows) {
    if (row.kind != artifact_kind::kAttention || !row.meta.is_object()) continue;
    AttentionEntry entry;
    entry.series = {row.analysis, metaText(row.meta, "attention").toStdString()};
    entry.step = row.step;
    entry.sample = stateInteger(row.meta, "image", 0);
    entry.isDrawn = row.meta.contains("seed");
    const auto image = row.meta.find("image");
    entry.isOfWeights = image != row.meta.end() && image->is_null();
    // An image of the user's is of no split either.
    if (!entry.isOfWeights && !entry.isDrawn && entry.sample >= 0)
      entry.split = metaText(row.meta, "split").toStdString();
    entry.time = timeOf(row);
    entry.weights = metaText(row.meta, "weights").toStdString();
    const Key key{entry.series,  entry.step, entry.sample, entry.time.value_or(-1),
                  entry.weights, entry.split};
    // Other patches of a drawn image are drawn again, each with its own query.
    const std::string query =
        entry.isDrawn ? stateMember(row.meta, "query_positions").dump() : std::string();
    std::int64_t& newest = maps[key][row.name + query];
    newest = std::max(newest, row.id);
    entries.try_emplace(key, std::move(entry));
  }
  std::vector<AttentionEntry> all;
  for (auto& [key, entry] : entries) {
    for (const auto& [name, id] : maps[key]) entry.maps.push_back(id);
    for (const store::ArtifactRow& row : rows) {
      if (row.step != entry.step || !row.meta.is_object()) continue;
      if (entry.isOfWeights) {
        const bool isFilters = row.kind == artifact_kind::kImageGrid &&
                               row.analysis == entry.series.analysis &&
                               metaText(row.meta, "weights").toStdString() == entry.weights;
        if (isFilters) entry.filters = row.id;
        continue;
      }
      const bool isOwn = row.kind == artifact_kind::kImage && !entry.isDrawn &&
                         stateInteger(row.meta, "image") == entry.sample &&
                         entry.isIn(metaText(row.meta, "split").toStdString());
      const auto first = stateInteger(row.meta, "first_seed");
      const bool isGrid = row.kind == artifact_kind::kImageGrid && entry.isDrawn && first &&
                          entry.sample >= *first && timeOf(row) == entry.time &&
                          row.analysis == entry.series.analysis;
      // A picture of the same analysis before one of another.
      const bool isBetter = entry.picture == 0 || row.analysis == entry.series.analysis;
      if (!(isOwn || isGrid) || !isBetter) continue;
      entry.picture = row.id;
      entry.pictureIndex = isGrid ? static_cast<int>(entry.sample - *first) : -1;
    }
    all.push_back(std::move(entry));
  }
  return all;
}

std::shared_ptr<const AttentionImage> readAttention(const AttentionEntry& entry,
                                                    const std::vector<store::ArtifactRow>& rows,
                                                    const ArtifactBytes& bytes) {
  auto image = std::make_shared<AttentionImage>();
  std::vector<std::vector<TokenPlace>> places;  // of each layer's keys
  std::vector<std::optional<QSize>> wholes;
  for (const store::ArtifactRow& row : rows) {
    if (std::find(entry.maps.begin(), entry.maps.end(), row.id) == entry.maps.end()) continue;
    if (const auto left = stateInteger(row.meta, "left_out"))
      throw FileError(
          "the attention was too large to be copied from the other machine; open the database "
          "there, or export the run and import it here");
    ReadMaps maps = mapsFrom(row.meta, bytes(row.id));
    for (AttentionLayer& layer : maps.layers) {
      image->layers.push_back(std::move(layer));
      places.push_back(maps.keyPlaces);
      wholes.push_back(maps.whole);
    }
  }
  if (image->layers.empty()) throw FileError("the artifacts of this image are not there any more");
  for (std::size_t i = 0; i < image->layers.size(); ++i) {
    if (image->layers[i].window >= 0)
      placeWindow(image->layers[i], places[i], wholes[i], image->layers);
  }
  if (entry.isDrawn) {
    AttentionImage joined;
    for (AttentionLayer& layer : image->layers) {
      AttentionImage one;
      one.layers.push_back(std::move(layer));
      addQueries(joined, one);
    }
    image->layers = std::move(joined.layers);
  }
  sortLayers(*image);
  judgeRows(*image);
  for (const store::ArtifactRow& row : rows) {
    if (row.id == entry.maps.back()) {
      image->quantity = metaText(row.meta, "unit");
      image->about = row.meta;
    }
    if (row.id == entry.filters && entry.filters != 0) image->filters = {row.meta, bytes(row.id)};
    if (row.id == entry.picture && entry.picture != 0)
      image->picture = pictureOf(entry, row, bytes(row.id));
  }
  return image;
}

}  // namespace vitrine::ui
