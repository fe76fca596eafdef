// flip: left to right.
#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

namespace {

/// Draws from the stream `augment`, lane 0; the random crop draws from lanes 1 and 2.
class Flip final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "flip", "Flip",
                             "Mirrors an image left to right, with its masks and boxes");
    card.needs = {"image"};
    card.schema.fields = runOnly(
        {realField("probability", 0.5, "of mirroring a sample").titled("Probability").range(0, 1)});
    return card;
  }
  std::string stream() const override { return "augment"; }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    return onSamples(
        [spatial = SpatialFields(context.fields), probability = config.real("probability")](
            Sample& sample, const Draws& draws) mutable {
          if (draws.uniform(0) < probability) spatial.mirror(sample);
        });
  }
};

}  // namespace

std::unique_ptr<Transform> makeFlip() { return std::make_unique<Flip>(); }

}  // namespace vitrine::transforms
