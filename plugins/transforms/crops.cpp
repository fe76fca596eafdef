// center_crop, random_crop and random_resized_crop.
#include <algorithm>
#include <cmath>

#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

Window centred(Size image, Size size) noexcept {
  const auto offset = [](std::int64_t side, std::int64_t wanted) {
    const std::int64_t spare = side - wanted;
    // Half to even where the image is larger; where it is smaller, the odd line lies behind.
    return spare < 0 ? -(-spare / 2)
                     : static_cast<std::int64_t>(std::nearbyint(static_cast<double>(spare) / 2));
  };
  return {offset(image.height, size.height), offset(image.width, size.width), size.height,
          size.width};
}

Window centredProportions(Size image, Size size, double share) noexcept {
  const double scale =
      std::min(static_cast<double>(image.width) / static_cast<double>(size.width),
               static_cast<double>(image.height) / static_cast<double>(size.height)) *
      share;
  const auto side = [scale](std::int64_t wanted, std::int64_t there) {
    return std::clamp<std::int64_t>(std::llround(scale * static_cast<double>(wanted)), 1, there);
  };
  const std::int64_t height = side(size.height, image.height),
                     width = side(size.width, image.width);
  return {(image.height - height) / 2, (image.width - width) / 2, height, width};
}

Window drawCrop(Size image, const CropRanges& ranges,
                const std::function<double(std::uint32_t)>& uniform) {
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  const double lowest = std::log(ranges.aspect[0]), highest = std::log(ranges.aspect[1]);
  for (std::uint32_t attempt = 0; attempt < 10; ++attempt) {
    const std::uint32_t draw = 4 * attempt;
    const double area =
        (ranges.area[0] + (ranges.area[1] - ranges.area[0]) * uniform(draw)) * height * width;
    const double aspect = std::exp(lowest + (highest - lowest) * uniform(draw + 1));
    Window window;
    // Ties to even.
    window.width = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * aspect)));
    window.height = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area / aspect)));
    if (window.width < 1 || window.height < 1 || window.width > image.width ||
        window.height > image.height) {
      continue;
    }
    const auto place = [&](std::int64_t spare, std::uint32_t lane) {
      return static_cast<std::int64_t>(uniform(lane) * static_cast<double>(spare + 1));
    };
    window.top = place(image.height - window.height, draw + 2);
    window.left = place(image.width - window.width, draw + 3);
    return window;
  }
  Window window{0, 0, image.height, image.width};
  const auto side = [](double pixels) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::nearbyint(pixels)));
  };
  if (width / height < ranges.aspect[0]) window.height = side(width / ranges.aspect[0]);
  if (width / height > ranges.aspect[1]) window.width = side(height * ranges.aspect[1]);
  window.top = (image.height - window.height) / 2;
  window.left = (image.width - window.width) / 2;
  return window;
}

namespace {

class CenterCrop final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "center_crop", "Centre crop",
                             "The middle of an image, with its masks and boxes");
    card.needs = {"image"};
    Field by =
        choiceField("by", "pixels", {"pixels", "proportions"}, "meaning of `size`").titled("By");
    by.withChoiceDocs({"height and width of the window; outside the image it is black",
                       "the largest window with these proportions"});
    card.schema.fields =
        runOnly({imageSizeField("of the window; none: the model's image size"), by,
                 realField("share", 1.0, "share of its sides that the largest window keeps")
                     .titled("Share")
                     .moreThan(0)
                     .range(0, 1)});
    return card;
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    Size size = sizeFrom(config, context, "center_crop");
    if (config.text("by") == "proportions") {
      const SampleField& image = *findField(context.fields, "image");
      if (image.shape[1] < 1 || image.shape[2] < 1) {
        size = {-1, -1};
      } else {
        const Window window =
            centredProportions({image.shape[1], image.shape[2]}, size, config.real("share"));
        size = {window.height, window.width};
      }
    }
    return SpatialFields::resized(context.fields, size);
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    return onSamples([spatial = SpatialFields(context.fields),
                      size = sizeFrom(config, context, "center_crop"),
                      isByPixels = config.text("by") == "pixels",
                      share = config.real("share")](Sample& sample, const Draws&) mutable {
      const Size image = spatial.sizeOf(sample);
      spatial.crop(sample,
                   isByPixels ? centred(image, size) : centredProportions(image, size, share));
    });
  }
};

