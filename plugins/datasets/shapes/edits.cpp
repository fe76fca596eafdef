// Edits: a scene, an instruction, and the scene that follows it.
#include <algorithm>

#include "plugins/datasets/shapes/generated_set.h"
#include "plugins/datasets/shapes/scene.h"

namespace vitrine::shapes {

namespace {

enum class Edit : std::int64_t { Recolor, Add, Remove, Move };

struct Direction {
  const char* word;
  double x, y;
};
constexpr std::array<Direction, 4> kDirections = {
    {{"left", -1, 0}, {"right", 1, 0}, {"up", 0, -1}, {"down", 0, 1}}};

/// Two or three objects, no two of one shape or colour, so that an instruction names one of them.
/// What an instruction does not mention is the same in both images.
class Edits final : public GeneratedSet {
 public:
  using GeneratedSet::GeneratedSet;

 protected:
  void draw(Numbers& numbers, Split, std::int64_t, Sample& sample) const override {
    Scene before(info().height, 0);
    std::vector<std::int64_t> shapes = {0, 1, 2, 3, 4, 5}, colors = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::int64_t wanted = 2 + numbers.below(2);
    for (std::int64_t i = 0; i < wanted; ++i)
      addAnywhere(before, newObject(numbers, shapes, colors), numbers);
    const auto grey = static_cast<float>(numbers.between(0.9, 1.0));

    Scene after(info().height, 0);
    std::string instruction;
    auto edit = static_cast<Edit>(numbers.below(4));
    if (edit == Edit::Move && !move(before, numbers, after, instruction)) edit = Edit::Recolor;
    const auto chosen = static_cast<std::size_t>(numbers.below(std::ssize(before.objects())));
    if (edit != Edit::Move) {
      const Object& object = before.objects()[chosen];
      for (std::size_t i = 0; i < before.objects().size(); ++i) {
        Object copy = before.objects()[i];
        if (i == chosen && edit == Edit::Remove) continue;
        if (i == chosen && edit == Edit::Recolor) copy.color = takeFrom(colors, numbers);
        if (i == chosen && edit == Edit::Recolor)
          instruction = "make the " + shapeName(copy.shape) + " " + colorName(copy.color);
        after.add(copy);
      }
      if (edit == Edit::Remove)
        instruction = "remove the " + colorName(object.color) + " " + shapeName(object.shape);
    }
    if (edit == Edit::Add) {
      Object object = newObject(numbers, shapes, colors);
      while (!addAnywhere(after, object, numbers)) object.placement.radius *= 0.8;
      instruction = "add a " + phraseOf(object);
    }
    paint(before, grey, sample, "image");
    paint(after, grey, sample, "target");
    sample["instruction"].resizeTexts(1)[0] = instruction;
    putLabel(static_cast<std::int64_t>(edit), sample);
  }

 private:
  static std::int64_t takeFrom(std::vector<std::int64_t>& from, Numbers& numbers) {
    const auto at = from.begin() + numbers.below(std::ssize(from));
    const std::int64_t taken = *at;
    from.erase(at);
    return taken;
  }
  Object newObject(Numbers& numbers, std::vector<std::int64_t>& shapes,
                   std::vector<std::int64_t>& colors) const {
    Object object{.shape = takeFrom(shapes, numbers),
                  .color = takeFrom(colors, numbers),
                  .isLarge = numbers.below(2) == 1};
    object.placement.radius = radiusOf(object.isLarge, info().height) * 0.85;
    object.placement.angle = numbers.between(-0.3, 0.3);
    return object;
  }
  void paint(const Scene& scene, float grey, Sample& sample, std::string_view name) const {
    Canvas canvas(3, info().height, info().width);
    canvas.clear({grey, grey, grey});
    scene.paint(canvas);
    putImage(canvas, sample, name);
  }
  /// Moves the first object that has room a quarter of the image aside. \returns  whether one had
  bool move(const Scene& before, Numbers& numbers, Scene& after, std::string& instruction) const {
    const auto size = static_cast<double>(info().height);
    const auto first = static_cast<std::size_t>(numbers.below(4));
    for (std::size_t i = 0; i < before.objects().size(); ++i) {
      for (std::size_t turn = 0; turn < kDirections.size(); ++turn) {
        const Direction& direction = kDirections[(first + turn) % kDirections.size()];
        Object moved = before.objects()[i];
        moved.placement.x += direction.x * size / 4;
        moved.placement.y += direction.y * size / 4;
        const double margin = moved.placement.radius;
        const bool isInside = moved.placement.x >= margin && moved.placement.x <= size - margin &&
                              moved.placement.y >= margin && moved.placement.y <= size - margin;
        if (!isInside) continue;
        after = Scene(info().height, 0);
        bool isFree = true;
        for (std::size_t k = 0; k < before.objects().size() && isFree; ++k)
          isFree = after.add(k == i ? moved : before.objects()[k]);
        if (!isFree) continue;
        instruction = "move the " + shapeName(moved.shape) + " " + direction.word;
        return true;
      }
    }
    after = Scene(info().height, 0);
    return false;
  }
};

class EditsSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    return generatedCard("edits", "Edited scenes",
                         "A scene, an instruction, and the scene after it; nothing else changes",
                         {"image", "target", "label", "instruction"}, 64, {20'000, 1'000, 2'000});
  }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size");
    DatasetInfo info = imageInfo(3, size);
    info.fields[1].doc = "kind of change";
    info.fields.push_back(
        {"target", FieldKind::Image, at::kByte, {3, size, size}, "the scene after it"});
    info.fields.push_back({"instruction", FieldKind::Text, at::kByte, {}, "the edit to make"});
    info.classes = {"color", "add", "remove", "place"};
    return std::make_shared<Edits>("edits/1", seedFrom(config), sizesFrom(config), std::move(info));
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeEdits() { return std::make_unique<EditsSource>(); }

}  // namespace vitrine::shapes
