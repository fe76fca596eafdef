#include "app/vitrine/run/film_strip.h"

#include <algorithm>
#include <utility>

#include "app/vitrine/run/image_grid.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

constexpr std::uint8_t kWhite = 255;

/// Image `index` of a grid.
PngPixels imageIn(const Artifact& grid, std::int64_t index) {
  const ArrayView view = arrayOf(grid.meta, grid.data);
  if (view.shape.size() != 4 || index >= view.shape[0])
    throw FileError("a preview of the sampler lacks the image it should show");
  PngPixels image{view.shape[1], view.shape[2], view.shape[3], {}};
  const auto size = static_cast<std::size_t>(image.height * image.width * image.channels);
  const auto* first = reinterpret_cast<const std::uint8_t*>(view.bytes.data());
  first += static_cast<std::size_t>(index) * size;
  image.pixels.assign(first, first + size);
  return image;
}

/// Mean over layers and heads of a patch's attention, as bright as its largest value, in the size
/// of the image.
PngPixels mapOf(const Artifact& attention, const PngPixels& image) {
  const ArrayView view = arrayOf(attention.meta, attention.data);
  const Json& places = attention.meta.at("key_positions");
  const std::int64_t keys = view.shape.at(3);
  std::int64_t rows = 1, columns = 1;
  for (const Json& place : places) {
    rows = std::max(rows, place.at(0).get<std::int64_t>() + 1);
    columns = std::max(columns, place.at(1).get<std::int64_t>() + 1);
  }
  std::vector<double> mean(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < view.count(); ++i) {
    const Json& place = places.at(static_cast<std::size_t>(i % keys));
    const auto row = place.at(0).get<std::int64_t>(), column = place.at(1).get<std::int64_t>();
    if (row >= 0 && column >= 0)
      mean[static_cast<std::size_t>(row * columns + column)] += view.at(i);
  }
  const double most = std::max(*std::max_element(mean.begin(), mean.end()), 1e-12);
  PngPixels map{image.height, image.width, image.channels, {}};
  for (std::int64_t y = 0; y < map.height; ++y) {
    for (std::int64_t x = 0; x < map.width; ++x) {
      const std::int64_t cell = y * rows / map.height * columns + x * columns / map.width;
      const auto value =
          static_cast<std::uint8_t>(kWhite * mean[static_cast<std::size_t>(cell)] / most);
      map.pixels.insert(map.pixels.end(), static_cast<std::size_t>(map.channels), value);
    }
  }
  return map;
}

}  // namespace

bool FilmStrip::take(const Artifact& artifact) {
  const bool isFrame = artifact.kind == artifact_kind::kImageGrid &&
                       artifact.meta.contains("first_seed") && artifact.meta.contains("time");
  if (isFrame) {
    const auto seed = artifact.meta["first_seed"].get<std::uint64_t>();
    if (seed != firstSeed_) {
      frames_.clear();
      attention_.clear();
    }
    firstSeed_ = seed;
    frames_.push_back(artifact);
    return true;
  }
  const bool isAttention = artifact.kind == artifact_kind::kAttention &&
                           artifact.meta.contains("seed") && artifact.meta.contains("time");
  if (isAttention) attention_.push_back(artifact);
  return isAttention;
}

Film FilmStrip::of(const GeneratedImage& image) const {
  Film film;
  if (frames_.empty() || image.seed < firstSeed_) return film;
  const auto index = static_cast<std::int64_t>(image.seed - firstSeed_);
  std::vector<PngPixels> tiles;
  Artifact strip{frames_.front().analysis, "steps of seed " + std::to_string(image.seed),
                 artifact_kind::kImageGrid};
  Json titles = Json::array(), times = Json::array();
  std::vector<std::uint8_t> pixels;
  for (const Artifact& frame : frames_) {
    tiles.push_back(imageIn(frame, index));
    pixels.insert(pixels.end(), tiles.back().pixels.begin(), tiles.back().pixels.end());
    times.push_back(frame.meta.at("time"));
    titles.push_back("time " + formatReal(frame.meta.at("time").get<double>(), 4));
  }
  film.steps = std::ssize(tiles);
  const PngPixels& first = tiles.front();
  setUint8(strip, pixels, {film.steps, first.height, first.width, first.channels},
           {"image", "row", "column", "channel"});
  strip.meta["titles"] = std::move(titles);
  strip.meta["times"] = std::move(times);
  strip.meta["seed"] = image.seed;
  film.artifacts.push_back(std::move(strip));
  for (const Artifact& each : attention_) {
    if (each.meta.at("seed").get<std::uint64_t>() == image.seed) film.artifacts.push_back(each);
  }
  const PngPixels size{first.height, first.width, first.channels, {}};
  for (std::size_t i = 1; i < film.artifacts.size(); ++i)
    tiles.push_back(mapOf(film.artifacts[i], size));
  for (Artifact& each : film.artifacts) {
    each.meta["recipe"] = image.recipe;
    each.meta["sha256"] = image.sha256;
  }
  film.png = imageGrid(tiles, static_cast<int>(film.steps));
  return film;
}

}  // namespace vitrine::app
