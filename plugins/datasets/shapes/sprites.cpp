// Sprites: every combination of shape, scale, orientation and place once (Matthey et al. 2017,
// "dSprites").
#include <numbers>

#include "plugins/datasets/shapes/generated_set.h"

namespace vitrine::shapes {

namespace {

struct Factor {
  const char* name;
  std::int64_t values, classes;  ///< near values become one class by integer division
};
constexpr std::array<Factor, 5> kFactors = {
    {{"shape", 3, 3}, {"scale", 6, 6}, {"orientation", 40, 16}, {"x", 32, 16}, {"y", 32, 16}}};
constexpr std::int64_t kCombinations = 3 * 6 * 40 * 32 * 32;  // 737,280

/// A permutation of 0..kCombinations-1: four Feistel rounds on 20 bits, again while the result is
/// too large.
class Shuffled {
 public:
  explicit Shuffled(std::uint64_t seed) : stream_(seed, "sprites/1/order") {}
  [[nodiscard]] std::int64_t at(std::int64_t index) const {
    auto value = static_cast<std::uint32_t>(index);
    do {
      std::uint32_t left = value >> 10, right = value & 1023;
      for (std::uint64_t round = 0; round < 4; ++round) {
        const std::uint32_t mixed = left ^ (stream_.bits(round, right)[0] & 1023);
        left = right;
        right = mixed;
      }
      value = left << 10 | right;
    } while (value >= kCombinations);
    return value;
  }

 private:
  RandomStream stream_;
};

enum class Grid { Inclusive, SymmetryFree };

class Sprites final : public GeneratedSet {
 public:
  Sprites(std::uint64_t seed, std::size_t label, Grid grid, DatasetInfo info)
      : GeneratedSet("sprites/1", seed,
                     {kCombinations / 10 * 8, kCombinations / 10, kCombinations / 10},
                     std::move(info)),
        order_(seed),
        label_(label),
        grid_(grid) {}

  std::int64_t label(Split split, std::int64_t id) const override {
    return classOf(factorsOf(split, id));
  }

 protected:
  void draw(Numbers&, Split split, std::int64_t id, Sample& sample) const override {
    const std::array<std::int64_t, 5> factors = factorsOf(split, id);
    const auto side = static_cast<double>(info().height);
    Placement placement;
    placement.radius = side * 0.17 * (0.5 + 0.1 * static_cast<double>(factors[1]));
    placement.angle = angleOf(factors);
    placement.x = side * (0.2 + 0.6 * static_cast<double>(factors[3]) / 31);
    placement.y = side * (0.2 + 0.6 * static_cast<double>(factors[4]) / 31);
    placement.stretch = factors[0] == 1 ? 0.6 : 1;  // the ellipse
    Outline outline;
    place(shapeOutline(factors[0]), placement, outline);
    Coverage coverage(info().height, info().width);
    coverage.fill(outline);
    Canvas canvas(info().channels, info().height, info().width);
    canvas.paint(coverage, [](std::int64_t, std::int64_t) { return Color{1, 1, 1}; });
    putImage(canvas, sample);
    putLabel(classOf(factors), sample);
    const std::span<std::int64_t> values = sample["factors"].resize<std::int64_t>({5});
    std::copy(factors.begin(), factors.end(), values.begin());
  }

 private:
  /// The splits are parts of one permutation: each combination is in one of them, once.
  [[nodiscard]] std::array<std::int64_t, 5> factorsOf(Split split, std::int64_t id) const {
    std::int64_t first = 0;
    if (split != Split::Train) first += size(Split::Train);
    if (split == Split::Test) first += size(Split::Validation);
    std::int64_t index = order_.at(first + id);
    std::array<std::int64_t, 5> factors{};
    for (std::size_t i = factors.size(); i-- > 0; index /= kFactors[i].values)
      factors[i] = index % kFactors[i].values;
    return factors;
  }
  [[nodiscard]] std::int64_t classOf(const std::array<std::int64_t, 5>& factors) const {
    return factors[label_] * kFactors[label_].classes / kFactors[label_].values;
  }
  [[nodiscard]] double angleOf(const std::array<std::int64_t, 5>& factors) const {
    const auto step = static_cast<double>(factors[2]);
    constexpr double kPi = std::numbers::pi;
    if (grid_ == Grid::Inclusive) return 2 * kPi * step / 39;
    // A square looks the same after a quarter turn, an ellipse after half a turn.
    const double turn = factors[0] == 0 ? kPi / 2 : factors[0] == 1 ? kPi : 2 * kPi;
    return turn * step / 40;
  }

  Shuffled order_;
  std::size_t label_;
  Grid grid_;
};

class SpritesSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    ItemCard card = generatedCard(
        "sprites", "Sprites",
        "Square, ellipse or heart in 6 scales, 40 orientations, 32 x 32 places: 737,280 images",
        {"image", "label", "factors"}, 64);
    card.paper = "Matthey et al. 2017, dSprites";
    Field label = choiceField("label", "shape", {"shape", "scale", "orientation", "x", "y"},
                              "factor that is learned")
                      .titled("Label");
    label.withChoiceDocs({"3 classes", "6 classes", "40 orientations in 16 classes",
                          "32 columns in 16 classes", "32 rows in 16 classes"});
    Field grid = choiceField("grid", "inclusive", {"inclusive", "symmetry_free"}, "orientations")
                     .titled("Orientation grid");
    grid.withChoiceDocs({"a whole turn, both ends, as in dSprites",
                         "for each shape the turn after which it looks the same"});
    card.schema.fields.insert(card.schema.fields.begin() + 1,
                              {label.runOnly(), grid.runOnly(),
                               integerField("channels", 1, "of an image, all alike")
                                   .titled("Channels")
                                   .range(1, 3)
                                   .runOnly()});
    return card;
  }

  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size"), channels = config.integer("channels");
    DatasetInfo info = imageInfo(channels, size);
    info.fields.push_back(
        {"factors", FieldKind::Number, at::kLong, {5}, "shape, scale, orientation, x, y as drawn"});
    std::size_t label = 0;
    while (config.text("label") != kFactors[label].name) ++label;
    for (std::int64_t c = 0; c < kFactors[label].classes; ++c)
      info.classes.push_back(label == 0 ? (c == 1 ? "ellipse" : shapeName(c)) : std::to_string(c));
    return std::make_shared<Sprites>(
        seedFrom(config), label,
        config.text("grid") == "inclusive" ? Grid::Inclusive : Grid::SymmetryFree, std::move(info));
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeSprites() { return std::make_unique<SpritesSource>(); }

}  // namespace vitrine::shapes
