// The transforms that most recipes need: sizes, crops, flips, colours, erasing,
// normalising, mixing, token batches.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "core/config/item_card.h"
#include "core/data/spatial.h"
#include "core/plugin/registry.h"
#include "core/plugin/transform.h"

namespace vitrine::transforms {

/// Adds every transform of this plugin.
void registerAll(Registry& registry);

// One transform each, as resources/docs/datasets.md lists them.
[[nodiscard]] std::unique_ptr<Transform> makeResize();
[[nodiscard]] std::unique_ptr<Transform> makeCenterCrop();
[[nodiscard]] std::unique_ptr<Transform> makeRandomCrop();
[[nodiscard]] std::unique_ptr<Transform> makeRandomResizedCrop();
[[nodiscard]] std::unique_ptr<Transform> makeFlip();
[[nodiscard]] std::unique_ptr<Transform> makeNormalize();
[[nodiscard]] std::unique_ptr<Transform> makeMixup();
[[nodiscard]] std::unique_ptr<Transform> makeCutmix();
[[nodiscard]] std::unique_ptr<Transform> makeMixupOrCutmix();
[[nodiscard]] std::unique_ptr<Transform> makeRandAugment();
[[nodiscard]] std::unique_ptr<Transform> makeThreeAugment();
[[nodiscard]] std::unique_ptr<Transform> makeColorJitter();
[[nodiscard]] std::unique_ptr<Transform> makePhotometric();
[[nodiscard]] std::unique_ptr<Transform> makeRandomErasing();
[[nodiscard]] std::unique_ptr<Transform> makeLargeScaleJitter();
[[nodiscard]] std::unique_ptr<Transform> makeSegmentCrop();
[[nodiscard]] std::unique_ptr<Transform> makePad();
[[nodiscard]] std::unique_ptr<Transform> makePack();
[[nodiscard]] std::unique_ptr<Transform> makeLabelText();
[[nodiscard]] std::unique_ptr<Transform> makeTokenize();
[[nodiscard]] std::unique_ptr<Transform> makeCorrupt();

/// The work of a transform on samples: calls `function(Sample&, const Draws&)`, whose captures are
/// its settings and scratch memory.
template <class Function>
[[nodiscard]] std::unique_ptr<SampleTransform> onSamples(Function function) {
  class Work final : public SampleTransform {
   public:
    explicit Work(Function work) : work_(std::move(work)) {}
    void apply(Sample& sample, const Draws& draws) override { work_(sample, draws); }

   private:
    Function work_;
  };
  return std::make_unique<Work>(std::move(function));
}
/// The same on batches: `function(Batch&, const Draws&)`.
template <class Function>
[[nodiscard]] std::unique_ptr<BatchTransform> onBatches(Function function) {
  class Work final : public BatchTransform {
   public:
    explicit Work(Function work) : work_(std::move(work)) {}
    void apply(Batch& batch, const Draws& draws) override { work_(batch, draws); }

   private:
    Function work_;
  };
  return std::make_unique<Work>(std::move(function));
}

using Size = SpatialFields::Size;

/// A field `size`: n or [height, width]; without it the model's image size.
[[nodiscard]] Field imageSizeField(const std::string& doc);
/// Value of that field. \throws ConfigError  it is absent and the model takes any size
[[nodiscard]] Size sizeFrom(const Config& config, const TransformContext& context,
                            const char* transform);
/// The two numbers of a field. \throws ConfigError  they are not an ascending pair above 0
[[nodiscard]] std::array<double, 2> rangeFrom(const Config& config, const char* transform,
                                              const char* field);
[[nodiscard]] Field filterField();
[[nodiscard]] ResampleFilter filterFrom(const Config& config);

/// Size of an image whose shorter side becomes `side`, the longer one rounded down.
[[nodiscard]] Size withShortSide(Size from, std::int64_t side) noexcept;
/// The centred window of `size`, offsets rounded half to even; it may reach beyond the image.
[[nodiscard]] Window centred(Size image, Size size) noexcept;
/// The largest centred window with the proportions of `size`, `share` of its sides.
[[nodiscard]] Window centredProportions(Size image, Size size, double share) noexcept;

/// Ranges of a random resized crop ("Inception crop").
struct CropRanges {
  std::array<double, 2> area{0.08, 1.0};        ///< share of the image
  std::array<double, 2> aspect{0.75, 4.0 / 3};  ///< width / height, drawn evenly in its logarithm
};
/// Ten attempts, each with four numbers in [0, 1): area, aspect, top, left. When none fits, the
/// whole image, or the largest centred window whose aspect lies in the range.
/// \param uniform  called with the number of the draw, 4 * attempt + place
[[nodiscard]] Window drawCrop(Size image, const CropRanges& ranges,
                              const std::function<double(std::uint32_t)>& uniform);

/// Part of a batch's images that is replaced by that of their partners.
struct CutBox {
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
};
enum class OddSide { Keep, Cut };  ///< of an odd side the last pixel is kept or cut off
/// Cutmix's box around a centre for the share `lambda` that stays, clipped to the image.
[[nodiscard]] CutBox cutBox(Size image, double lambda, std::int64_t y, std::int64_t x, OddSide odd);
/// Mixes each image and its one-hot label with those of the batch in reverse order.
/// \param lambda  share that stays, 0 to 1
/// \param box     given: the pixels in it are the partner's, all others stay
/// \throws ConfigError  a label is not one of the classes
void mixBatch(Batch& batch, std::int64_t classes, double lambda, const std::optional<CutBox>& box);

}  // namespace vitrine::transforms
