#include "core/diffusion/patch_attention.h"

#include <ATen/ATen.h>

#include <memory>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"

namespace vitrine {

namespace {

Json placesOf(const at::Tensor& positions) {
  Json out = Json::array();
  for (std::int64_t i = 0; i < positions.size(0); ++i)
    out.push_back({positions[i][0].item<std::int64_t>(), positions[i][1].item<std::int64_t>()});
  return out;
}

}  // namespace

Field attentionField() {
  return listField(
             "attention", FieldType::Integer, Json::array(),
             "row and column of a patch, from 0: where it reads at each preview; empty: not told")
      .titled("Attention of the patch")
      .atLeast(0);
}

std::optional<std::array<std::int64_t, 2>> askedPatch(const Config& config,
                                                      const AttentionSource* source) {
  const std::vector<std::int64_t> words = config.integers("attention");
  if (words.empty()) return std::nullopt;
  if (words.size() != 2) {
    throw ConfigError("attention = [" +
                      joined(words, [](std::int64_t each) { return std::to_string(each); }) +
                      "] names no patch; give its row and its column, as [3, 2]");
  }
  if (source == nullptr) {
    throw ConfigError(
        "attention of a patch needs a model with attention probabilities, and this one has none; "
        "leave attention away");
  }
  return std::array{words[0], words[1]};
}

PatchAttention::PatchAttention(AttentionSource& source, std::array<std::int64_t, 2> patch,
                               std::int64_t images)
    : source_(source),
      patch_(patch),
      images_(images),
      layers_(static_cast<std::size_t>(source_.attentionLayers())) {
  const auto tap = std::make_shared<AttentionTap>();
  tap->kind = AttentionTap::Kind::Softmax;
  tap->receive = [this](const AttentionRecord& record) { receive(record); };
  source_.setAttentionTap(tap);
}

PatchAttention::~PatchAttention() { source_.setAttentionTap(nullptr); }

void PatchAttention::receive(const AttentionRecord& record) {
  if (query_ < 0) {
    const at::Tensor places = record.queryPositions.to(at::kCPU, at::kLong);
    const at::Tensor isAsked =
        places.select(1, 0).eq(patch_[0]).logical_and(places.select(1, 1).eq(patch_[1]));
    const at::Tensor found = isAsked.nonzero();
    if (found.numel() == 0) {
      const at::Tensor last = std::get<0>(places.max(0));
      const auto text = [](std::int64_t value) { return std::to_string(value); };
      throw ConfigError("attention = [" + text(patch_[0]) + ", " + text(patch_[1]) +
                        "] is not one of the patches; take a row from 0 to " +
                        text(last[0].item<std::int64_t>()) + " and a column from 0 to " +
                        text(last[1].item<std::int64_t>()));
    }
    query_ = found[0][0].item<std::int64_t>();
  }
  // Evaluations with and without a text have different keys.
  keys_ = record.keyPositions.to(at::kCPU, at::kLong);
  // A copy: the model may write the next layer over it.
  layers_.at(static_cast<std::size_t>(record.layer)) =
      record.weights.narrow(0, 0, images_).select(2, query_).to(at::kCPU, at::kFloat, false, true);
}

Artifact PatchAttention::ofImage(const std::string& sampler, std::int64_t image, std::uint64_t seed,
                                 double time) const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& layer : layers_) {
    if (!layer.defined() || layer.sizes() != layers_.front().sizes())
      throw Error("layers whose attention differs in heads or keys cannot be shown together");
    all.push_back(layer.select(0, image).unsqueeze(1));
  }
  const at::Tensor rows = at::stack(all).contiguous();
  Artifact artifact{sampler,
                    "attention of seed " + std::to_string(seed) + " at time " + formatReal(time, 4),
                    artifact_kind::kAttention};
  setFloat32(artifact, {rows.const_data_ptr<float>(), static_cast<std::size_t>(rows.numel())},
             rows.sizes().vec(), {"layer", "head", "query", "key"});
  artifact.meta["attention"] = "softmax";
  artifact.meta["query_positions"] = Json::array({{patch_[0], patch_[1]}});
  artifact.meta["key_positions"] = placesOf(keys_);
  artifact.meta["image"] = seed;
  artifact.meta["seed"] = seed;
  artifact.meta["time"] = time;
  return artifact;
}

}  // namespace vitrine
