#include "tests/support/golden/augment.h"

#include <ATen/ATen.h>

#include "core/data/loader.h"
#include "plugins/transforms/color_transforms.h"
#include "plugins/transforms/erasing.h"
#include "plugins/transforms/rand_augment.h"
#include "plugins/transforms/scene_crops.h"

namespace vitrine::testing {

namespace {

using namespace vitrine::transforms;  // what is tested here

Pixels pixelsOf(const at::Tensor& image) {
  return {image.mutable_data_ptr<std::uint8_t>(), image.size(0), image.size(1), image.size(2)};
}

Size sizeOf(const at::Tensor& image) { return {image.size(-2), image.size(-1)}; }

std::span<const std::uint8_t> bytesOf(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(tensor.numel())};
}

/// A copy of an input that operations may change.
at::Tensor input(const GoldenCase& golden, const std::string& name) {
  return golden.io.at("input/" + name).clone(at::MemoryFormat::Contiguous);
}

template <class Change>
at::Tensor changed(const GoldenCase& golden, const std::string& name, const Change& change) {
  at::Tensor image = input(golden, name);
  change(pixelsOf(image));
  return image;
}

Tensors threeAugment(const GoldenCase& golden) {
  Tensors pass;
  for (const auto& [name, expected] : golden.io) {
    ThreeAugmentChange change;
    std::size_t at = std::string::npos;
    if (name.starts_with("output/grayscale_")) at = 17;
    if (name.starts_with("output/solarize_")) {
      at = 16;
      change.kind = ThreeAugmentKind::Solarize;
    }
    if (name.starts_with("output/gaussian_blur_")) {
      at = 21;
      change.kind = ThreeAugmentKind::Blur;
      change.radius = std::stod(name.substr(name.rfind('_') + 1));
    }
    if (at == std::string::npos) continue;
    const std::string image = "image_" + name.substr(at, name.find('_', at) - at);
    pass[name] =
        changed(golden, image, [&](const Pixels& pixels) { applyThreeAugment(pixels, change); });
  }
  return pass;
}

ColorChange colorChange(const Json& given) {
  const std::map<std::string, ColorStep> steps = {{"brightness", ColorStep::Brightness},
                                                  {"contrast", ColorStep::Contrast},
                                                  {"saturation", ColorStep::Saturation},
                                                  {"hue", ColorStep::Hue}};
  return {steps.at(given.at(0)), given.at(1)};
}

Tensors colorJitter(const GoldenCase& golden) {
  Tensors pass;
  for (const Json& given : golden.settings().at("single")) {
    pass["output/" + given.at(0).get<std::string>() + "_" + given.at(1).dump()] = changed(
        golden, "image", [&](const Pixels& pixels) { applyColor(pixels, colorChange(given)); });
  }
  std::size_t number = 0;
  for (const Json& sequence : golden.settings().at("sequences")) {
    pass["output/sequence_" + std::to_string(number++)] =
        changed(golden, "image", [&](const Pixels& pixels) {
          for (const Json& given : sequence) applyColor(pixels, colorChange(given));
        });
  }
  return pass;
}

Tensors photometric(const GoldenCase& golden) {
  Tensors pass;
  std::size_t number = 0;
  for (const Json& row : golden.settings().at("rows")) {
    PhotometricChange change;
    change.isBrighter = row.at("brightness");
    change.isContrasted = row.at("contrast");
    change.isSaturated = row.at("saturation");
    change.isTurned = row.at("hue");
    change.isContrastFirst = row.at("contrast_first");
    change.offset = row.at("beta");
    change.contrast = row.at("alpha");
    change.saturation = row.at("saturation_factor");
    change.hue = row.at("hue_shift");
    pass["output/image_" + std::to_string(number++)] =
        changed(golden, "image", [&](const Pixels& pixels) { applyPhotometric(pixels, change); });
  }
  return pass;
}

Tensors erasing(const GoldenCase& golden) {
  Tensors pass;
  const Json& settings = golden.settings();
  std::size_t number = 0;
  for (const Json& row : settings.at("rows")) {
    EraseRules rules{
        .area = settings.at("area"), .aspect = settings.at("aspect"), .count = row.at("count")};
    std::size_t drawn = 0;
    const std::vector<Window> boxes = drawErasing(sizeOf(golden.io.at("input/image")), rules, [&] {
      const double uniform = row.at("numbers").at(drawn / 4).at(drawn % 4);
      ++drawn;
      return uniform;
    });
    const std::string mode = row.at("mode");
    const EraseFill fill = mode == "per pixel"               ? EraseFill::Pixel
                           : mode == "one value per channel" ? EraseFill::Channel
                                                             : EraseFill::Constant;
    at::Tensor image = input(golden, "image");
    for (std::size_t box = 0; box < boxes.size(); ++box) {
      const auto noise =
          golden.io.find("input/noise_" + std::to_string(number) + "_" + std::to_string(box));
      std::int64_t at = 0;
      erase({image.mutable_data_ptr<float>(), static_cast<std::size_t>(image.numel())},
            sizeOf(image), boxes[box], fill,
            [&] { return noise->second.contiguous().const_data_ptr<float>()[at++]; });
    }
    pass["output/erased_" + std::to_string(number++)] = image;
  }
  return pass;
}

Tensors repeating(const GoldenCase& golden) {
  Tensors pass;
  for (const Json& row : golden.settings().at("rows")) {
    const std::int64_t samples = row.at("samples"), replicas = row.at("replicas");
    const std::int64_t repeats = row.at("repeats"), used = row.at("per_replica");
    const std::string suffix =
        std::to_string(samples) + "_" + std::to_string(replicas) + "_" + std::to_string(repeats);
    const at::Tensor order = input(golden, "permutation_" + suffix);
    at::Tensor indices = at::empty({replicas, used}, at::kLong);
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      for (std::int64_t at = 0; at < used; ++at)
        indices[replica][at] = order[repeatedPlace(at, repeats, samples, replica, replicas)];
    }
    pass["output/indices_" + suffix] = indices;
  }
  return pass;
}

