#include "plugins/transforms/color_transforms.h"

#include <algorithm>

#include "plugins/transforms/image_fields.h"
#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

void applyColor(const Pixels& image, const ColorChange& change) {
  switch (change.step) {
    case ColorStep::Brightness:
      return brighten(image, change.amount);
    case ColorStep::Contrast:
      return contrast(image, change.amount);
    case ColorStep::Saturation:
      return saturate(image, change.amount);
    case ColorStep::Hue:
      return shiftHue(image, change.amount);
  }
}

std::vector<ColorChange> drawColorJitter(const ColorJitterRules& rules, Lanes& lanes) {
  std::vector<ColorChange> changes;
  const auto factor = [&](ColorStep step, double strength) {
    const double amount = lanes.between(std::max(0.0, 1 - strength), 1 + strength);
    if (strength > 0) changes.push_back({step, amount});
  };
  factor(ColorStep::Brightness, rules.brightness);
  factor(ColorStep::Contrast, rules.contrast);
  factor(ColorStep::Saturation, rules.saturation);
  const double hue = lanes.between(-rules.hue, rules.hue);
  if (rules.hue > 0) changes.push_back({ColorStep::Hue, hue});
  for (std::size_t i = changes.size(); i > 1; --i)
    std::swap(changes[i - 1],
              changes[static_cast<std::size_t>(lanes.below(static_cast<std::int64_t>(i)))]);
  return changes;
}

ThreeAugmentChange drawThreeAugment(double leastRadius, double mostRadius, Lanes& lanes) {
  return {.kind = static_cast<ThreeAugmentKind>(lanes.below(3)),
          .radius = lanes.between(leastRadius, mostRadius)};
}

void applyThreeAugment(const Pixels& image, const ThreeAugmentChange& change) {
  switch (change.kind) {
    case ThreeAugmentKind::Gray:
      return grayscale(image);
    case ThreeAugmentKind::Solarize:
      return solarize(image, 128);
    case ThreeAugmentKind::Blur:
      return blur(image, change.radius);
  }
}

PhotometricChange drawPhotometric(double brightness, double spread, int hue, Lanes& lanes) {
  PhotometricChange change;
  change.isBrighter = lanes.chance(0.5);
  change.offset = lanes.between(-brightness, brightness);
  change.isContrastFirst = lanes.chance(0.5);
  change.isContrasted = lanes.chance(0.5);
  change.contrast = lanes.between(1 - spread, 1 + spread);
  change.isSaturated = lanes.chance(0.5);
  change.saturation = lanes.between(1 - spread, 1 + spread);
  change.isTurned = lanes.chance(0.5) && hue > 0;
  change.hue = static_cast<int>(lanes.below(std::max(1, 2 * hue))) - hue;
  return change;
}

void applyPhotometric(const Pixels& image, const PhotometricChange& change) {
  if (change.isBrighter) scaleLevels(image, 1, change.offset);
  if (change.isContrasted && change.isContrastFirst) scaleLevels(image, change.contrast, 0);
  if (change.isSaturated) scaleSaturation(image, change.saturation);
  if (change.isTurned) turnHue(image, change.hue);
  if (change.isContrasted && !change.isContrastFirst) scaleLevels(image, change.contrast, 0);
}

namespace {

/// A transform that draws once for a sample and then changes each of its images.
template <class Draw, class Apply>
std::unique_ptr<SampleTransform> onImages(const TransformContext& context, const char* transform,
                                          Draw draw, Apply change) {
  return onSamples([images = byteImages(context.fields, transform), draw = std::move(draw),
                    change = std::move(change)](Sample& sample, const Draws& draws) {
    Lanes lanes(draws);
    const auto drawn = draw(lanes);
    for (const std::string& name : images) change(pixelsOf(sample[name]), drawn);
  });
}

ItemCard colorCard(const char* id, const char* title, const char* paper, const char* doc) {
  ItemCard card = itemCard(ItemKind::Transform, id, title, doc);
  card.paper = paper;
  card.needs = {"image"};
  return card;
}

Field strength(const char* name, const char* title, double value, double most, const char* doc) {
  return realField(name, value, doc).titled(title).range(0, most).runOnly();
}

class ColorJitter final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = colorCard("color_jitter", "Colour jitter", "",
                              "Brightness, contrast, saturation and hue in random order");
    constexpr const char* kFactor = "factor between 1 - n and 1 + n; 0: not changed";
    card.schema.fields = {
        strength("brightness", "Brightness", 0.4, 1, kFactor),
        strength("contrast", "Contrast", 0.4, 1, kFactor),
        strength("saturation", "Saturation", 0.4, 1, kFactor),
        strength("hue", "Hue", 0, 0.5, "turned by up to this share of the circle, either way")};
    return card;
  }
  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    const ColorJitterRules rules{config.real("brightness"), config.real("contrast"),
                                 config.real("saturation"), config.real("hue")};
    return onImages(
        context, "color_jitter", [rules](Lanes& lanes) { return drawColorJitter(rules, lanes); },
        [](const Pixels& image, const std::vector<ColorChange>& changes) {
          for (const ColorChange& change : changes) applyColor(image, change);
        });
  }
};

class ThreeAugment final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = colorCard("three_augment", "3-Augment", "Touvron et al. 2022, arXiv:2204.07118",
                              "One of three for each image: grey, solarized or blurred");
    card.schema.fields = {
        strength("least_radius", "Least blur", 0.1, 64, "standard deviation of the weakest blur")
            .withUnit("px"),
        strength("most_radius", "Strongest blur", 2, 64, "standard deviation of the strongest blur")
            .withUnit("px")};
    return card;
  }
  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    const double least = config.real("least_radius"), most = config.real("most_radius");
    if (least > most)
      throw ConfigError("data.pipeline: three_augment: least_radius must not be above most_radius");
    return onImages(
        context, "three_augment",
        [least, most](Lanes& lanes) { return drawThreeAugment(least, most, lanes); },
        applyThreeAugment);
  }
};

class Photometric final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = colorCard("photometric_distortion", "Photometric distortion",
                              "Liu et al. 2016, arXiv:1512.02325",
                              "Brightness, contrast, saturation and hue, each for half the images");
    card.schema.fields = {
        strength("brightness", "Brightness", 32, 255, "up to this is added or taken away"),
        strength("spread", "Spread", 0.5, 1, "of the factors of contrast and saturation around 1"),
        integerField("hue", 18, "turned by up to this many steps of 2 degrees")
            .titled("Hue")
            .range(0, 90)
            .runOnly()};
    return card;
  }
  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    return onImages(
        context, "photometric_distortion",
        [brightness = config.real("brightness"), spread = config.real("spread"),
         hue = static_cast<int>(config.integer("hue"))](Lanes& lanes) {
          return drawPhotometric(brightness, spread, hue, lanes);
        },
        applyPhotometric);
  }
};

}  // namespace

std::unique_ptr<Transform> makeColorJitter() { return std::make_unique<ColorJitter>(); }
std::unique_ptr<Transform> makeThreeAugment() { return std::make_unique<ThreeAugment>(); }
std::unique_ptr<Transform> makePhotometric() { return std::make_unique<Photometric>(); }

}  // namespace vitrine::transforms
