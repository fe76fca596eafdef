#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <utility>

#include "core/config/item_card.h"
#include "core/eval/matrix_rank.h"
#include "plugins/analyses/analyses.h"
#include "plugins/analyses/attention_tap.h"

namespace vitrine::analyses {

namespace {

/// Windows of a layer, and further texts with images, as further images of it. Those that hold
/// other numbers of tokens than the first, as windows at an edge do, are left out. They have other
/// numbers of singular values.
std::vector<eval::LayerMatrices> withoutWindows(const std::vector<AttentionRecord>& records) {
  std::vector<eval::LayerMatrices> layers;
  std::vector<std::vector<at::Tensor>> weights;
  for (const AttentionRecord& record : records) {
    const bool isFurther = !layers.empty() && layers.back().layer == record.layer;
    if (!isFurther) {
      layers.push_back({record.layer, record.weights});
      weights.emplace_back();
    }
    if (!isFurther || record.weights.sizes() == layers.back().matrices.sizes())
      weights.back().push_back(record.weights);
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (weights[i].size() > 1) layers[i].matrices = at::cat(weights[i], 0);
  return layers;
}

class AttentionRank final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Analysis, "attention_rank", "Attention rank");
    card.paper = "Wang et al. 2024, arXiv:2404.06773, figure 4";
    card.doc = "Singular values of every head's attention and the rank that holds most of them";
    card.offers = {"spectrum"};
    card.needs = {AttentionSource::kId};
    card.schema.fields = attentionFields();
    card.schema.fields.insert(
        card.schema.fields.begin(),
        {integerField("images", 4, "test images looked at, of the classes in turn")
             .titled("Images")
             .range(1, 1024)
             .withUnit("images")
             .runOnly(),
         realField("threshold", 0.8, "share of the sum of singular values that the rank must hold")
             .titled("Rank threshold")
             .moreThan(0)
             .range(0, 1)
             .runOnly()});
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  ProbeSamples probeSamples(const Config& config) const override {
    return {config.integer("images"), {}};
  }

  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    const Batch& batch = context.batch;
    std::vector<AttentionRecord> records =
        captureAttention(context, config.integers("layers"), attentionKind(config));
    const double threshold = config.real("threshold");
    const Json meta = {{"attention", config.text("attention")},
                       {"images", batch.size()},
                       {"sample_ids", batch.sampleIds}};
    return [records = std::move(records), threshold, meta] {
      const at::NoGradGuard noGradient;
      eval::RankFindings found =
          eval::rankFindings("attention_rank", withoutWindows(records), threshold, meta);
      return Findings{std::move(found.artifacts), std::move(found.scores)};
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeAttentionRank() { return std::make_unique<AttentionRank>(); }

}  // namespace vitrine::analyses
