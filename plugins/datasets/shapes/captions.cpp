// Scenes with captions that tell shape, colour, size and place.
#include <algorithm>
#include <cmath>

#include "plugins/datasets/shapes/generated_set.h"
#include "plugins/datasets/shapes/scene.h"

namespace vitrine::shapes {

namespace {

/// What `a` is to `b`: the axis on which they are further apart.
std::string relationOf(const Placement& a, const Placement& b) {
  const double dx = a.x - b.x, dy = a.y - b.y;
  if (std::abs(dx) >= std::abs(dy)) return dx < 0 ? "left of" : "right of";
  return dy < 0 ? "above" : "below";
}

const char* numberWord(std::size_t count) {
  return count == 1 ? "one object" : count == 2 ? "two objects" : "three objects";
}

/// 1 to 3 objects, no two of one colour or shape, so that a phrase names one of them. `captions`
/// are several references. `swapped` is the first with the colours of two objects exchanged, or
/// another colour where there is one object. It is false, but with the same words where it can be.
class SceneCaptions final : public GeneratedSet {
 public:
  using GeneratedSet::GeneratedSet;

 protected:
  void draw(Numbers& numbers, Split, std::int64_t, Sample& sample) const override {
    const std::int64_t size = info().height;
    Scene scene(size, 0);
    const std::int64_t wanted = 1 + numbers.below(3);
    std::vector<std::int64_t> shapes = {0, 1, 2, 3, 4, 5}, colors = {0, 1, 2, 3, 4, 5, 6, 7};
    for (std::int64_t i = 0; i < wanted; ++i) {
      Object object;
      const auto take = [&](std::vector<std::int64_t>& from) {
        const auto at = from.begin() + numbers.below(std::ssize(from));
        const std::int64_t taken = *at;
        from.erase(at);
        return taken;
      };
      object.shape = take(shapes);
      object.color = take(colors);
      object.isLarge = numbers.below(2) == 1;
      object.placement.radius = radiusOf(object.isLarge, size);
      object.placement.angle = numbers.between(-0.3, 0.3);
      addAnywhere(scene, object, numbers);
    }
    Canvas canvas(3, size, size);
    const auto grey = static_cast<float>(numbers.between(0.9, 1.0));
    canvas.clear({grey, grey, grey});
    scene.paint(canvas);
    putImage(canvas, sample);
    std::vector<Object> objects = scene.objects();
    const std::vector<std::string> captions = captionsOf(objects);
    const auto texts = sample["captions"].resizeTexts(captions.size());
    std::copy(captions.begin(), captions.end(), texts.begin());
    if (objects.size() > 1) {
      std::swap(objects[0].color, objects[1].color);
    } else {
      objects[0].color = (objects[0].color + 1 + numbers.below(kColors - 1)) % kColors;
    }
    sample["swapped"].resizeTexts(1)[0] = captionsOf(objects)[0];
    putLabel(std::ssize(objects) - 1, sample);
  }

 private:
  static std::vector<std::string> captionsOf(const std::vector<Object>& objects) {
    const std::string first = "a " + phraseOf(objects[0]);
    if (objects.size() == 1) return {first, "there is one object: " + first};
    const std::string second = "a " + phraseOf(objects[1]);
    std::string pair =
        first + " " + relationOf(objects[0].placement, objects[1].placement) + " " + second;
    std::string turned =
        second + " " + relationOf(objects[1].placement, objects[0].placement) + " " + first;
    std::string listed = first + " and " + second;
    if (objects.size() == 3) {
      const std::string third = "a " + phraseOf(objects[2]);
      pair += " and " + third;
      turned += " and " + third;
      listed = first + ", " + second + " and " + third;
    }
    return {pair, turned, std::string("there are ") + numberWord(objects.size()) + ": " + listed};
  }
};

class SceneCaptionsSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    return generatedCard("scene_captions", "Scenes with captions",
                         "1 to 3 objects with captions of size, colour, shape and place",
                         {"image", "label", "captions", "swapped"}, 64, {20'000, 1'000, 2'000});
  }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size");
    DatasetInfo info = imageInfo(3, size);
    info.fields[1].doc = "number of objects - 1";
    info.fields.push_back({"captions", FieldKind::Text, at::kByte, {-1}, "true of the image"});
    info.fields.push_back(
        {"swapped", FieldKind::Text, at::kByte, {}, "false: colours of two objects exchanged"});
    info.classes = {"1", "2", "3"};
    return std::make_shared<SceneCaptions>("scene_captions/1", seedFrom(config), sizesFrom(config),
                                           std::move(info));
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeSceneCaptions() {
  return std::make_unique<SceneCaptionsSource>();
}

}  // namespace vitrine::shapes
