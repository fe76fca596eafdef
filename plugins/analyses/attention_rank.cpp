#include "plugins/analyses/attention_rank.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "plugins/analyses/attention_tap.h"

namespace vitrine::analyses {

namespace {

constexpr double kRounding = 1e-12;

std::vector<double> toVector(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kDouble).contiguous();
  const auto* begin = values.const_data_ptr<double>();
  return {begin, begin + values.numel()};
}

/// NAME/layerL/headH for every head, then NAME/layerL, their mean.
void addScores(Scores& scores, const std::string& name, std::int64_t layer,
               const at::Tensor& perHead) {
  const std::string prefix = name + "/layer" + std::to_string(layer);
  const std::vector<double> values = toVector(perHead);
  double sum = 0;
  for (std::size_t head = 0; head < values.size(); ++head) {
    scores.emplace_back(prefix + "/head" + std::to_string(head), values[head]);
    sum += values[head];
  }
  scores.emplace_back(prefix, sum / static_cast<double>(values.size()));
}

/// Windows of a layer, and further texts with images, as further images of it. Those that hold other
/// numbers of tokens than the first, as windows at an edge do, are left out: they have other numbers
/// of singular values.
std::vector<AttentionRecord> withoutWindows(const std::vector<AttentionRecord>& records) {
  std::vector<AttentionRecord> layers;
  std::vector<std::vector<at::Tensor>> weights;
  for (const AttentionRecord& record : records) {
    const bool isFurther = !layers.empty() && layers.back().layer == record.layer;
    if (!isFurther) {
      layers.push_back(record);
      weights.emplace_back();
    }
    if (!isFurther || record.weights.sizes() == layers.back().weights.sizes())
      weights.back().push_back(record.weights);
  }
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (weights[i].size() > 1) layers[i].weights = at::cat(weights[i], 0);
  return layers;
}

Analysis::Findings findingsOfHeads(const std::vector<AttentionRecord>& records, double threshold,
                                   const Json& meta, const std::string& suffix) {
  Analysis::Findings findings;
  const std::string rankName = "rank" + formatReal(100 * threshold, 4);
  std::vector<std::int64_t> layers;
  std::vector<at::Tensor> spectra, curves;
  std::int64_t longest = 0;
  for (const AttentionRecord& record : records) {
    const Spectrum spectrum = spectrumOf(record.weights);
    const at::Tensor curve = spectrum.cumulative.mean(0);
    addScores(findings.scores, rankName, record.layer, rankAt(curve, threshold));
    addScores(findings.scores, rankName + "_mean", record.layer,
              rankAt(spectrum.cumulative, threshold).to(at::kDouble).mean(0));
    addScores(findings.scores, "effective_rank", record.layer, spectrum.effectiveRank.mean(0));
    addScores(findings.scores, "stable_rank", record.layer, spectrum.stableRank.mean(0));
    layers.push_back(record.layer);
    spectra.push_back(spectrum.values.mean(0));
    curves.push_back(curve);
    longest = std::max(longest, curve.size(1));
  }
  // Layers with fewer tokens have fewer singular values: the others are 0, and their curve stays
  // at 1.
  for (std::size_t i = 0; i < spectra.size(); ++i) {
    const std::int64_t missing = longest - spectra[i].size(1);
    spectra[i] = at::constant_pad_nd(spectra[i], {0, missing}, 0);
    curves[i] = at::constant_pad_nd(curves[i], {0, missing}, 1);
  }
  const at::Tensor values = at::stack(spectra).contiguous();
  const at::Tensor cumulative = at::stack(curves).to(at::kFloat).contiguous();
  const std::vector<std::int64_t> shape = values.sizes().vec();

  Artifact spectrum;
  spectrum.analysis = "attention_rank";
  spectrum.name = "spectrum" + suffix;
  spectrum.kind = artifact_kind::kSpectrum;
  spectrum.meta = meta;
  setFloat64(spectrum, {values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel())},
             shape, {"layer", "head", "singular value"});
  spectrum.meta["layers"] = layers;

