// mixup (Zhang et al. 2018), cutmix (Yun et al. 2019) and one of both at random.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "plugins/transforms/lanes.h"
#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

CutBox cutBox(Size image, double lambda, std::int64_t y, std::int64_t x, OddSide odd) {
  const double share = std::sqrt(1 - lambda);
  const auto sides = [&](std::int64_t size, std::int64_t centre) {
    const auto cut = static_cast<std::int64_t>(static_cast<double>(size) * share);
    const std::int64_t end = centre + (odd == OddSide::Keep ? cut - cut / 2 : cut / 2);
    return std::pair{std::clamp<std::int64_t>(centre - cut / 2, 0, size),
                     std::clamp<std::int64_t>(end, 0, size)};
  };
  const auto [top, bottom] = sides(image.height, y);
  const auto [left, right] = sides(image.width, x);
  return {top, bottom, left, right};
}

namespace {

/// own = share * own + (1 - share) * partner, and the partner likewise.
void blend(float* own, float* partner, std::size_t count, float share) {
  for (std::size_t i = 0; i < count; ++i) {
    const float a = own[i], b = partner[i];
    own[i] = share * a + (1 - share) * b;
    partner[i] = share * b + (1 - share) * a;
  }
}

void swapBox(float* own, float* partner, const at::Tensor& images, const CutBox& box) {
  const std::int64_t channels = images.size(1), height = images.size(2), width = images.size(3);
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t y = box.top; y < box.bottom; ++y) {
      const std::int64_t row = (c * height + y) * width;
      std::swap_ranges(own + row + box.left, own + row + box.right, partner + row + box.left);
    }
  }
}

at::Tensor softLabels(const at::Tensor& labels, std::int64_t classes, double lambda) {
  const std::int64_t batch = labels.size(0);
  at::Tensor soft = at::empty({batch, classes}, at::kFloat);
  float* row = soft.mutable_data_ptr<float>();
  std::fill_n(row, batch * classes, 0.0F);
  const std::int64_t* label = labels.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < batch; ++i) {
    if (label[i] >= 0 && label[i] < classes) continue;
    throw ConfigError("data.pipeline: labels are mixed of 0 to " + std::to_string(classes - 1) +
                      ", and a sample has " + std::to_string(label[i]));
  }
  for (std::int64_t i = 0; i < batch; ++i, row += classes) {
    row[label[i]] += static_cast<float>(lambda);
    row[label[batch - 1 - i]] += static_cast<float>(1 - lambda);
  }
  return soft;
}

}  // namespace

void mixBatch(Batch& batch, std::int64_t classes, double lambda, const std::optional<CutBox>& box) {
  at::Tensor& images = batch.fields.at("image");
  const std::int64_t size = images.size(0);
  if (box) {
    const auto cut = static_cast<double>((box->bottom - box->top) * (box->right - box->left));
    lambda = 1 - cut / static_cast<double>(images.size(2) * images.size(3));
  }
  const auto values = static_cast<std::size_t>(size > 0 ? images.numel() / size : 0);
  float* pixels = images.mutable_data_ptr<float>();
  // The one in the middle of an odd batch is its own partner.
  for (std::int64_t i = 0; i < size / 2; ++i) {
    float* own = pixels + static_cast<std::size_t>(i) * values;
    float* partner = pixels + static_cast<std::size_t>(size - 1 - i) * values;
    if (box) {
      swapBox(own, partner, images, *box);
    } else {
      blend(own, partner, values, static_cast<float>(lambda));
    }
  }
  batch.fields["soft_label"] = softLabels(batch.fields.at("label"), classes, lambda);
}

