#include "plugins/transforms/erasing.h"

#include <cmath>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "plugins/transforms/lanes.h"

namespace vitrine::transforms {

std::vector<Window> drawErasing(Size image, const EraseRules& rules,
                                const std::function<double()>& uniform) {
  std::vector<Window> boxes;
  const double pixels =
      static_cast<double>(image.height * image.width) / static_cast<double>(rules.count);
  const double lowest = std::log(rules.aspect[0]), highest = std::log(rules.aspect[1]);
  for (std::int64_t box = 0; box < rules.count; ++box) {
    for (int attempt = 0; attempt < 10; ++attempt) {
      const double area = (rules.area[0] + (rules.area[1] - rules.area[0]) * uniform()) * pixels;
      const double aspect = std::exp(lowest + (highest - lowest) * uniform());
      const double top = uniform(), left = uniform();
      Window window;
      // Ties to even.
      window.height = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * aspect)));
      window.width = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area / aspect)));
      if (window.height >= image.height || window.width >= image.width) continue;
      window.top =
          static_cast<std::int64_t>(top * static_cast<double>(image.height - window.height + 1));
      window.left =
          static_cast<std::int64_t>(left * static_cast<double>(image.width - window.width + 1));
      boxes.push_back(window);
      break;
    }
  }
  return boxes;
}

void erase(std::span<float> image, Size size, const Window& box, EraseFill fill,
           const std::function<float()>& next) {
  const std::int64_t plane = size.height * size.width;
  for (std::int64_t c = 0; c < std::ssize(image) / plane; ++c) {
    const float value = fill == EraseFill::Channel ? next() : 0;
    for (std::int64_t y = box.top; y < box.top + box.height; ++y) {
      float* row = image.data() + c * plane + y * size.width + box.left;
      for (std::int64_t x = 0; x < box.width; ++x)
        row[x] = fill == EraseFill::Pixel ? next() : value;
    }
  }
}

namespace {

class RandomErasing final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "random_erasing", "Random erasing");
    card.paper = "Zhong et al. 2020, arXiv:1708.04896";
    card.doc = "Boxes of a normalised image become noise or its mean; masks and boxes stay";
    card.needs = {"image"};
    Field fill = choiceField("fill", "pixel", {"pixel", "channel", "mean"}, "of an erased box")
                     .titled("Fill");
    fill.withChoiceDocs({"standard normal numbers, one for each pixel and channel",
                         "one standard normal number for each channel",
                         "0, the data set's mean once it is normalised"});
    const auto range = [](const char* name, const char* title, double low, double high, double most,
                          const char* doc) {
      return listField(name, FieldType::Real, Json::array({low, high}), doc)
          .titled(title)
          .range(0, most);
    };
    card.schema.fields = runOnly(
        {realField("probability", 0.25, "of changing an image").titled("Probability").range(0, 1),
         fill, integerField("count", 1, "boxes").titled("Boxes").range(1, 64),
         range("area", "Area", 0.02, 1.0 / 3, 1, "least and largest share of the image"),
         range("aspect", "Proportions", 0.3, 1 / 0.3, 100, "least and largest height / width")});
    return card;
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    if (findField(context.fields, "image")->type != at::kFloat)
      throw ConfigError("data.pipeline: random_erasing takes floats; put it behind normalize");
    (void)rulesFrom(config);
    return context.fields;
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext&) const override {
    const std::string fill = config.text("fill");
    return onSamples(
        [rules = rulesFrom(config),
         filling = fill == "pixel"     ? EraseFill::Pixel
                   : fill == "channel" ? EraseFill::Channel
                                       : EraseFill::Constant,
         probability = config.real("probability")](Sample& sample, const Draws& draws) {
          Lanes lanes(draws);
          if (!lanes.chance(probability)) return;
          SampleValue& image = sample["image"];
          const Size size{image.shape()[1], image.shape()[2]};
          for (const Window& box : drawErasing(size, rules, [&] { return lanes.uniform(); }))
            erase(image.edit<float>(), size, box, filling,
                  [&] { return static_cast<float>(lanes.normal()); });
        });
  }

 private:
  static EraseRules rulesFrom(const Config& config) {
    EraseRules rules;
    rules.count = config.integer("count");
    rules.area = rangeFrom(config, "random_erasing", "area");
    rules.aspect = rangeFrom(config, "random_erasing", "aspect");
    return rules;
  }
};

}  // namespace

std::unique_ptr<Transform> makeRandomErasing() { return std::make_unique<RandomErasing>(); }

}  // namespace vitrine::transforms