Tensors segmentCrops(const GoldenCase& golden) {
  Tensors pass;
  const Json& settings = golden.settings();
  const ClassShareRules rules{settings.at("cat_max_ratio"), settings.at("ignore_index")};
  std::size_t number = 0;
  for (const Json& row : settings.at("rows")) {
    const std::string name = "labels_" + std::to_string(number++);
    const at::Tensor labels = input(golden, name).to(at::kByte);
    const std::int64_t crop = row.at("crop");
    const auto windowOf = [&](int attempt) {
      const Json& place = row.at("offsets_top_left").at(static_cast<std::size_t>(attempt));
      return Window{place.at(0), place.at(1), crop, crop};
    };
    const Window chosen = windowOf(chooseWindow(bytesOf(labels), sizeOf(labels), rules, windowOf));
    pass["output/" + name] =
        labels.narrow(0, chosen.top, std::min(crop, labels.size(0) - chosen.top))
            .narrow(1, chosen.left, std::min(crop, labels.size(1) - chosen.left));
  }
  return pass;
}

Tensors largeScaleJitter(const GoldenCase& golden) {
  Tensors pass;
  const Json& settings = golden.settings();
  const std::int64_t target = settings.at("target");
  const at::Tensor image = input(golden, "image"), masks = input(golden, "masks");
  const Size from = sizeOf(image);
  const auto padding = settings.at("pad_value").get<std::uint8_t>();
  std::size_t number = 0;
  for (const Json& row : settings.at("rows")) {
    const std::string suffix = "_" + std::to_string(number++);
    JitterPlan plan = planJitter(from, target, row.at("ratio"), 0, 0);
    plan.top = row.at("offset_top_left").at(0);
    plan.left = row.at("offset_top_left").at(1);
    const auto planes = [&](const at::Tensor& tensor, bool isMask) {
      at::Tensor out = at::empty({tensor.size(0), target, target}, at::kByte);
      jitterPlanes({bytesOf(tensor).data(), tensor.size(0), from.height, from.width}, plan, target,
                   isMask, isMask ? 0 : padding, out.mutable_data_ptr<std::uint8_t>());
      return out;
    };
    pass["output/image" + suffix] = planes(image, false);
    const at::Tensor moved = pass["output/masks" + suffix] = planes(masks, true);
    at::Tensor clipped = input(golden, "boxes"), around = at::zeros_like(clipped);
    at::Tensor inside = at::zeros({clipped.size(0)}, at::kByte), keep = at::zeros_like(inside);
    for (std::int64_t i = 0; i < clipped.size(0); ++i) {
      const bool isInside = jitterBox(from, plan, clipped.mutable_data_ptr<float>() + 4 * i);
      float* box = around.mutable_data_ptr<float>() + 4 * i;
      const at::Tensor mask = moved[i];
      boxAround(
          {target, target},
          [&](std::int64_t y, std::int64_t x) {
            return mask.const_data_ptr<std::uint8_t>()[y * target + x] != 0;
          },
          box);
      inside[i] = isInside;
      keep[i] = isKeptBox(isInside, box);
    }
    pass["output/boxes_clipped" + suffix] = clipped;
    pass["output/boxes_from_masks" + suffix] = around;
    pass["output/inside" + suffix] = inside;
    pass["output/keep" + suffix] = keep;
  }
  return pass;
}