  Artifact share;
  share.analysis = "attention_rank";
  share.name = "cumulative" + suffix;
  share.kind = artifact_kind::kHeatmap;
  share.meta = meta;
  setFloat32(share,
             {cumulative.const_data_ptr<float>(), static_cast<std::size_t>(cumulative.numel())},
             shape, {"layer", "head", "singular values taken"});
  share.meta["layers"] = layers;
  share.meta["unit"] = "share of the sum";
  findings.artifacts.push_back(std::move(spectrum));
  findings.artifacts.push_back(std::move(share));
  return findings;
}

/// Layers with as many heads share their artifacts.
Analysis::Findings findingsOf(const std::vector<AttentionRecord>& records, double threshold,
                              const Json& meta) {
  std::map<std::int64_t, std::vector<AttentionRecord>> byHeads;
  for (const AttentionRecord& record : withoutWindows(records))
    byHeads[record.weights.size(1)].push_back(record);
  Analysis::Findings findings;
  for (const auto& [heads, layers] : byHeads) {
    const std::string suffix =
        byHeads.size() > 1 ? ", layers of " + std::to_string(heads) + " heads" : "";
    Analysis::Findings part = findingsOfHeads(layers, threshold, meta, suffix);
    std::move(part.artifacts.begin(), part.artifacts.end(), std::back_inserter(findings.artifacts));
    findings.scores.insert(findings.scores.end(), part.scores.begin(), part.scores.end());
  }
  return findings;
}

}  // namespace

Spectrum spectrumOf(const at::Tensor& attention) {
  const at::Tensor matrices = attention.to(at::kDouble);
  if (!matrices.isfinite().all().item<bool>()) {
    throw Error("the attention has values that are not finite, so it has no singular values");
  }
  Spectrum out;
  out.values = at::linalg_svdvals(matrices);
  const at::Tensor total = out.values.sum(-1, true);
  const at::Tensor share =
      at::where(total.gt(0), out.values / total, at::zeros({}, total.options()));
  out.cumulative = share.cumsum(-1);
  // x log x is 0 at 0.
  out.effectiveRank = at::xlogy(share, share).sum(-1).neg().exp();
  const at::Tensor largest = out.values.select(-1, 0);
  out.stableRank = at::where(largest.gt(0), (out.values * out.values).sum(-1) / (largest * largest),
                             at::zeros({}, total.options()));
  out.effectiveRank = at::where(largest.gt(0), out.effectiveRank, at::zeros({}, total.options()));
  return out;
}

at::Tensor rankAt(const at::Tensor& cumulative, double threshold) {
  const at::Tensor isThere = cumulative.ge(threshold - kRounding);
  const at::Tensor before = isThere.logical_not().sum(-1);
  return at::where(isThere.any(-1), before + 1, at::zeros({}, before.options()));
}

ItemCard AttentionRank::card() const {
  ItemCard card;
  card.kind = ItemKind::Analysis;
  card.id = "attention_rank";
  card.title = "Attention rank";
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

ProbeSamples AttentionRank::probeSamples(const Config& config) const {
  return {config.integer("images"), {}};
}

std::function<Analysis::Findings()> AttentionRank::probe(const Config& config,
                                                         ProbeContext& context) const {
  const Batch& batch = context.batch;
  std::vector<AttentionRecord> records =
      captureAttention(context, config.integers("layers"), attentionKind(config));
  const double threshold = config.real("threshold");
  const Json meta = {{"attention", config.text("attention")},
                     {"threshold", threshold},
                     {"images", batch.size()},
                     {"sample_ids", batch.sampleIds}};
  return [records = std::move(records), threshold, meta] {
    const at::NoGradGuard noGradient;
    return findingsOf(records, threshold, meta);
  };
}

}  // namespace vitrine::analyses
