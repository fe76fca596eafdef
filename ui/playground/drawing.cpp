#include "ui/playground/drawing.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/painting.h"
#include "ui/figures/token_cells.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr std::int64_t kMostSide = 16384;  // pixels

const Json& fieldOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end())
    throw FileError(std::string("the answer of the sampler has no '") + key + "'");
  return *found;
}

std::span<const std::byte> binaryOf(const Json& object) {
  const Json& bytes = fieldOf(object, "bytes");
  if (!bytes.is_binary()) throw FileError("the answer of the sampler has no bytes");
  return std::as_bytes(std::span(bytes.get_binary()));
}

std::uint64_t seedOf(const Json& object, const char* key) {
  const Json& seed = fieldOf(object, key);
  if (!seed.is_number_integer()) throw FileError("a seed of the sampler is not a whole number");
  return seed.get<std::uint64_t>();
}

/// Images of [n, height, width, channels] bytes.
std::vector<QImage> imagesIn(const ArrayView& view) {
  if (view.dtype != "uint8" || view.shape.size() != 4)
    throw FileError("a preview is not a list of images");
  const std::int64_t height = view.shape[1], width = view.shape[2], channels = view.shape[3];
  const bool isDrawable = height >= 1 && width >= 1 && height <= kMostSide && width <= kMostSide &&
                          (channels == 1 || channels == 3 || channels == 4);
  if (!isDrawable) throw FileError("a preview has images of a size that cannot be shown");
  const QImage::Format format = channels == 1   ? QImage::Format_Grayscale8
                                : channels == 3 ? QImage::Format_RGB888
                                                : QImage::Format_RGBA8888;
  std::vector<QImage> images;
  const auto row = static_cast<std::size_t>(width * channels);
  for (std::int64_t i = 0; i < view.shape[0]; ++i) {
    QImage image(static_cast<int>(width), static_cast<int>(height), format);
    for (std::int64_t y = 0; y < height; ++y) {
      std::memcpy(image.scanLine(static_cast<int>(y)),
                  view.bytes.data() + static_cast<std::size_t>(i * height + y) * row, row);
    }
    images.push_back(std::move(image));
  }
  return images;
}

void takePreview(DrawnCell& cell, const Json& preview) {
  const Json& meta = fieldOf(preview, "meta");
  if (stateMember(preview, "kind") != artifact_kind::kImageGrid) return;
  const std::uint64_t first = seedOf(meta, "first_seed");
  std::vector<QImage> images = imagesIn(arrayOf(meta, binaryOf(preview)));
  for (std::size_t i = 0; i < images.size(); ++i)
    cell.films[first + i].push_back({stateNumber(meta, "time"), std::move(images[i])});
}

/// Over layers and heads, or one of them. \param weights  [layer, head, size]
std::vector<float> meanOf(const AttentionFrame& frame, const std::vector<float>& weights,
                          std::size_t size, int layer, int head) {
  std::vector<float> mean(size, 0);
  int taken = 0;
  for (int l = 0; l < frame.layers; ++l) {
    if (layer >= 0 && l != layer) continue;
    for (int h = 0; h < frame.heads; ++h) {
      if (head >= 0 && h != head) continue;
      const std::size_t from =
          (static_cast<std::size_t>(l) * static_cast<std::size_t>(frame.heads) +
           static_cast<std::size_t>(h)) *
          size;
      for (std::size_t i = 0; i < size; ++i) mean[i] += weights[from + i];
      ++taken;
    }
  }
  for (float& value : mean) value /= static_cast<float>(std::max(taken, 1));
  return mean;
}

}  // namespace

std::vector<float> AttentionFrame::map(int layer, int head) const {
  const auto size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  return meanOf(*this, weights, size, layer, head);
}

std::vector<float> AttentionFrame::wordMap(int layer, int head) const {
  return meanOf(*this, wordWeights, static_cast<std::size_t>(words.size()), layer, head);
}

int Drawing::imageCount() const {
  std::size_t images = 0;
  for (const DrawnCell& cell : cells) images += cell.images.size();
  return static_cast<int>(images);
}

int Drawing::textCount() const {
  std::size_t texts = 0;
  for (const DrawnCell& cell : cells) texts += cell.texts.size();
  return static_cast<int>(texts);
}

bool Drawing::areTexts() const { return textCount() > 0 || !describedImage(base).isEmpty(); }

QString Drawing::countText() const {
  return areTexts() ? counted(textCount(), QObject::tr("text"), QObject::tr("texts"))
                    : counted(imageCount(), QObject::tr("image"), QObject::tr("images"));
}

QImage Drawing::thumbnail() const {
  for (const DrawnCell& cell : cells) {
    if (!cell.images.empty()) return cell.images.front().image;
    for (const auto& [seed, film] : cell.films) {
      if (!film.empty()) return film.back().image;
    }
  }
  return kept;
}

QString Drawing::title() const {
  QStringList parts;
  for (const std::optional<GridAxis>* axis : {&grid.rows, &grid.columns}) {
    if (*axis) parts << (parts.isEmpty() ? (*axis)->title : (*axis)->title.toLower());
  }
  if (!parts.isEmpty()) return parts.join(QStringLiteral(" \u00d7 "));
  // With an image a sampler describes, whatever the prompt says.
  for (const char* key : {"image", "prompt"}) {
    const QString text = stateWords(base.values, key);
    if (!text.isEmpty()) return text;
  }
  if (!className.isEmpty()) return className;
  if (const Json& asked = stateMember(base.values, "class"); !asked.is_null())
    return QObject::tr("Class %1").arg(valueText(asked));
  return QObject::tr("Seed %1").arg(base.seed());
}

