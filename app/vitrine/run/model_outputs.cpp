#include "app/vitrine/run/model_outputs.h"

#include <ATen/ops/cat.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "core/model/capabilities.h"

namespace vitrine::app {

namespace {

/// What comes out of one batch after the other, by name.
class Collector {
 public:
  void add(const std::string& name, const at::Tensor& value) {
    for (auto& [known, parts] : parts_) {
      if (known == name) {
        parts.push_back(copyOf(value));
        return;
      }
    }
    parts_.push_back({name, {copyOf(value)}});
  }
  [[nodiscard]] NamedTensors take() const {
    NamedTensors whole;
    for (const auto& [name, parts] : parts_)
      whole.emplace_back(name, at::cat(parts, 0).contiguous());
    return whole;
  }

 private:
  /// float32 on the CPU, whatever it was computed in.
  static at::Tensor copyOf(const at::Tensor& value) {
    const bool isHalf = value.scalar_type() == at::kBFloat16 || value.scalar_type() == at::kHalf;
    return value.detach().to(at::kCPU, isHalf ? at::kFloat : value.scalar_type(), false, true);
  }
  std::vector<std::pair<std::string, std::vector<at::Tensor>>> parts_;
};

/// While it lives the model hands out blocks and attention.
class Taps {
 public:
  Taps(Model& model, const OutputChoice& choice, Collector& out) : model_(model) {
    if (choice.wantsBlocks && capabilityOf<TokenEncoder>(model) == nullptr)
      throw RefusedError("this model has no blocks to tap (token_encoder); leave the blocks out");
    if (choice.wantsAttention && capabilityOf<AttentionSource>(model) == nullptr) {
      throw RefusedError(
          "this model has no attention to tap (attention_source); leave the attention out");
    }
    if (choice.wantsBlocks) {
      capabilityOf<TokenEncoder>(model)->setBlockTap(
          [&out](std::int64_t block, const at::Tensor& tokens) {
            out.add("block_" + std::to_string(block), tokens);
          });
    }
    if (!choice.wantsAttention) return;
    auto tap = std::make_shared<AttentionTap>();
    tap->kind = choice.isEffective ? AttentionTap::Kind::Effective : AttentionTap::Kind::Softmax;
    tap->receive = [&out](const AttentionRecord& record) {
      out.add("attention_" + std::to_string(record.layer), record.weights);
    };
    capabilityOf<AttentionSource>(model)->setAttentionTap(tap);
  }
  ~Taps() {
    if (auto* encoder = capabilityOf<TokenEncoder>(model_)) encoder->setBlockTap({});
    if (auto* source = capabilityOf<AttentionSource>(model_)) source->setAttentionTap(nullptr);
  }
  Taps(const Taps&) = delete;
  Taps& operator=(const Taps&) = delete;

 private:
  Model& model_;
};

}  // namespace

NamedTensors modelOutputs(Model& model, const ImageSource& images, const OutputChoice& choice,
                          at::Device device, train::Precision precision,
                          const std::function<void(std::int64_t)>& passed) {
  auto* classifier = capabilityOf<ImageClassifier>(model);
  if (classifier == nullptr)
    throw RefusedError(
        "this model does not classify images (image_classifier), so infer has nothing to write");
  const c10::NoGradGuard noGradient;
  const train::AutocastScope autocast(precision, device.type());
  Collector out;
  const Taps taps(model, choice, out);
  for (std::int64_t first = 0; first < images.count; first += choice.batchSize) {
    const std::int64_t number = std::min(choice.batchSize, images.count - first);
    // One pass: the taps see the one that makes the features, and the head follows from them.
    const at::Tensor features = classifier->features(images.read(first, number).to(device));
    if (choice.wantsFeatures) out.add("features", features);
    if (choice.wantsLogits) out.add("logits", classifier->head(features));
    if (passed) passed(first + number);
  }
  return out.take();
}

}  // namespace vitrine::app
