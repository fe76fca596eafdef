#include "plugins/transforms/scene_crops.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "plugins/transforms/image_fields.h"
#include "plugins/transforms/lanes.h"

namespace vitrine::transforms {

JitterPlan planJitter(Size image, std::int64_t target, double ratio, double top, double left) {
  const auto square =
      static_cast<double>(static_cast<std::int64_t>(static_cast<double>(target) * ratio));
  const double factor =
      std::max(1.0, square) / static_cast<double>(std::max(image.height, image.width));
  const auto scaled = [&](std::int64_t side) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(static_cast<double>(side) * factor + 0.5));
  };
  JitterPlan plan{.scaled = {scaled(image.height), scaled(image.width)}};
  plan.crop = {std::min(plan.scaled.height, target), std::min(plan.scaled.width, target)};
  plan.top = static_cast<std::int64_t>(
      top * static_cast<double>(plan.scaled.height - plan.crop.height + 1));
  plan.left = static_cast<std::int64_t>(
      left * static_cast<double>(plan.scaled.width - plan.crop.width + 1));
  return plan;
}

namespace {

/// Where the values of one output line come from, weights in 2048ths.
struct Taps {
  std::vector<std::int64_t> first, second;
  std::vector<std::int64_t> weight;  ///< of the second
};

/// \param offset, count  of the part of the scaled line that is wanted
Taps tapsOf(std::int64_t from, std::int64_t scaled, std::int64_t offset, std::int64_t count,
            bool isNearest) {
  Taps taps;
  const double step = static_cast<double>(from) / static_cast<double>(scaled);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(offset + i);
    if (isNearest) {
      const auto place = std::min(from - 1, static_cast<std::int64_t>(std::floor(at * step)));
      taps.first.push_back(place);
      taps.second.push_back(place);
      taps.weight.push_back(0);
      continue;
    }
    const double place = (at + 0.5) * step - 0.5;
    const auto whole = static_cast<std::int64_t>(std::floor(place));
    const double part = whole < 0 || whole >= from - 1 ? 0 : place - static_cast<double>(whole);
    taps.first.push_back(std::clamp<std::int64_t>(whole, 0, from - 1));
    taps.second.push_back(std::clamp<std::int64_t>(whole + 1, 0, from - 1));
    taps.weight.push_back(std::lround(part * 2048));
  }
  return taps;
}

}  // namespace

void jitterPlanes(const BytePlanes& from, const JitterPlan& plan, std::int64_t target, bool isMask,
                  std::uint8_t padding, std::uint8_t* to) {
  const Taps rows = tapsOf(from.height, plan.scaled.height, plan.top, plan.crop.height, isMask);
  const Taps columns = tapsOf(from.width, plan.scaled.width, plan.left, plan.crop.width, isMask);
  std::fill_n(to, from.count * target * target, padding);
  for (std::int64_t plane = 0; plane < from.count; ++plane) {
    const std::uint8_t* image = from.values + plane * from.height * from.width;
    std::uint8_t* out = to + plane * target * target;
    for (std::size_t y = 0; y < rows.first.size(); ++y, out += target) {
      const std::uint8_t* upper = image + rows.first[y] * from.width;
      const std::uint8_t* lower = image + rows.second[y] * from.width;
      for (std::size_t x = 0; x < columns.first.size(); ++x) {
        const std::int64_t right = columns.weight[x], left = 2048 - right;
        const std::int64_t a = left * upper[columns.first[x]] + right * upper[columns.second[x]];
        const std::int64_t b = left * lower[columns.first[x]] + right * lower[columns.second[x]];
        const std::int64_t sum = (2048 - rows.weight[y]) * a + rows.weight[y] * b;
        out[x] = static_cast<std::uint8_t>((sum + (1 << 21)) >> 22);
      }
    }
  }
}

bool jitterBox(Size image, const JitterPlan& plan, float* box) {
  const auto place = [&](std::size_t i) {
    const bool isColumn = i % 2 == 0;
    const auto from = static_cast<float>(isColumn ? image.width : image.height);
    const auto scaled = static_cast<float>(isColumn ? plan.scaled.width : plan.scaled.height);
    const auto offset = static_cast<float>(isColumn ? plan.left : plan.top);
    return std::clamp(box[i] * (scaled / from), 0.0F, scaled) - offset;
  };
  const std::array<float, 4> moved = {place(0), place(1), place(2), place(3)};
  const auto width = static_cast<float>(plan.crop.width);
  const auto height = static_cast<float>(plan.crop.height);
  for (std::size_t i = 0; i < 4; ++i)
    box[i] = std::clamp(moved[i], 0.0F, i % 2 == 0 ? width : height);
  return moved[0] < width && moved[1] < height && moved[2] > 0 && moved[3] > 0;
}