Sample sampleOf(const at::Tensor& image) {
  Sample sample;
  sample.begin(0);
  const auto pixels =
      sample["image"].resize<std::uint8_t>(std::span<const std::int64_t>(image.sizes().data(), 3));
  const auto from = bytesOf(image);
  std::copy(from.begin(), from.end(), pixels.begin());
  return sample;
}

at::Tensor imageOf(const Sample& sample) {
  const SampleValue& value = sample.at("image");
  const auto bytes = value.get<std::uint8_t>();
  return at::tensor(at::ArrayRef<std::uint8_t>(bytes.data(), bytes.size())).view(value.shape());
}

std::vector<SampleField> imageOnly() {
  return {{"image", FieldKind::Image, at::kByte, {3, -1, -1}, ""}};
}

Tensors cropBoxes(const GoldenCase& golden) {
  Tensors pass;
  const Json& settings = golden.settings();
  const auto target = settings.at("target").get<std::vector<std::int64_t>>();
  for (std::size_t i = 0; i < settings.at("pixel_rows").size(); ++i) {
    const Json& row = settings.at("rows").at(settings.at("pixel_rows")[i].get<std::size_t>());
    CropRanges ranges{.area = row.at("area_range"), .aspect = settings.at("aspect_range")};
    const at::Tensor image = input(golden, "image_" + std::to_string(i));
    const Window window = drawCrop(sizeOf(image), ranges, [&](std::uint32_t draw) {
      return row.at("numbers").at(draw / 4).at(draw % 4).get<double>();
    });
    for (const std::string kind : {"bicubic", "bilinear", "bicubic_flip"}) {
      SpatialFields spatial(imageOnly());
      Sample sample = sampleOf(image);
      spatial.crop(sample, window);
      spatial.resize(sample, {target.at(0), target.at(1)},
                     kind == "bilinear" ? ResampleFilter::Bilinear : ResampleFilter::Bicubic);
      if (kind == "bicubic_flip") spatial.mirror(sample);
      pass["output/" + kind + "_" + std::to_string(i)] = imageOf(sample);
    }
  }
  return pass;
}

AugmentOperation operationOf(const std::string& name) {
  const std::map<std::string, AugmentOperation> operations = {
      {"AutoContrast", AugmentOperation::AutoContrast},
      {"Equalize", AugmentOperation::Equalize},
      {"Invert", AugmentOperation::Invert},
      {"Rotate", AugmentOperation::Rotate},
      {"PosterizeIncreasing", AugmentOperation::Posterize},
      {"SolarizeIncreasing", AugmentOperation::Solarize},
      {"SolarizeAdd", AugmentOperation::SolarizeAdd},
      {"ColorIncreasing", AugmentOperation::Color},
      {"ContrastIncreasing", AugmentOperation::Contrast},
      {"BrightnessIncreasing", AugmentOperation::Brightness},
      {"SharpnessIncreasing", AugmentOperation::Sharpness},
      {"ShearX", AugmentOperation::ShearX},
      {"ShearY", AugmentOperation::ShearY},
      {"TranslateXRel", AugmentOperation::TranslateX},
      {"TranslateYRel", AugmentOperation::TranslateY}};
  const auto found = operations.find(name);
  if (found == operations.end()) throw Unmapped("the operation '" + name + "' has no counterpart");
  return found->second;
}

