#include "plugins/tasks/generation/patch_attention.h"

#include <ATen/ATen.h>

#include <string>

#include "core/base/error.h"

namespace vitrine::generation {

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
    keys_ = record.keyPositions.to(at::kCPU, at::kLong);
  }
  // A copy: the model may write the next layer over it.
  layers_.at(static_cast<std::size_t>(record.layer)) =
      record.weights.narrow(0, 0, images_).select(2, query_).to(at::kCPU, at::kFloat, false, true);
}

at::Tensor PatchAttention::ofImage(std::int64_t image) const {
  std::vector<at::Tensor> rows;
  for (const at::Tensor& layer : layers_) {
    if (!layer.defined() || layer.sizes() != layers_.front().sizes())
      throw Error("layers whose attention differs in heads or keys cannot be shown together");
    rows.push_back(layer.select(0, image).unsqueeze(1));
  }
  return at::stack(rows).contiguous();
}

}  // namespace vitrine::generation