void boxAround(Size size, const std::function<bool(std::int64_t, std::int64_t)>& isInside,
               float* box) {
  std::int64_t top = size.height, left = size.width, bottom = 0, right = 0;
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      if (!isInside(y, x)) continue;
      top = std::min(top, y);
      left = std::min(left, x);
      bottom = y + 1;
      right = std::max(right, x + 1);
    }
  }
  const bool isEmpty = bottom == 0;
  const std::array<std::int64_t, 4> sides = {left, top, right, bottom};
  for (std::size_t i = 0; i < 4; ++i) box[i] = isEmpty ? 0 : static_cast<float>(sides[i]);
}

bool isKeptBox(bool isInside, const float* box) noexcept {
  return isInside && box[2] - box[0] > 0.01F && box[3] - box[1] > 0.01F;
}

double largestShare(std::span<const std::uint8_t> labels, Size image, const Window& window,
                    std::uint8_t ignored, int& classes) {
  std::array<std::int64_t, 256> counts{};
  const std::int64_t bottom = std::min(image.height, window.top + window.height);
  const std::int64_t right = std::min(image.width, window.left + window.width);
  for (std::int64_t y = window.top; y < bottom; ++y) {
    for (std::int64_t x = window.left; x < right; ++x)
      ++counts[labels[static_cast<std::size_t>(y * image.width + x)]];
  }
  counts[ignored] = 0;
  std::int64_t all = 0, most = 0;
  classes = 0;
  for (const std::int64_t count : counts) {
    all += count;
    most = std::max(most, count);
    classes += count > 0;
  }
  return all == 0 ? -1 : static_cast<double>(most) / static_cast<double>(all);
}

int chooseWindow(std::span<const std::uint8_t> labels, Size image, const ClassShareRules& rules,
                 const std::function<Window(int)>& windowOf) {
  constexpr int kAttempts = 10;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    int classes = 0;
    const double share = largestShare(labels, image, windowOf(attempt), rules.ignored, classes);
    if (classes > 1 && share < rules.mostShare) return attempt;
  }
  return kAttempts;
}

