// Scenes with masks and boxes, and scenes with several labels.
#include <algorithm>
#include <numbers>

#include "plugins/datasets/shapes/generated_set.h"
#include "plugins/datasets/shapes/scene.h"

namespace vitrine::shapes {

namespace {

constexpr std::int64_t kClasses = 6;  // the first shapes
constexpr double kMostCovered = 0.3;

/// 1 to `most` objects of the first six shapes.
Scene drawScene(Numbers& numbers, std::int64_t size, std::int64_t least, std::int64_t most) {
  Scene scene(size, kMostCovered);
  const std::int64_t wanted = least + numbers.below(most - least + 1);
  for (std::int64_t i = 0; i < wanted; ++i) {
    Object object{.shape = numbers.below(kClasses),
                  .color = numbers.below(kColors),
                  .isShaded = numbers.below(2) == 1};
    object.placement.radius = static_cast<double>(size) * numbers.between(0.09, 0.22);
    object.placement.angle = numbers.between(0, 2 * std::numbers::pi);
    addAnywhere(scene, object, numbers);
  }
  return scene;
}

Canvas canvasOf(const Scene& scene, Numbers& numbers) {
  Canvas canvas(3, scene.size(), scene.size());
  paintBackground(canvas, numbers);
  scene.paint(canvas);
  return canvas;
}

class Segments final : public GeneratedSet {
 public:
  using GeneratedSet::GeneratedSet;

 protected:
  void draw(Numbers& numbers, Split, std::int64_t, Sample& sample) const override {
    const std::int64_t size = info().height;
    const Scene scene = drawScene(numbers, size, 1, 6);
    putImage(canvasOf(scene, numbers), sample);
    const std::vector<Object>& objects = scene.objects();
    const std::int64_t count = std::ssize(objects);
    const auto mask = sample["mask"].resize<std::uint8_t>({size, size});
    const auto instances = sample["instances"].resize<std::uint8_t>({size, size});
    const auto boxes = sample["boxes"].resize<float>({count, 4});
    for (std::size_t i = 0; i < objects.size(); ++i) {
      boxes[4 * i] = boxes[4 * i + 1] = static_cast<float>(size);
      boxes[4 * i + 2] = boxes[4 * i + 3] = 0;
    }
    for (std::int64_t y = 0; y < size; ++y) {
      for (std::int64_t x = 0; x < size; ++x) {
        const std::int64_t owner = scene.ownerAt(y, x);
        const auto at = static_cast<std::size_t>(y * size + x);
        instances[at] = static_cast<std::uint8_t>(owner + 1);
        mask[at] = 0;
        if (owner < 0) continue;
        mask[at] = static_cast<std::uint8_t>(objects[static_cast<std::size_t>(owner)].shape + 1);
        float* box = &boxes[static_cast<std::size_t>(4 * owner)];
        box[0] = std::min(box[0], static_cast<float>(x));
        box[1] = std::min(box[1], static_cast<float>(y));
        box[2] = std::max(box[2], static_cast<float>(x + 1));
        box[3] = std::max(box[3], static_cast<float>(y + 1));
      }
    }
    const auto classes = sample["box_classes"].resize<std::int64_t>({count});
    const auto crowds = sample["box_crowds"].resize<std::int64_t>({count});
    for (std::size_t i = 0; i < objects.size(); ++i) {
      classes[i] = objects[i].shape;
      crowds[i] = numbers.uniform() < 0.02 ? 1 : 0;
    }
    putLabel(objects[static_cast<std::size_t>(scene.largest())].shape, sample);
  }
};

class SegmentsSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    return generatedCard(
        "shape_segments", "Shapes with masks and boxes",
        "1 to 6 objects of 6 shapes before a texture: classes, instances, boxes",
        {"image", "label", "mask", "instances", "boxes", "box_classes", "box_crowds"}, 96,
        {20'000, 1'000, 2'000});
  }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size");
    DatasetInfo info = imageInfo(3, size);
    info.fields[1].doc = "shape with the most visible pixels";
    info.fields.push_back({"mask",
                           FieldKind::Mask,
                           at::kByte,
                           {size, size},
                           "class + 1 of each pixel; 0 where there is no object: to be ignored"});
    info.fields.push_back({"instances",
                           FieldKind::Mask,
                           at::kByte,
                           {size, size},
                           "number + 1 of the object in front, 0 for none"});
    info.fields.push_back(
        {"boxes", FieldKind::Boxes, at::kFloat, {-1, 4}, "of the visible pixels of each object"});
    info.fields.push_back(
        {"box_classes", FieldKind::Number, at::kLong, {-1}, "shape of each object"});
    info.fields.push_back({"box_crowds",
                           FieldKind::Number,
                           at::kLong,
                           {-1},
                           "1 for the 2 % of objects that count as a crowd"});
    for (std::int64_t c = 0; c < kClasses; ++c) info.classes.push_back(shapeName(c));
    return std::make_shared<Segments>("shape_segments/1", seedFrom(config), sizesFrom(config),
                                      std::move(info));
  }
};

/// A twentieth of the images shows nothing: their set is empty and their label arbitrary.
class MultiLabel final : public GeneratedSet {
 public:
  using GeneratedSet::GeneratedSet;

 protected:
  void draw(Numbers& numbers, Split, std::int64_t, Sample& sample) const override {
    const bool isEmpty = numbers.uniform() < 0.05;
    const Scene scene =
        isEmpty ? Scene(info().height, kMostCovered) : drawScene(numbers, info().height, 1, 3);
    putImage(canvasOf(scene, numbers), sample);
    std::vector<std::int64_t> shapes;
    for (const Object& object : scene.objects()) shapes.push_back(object.shape);
    std::sort(shapes.begin(), shapes.end());
    shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
    const auto labels = sample["labels"].resize<std::int64_t>({std::ssize(shapes)});
    std::copy(shapes.begin(), shapes.end(), labels.begin());
    const std::int64_t largest = scene.largest();
    putLabel(largest < 0 ? numbers.below(kClasses)
                         : scene.objects()[static_cast<std::size_t>(largest)].shape,
             sample);
  }
};

class MultiLabelSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    return generatedCard(
        "multi_label", "Scenes with several labels",
        "1 to 3 objects; the label is the largest, the set holds all, sometimes none",
        {"image", "label", "labels"}, 64, {20'000, 1'000, 2'000});
  }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size");
    DatasetInfo info = imageInfo(3, size);
    info.fields.push_back(
        {"labels", FieldKind::Labels, at::kLong, {-1}, "every shape in the image, ascending"});
    for (std::int64_t c = 0; c < kClasses; ++c) info.classes.push_back(shapeName(c));
    return std::make_shared<MultiLabel>("multi_label/1", seedFrom(config), sizesFrom(config),
                                        std::move(info));
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeSegments() { return std::make_unique<SegmentsSource>(); }
std::unique_ptr<DatasetSource> makeMultiLabel() { return std::make_unique<MultiLabelSource>(); }

}  // namespace vitrine::shapes
