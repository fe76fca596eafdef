// Counting (after CLEVR, Johnson et al. 2017): 3 to 10 objects.
#include <cmath>
#include <numbers>

#include "plugins/datasets/shapes/generated_set.h"
#include "plugins/datasets/shapes/scene.h"

namespace vitrine::shapes {

namespace {

constexpr std::int64_t kLeast = 3, kMost = 10;
constexpr std::array<std::int64_t, 3> kCounted = {0, 1, 3};  // square, circle, triangle

class Count final : public GeneratedSet {
 public:
  Count(const std::string& name, std::uint64_t seed, std::array<std::int64_t, 3> sizes,
        DatasetInfo info, bool isTriangles, bool isMatched)
      : GeneratedSet(name, seed, sizes, std::move(info)),
        isTriangles_(isTriangles),
        isMatched_(isMatched) {}

 protected:
  void draw(Numbers& numbers, Split, std::int64_t, Sample& sample) const override {
    const std::int64_t size = info().height;
    const std::int64_t wanted = kLeast + numbers.below(kMost - kLeast + 1);
    Scene scene(size, 0.3);
    // A place may be missing for the last ones: begin again with smaller objects.
    for (double scale = 1; std::ssize(scene.objects()) < wanted; scale *= 0.9) {
      scene = Scene(size, 0.3);
      fill(scene, numbers, wanted, scale);
    }
    Canvas canvas(3, size, size);
    paintBackground(canvas, numbers);
    scene.paint(canvas);
    putImage(canvas, sample);
    std::int64_t triangles = 0;
    for (const Object& object : scene.objects()) triangles += object.shape == 3;
    putLabel(isTriangles_ ? triangles : wanted - kLeast, sample);
  }

 private:
  void fill(Scene& scene, Numbers& numbers, std::int64_t wanted, double scale) const {
    // With matched areas the painted surface does not tell how many objects there are.
    const double share = isMatched_ ? std::sqrt(5.0 / static_cast<double>(wanted)) : 1;
    for (std::int64_t i = 0; i < wanted; ++i) {
      Object object;
      object.shape = kCounted[static_cast<std::size_t>(numbers.below(3))];
      object.color = numbers.below(kColors);
      object.isShaded = numbers.below(2) == 1;
      object.isLarge = numbers.below(2) == 1;
      const double side = isMatched_ ? 0.12 * share : object.isLarge ? 0.13 : 0.08;
      object.placement.radius = static_cast<double>(scene.size()) * side * scale;
      object.placement.angle = numbers.between(0, 2 * std::numbers::pi);
      if (!addAnywhere(scene, object, numbers)) return;
    }
  }
  bool isTriangles_, isMatched_;
};

class CountSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    ItemCard card = generatedCard("count", "Counting", "3 to 10 objects; how many are there",
                                  {"image", "label"}, 128, {20'000, 1'000, 2'000});
    card.paper = "after Johnson et al. 2017, arXiv:1612.06890";
    Field label =
        choiceField("label", "all", {"all", "triangles"}, "counted objects").titled("Label");
    label.withChoiceDocs({"all objects: 8 classes, 3 to 10", "triangles: 11 classes, 0 to 10"});
    card.schema.fields.push_back(label.runOnly());
    card.schema.fields.push_back(
        flagField("matched_area", true,
                  "objects are smaller where there are more, so that the surface tells nothing")
            .titled("Matched area")
            .runOnly());
    return card;
  }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size");
    const bool isTriangles = config.text("label") == "triangles";
    const bool isMatched = config.flag("matched_area");
    DatasetInfo info = imageInfo(3, size);
    for (std::int64_t n = isTriangles ? 0 : kLeast; n <= kMost; ++n)
      info.classes.push_back(std::to_string(n));
    return std::make_shared<Count>(isMatched ? "count/1/matched" : "count/1", seedFrom(config),
                                   sizesFrom(config), std::move(info), isTriangles, isMatched);
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeCount() { return std::make_unique<CountSource>(); }

}  // namespace vitrine::shapes