/// Draws from the stream `augment`: top in lane 1, left in lane 2; lane 0 is the flip's.
class RandomCrop final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card =
        itemCard(ItemKind::Transform, "random_crop", "Random crop",
                 "A window anywhere in the image with a black border, with its masks and boxes");
    card.needs = {"image"};
    card.schema.fields = {integerField("padding", 4, "width of the border on each side")
                              .titled("Padding")
                              .range(0, 512)
                              .withUnit("px")
                              .runOnly(),
                          imageSizeField("of the window; none: that of the image")};
    return card;
  }
  std::string stream() const override { return "augment"; }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    if (!config.has("size")) return context.fields;
    return SpatialFields::resized(context.fields, sizeFrom(config, context, "random_crop"));
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    // Of height 0: that of the image.
    const Size asked = config.has("size") ? sizeFrom(config, context, "random_crop") : Size{};
    return onSamples([spatial = SpatialFields(context.fields), padding = config.integer("padding"),
                      asked](Sample& sample, const Draws& draws) mutable {
      const Size image = spatial.sizeOf(sample);
      const Size size = asked.height > 0 ? asked : image;
      const auto place = [&](std::int64_t side, std::int64_t wanted, std::uint32_t lane) {
        const std::int64_t places = side + 2 * padding - wanted + 1;
        return places > 1 ? draws.below(places, lane) - padding : -padding;
      };
      const std::int64_t top = place(image.height, size.height, 1);
      const std::int64_t left = place(image.width, size.width, 2);
      spatial.crop(sample, {top, left, size.height, size.width});
    });
  }
};

class RandomResizedCrop final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "random_resized_crop", "Random resized crop");
    card.paper = "Szegedy et al. 2015, arXiv:1409.4842";
    card.doc = "A window of random area and proportions, resized, with its masks and boxes";
    card.needs = {"image"};
    card.schema.fields = runOnly({imageSizeField("of the result; none: the model's image size"),
                                  listField("area", FieldType::Real, Json::array({0.08, 1.0}),
                                            "least and largest share of the image")
                                      .titled("Area")
                                      .range(0, 1),
                                  listField("aspect", FieldType::Real, Json::array({0.75, 4.0 / 3}),
                                            "least and largest width / height")
                                      .titled("Proportions")
                                      .range(0.01, 100),
                                  filterField()});
    return card;
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    return SpatialFields::resized(context.fields, sizeFrom(config, context, "random_resized_crop"));
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    return onSamples([spatial = SpatialFields(context.fields),
                      size = sizeFrom(config, context, "random_resized_crop"),
                      ranges = CropRanges{rangeFrom(config, "random_resized_crop", "area"),
                                          rangeFrom(config, "random_resized_crop", "aspect")},
                      filter = filterFrom(config)](Sample& sample, const Draws& draws) mutable {
      const Window window = drawCrop(spatial.sizeOf(sample), ranges,
                                     [&](std::uint32_t lane) { return draws.uniform(lane); });
      spatial.crop(sample, window);
      spatial.resize(sample, size, filter);
    });
  }
};

}  // namespace

std::unique_ptr<Transform> makeCenterCrop() { return std::make_unique<CenterCrop>(); }
std::unique_ptr<Transform> makeRandomCrop() { return std::make_unique<RandomCrop>(); }
std::unique_ptr<Transform> makeRandomResizedCrop() { return std::make_unique<RandomResizedCrop>(); }

}  // namespace vitrine::transforms