QString Drawing::cellTitle(int cell) const {
  const int across = std::max(1, grid.columnCount());
  QStringList parts;
  const auto add = [&](const std::optional<GridAxis>& axis, int index) {
    if (!axis) return;
    const QString name = parts.isEmpty() ? axis->title : axis->title.toLower();
    parts << name + QLatin1Char(' ') + axis->labels.value(index);
  };
  add(grid.rows, cell / across);
  add(grid.columns, cell % across);
  return parts.isEmpty() ? title() : parts.join(QStringLiteral(", "));
}

QString DrawnText::shown() const {
  const QString trimmed = text.trimmed();
  return trimmed.isEmpty() ? QObject::tr("(the model wrote nothing)") : trimmed;
}

void takePart(DrawnCell& cell, const Json& part) {
  if (const auto preview = part.find("preview"); preview != part.end())
    return takePreview(cell, *preview);
  if (const auto text = part.find("text"); text != part.end()) {
    cell.texts.push_back({seedOf(*text, "seed"), stateWords(*text, "prompt"),
                          stateWords(*text, "text"), QImage(),
                          text->value("recipe", Json::object()), stateInteger(*text, "stored", 0)});
    return;
  }
  const auto image = part.find("image");
  if (image == part.end()) return;
  const std::span<const std::byte> bytes = binaryOf(*image);
  DrawnImage drawn;
  drawn.seed = seedOf(*image, "seed");
  drawn.sha256 = stateWords(*image, "sha256").toStdString();
  drawn.recipe = image->value("recipe", Json::object());
  drawn.stored = stateInteger(*image, "stored", 0);
  drawn.image = QImage::fromData(reinterpret_cast<const uchar*>(bytes.data()),
                                 static_cast<int>(bytes.size()), "PNG");
  if (drawn.image.isNull()) throw FileError("an image of the sampler is not a PNG file");
  cell.images.push_back(std::move(drawn));
}

bool isAttention(const Json& preview) {
  return stateMember(preview, "kind") == artifact_kind::kAttention;
}

std::vector<FilmFrame> storedFilm(const Json& meta, std::span<const std::byte> data) {
  std::vector<QImage> images = imagesIn(arrayOf(meta, data));
  const Json& times = fieldOf(meta, "times");
  if (!times.is_array() || times.size() != images.size())
    throw FileError("stored steps do not say at which times they are");
  std::vector<FilmFrame> film;
  for (std::size_t i = 0; i < images.size(); ++i)
    film.push_back({times[i].is_number() ? times[i].get<double>() : 0, std::move(images[i])});
  return film;
}

std::pair<std::uint64_t, AttentionFrame> attentionFrame(const Json& preview) {
  const Json& meta = fieldOf(preview, "meta");
  return {seedOf(meta, "seed"), attentionIn(meta, binaryOf(preview))};
}

AttentionFrame attentionIn(const Json& meta, std::span<const std::byte> data) {
  const ArrayView view = arrayOf(meta, data);
  constexpr std::int64_t kMost = 65'536;
  if (view.shape.size() != 4 || view.shape[2] != 1 || view.shape[0] > kMost ||
      view.shape[1] > kMost || view.shape[3] > kMost)
    throw FileError("the attention of a step is not that of one patch");
  const int keys = static_cast<int>(view.shape[3]);
  const auto places = tokenPlaces(fieldOf(meta, "key_positions"), keys, "key_positions");
  if (places.empty()) throw FileError("the attention of a step does not say where its keys lie");
  const std::vector<TokenCell> cells = tokenCells(places, keys);
  AttentionFrame frame{.time = stateNumber(meta, "time"),
                       .layers = static_cast<int>(view.shape[0]),
                       .heads = static_cast<int>(view.shape[1])};
  for (const TokenCell& cell : cells) {
    frame.rows = std::max(frame.rows, cell.row + 1);
    frame.columns = std::max(frame.columns, cell.column + 1);
  }
  const auto size = static_cast<std::size_t>(frame.rows) * static_cast<std::size_t>(frame.columns);
  const auto maps = static_cast<std::size_t>(frame.layers) * static_cast<std::size_t>(frame.heads);
  constexpr std::size_t kMostWeights = std::size_t{1} << 26;
  if (size > 0 && maps > kMostWeights / size)
    throw FileError("the attention of a step has keys too far apart for its layers and heads");
  frame.weights.assign(maps * size, 0);
  const QStringList words = metaTexts(meta, {"key_words"});
  for (std::size_t m = 0; m < maps; ++m) {
    for (std::size_t key = 0; key < cells.size(); ++key) {
      const auto [row, column] = cells[key];
      const auto weight =
          static_cast<float>(view.at(static_cast<std::int64_t>(m * cells.size() + key)));
      if (row < 0) {
        // A key that is not a patch: a word, or a class token, which is left out.
        const QString word = words.value(static_cast<qsizetype>(key));
        if (word.isEmpty()) continue;
        if (m == 0) frame.words << word;
        frame.wordWeights.push_back(weight);
        continue;
      }
      const auto at = static_cast<std::size_t>(row) * static_cast<std::size_t>(frame.columns) +
                      static_cast<std::size_t>(column);
      frame.weights[m * size + at] = weight;
    }
  }
  return frame;
}

}  // namespace vitrine::ui
