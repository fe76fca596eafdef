#include "plugins/transforms/rand_augment.h"

#include <algorithm>
#include <cmath>

#include "core/config/item_card.h"
#include "plugins/transforms/image_fields.h"

namespace vitrine::transforms {

const std::string& toString(AugmentOperation operation) {
  static const std::array<std::string, kAugmentOperations> names = {
      "auto_contrast", "equalize",     "invert",  "rotate",      "posterize",
      "solarize",      "solarize_add", "color",   "contrast",    "brightness",
      "sharpness",     "shear_x",      "shear_y", "translate_x", "translate_y"};
  return names[static_cast<std::size_t>(operation)];
}

std::optional<double> augmentArgument(AugmentOperation operation, double level, bool isNegative) {
  const double share = level / 10, sign = isNegative ? -1 : 1;
  switch (operation) {
    case AugmentOperation::AutoContrast:
    case AugmentOperation::Equalize:
    case AugmentOperation::Invert:
      return std::nullopt;
    case AugmentOperation::Rotate:
      return sign * share * 30;
    case AugmentOperation::Posterize:
      return 4 - std::floor(share * 4);
    case AugmentOperation::Solarize:
      return 256 - std::floor(share * 256);
    case AugmentOperation::SolarizeAdd:
      return std::min(128.0, std::floor(share * 110));
    case AugmentOperation::Color:
    case AugmentOperation::Contrast:
    case AugmentOperation::Brightness:
    case AugmentOperation::Sharpness:
      return 1 + sign * share * 0.9;
    case AugmentOperation::ShearX:
    case AugmentOperation::ShearY:
      return sign * share * 0.3;
    case AugmentOperation::TranslateX:
    case AugmentOperation::TranslateY:
      return sign * share * 0.45;
  }
  return std::nullopt;
}

std::vector<AugmentStep> drawRandAugment(const RandAugmentRules& rules, Lanes& lanes) {
  std::vector<AugmentStep> steps;
  for (std::int64_t i = 0; i < rules.operations; ++i) {
    // Every number is drawn whatever becomes of it, so that steps do not shift each other.
    const auto operation =
        static_cast<AugmentOperation>(lanes.below(static_cast<std::int64_t>(kAugmentOperations)));
    const bool isDone = lanes.chance(rules.probability);
    const double level = std::clamp(rules.level + rules.spread * lanes.normal(), 0.0, 10.0);
    const bool isNegative = lanes.chance(0.5);
    if (isDone)
      steps.push_back({operation, augmentArgument(operation, level, isNegative).value_or(0)});
  }
  return steps;
}

Augmenter::Augmenter(const std::vector<SampleField>& fields, WarpFilter filter,
                     std::vector<std::uint8_t> fill)
    : spatial_(fields),
      images_(byteImages(fields, "rand_augment")),
      filter_(filter),
      fill_(std::move(fill)) {}

void Augmenter::apply(Sample& sample, const AugmentStep& step) {
  const SpatialFields::Size size = spatial_.sizeOf(sample);
  const double argument = step.argument;
  const auto onPixels = [&](const auto& change) {
    for (const std::string& name : images_) change(pixelsOf(sample[name]));
  };
  const auto onPlaces = [&](const Affine& map) {
    warpSample(spatial_, sample, map, filter_, fill_);
  };
  switch (step.operation) {
    case AugmentOperation::AutoContrast:
      return onPixels(autoContrast);
    case AugmentOperation::Equalize:
      return onPixels(equalize);
    case AugmentOperation::Invert:
      return onPixels(invert);
    case AugmentOperation::Rotate:
      return onPlaces(rotation(size, argument));
    case AugmentOperation::Posterize:
      return onPixels([&](const Pixels& image) { posterize(image, static_cast<int>(argument)); });
    case AugmentOperation::Solarize:
      return onPixels([&](const Pixels& image) { solarize(image, static_cast<int>(argument)); });
    case AugmentOperation::SolarizeAdd:
      return onPixels([&](const Pixels& image) { solarizeAdd(image, static_cast<int>(argument)); });
    case AugmentOperation::Color:
      return onPixels([&](const Pixels& image) { saturate(image, argument); });
    case AugmentOperation::Contrast:
      return onPixels([&](const Pixels& image) { contrast(image, argument); });
    case AugmentOperation::Brightness:
      return onPixels([&](const Pixels& image) { brighten(image, argument); });
    case AugmentOperation::Sharpness:
      return onPixels([&](const Pixels& image) { sharpen(image, argument); });
    case AugmentOperation::ShearX:
      return onPlaces(shearX(argument));
    case AugmentOperation::ShearY:
      return onPlaces(shearY(argument));
    case AugmentOperation::TranslateX:
      return onPlaces(translation(argument * static_cast<double>(size.width), 0));
    case AugmentOperation::TranslateY:
      return onPlaces(translation(0, argument * static_cast<double>(size.height)));
  }
}

namespace {

class RandAugment final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "rand_augment", "RandAugment");
    card.paper = "Cubuk et al. 2020, arXiv:1909.13719";
    card.doc = "Random operations on colours and geometry, with masks and boxes";
    card.needs = {"image"};
    card.schema.fields = runOnly(
        {integerField("operations", 2, "for each image, drawn with replacement from 15")
             .titled("Operations")
             .range(1, 15),
         realField("magnitude", 9.0, "mean level of an operation").titled("Magnitude").range(0, 10),
         realField("spread", 0.5, "standard deviation of the level; levels stay within 0 and 10")
             .titled("Spread")
             .range(0, 10),
         realField("probability", 0.5, "of carrying out each operation")
             .titled("Probability")
             .range(0, 1),
         choiceField("filter", "bicubic", {"nearest", "bilinear", "bicubic"},
                     "neighbours that a moved pixel is a mean of")
             .titled("Filter"),
         listField("fill", FieldType::Integer, Json::array(),
                   "of what comes from outside, per channel; empty: the data set's mean")
             .titled("Fill")
             .range(0, 255)});
    return card;
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    const std::string filter = config.text("filter");
    return onSamples(
        [augmenter = Augmenter(context.fields,
                               filter == "bicubic"    ? WarpFilter::Bicubic
                               : filter == "bilinear" ? WarpFilter::Bilinear
                                                      : WarpFilter::Nearest,
                               fillFrom(config, context)),
         rules = RandAugmentRules{config.integer("operations"), config.real("magnitude"),
                                  config.real("spread"), config.real("probability")}](
            Sample& sample, const Draws& draws) mutable {
          Lanes lanes(draws);
          for (const AugmentStep& step : drawRandAugment(rules, lanes))
            augmenter.apply(sample, step);
        });
  }

 private:
  static std::vector<std::uint8_t> fillFrom(const Config& config, const TransformContext& context) {
    std::vector<std::uint8_t> fill;
    for (const std::int64_t value : config.integers("fill"))
      fill.push_back(static_cast<std::uint8_t>(value));
    if (!fill.empty()) return fill;
    for (const double mean : context.dataset->mean)
      fill.push_back(static_cast<std::uint8_t>(std::min(255L, std::lround(255 * mean))));
    return fill;
  }
};

}  // namespace

std::unique_ptr<Transform> makeRandAugment() { return std::make_unique<RandAugment>(); }

}  // namespace vitrine::transforms
