// resize, and what the size transforms share.
#include <array>

#include "core/base/error.h"
#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

void registerAll(Registry& registry) {
  registry.add(makeResize());
  registry.add(makeCenterCrop());
  registry.add(makeRandomCrop());
  registry.add(makeRandomResizedCrop());
  registry.add(makeFlip());
  registry.add(makeNormalize());
  registry.add(makeMixup());
  registry.add(makeCutmix());
  registry.add(makeMixupOrCutmix());
  registry.add(makeRandAugment());
  registry.add(makeThreeAugment());
  registry.add(makeColorJitter());
  registry.add(makePhotometric());
  registry.add(makeRandomErasing());
  registry.add(makeLargeScaleJitter());
  registry.add(makeSegmentCrop());
  registry.add(makePad());
  registry.add(makePack());
  registry.add(makeLabelText());
  registry.add(makeTokenize());
  registry.add(makeCorrupt());
}

Field imageSizeField(const std::string& doc) {
  return sizeField("size", nullptr, doc)
      .titled("Size")
      .range(1, 8192)
      .withUnit("px")
      .orNone()
      .runOnly();
}

Size sizeFrom(const Config& config, const TransformContext& context, const char* transform) {
  if (config.has("size")) return {config.size("size")[0], config.size("size")[1]};
  if (context.imageSize[0] > 0) return {context.imageSize[0], context.imageSize[1]};
  throw ConfigError(std::string("data.pipeline: transform '") + transform +
                    "' needs a size, for the model takes images of any");
}

std::array<double, 2> rangeFrom(const Config& config, const char* transform, const char* field) {
  const std::vector<double> given = config.reals(field);
  if (given.size() != 2 || !(given[0] > 0) || given[0] > given[1]) {
    throw ConfigError(std::string("data.pipeline: ") + transform + ": " + field +
                      " must be a range of two numbers above 0, the smaller first");
  }
  return {given[0], given[1]};
}

Field filterField() {
  return choiceField("filter", "bilinear",
                     {"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"},
                     "neighbours that a pixel is a mean of; antialiased, as Pillow does it")
      .titled("Filter")
      .runOnly();
}

ResampleFilter filterFrom(const Config& config) {
  const std::string name = config.text("filter");
  if (name == "nearest") return ResampleFilter::Nearest;
  if (name == "box") return ResampleFilter::Box;
  if (name == "hamming") return ResampleFilter::Hamming;
  if (name == "bicubic") return ResampleFilter::Bicubic;
  return name == "lanczos" ? ResampleFilter::Lanczos : ResampleFilter::Bilinear;
}

Size withShortSide(Size from, std::int64_t side) noexcept {
  const auto longer = [side](std::int64_t shortSide, std::int64_t longSide) {
    return side * longSide / shortSide;
  };
  if (from.height <= from.width) return {side, longer(from.height, from.width)};
  return {longer(from.width, from.height), side};
}

namespace {

class Resize final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "resize", "Resize",
                             "Images, masks and boxes to another size, antialiased");
    card.needs = {"image"};
    Field mode =
        choiceField("mode", "exact", {"exact", "short_side"}, "meaning of `size`").titled("Mode");
    mode.withChoiceDocs({"height and width, whatever the proportions",
                         "the shorter side; the longer one keeps the proportions"});
    card.schema.fields = {imageSizeField("of the result; none: the model's image size"),
                          mode.runOnly(), filterField()};
    return card;
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    Size size = sizeFrom(config, context, "resize");
    if (config.text("mode") == "short_side") {
      const SampleField& image = *findField(context.fields, "image");
      const bool isKnown = image.shape[1] > 0 && image.shape[2] > 0;
      size = isKnown ? withShortSide({image.shape[1], image.shape[2]}, size.height) : Size{-1, -1};
    }
    return SpatialFields::resized(context.fields, size);
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    for (const SampleField& field : context.fields) {
      if (field.kind != FieldKind::Image || field.type == at::kByte) continue;
      throw ConfigError("data.pipeline: resize works on bytes; put it before normalize");
    }
    return onSamples([spatial = SpatialFields(context.fields),
                      size = sizeFrom(config, context, "resize"), filter = filterFrom(config),
                      isShortSide = config.text("mode") == "short_side"](Sample& sample,
                                                                         const Draws&) mutable {
      spatial.resize(
          sample, isShortSide ? withShortSide(spatial.sizeOf(sample), size.height) : size, filter);
    });
  }
};

}  // namespace

std::unique_ptr<Transform> makeResize() { return std::make_unique<Resize>(); }

}  // namespace vitrine::transforms
