#include "ui/attention/attention_scene.h"

#include <QObject>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

/// Colours at 256 places: a map has thousands of cells.
const std::array<QRgb, 256>& colourSteps(bool isSigned) {
  static const auto make = [](auto&& color) {
    std::array<QRgb, 256> steps{};
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i] = color(static_cast<double>(i) / 255).rgba();
    return steps;
  };
  static const std::array<QRgb, 256> plain = make([](double t) { return viridis(t); });
  static const std::array<QRgb, 256> both = make([](double t) { return diverging(2 * t - 1); });
  return isSigned ? both : plain;
}

}  // namespace

void AttentionScene::setImage(std::shared_ptr<const AttentionImage> image) {
  image_ = std::move(image);
  whyNoRollout_ = image_ == nullptr ? QString() : ui::whyNoRollout(*image_);
  distances_.clear();
  alike_.reset();
  forgetRows();
}

void AttentionScene::setChoice(const AttentionChoice& choice) {
  const AttentionChoice before = std::exchange(choice_, choice);
  // Another layer or head needs no other rows.
  if (before.query != choice.query || before.isRollout != choice.isRollout) {
    forgetRows();
  } else if (before.share != choice.share) {
    for (auto& [place, row] : rows_) row.kept = keysOfMass(row.weights, choice.share);
  }
}

void AttentionScene::setCommonRange(const std::optional<ValueRange>& range) { common_ = range; }

std::shared_ptr<const AttentionScene> AttentionScene::twin() const {
  std::shared_ptr<const AttentionScene> other = twin_.lock();
  return other != nullptr && other->layers() > 0 ? other : nullptr;
}

void AttentionScene::forgetRows() {
  rows_.clear();
  masked_.clear();
  whole_.reset();
}

bool AttentionScene::isRollout() const {
  return choice_.isRollout && image_ != nullptr && whyNoRollout_.isEmpty();
}

int AttentionScene::layers() const {
  return image_ == nullptr ? 0 : static_cast<int>(image_->layers.size());
}

int AttentionScene::heads(int layer) const { return isRollout() ? 1 : layerAt(layer).heads; }

int AttentionScene::layer() const {
  return std::clamp(choice_.layer, 0, std::max(layers() - 1, 0));
}

int AttentionScene::head() const {
  return layers() == 0 ? 0 : std::clamp(choice_.head, 0, heads(layer()) - 1);
}

const AttentionLayer& AttentionScene::layerAt(int layer) const {
  return image_->layers[static_cast<std::size_t>(layer)];
}

std::optional<int> AttentionScene::query(int layer) const {
  return queryOf(layerAt(layer), choice_.query);
}

bool AttentionScene::canAnswer() const {
  return image_ != nullptr && std::any_of(image_->layers.begin(), image_->layers.end(),
                                          [this](const AttentionLayer& layer) {
                                            return layer.window >= 0 ||
                                                   queryOf(layer, choice_.query).has_value();
                                          });
}

QString AttentionScene::queryText(int layer) const {
  const AttentionLayer& shown = layerAt(layer);
  if (shown.queries == 0) return QObject::tr("still being computed");
  const std::optional<int> asked = query(layer);
  if (asked == kMeanQuery) return QObject::tr("mean of %1 queries").arg(shown.queries);
  if (asked) return QObject::tr("query: %1").arg(shown.queryGrid.name(*asked));
  if (shown.window >= 0) return QObject::tr("this patch is in another window");
  return QObject::tr("no such query is stored");
}

const AttentionScene::Row& AttentionScene::row(int layer, int head) const {
  const auto [place, isNew] = rows_.try_emplace({layer, head});
  Row& row = place->second;
  if (!isNew) return row;
  ++rowsMade_;
  const AttentionLayer& shown = layerAt(layer);
  if (const std::optional<int> asked = query(layer)) {
    if (isRollout()) {
      row.weights = rolloutOf(*image_, layer, choice_.query).row;
    } else {
      const auto [masked, isFirst] = masked_.try_emplace(layer);
      if (isFirst) masked->second = maskedKeys(shown, *asked);
      row.weights = rowOf(shown, head, *asked, masked->second);
    }
  }
  row.kept = keysOfMass(row.weights, choice_.share);
  // What lies on no grid is written, not drawn: a class token that is read most would leave the map
  // without colours.
  std::vector<float> onGrid;
  for (std::size_t key = 0; key < row.weights.size(); ++key) {
    if (shown.keyGrid.cells[key].isOnGrid()) onGrid.push_back(row.weights[key]);
  }
  row.range = rangeOf(onGrid.empty() ? row.weights : onGrid);
  // All heads of a signed map have one map of colours, those without a negative weight, too.
  if (image_->isSigned) row.range = joined(row.range, {0, 0, true});
  return row;
}

