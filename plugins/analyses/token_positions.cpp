#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/config/item_card.h"
#include "core/files/png.h"
#include "plugins/analyses/analyses.h"
#include "plugins/analyses/attention_tap.h"

namespace vitrine::analyses {

namespace {

using Colour = std::array<double, 3>;
constexpr Colour kPaper{255, 255, 255}, kLine{205, 205, 205}, kQuery{150, 150, 150},
    kKey{213, 94, 0};
constexpr double kQueryShare = 0.16, kKeyShare = 0.28;  // radius of a disc, in cells

/// Layers whose tokens stand alike.
struct Layout {
  std::vector<std::int64_t> layers;
  std::int64_t window = -1;
  at::Tensor queries, keys;  ///< [tokens, 2] float64
  at::Tensor farthest;       ///< [2]: the last row and column of the layer's tokens, of all windows
  [[nodiscard]] bool isOf(const AttentionRecord& record) const {
    return window == record.window && at::equal(queries, record.queryPositions) &&
           at::equal(keys, record.keyPositions);
  }
  [[nodiscard]] std::string name() const {
    const std::string numbers =
        joined(layers, [](std::int64_t layer) { return std::to_string(layer); });
    return (layers.size() == 1 ? "layer " : "layers ") + numbers +
           (window < 0 ? "" : ", window " + std::to_string(window));
  }
};

std::vector<Layout> layoutsOf(const std::vector<AttentionRecord>& records) {
  struct Whole {
    std::int64_t windows = 0;
    at::Tensor farthest = at::zeros({2}, at::kDouble);
  };
  std::map<std::int64_t, Whole> layers;
  for (const AttentionRecord& record : records) {
    if (!record.queryPositions.defined() || !record.keyPositions.defined()) {
      throw ConfigError("layer " + std::to_string(record.layer) +
                        " does not say where its tokens stand; choose others with `layers`");
    }
    Whole& whole = layers[record.layer];
    whole.windows = std::max(whole.windows, record.window + 1);
    for (const at::Tensor& places : {record.queryPositions, record.keyPositions})
      whole.farthest = at::maximum(whole.farthest, std::get<0>(places.max(0)));
  }
  std::vector<Layout> layouts;
  for (const AttentionRecord& record : records) {
    const Whole& whole = layers[record.layer];
    if (record.window >= 0 && record.window != whole.windows / 2) continue;
    const auto known = std::find_if(layouts.begin(), layouts.end(),
                                    [&](const Layout& layout) { return layout.isOf(record); });
    if (known == layouts.end()) {
      layouts.push_back({{record.layer},
                         record.window,
                         record.queryPositions,
                         record.keyPositions,
                         whole.farthest});
    } else {
      known->layers.push_back(record.layer);
    }
  }
  return layouts;
}

/// Pixels of a grid of cells.
class Drawing {
 public:
  Drawing(std::int64_t rows, std::int64_t columns, std::int64_t cell)
      : height_(rows * cell + 1), width_(columns * cell + 1), cell_(static_cast<double>(cell)) {
    pixels_.resize(static_cast<std::size_t>(height_ * width_ * 3));
    for (std::int64_t y = 0; y < height_; ++y) {
      for (std::int64_t x = 0; x < width_; ++x)
        paint(y, x, y % cell == 0 || x % cell == 0 ? kLine : kPaper, 1);
    }
  }

  /// \param radius  in cells
  void addDisc(double row, double column, double radius, const Colour& colour) {
    const double y0 = (row + 0.5) * cell_, x0 = (column + 0.5) * cell_, reach = radius * cell_;
    for (auto y = std::llround(y0 - reach) - 1; y <= std::llround(y0 + reach) + 1; ++y) {
      for (auto x = std::llround(x0 - reach) - 1; x <= std::llround(x0 + reach) + 1; ++x) {
        const double distance =
            std::hypot(static_cast<double>(y) - y0, static_cast<double>(x) - x0);
        paint(y, x, colour, std::clamp(reach + 0.5 - distance, 0.0, 1.0));
      }
    }
  }

  [[nodiscard]] std::int64_t height() const { return height_; }
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::vector<std::byte> png() const {
    return encodePng(pixels_, static_cast<int>(height_), static_cast<int>(width_), 3);
  }

 private:
  void paint(std::int64_t y, std::int64_t x, const Colour& colour, double share) {
    if (y < 0 || x < 0 || y >= height_ || x >= width_) return;
    std::uint8_t* pixel = pixels_.data() + (y * width_ + x) * 3;
    for (std::size_t c = 0; c < 3; ++c)
      pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] + share * (colour[c] - pixel[c])));
  }

  std::int64_t height_, width_;
  double cell_;
  std::vector<std::uint8_t> pixels_;
};

/// A class token stands nowhere and is not drawn.
void addDiscs(Drawing& drawing, const Json& positions, double radius, const Colour& colour) {
  for (const Json& each : positions) {
    const auto row = each[0].get<double>(), column = each[1].get<double>();
    if (row >= 0 && column >= 0) drawing.addDisc(row, column, radius, colour);
  }
}

Artifact artifactOf(const Layout& layout, std::int64_t cell) {
  const auto sides = [&](int axis) {
    return static_cast<std::int64_t>(std::floor(layout.farthest[axis].item<double>())) + 1;
  };
  Drawing drawing(sides(0), sides(1), cell);
  Artifact artifact{"token_positions", layout.name(), artifact_kind::kImage};
  artifact.meta = {{"version", 1},
                   {"dtype", "png"},
                   {"axes", {"row", "column", "channel"}},
                   {"layers", layout.layers},
                   {"query_positions", positionsOf(layout.queries)},
                   {"key_positions", positionsOf(layout.keys)},
                   {"unit", "patches"},
                   {"colours", {{"query", "grey"}, {"key", "orange"}}}};
  if (layout.window >= 0) artifact.meta["window"] = layout.window;
  // Small discs over large ones: both stay visible where they share a place.
  addDiscs(drawing, artifact.meta["key_positions"], kKeyShare, kKey);
  addDiscs(drawing, artifact.meta["query_positions"], kQueryShare, kQuery);
  artifact.meta["shape"] = {drawing.height(), drawing.width(), 3};
  artifact.data = drawing.png();
  return artifact;
}

class TokenPositions final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card =
        itemCard(ItemKind::Analysis, "token_positions", "Token positions",
                 "Where the queries and keys of each attention layer stand on the grid of patches");
    card.needs = {AttentionSource::kId};
    card.schema.fields = runOnly({listField("layers", FieldType::Integer, Json::array(),
                                            "layers to look at, from 0; empty: all")
                                      .titled("Layers")
                                      .atLeast(0),
                                  integerField("cell", 32, "side of a patch in the drawing")
                                      .titled("Cell")
                                      .range(8, 256)
                                      .withUnit("px")});
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  ProbeSamples probeSamples(const Config&) const override { return {1}; }

  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    const std::vector<Layout> layouts = layoutsOf(
        captureAttention(context, config.integers("layers"), AttentionTap::Kind::Softmax));
    return [layouts, cell = config.integer("cell")] {
      Findings findings;
      for (const Layout& layout : layouts) findings.artifacts.push_back(artifactOf(layout, cell));
      return findings;
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeTokenPositions() { return std::make_unique<TokenPositions>(); }

}  // namespace vitrine::analyses
