// Pathfinder (after Linsley et al. 2018, arXiv:1805.08315): are the two disks on one dashed curve?
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "plugins/datasets/shapes/generated_set.h"

namespace vitrine::shapes {

namespace {

using Curve = std::vector<Point>;  // centres of dashes

/// Curves that keep their distance, drawn one after another.
class Tangle {
 public:
  Tangle(Numbers& numbers, double size, double spacing)
      : numbers_(numbers), size_(size), spacing_(spacing) {}

  /// \returns  whether a curve of so many dashes was found in 60 attempts
  bool add(std::int64_t dashes) {
    for (int attempt = 0; attempt < 60; ++attempt) {
      if (!grow(dashes)) continue;
      curves_.push_back(curve_);
      headings_.push_back(turns_);
      return true;
    }
    return false;
  }
  [[nodiscard]] const std::vector<Curve>& curves() const noexcept { return curves_; }
  [[nodiscard]] const std::vector<std::vector<double>>& headings() const noexcept {
    return headings_;
  }

 private:
  bool grow(std::int64_t dashes) {
    curve_.clear();
    turns_.clear();
    const double margin = 0.08 * size_, step = 0.07 * size_;
    Point at{numbers_.between(margin, size_ - margin), numbers_.between(margin, size_ - margin)};
    double heading = numbers_.between(0, 2 * std::numbers::pi);
    for (std::int64_t i = 0; i < dashes; ++i) {
      if (at.x < margin || at.y < margin || at.x > size_ - margin || at.y > size_ - margin)
        return false;
      if (!isFree(at)) return false;
      curve_.push_back(at);
      turns_.push_back(heading);
      heading += numbers_.between(-0.55, 0.55);
      at = {at.x + step * std::cos(heading), at.y + step * std::sin(heading)};
    }
    return true;
  }
  [[nodiscard]] bool isFree(const Point& at) const {
    const auto isFar = [&](const Point& other) {
      return std::hypot(at.x - other.x, at.y - other.y) > spacing_;
    };
    // The last dashes of the curve itself are near, of course.
    const std::size_t own = curve_.size() > 2 ? curve_.size() - 2 : 0;
    return std::all_of(curve_.begin(), curve_.begin() + static_cast<std::ptrdiff_t>(own), isFar) &&
           std::all_of(curves_.begin(), curves_.end(), [&](const Curve& curve) {
             return std::all_of(curve.begin(), curve.end(), isFar);
           });
  }
  Numbers& numbers_;
  double size_, spacing_;
  std::vector<Curve> curves_;
  std::vector<std::vector<double>> headings_;  // of each dash, radians
  Curve curve_;
  std::vector<double> turns_;
};

/// Both classes have two long curves, the same distractors and two disks on ends of long curves.
/// So neither ink nor places of disks tell them apart.
class Pathfinder final : public GeneratedSet {
 public:
  Pathfinder(const std::string& name, std::uint64_t seed, std::array<std::int64_t, 3> sizes,
             DatasetInfo info, std::int64_t dashes)
      : GeneratedSet(name, seed, sizes, std::move(info)), dashes_(dashes) {}

  std::int64_t label(Split, std::int64_t id) const override { return id % 2; }

 protected:
  void draw(Numbers& numbers, Split, std::int64_t id, Sample& sample) const override {
    const auto size = static_cast<double>(info().height);
    std::optional<Tangle> drawn;
    // Long curves may not find room: again, a little closer together.
    for (double spacing = 0.11 * size; !drawn; spacing *= 0.97) {
      drawn.emplace(numbers, size, spacing);
      if (!fill(*drawn)) drawn.reset();
    }
    const Tangle& tangle = *drawn;
    Canvas canvas(1, info().height, info().width);
    Coverage coverage(info().height, info().width);
    const auto white = [](std::int64_t, std::int64_t) { return Color{1, 1, 1}; };
    Outline outline;
    const Outline dash = {{-0.025, -0.009}, {0.025, -0.009}, {0.025, 0.009}, {-0.025, 0.009}};
    for (std::size_t c = 0; c < tangle.curves().size(); ++c) {
      for (std::size_t i = 0; i < tangle.curves()[c].size(); ++i) {
        const Point& at = tangle.curves()[c][i];
        place(dash, {at.x, at.y, size, tangle.headings()[c][i], 1}, outline);
        coverage.fill(outline);
        canvas.paint(coverage, white);
      }
    }
    const bool isConnected = id % 2 == 1;
    const Curve& first = tangle.curves()[0];
    const Curve& second = tangle.curves()[isConnected ? 0 : 1];
    const Point& other = isConnected || numbers.below(2) == 0 ? second.back() : second.front();
    for (const Point& at : {first.front(), other}) {
      place(shapeOutline(1), {at.x, at.y, 0.035 * size, 0, 1}, outline);
      coverage.fill(outline);
      canvas.paint(coverage, white);
    }
    putImage(canvas, sample);
    putLabel(isConnected ? 1 : 0, sample);
  }

 private:
  bool fill(Tangle& tangle) const {
    for (const std::int64_t length : {dashes_, dashes_, dashes_ / 3, dashes_ / 3, dashes_ / 3}) {
      if (!tangle.add(length)) return false;
    }
    return true;
  }
  std::int64_t dashes_;
};

class PathfinderSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    ItemCard card = generatedCard("pathfinder", "Pathfinder",
                                  "Dashed curves: do the two disks lie on the same one?",
                                  {"image", "label"}, 64, {20'000, 1'000, 2'000});
    card.paper = "after Linsley et al. 2018, arXiv:1805.08315";
    card.schema.fields.push_back(integerField("dashes", 6, "of the two long curves")
                                     .titled("Curve length")
                                     .range(3, 14)
                                     .withUnit("dashes")
                                     .runOnly());
    return card;
  }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size"), dashes = config.integer("dashes");
    DatasetInfo info = imageInfo(1, size);
    info.classes = {"apart", "connected"};
    return std::make_shared<Pathfinder>("pathfinder/1/" + std::to_string(dashes), seedFrom(config),
                                        sizesFrom(config), std::move(info), dashes);
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makePathfinder() { return std::make_unique<PathfinderSource>(); }

}  // namespace vitrine::shapes
