#include "core/model/model.h"

#include <ATen/core/Generator.h>

#include "core/config/catalog.h"

namespace vitrine {

Model::~Model() = default;
std::vector<std::vector<WeightRename>> Model::otherNames() const { return {}; }
at::Tensor Model::adapt(const std::string&, const at::Tensor&, const std::string&) const {
  return {};
}
ImageClassifier::~ImageClassifier() = default;
TokenEncoder::~TokenEncoder() = default;
AttentionSource::~AttentionSource() = default;
Scheduled::~Scheduled() = default;

std::vector<std::string> capabilitiesOf(Model& model) {
  std::vector<std::string> names;
  if (capabilityOf<ImageClassifier>(model)) names.emplace_back("image_classifier");
  if (capabilityOf<TokenEncoder>(model)) names.emplace_back("token_encoder");
  if (capabilityOf<AttentionSource>(model)) names.emplace_back("attention_source");
  if (capabilityOf<Scheduled>(model)) names.emplace_back("scheduled");
  return names;
}

}  // namespace vitrine
