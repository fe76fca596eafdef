#include "core/plugin/transform.h"

namespace vitrine {

SampleTransform::~SampleTransform() = default;
BatchTransform::~BatchTransform() = default;
Transform::~Transform() = default;

std::vector<SampleField> Transform::fields(const Config&, const TransformContext& context) const {
  return context.fields;
}
std::unique_ptr<SampleTransform> Transform::forSamples(const Config&,
                                                       const TransformContext&) const {
  return nullptr;
}
std::unique_ptr<BatchTransform> Transform::forBatches(const Config&,
                                                      const TransformContext&) const {
  return nullptr;
}
std::string Transform::stream() const { return "augment/" + card().id; }

}  // namespace vitrine