namespace {

/// Masks that tell the objects of boxes apart: one a plane, or numbers + 1 in one plane.
struct ObjectMasks {
  std::string field;
  bool isByNumber = false;
};

ObjectMasks objectMasks(const std::vector<SampleField>& fields) {
  for (const SampleField& field : fields) {
    if (field.kind == FieldKind::Mask && field.shape.size() == 3) return {field.name, false};
  }
  const SampleField* instances = findField(fields, "instances");
  if (instances != nullptr && instances->kind == FieldKind::Mask) return {"instances", true};
  return {};
}

class LargeScaleJitter final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "large_scale_jitter", "Large-scale jitter");
    card.paper = "Ghiasi et al. 2021, arXiv:2012.07177";
    card.doc = "Scales far up or down, cuts, pads to a square; boxes follow their masks";
    card.needs = {"image"};
    card.schema.fields = runOnly(
        {integerField("size", nullptr, "sides of the result; none: the model's image size")
             .titled("Size")
             .range(1, 8192)
             .withUnit("px")
             .orNone(),
         realField("least", 0.1, "smallest scale; 1 fits the image into the square")
             .titled("Least scale")
             .moreThan(0)
             .range(0, 10),
         realField("most", 2.0, "largest scale").titled("Largest scale").range(0, 10),
         integerField("padding", 114, "pixels right of and below a small image; masks get 0")
             .titled("Padding value")
             .range(0, 255)});
    return card;
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    const std::int64_t size = sideOf(config, context);
    (void)byteImages(context.fields, "large_scale_jitter");
    if (config.real("least") > config.real("most"))
      throw ConfigError("data.pipeline: large_scale_jitter: least must not be above most");
    return SpatialFields::resized(context.fields, {size, size});
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    return std::make_unique<Work>(context, config, sideOf(config, context));
  }

 private:
  static std::int64_t sideOf(const Config& config, const TransformContext& context) {
    if (const auto size = config.maybeInteger("size")) return *size;
    if (context.imageSize[0] > 0 && context.imageSize[0] == context.imageSize[1])
      return context.imageSize[0];
    throw ConfigError(
        "data.pipeline: transform 'large_scale_jitter' needs a size, for the model takes no square "
        "images of one size");
  }

  class Work final : public SampleTransform {
   public:
    Work(const TransformContext& context, const Config& config, std::int64_t side)
        : spatial_(context.fields),
          masks_(objectMasks(context.fields)),
          side_(side),
          least_(config.real("least")),
          most_(config.real("most")),
          padding_(static_cast<std::uint8_t>(config.integer("padding"))) {}

    void apply(Sample& sample, const Draws& draws) override {
      Lanes lanes(draws);
      const Size image = spatial_.sizeOf(sample);
      const double ratio = lanes.between(least_, most_), top = lanes.uniform();
      const JitterPlan plan = planJitter(image, side_, ratio, top, lanes.uniform());
      std::vector<bool> inside;
      spatial_.redraw(
          sample, {side_, side_},
          [&](const BytePlanes& from, bool isMask, std::uint8_t* to) {
            jitterPlanes(from, plan, side_, isMask, isMask ? 0 : padding_, to);
          },
          [&](float* box) { inside.push_back(jitterBox(image, plan, box)); });
      std::size_t next = 0;
      for (const std::string& name : spatial_.boxes()) finish(sample, name, inside, next);
    }

   private:
    /// Boxes around the rest of the masks; those that are not kept become empty.
    void finish(Sample& sample, const std::string& name, const std::vector<bool>& inside,
                std::size_t& next) const {
      const std::span<float> boxes = sample[name].edit<float>();
      for (std::size_t i = 0; 4 * i + 4 <= boxes.size(); ++i, ++next) {
        float* box = &boxes[4 * i];
        if (!masks_.field.empty()) aroundMask(sample, i, box);
        if (!isKeptBox(inside[next], box)) std::fill_n(box, 4, 0.0F);
      }
    }
    void aroundMask(const Sample& sample, std::size_t object, float* box) const {
      const SampleValue& value = sample.at(masks_.field);
      const auto masks = value.get<std::uint8_t>();
      const auto plane = static_cast<std::size_t>(side_ * side_);
      if (!masks_.isByNumber && (object + 1) * plane > masks.size()) return;
      boxAround(
          {side_, side_},
          [&](std::int64_t y, std::int64_t x) {
            const auto at = static_cast<std::size_t>(y * side_ + x);
            return masks_.isByNumber ? masks[at] == object + 1 : masks[object * plane + at] != 0;
          },
          box);
    }

    SpatialFields spatial_;
    ObjectMasks masks_;
    std::int64_t side_;
    double least_, most_;
    std::uint8_t padding_;
  };
};

class SegmentCrop final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card =
        itemCard(ItemKind::Transform, "segment_crop", "Crop with several classes",
                 "A random window in whose mask no class has more than a share; black outside");
    card.needs = {"image", "mask"};
    card.schema.fields = runOnly(
        {imageSizeField("of the window; none: the model's image size"),
         realField("most_share", 0.75, "of one class; the eleventh window is taken whatever it has")
             .titled("Largest share")
             .moreThan(0)
             .range(0, 1),
         integerField("ignored", 0, "class of the mask that does not count")
             .titled("Ignored class")
             .range(0, 255)});
    return card;
  }

  std::vector<SampleField> fields(const Config& config,
                                  const TransformContext& context) const override {
    return SpatialFields::resized(context.fields, sizeFrom(config, context, "segment_crop"));
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    return onSamples(
        [spatial = SpatialFields(context.fields), size = sizeFrom(config, context, "segment_crop"),
         rules = ClassShareRules{config.real("most_share"),
                                 static_cast<std::uint8_t>(config.integer("ignored"))}](
            Sample& sample, const Draws& draws) mutable {
          const Size image = spatial.sizeOf(sample);
          const auto windowOf = [&](int attempt) {
            const auto lane = static_cast<std::uint32_t>(2 * attempt);
            const auto place = [&](std::int64_t spare, std::uint32_t at) {
              return spare > 0 ? draws.below(spare + 1, at) : 0;
            };
            return Window{place(image.height - size.height, lane),
                          place(image.width - size.width, lane + 1), size.height, size.width};
          };
          const auto labels = sample.at("mask").get<std::uint8_t>();
          spatial.crop(sample, windowOf(chooseWindow(labels, image, rules, windowOf)));
        });
  }
};

}  // namespace

std::unique_ptr<Transform> makeLargeScaleJitter() { return std::make_unique<LargeScaleJitter>(); }
std::unique_ptr<Transform> makeSegmentCrop() { return std::make_unique<SegmentCrop>(); }

}  // namespace vitrine::transforms
