#include "core/eval/matrix_rank.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::eval {

namespace {

constexpr double kRankRounding = 1e-12;

/// NAME/layerL/headH for every head, then NAME/layerL, their mean.
void addRanks(RankFindings& findings, const std::string& name, std::int64_t layer,
              const at::Tensor& perHead) {
  const std::string prefix = name + "/layer" + std::to_string(layer);
  const at::Tensor values = perHead.to(at::kDouble);
  for (std::int64_t head = 0; head < values.size(0); ++head)
    findings.scores.emplace_back(prefix + "/head" + std::to_string(head),
                                 values[head].item<double>());
  findings.scores.emplace_back(prefix, values.mean().item<double>());
}

void addRanksOfHeads(RankFindings& findings, const std::vector<LayerMatrices>& layers,
                     double threshold, const std::string& suffix, Artifact made) {
  const std::string rankName = "rank" + formatReal(100 * threshold, 4);
  std::vector<std::int64_t> numbers;
  std::vector<at::Tensor> spectra, curves;
  std::vector<std::vector<std::int64_t>> ranks;
  std::int64_t longest = 0;
  for (const LayerMatrices& each : layers) {
    const Spectrum spectrum = spectrumOf(each.matrices);
    const at::Tensor curve = spectrum.cumulative.mean(0);
    const at::Tensor rank = rankAt(curve, threshold).contiguous();
    addRanks(findings, rankName, each.layer, rank);
    const std::int64_t* first = rank.const_data_ptr<std::int64_t>();
    ranks.emplace_back(first, first + rank.numel());
    addRanks(findings, rankName + "_mean", each.layer,
             rankAt(spectrum.cumulative, threshold).to(at::kDouble).mean(0));
    addRanks(findings, "effective_rank", each.layer, spectrum.effectiveRank.mean(0));
    addRanks(findings, "stable_rank", each.layer, spectrum.stableRank.mean(0));
    numbers.push_back(each.layer);
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
  const at::Tensor shares = at::stack(curves).to(at::kFloat).contiguous();
  const auto count = static_cast<std::size_t>(values.numel());
  made.meta["threshold"] = threshold;
  made.meta["layers"] = numbers;

  Artifact& spectrum = findings.artifacts.emplace_back(made);
  spectrum.name = "spectrum" + suffix;
  spectrum.kind = artifact_kind::kSpectrum;
  spectrum.meta["rank"] = ranks;  // of the mean curves: mean values do not tell it
  setFloat64(spectrum, {values.const_data_ptr<double>(), count}, values.sizes().vec(),
             {"layer", "head", "singular value"});

  Artifact& cumulative = findings.artifacts.emplace_back(std::move(made));
  cumulative.name = "cumulative" + suffix;
  cumulative.kind = artifact_kind::kHeatmap;
  cumulative.meta["unit"] = "share of the sum";
  setFloat32(cumulative, {shares.const_data_ptr<float>(), count}, shares.sizes().vec(),
             {"layer", "head", "singular values taken"});
}

}  // namespace

Spectrum spectrumOf(const at::Tensor& matrices) {
  const at::Tensor exact = matrices.to(at::kDouble);
  if (!exact.isfinite().all().item<bool>())
    throw Error("a matrix has values that are not finite, so it has no singular values");
  Spectrum out{.values = at::linalg_svdvals(exact)};
  const at::Tensor total = out.values.sum(-1, true), zero = at::zeros({}, total.options());
  const at::Tensor share = at::where(total.gt(0), out.values / total, zero);
  out.cumulative = share.cumsum(-1);
  const at::Tensor largest = out.values.select(-1, 0), isThere = largest.gt(0);
  // x log x is 0 at 0.
  out.effectiveRank = at::where(isThere, at::xlogy(share, share).sum(-1).neg().exp(), zero);
  out.stableRank =
      at::where(isThere, (out.values * out.values).sum(-1) / (largest * largest), zero);
  return out;
}

at::Tensor rankAt(const at::Tensor& cumulative, double threshold) {
  const at::Tensor isThere = cumulative.ge(threshold - kRankRounding);
  const at::Tensor before = isThere.logical_not().sum(-1);
  return at::where(isThere.any(-1), before + 1, at::zeros({}, before.options()));
}

RankFindings rankFindings(const std::string& analysis, const std::vector<LayerMatrices>& layers,
                          double threshold, const Json& meta) {
  std::map<std::int64_t, std::vector<LayerMatrices>> byHeads;
  for (const LayerMatrices& each : layers) byHeads[each.matrices.size(1)].push_back(each);
  RankFindings findings;
  Artifact made{.analysis = analysis, .meta = meta};
  for (const auto& [heads, some] : byHeads) {
    const std::string suffix =
        byHeads.size() > 1 ? ", layers of " + std::to_string(heads) + " heads" : "";
    addRanksOfHeads(findings, some, threshold, suffix, made);
  }
  return findings;
}

}  // namespace vitrine::eval
