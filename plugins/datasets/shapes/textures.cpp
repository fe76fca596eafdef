// Textures: 16 families with continuous parameters.
#include <algorithm>
#include <numbers>

#include "plugins/datasets/shapes/generated_set.h"

namespace vitrine::shapes {

namespace {

constexpr std::int64_t kPeriods = 6, kOrientations = 8;

enum class TextureLabel { Family, Period, Orientation };

class Textures final : public GeneratedSet {
 public:
  Textures(std::uint64_t seed, std::array<std::int64_t, 3> sizes, DatasetInfo info,
           TextureLabel label)
      : GeneratedSet("textures/1", seed, sizes, std::move(info)), label_(label) {}

 protected:
  void draw(Numbers& numbers, Split, std::int64_t, Sample& sample) const override {
    const std::int64_t size = info().height;
    const double least = static_cast<double>(size) / 16, most = static_cast<double>(size) / 4;
    const Texture texture = drawTexture(numbers, numbers.below(kTextures), least, most);
    Canvas canvas(3, size, size);
    canvas.paintAll([&](std::int64_t y, std::int64_t x) { return texture.at(y, x); });
    putImage(canvas, sample);
    const auto binOf = [](double share, std::int64_t bins) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(bins)),
                                      0, bins - 1);
    };
    std::int64_t label = texture.family;
    if (label_ == TextureLabel::Period)
      label = binOf((texture.period - least) / (most - least), kPeriods);
    if (label_ == TextureLabel::Orientation)
      label = binOf(texture.angle / std::numbers::pi, kOrientations);
    putLabel(label, sample);
    const auto factors = sample["factors"].resize<float>({3});
    factors[0] = static_cast<float>(texture.family);
    factors[1] = static_cast<float>(texture.period);
    factors[2] = static_cast<float>(texture.angle);
  }

 private:
  TextureLabel label_;
};

class TexturesSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    ItemCard card = generatedCard("textures", "Textures",
                                  "16 families of textures of any period, orientation and colour",
                                  {"image", "label", "factors"}, 64, {20'000, 1'000, 2'000});
    Field label =
        choiceField("label", "family", {"family", "period", "orientation"}, "learned label")
            .titled("Label");
    label.withChoiceDocs({"16 families", "6 ranges of the period", "8 ranges of the orientation"});
    card.schema.fields.push_back(label.runOnly());
    return card;
  }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size");
    DatasetInfo info = imageInfo(3, size);
    info.fields.push_back({"factors",
                           FieldKind::Number,
                           at::kFloat,
                           {3},
                           "family, period in pixels, orientation in radians"});
    const std::string name = config.text("label");
    const TextureLabel label = name == "family"   ? TextureLabel::Family
                               : name == "period" ? TextureLabel::Period
                                                  : TextureLabel::Orientation;
    const std::int64_t classes = label == TextureLabel::Family   ? kTextures
                                 : label == TextureLabel::Period ? kPeriods
                                                                 : kOrientations;
    for (std::int64_t c = 0; c < classes; ++c)
      info.classes.push_back(label == TextureLabel::Family ? textureName(c) : std::to_string(c));
    return std::make_shared<Textures>(seedFrom(config), sizesFrom(config), std::move(info), label);
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeTextures() { return std::make_unique<TexturesSource>(); }

}  // namespace vitrine::shapes