Tensors randAugment(const GoldenCase& golden) {
  Tensors pass;
  const Json& settings = golden.settings();
  const WarpFilter filter =
      settings.at("interpolation") == "bilinear" ? WarpFilter::Bilinear : WarpFilter::Bicubic;
  for (const auto& [name, given] : settings.at("arguments").items()) {
    // "Rotate/level_9.0/plus"
    const std::size_t slash = name.find('/');
    const AugmentOperation operation = operationOf(name.substr(0, slash));
    const double level = std::stod(name.substr(slash + 7));
    const auto argument = augmentArgument(operation, level, name.ends_with("/minus"));
    const bool isSame = argument.has_value() != given.empty() &&
                        (given.empty() || std::abs(*argument - given.at(0).get<double>()) < 1e-9);
    if (!isSame) throw std::runtime_error(name + ": the level means another argument than ours");
    Augmenter augmenter(imageOnly(), filter, settings.at("fill"));
    Sample sample = sampleOf(input(golden, "image"));
    augmenter.apply(sample, {operation, argument.value_or(0)});
    pass["output/" + name] = imageOf(sample);
  }
  return pass;
}

/// The reference smooths its one-hot labels; a loss does that to the mixed ones.
void addMixed(const GoldenCase& golden, const std::string& name, double lambda,
              const std::optional<CutBox>& box, Tensors& pass) {
  const double smoothing = golden.settings().at("smoothing");
  const std::int64_t classes = golden.settings().at("classes");
  Batch batch;
  batch.fields["image"] = input(golden, "images");
  batch.fields["label"] = input(golden, "labels");
  mixBatch(batch, classes, lambda, box);
  pass["output/" + name + "/images"] = batch.at("image");
  pass["output/" + name + "/targets"] =
      batch.at("soft_label") * (1 - smoothing) + smoothing / static_cast<double>(classes);
}

Tensors mixing(const GoldenCase& golden) {
  Tensors pass;
  for (const auto& [name, expected] : golden.io) {
    if (!name.starts_with("output/mixup_") || !name.ends_with("/images")) continue;
    const std::string own = name.substr(7, name.size() - 14);
    addMixed(golden, own, std::stod(own.substr(6)), std::nullopt, pass);
  }
  const Size size = sizeOf(golden.io.at("input/images"));
  for (const Json& row : golden.settings().at("cutmix")) {
    const bool isKept = row.at("variant") == "timm_1.0.31";
    std::string name = "cutmix_" + row.at("index").dump();
    if (isKept && golden.io.contains("output/" + name + "_odd_kept/images")) name += "_odd_kept";
    addMixed(golden, name, row.at("lam"),
             cutBox(size, row.at("lam"), row.at("cy"), row.at("cx"),
                    isKept ? OddSide::Keep : OddSide::Cut),
             pass);
  }
  return pass;
}

}  // namespace

std::vector<Tensors> runAugmentationCase(const GoldenCase& golden) {
  const auto has = [&](const std::string& prefix) {
    const auto found = golden.io.lower_bound(prefix);
    return found != golden.io.end() && found->first.starts_with(prefix);
  };
  if (isCorruptionCase(golden)) return runCorruptionCase(golden);
  if (has("output/gaussian_blur_")) return {threeAugment(golden)};
  if (has("output/sequence_") && has("output/brightness_")) return {colorJitter(golden)};
  if (has("output/erased_")) return {erasing(golden)};
  if (has("output/indices_")) return {repeating(golden)};
  if (has("output/boxes_from_masks_")) return {largeScaleJitter(golden)};
  if (has("output/cutmix_") || has("output/mixup_")) return {mixing(golden)};
  const Json& settings = golden.settings();
  if (settings.contains("cat_max_ratio")) return {segmentCrops(golden)};
  if (settings.contains("pixel_rows") && settings.contains("aspect_range"))
    return {cropBoxes(golden)};
  if (has("output/image_") && settings.value("/rows/0/beta"_json_pointer, Json()).is_number())
    return {photometric(golden)};
  if (has("output/AutoContrast/") || has("output/Equalize/")) return {randAugment(golden)};
  throw Unmapped("no augmentation here makes these tensors");
}

}  // namespace vitrine::testing