ValueRange AttentionScene::wholeRange() const {
  if (whole_) return *whole_;
  ValueRange all;
  for (int layer = 0; layer < layers(); ++layer) {
    for (int head = 0; head < heads(layer); ++head) all = joined(all, row(layer, head).range);
  }
  whole_ = all;
  return all;
}

ValueRange AttentionScene::range(int layer, int head) const {
  if (!choice_.isSameScale) return row(layer, head).range;
  return common_ ? *common_ : wholeRange();
}

QColor AttentionScene::colorOf(float weight, const ValueRange& range,
                               const ThemeColors& colors) const {
  if (std::isnan(weight)) return maskedColor(colors);
  const double width = std::max(range.high - range.low, 1e-30);
  const double part = std::clamp((static_cast<double>(weight) - range.low) / width, 0.0, 1.0);
  return QColor(colourSteps(range.isSigned)[static_cast<std::size_t>(std::lround(part * 255))]);
}

QImage AttentionScene::map(int layer, int head, const ThemeColors& colors) const {
  const TokenGrid& grid = layerAt(layer).keyGrid;
  const Row& shown = row(layer, head);
  if (grid.rows == 0 || shown.weights.empty()) return {};
  const ValueRange scale = range(layer, head);
  QImage map(grid.columns, grid.rows, QImage::Format_ARGB32);
  map.fill(Qt::transparent);
  for (int down = 0; down < grid.rows; ++down) {
    auto* line = reinterpret_cast<QRgb*>(map.scanLine(down));
    for (int right = 0; right < grid.columns; ++right) {
      const int key = grid.at(down, right);
      if (key < 0) continue;
      const auto at = static_cast<std::size_t>(key);
      const bool isMasked = std::isnan(shown.weights[at]);
      if (isMasked || shown.kept[at])
        line[right] = colorOf(shown.weights[at], scale, colors).rgba();
    }
  }
  return map;
}

double AttentionScene::distance(int layer, int head) const {
  const auto [place, isNew] = distances_.try_emplace({layer, head}, 0.0);
  if (isNew) place->second = meanDistance(layerAt(layer), head);
  return place->second;
}

double AttentionScene::alikeDistance() const {
  if (alike_) return *alike_;
  double largest = 0;
  for (int index = 0; index < layers(); ++index) {
    AttentionLayer even = layerAt(index);
    if (even.window >= 0) continue;
    even.heads = 1;
    even.weights.assign(
        static_cast<std::size_t>(even.queries) * static_cast<std::size_t>(even.keys), 1.0F);
    if (const double distance = meanDistance(even, 0); distance > largest) largest = distance;
  }
  alike_ = largest;
  return largest;
}

double AttentionScene::largestDistance() const {
  double largest = alikeDistance();
  for (int layer = 0; layer < layers(); ++layer) {
    for (int head = 0; head < layerAt(layer).heads; ++head) {
      if (const double each = distance(layer, head); each > largest) largest = each;
    }
  }
  return largest;
}

std::optional<double> AttentionScene::commonDistance() const {
  const std::shared_ptr<const AttentionScene> other = twin();
  if (!choice_.isSameScale || other == nullptr) return std::nullopt;
  return std::max(largestDistance(), other->largestDistance());
}

QColor maskedColor(const ThemeColors& colors) {
  const auto mix = [](int a, int b) { return (a + b) / 2; };
  return {mix(colors.muted.red(), colors.line.red()),
          mix(colors.muted.green(), colors.line.green()),
          mix(colors.muted.blue(), colors.line.blue())};
}

}  // namespace vitrine::ui