namespace {

/// Marsaglia and Tsang 2000, "A simple method for generating gamma variables".
double gammaOf(Lanes& lanes, double shape) {
  if (shape < 1) {
    const double u = 1 - lanes.uniform();  // in (0, 1]
    return gammaOf(lanes, shape + 1) * std::pow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = lanes.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - lanes.uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

/// Beta(alpha, alpha), as the share of one of two gamma variates.
double betaOf(Lanes& lanes, double alpha) {
  const double a = gammaOf(lanes, alpha), b = gammaOf(lanes, alpha);
  return a + b > 0 ? a / (a + b) : 0.5;
}

struct MixSettings {
  double mixup = 0, cutmix = 0;  ///< alpha of each; 0: never
  double probability = 1, cutmixShare = 0.5;
  OddSide odd = OddSide::Keep;
};

enum class MixKind { Mixup, Cutmix, Either };

class Mix final : public Transform {
 public:
  explicit Mix(MixKind kind) : kind_(kind) {}

  ItemCard card() const override {
    ItemCard card{.kind = ItemKind::Transform,
                  .offers = {"soft_label", "batch"},
                  .needs = {"image", "label"}};
    const auto alpha = [](const char* name, double value, const char* title) {
      return realField(name, value, "share ~ Beta(alpha, alpha), one for the batch")
          .titled(title)
          .range(0, 100)
          .runOnly();
    };
    if (kind_ == MixKind::Mixup) {
      card.id = "mixup";
      card.title = "Mixup";
      card.paper = "Zhang et al. 2018, arXiv:1710.09412";
      card.doc = "Blends each image and label with those of the batch in reverse order";
      card.schema.fields = {alpha("alpha", 0.8, "Alpha")};
    } else if (kind_ == MixKind::Cutmix) {
      card.id = "cutmix";
      card.title = "CutMix";
      card.paper = "Yun et al. 2019, arXiv:1905.04899";
      card.doc = "Pastes a box of the images of the batch in reverse order";
      card.schema.fields = {alpha("alpha", 1.0, "Alpha")};
    } else {
      card.id = "mixup_or_cutmix";
      card.title = "Mixup or CutMix";
      card.doc = "One of mixup and cutmix for each batch";
      card.schema.fields = {alpha("mixup_alpha", 0.8, "Mixup alpha"),
                            alpha("cutmix_alpha", 1.0, "CutMix alpha"),
                            realField("cutmix_probability", 0.5, "of cutmix instead of mixup")
                                .titled("CutMix probability")
                                .range(0, 1)
                                .runOnly()};
    }
    card.schema.fields.push_back(realField("probability", 1.0, "of changing a batch")
                                     .titled("Probability")
                                     .range(0, 1)
                                     .runOnly());
    if (kind_ != MixKind::Mixup) {
      Field odd = choiceField("odd_side", "keep", {"keep", "cut"}, "a box with an odd side")
                      .titled("Odd sides");
      odd.withChoiceDocs({"keeps it", "loses its last pixel, as timm up to 0.5 did"});
      card.schema.fields.push_back(odd.runOnly());
    }
    return card;
  }

  std::vector<SampleField> fields(const Config&, const TransformContext& context) const override {
    const SampleField& image = *findField(context.fields, "image");
    if (image.type != at::kFloat || image.isRagged()) {
      throw ConfigError("data.pipeline: " + card().id +
                        " takes images of one size as floats; put it behind resize and normalize");
    }
    if (findField(context.fields, "soft_label") != nullptr) {
      throw ConfigError("data.pipeline: " + card().id +
                        " would replace the labels of the transform that mixes before it; keep "
                        "one of them, or use mixup_or_cutmix");
    }
    const auto classes = std::ssize(context.dataset->classes);
    if (classes < 1)
      throw ConfigError("data.pipeline: " + card().id + " needs a data set with class names");
    std::vector<SampleField> fields = context.fields;
    fields.push_back(
        {"soft_label", FieldKind::SoftLabel, at::kFloat, {classes}, "share of each class"});
    return fields;
  }

  std::unique_ptr<BatchTransform> forBatches(const Config& config,
                                             const TransformContext& context) const override {
    MixSettings settings{.probability = config.real("probability")};
    if (kind_ == MixKind::Mixup) settings.mixup = config.real("alpha");
    if (kind_ == MixKind::Cutmix) settings.cutmix = config.real("alpha");
    if (kind_ == MixKind::Either) {
      settings.mixup = config.real("mixup_alpha");
      settings.cutmix = config.real("cutmix_alpha");
      settings.cutmixShare = config.real("cutmix_probability");
    }
    if (kind_ != MixKind::Mixup && config.text("odd_side") == "cut") settings.odd = OddSide::Cut;
    return onBatches([settings, classes = std::ssize(context.dataset->classes)](
                         Batch& batch, const Draws& draws) {
      Lanes lanes(draws);
      const at::Tensor& images = batch.at("image");
      const bool isMixed = lanes.chance(settings.probability);
      const bool isCut =
          settings.cutmix > 0 && (settings.mixup <= 0 || lanes.chance(settings.cutmixShare));
      const double alpha = isCut ? settings.cutmix : settings.mixup;
      const double lambda = isMixed && alpha > 0 ? betaOf(lanes, alpha) : 1;
      std::optional<CutBox> box;
      if (isCut && isMixed) {
        const Size size{images.size(2), images.size(3)};
        const std::int64_t y = lanes.below(size.height), x = lanes.below(size.width);
        box = cutBox(size, lambda, y, x, settings.odd);
      }
      mixBatch(batch, classes, lambda, box);
    });
  }

 private:
  MixKind kind_;
};

}  // namespace

std::unique_ptr<Transform> makeMixup() { return std::make_unique<Mix>(MixKind::Mixup); }
std::unique_ptr<Transform> makeCutmix() { return std::make_unique<Mix>(MixKind::Cutmix); }
std::unique_ptr<Transform> makeMixupOrCutmix() { return std::make_unique<Mix>(MixKind::Either); }

}  // namespace vitrine::transforms
