#include "ui/spectra/spectra_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr double kRankRounding = 1e-6;  // of float32 sums
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<float> sharesOfValues(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += value;
  std::vector<float> shares;
  double running = 0;
  for (const float value : values) {
    running += value;
    shares.push_back(sum > 0 ? static_cast<float>(running / sum)
                             : std::numeric_limits<float>::quiet_NaN());
  }
  return shares;
}

}  // namespace

void addLayers(Spectrum& spectrum, const Json& meta, std::span<const std::byte> values,
               const Json& sharesMeta, std::span<const std::byte> shares) {
  const ArrayView view = arrayOf(meta, values);
  if (view.shape.size() != 3) throw FileError("a spectrum needs the shape [layers, heads, values]");
  const bool hasShares = !shares.empty();
  ArrayView curves;
  if (hasShares) {
    curves = arrayOf(sharesMeta, shares);
    if (curves.shape != view.shape)
      throw FileError("the cumulative curves have another shape than their spectrum");
  }
  constexpr std::int64_t kMostSide = 4096;
  if (view.shape[0] > kMostSide || view.shape[1] > kMostSide)
    throw FileError("a spectrum has at most 4,096 layers and heads");
  spectrum.images = stateInteger(meta, "images", spectrum.images);
  const Json& names = stateList(meta, "layers");
  for (std::int64_t l = 0; l < view.shape[0]; ++l) {
    LayerSpectrum layer{.layer = l};
    const auto at = static_cast<std::size_t>(l);
    if (at < names.size() && names[at].is_number_integer())
      layer.layer = names[at].get<std::int64_t>();
    for (std::int64_t h = 0; h < view.shape[1]; ++h) {
      HeadSpectrum head;
      const std::int64_t first = (l * view.shape[1] + h) * view.shape[2];
      for (std::int64_t k = 0; k < view.shape[2]; ++k) {
        head.values.push_back(static_cast<float>(view.at(first + k)));
        if (hasShares) head.shares.push_back(static_cast<float>(curves.at(first + k)));
      }
      if (!hasShares) head.shares = sharesOfValues(head.values);
      layer.heads.push_back(std::move(head));
    }
    spectrum.layers.push_back(std::move(layer));
  }
  std::stable_sort(
      spectrum.layers.begin(), spectrum.layers.end(),
      [](const LayerSpectrum& a, const LayerSpectrum& b) { return a.layer < b.layer; });
}

double rankAt(const std::vector<float>& shares, double threshold) {
  for (std::size_t k = 0; k < shares.size(); ++k) {
    if (shares[k] >= threshold - kRankRounding) return static_cast<double>(k + 1);
  }
  return kNone;
}

double effectiveRankOf(const std::vector<float>& values) {
  double sum = 0, entropy = 0;
  for (const float value : values) sum += value;
  if (!(sum > 0)) return kNone;
  for (const float value : values) {
    const double share = value / sum;
    if (share > 0) entropy -= share * std::log(share);
  }
  return std::exp(entropy);
}

double stableRankOf(const std::vector<float>& values) {
  if (values.empty() || !(values.front() > 0)) return kNone;
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return squares / (static_cast<double>(values.front()) * values.front());
}

HeadSpectrum meanOfHeads(const LayerSpectrum& layer) {
  HeadSpectrum mean;
  if (layer.heads.empty()) return mean;
  const std::size_t size = layer.heads.front().values.size();
  const auto heads = static_cast<double>(layer.heads.size());
  for (std::size_t k = 0; k < size; ++k) {
    double value = 0, share = 0;
    for (const HeadSpectrum& head : layer.heads) {
      value += head.values[k];
      share += head.shares[k];
    }
    mean.values.push_back(static_cast<float>(value / heads));
    mean.shares.push_back(static_cast<float>(share / heads));
  }
  return mean;
}

RankSpread rankOver(const LayerSpectrum& layer, double threshold) {
  RankSpread spread;
  std::vector<double> ranks;
  for (const HeadSpectrum& head : layer.heads) {
    const double rank = rankAt(head.shares, threshold);
    if (!std::isnan(rank)) ranks.push_back(rank);
  }
  spread.heads = static_cast<int>(ranks.size());
  if (ranks.empty()) {
    spread.mean = spread.deviation = kNone;
    return spread;
  }
  for (const double rank : ranks) spread.mean += rank / static_cast<double>(ranks.size());
  if (ranks.size() > 1) {
    double squares = 0;
    for (const double rank : ranks) squares += (rank - spread.mean) * (rank - spread.mean);
    spread.deviation = std::sqrt(squares / static_cast<double>(ranks.size() - 1));
  }
  return spread;
}

std::pair<double, double> rangeOf(const std::vector<const Spectrum*>& spectra, double floor) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const Spectrum* spectrum : spectra) {
    for (const LayerSpectrum& layer : spectrum->layers) {
      for (const HeadSpectrum& head : layer.heads) {
        for (const float value : head.values) {
          if (!(value > 0) || !std::isfinite(value)) continue;
          low = std::min<double>(low, value);
          high = std::max<double>(high, value);
        }
      }
    }
  }
  if (!(high > 0)) return {1e-3, 1};
  return {std::max(low, high * floor), high};
}

std::vector<StoredSpectrum> storedSpectra(const std::vector<store::ArtifactRow>& artifacts) {
  std::map<std::pair<std::int64_t, std::string>, StoredSpectrum> found;
  std::pair<std::int64_t, std::string> newest{-1, ""};
  const auto isOf = [](const store::ArtifactRow& row, const std::string& weights) {
    return row.meta.is_object() && !row.meta.contains("overrides") &&
           stateText(row.meta, "weights", "model") == weights;
  };
  const bool hasTrained =
      std::any_of(artifacts.begin(), artifacts.end(), [&](const store::ArtifactRow& row) {
        return row.kind == artifact_kind::kSpectrum && isOf(row, "model");
      });
  const std::string weights = hasTrained ? "model" : "ema";
  const auto isMeant = [&](const store::ArtifactRow& row) { return isOf(row, weights); };
  for (const store::ArtifactRow& row : artifacts) {
    if (row.kind != artifact_kind::kSpectrum || !isMeant(row)) continue;
    const std::string attention = stateText(row.meta, "attention", "");
    StoredSpectrum& one = found[{row.step, attention}];
    one.step = row.step;
    one.attention = attention;
    one.weights = weights;
    StoredSpectrum::Part part{row.id, 0};
    // "spectrum, layers of 4 heads" has its curves in "cumulative, layers of 4 heads".
    const std::string word = "spectrum";
    if (row.name.compare(0, word.size(), word) == 0) {
      const std::string beside = "cumulative" + row.name.substr(word.size());
      for (const store::ArtifactRow& other : artifacts) {
        if (other.step == row.step && other.analysis == row.analysis && other.name == beside &&
            isMeant(other) && stateText(other.meta, "attention", "") == attention)
          part.shares = other.id;
      }
    }
    // Made again at the same step: the newer one counts.
    const bool isAgain =
        std::any_of(one.parts.begin(), one.parts.end(), [&](const StoredSpectrum::Part& known) {
          return std::any_of(artifacts.begin(), artifacts.end(),
                             [&](const store::ArtifactRow& other) {
                               return other.id == known.values && other.name == row.name;
                             });
        });
    if (isAgain) one.parts.clear();
    one.parts.push_back(part);
    newest = std::max(newest, {row.step, attention});
  }
  std::vector<StoredSpectrum> stored;
  for (auto& [key, one] : found) {
    if (key.second == newest.second) stored.push_back(std::move(one));
  }
  return stored;
}

std::shared_ptr<const Spectrum> spectrumAt(const SpectraRun& run, std::int64_t step) {
  std::shared_ptr<const Spectrum> found;
  for (const auto& one : run.steps) {
    if (step < 0 || one->step <= step) found = one;
  }
  return found;
}

const Spectrum* untrainedOf(const SpectraRun& run) {
  return !run.steps.empty() && run.steps.front()->step == 0 ? run.steps.front().get() : nullptr;
}

std::string scoreName(const SpectraRun& run, const std::string& score, std::size_t layer,
                      int head) {
  if (run.steps.empty() || run.steps.back()->layers.empty()) return {};
  const auto& layers = run.steps.back()->layers;
  const std::int64_t number = layers[std::min(layer, layers.size() - 1)].layer;
  return "analysis/" + run.analysis + "/" + score + "/layer" + std::to_string(number) +
         (head < 0 ? std::string() : "/head" + std::to_string(head)) +
         (run.weights == "ema" ? "@ema" : "");
}

std::shared_ptr<const SpectraRun> readSpectra(store::RunReader& store, std::int64_t run,
                                              const std::vector<StoredSpectrum>& stored,
                                              std::size_t layer, int head, std::size_t most,
                                              SpectrumCache& cache,
                                              const std::atomic<bool>& isStale) {
  auto out = std::make_shared<SpectraRun>();
  out->run = run;
  std::vector<const StoredSpectrum*> chosen;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::size_t number = std::min(most, stored.size());
    // Evenly apart, with the first and the last.
    const bool isWanted =
        stored.size() <= most || i == 0 || i + 1 == stored.size() ||
        i * (number - 1) / (stored.size() - 1) != (i - 1) * (number - 1) / (stored.size() - 1);
    if (isWanted) chosen.push_back(&stored[i]);
  }
  for (const StoredSpectrum* one : chosen) {
    if (isStale) return nullptr;
    out->attention = one->attention;
    out->weights = one->weights;
    std::shared_ptr<const Spectrum>& known = cache[one->parts];
    if (known == nullptr) {
      auto spectrum = std::make_shared<Spectrum>();
      spectrum->step = one->step;
      for (const StoredSpectrum::Part& part : one->parts) {
        const store::ArtifactRow values = store.artifact(part.values);
        out->analysis = values.analysis;
        std::vector<std::byte> shares;
        Json sharesMeta;
        if (part.shares != 0) {
          shares = store.artifactData(part.shares);
          sharesMeta = store.artifact(part.shares).meta;
        }
        addLayers(*spectrum, values.meta, store.artifactData(part.values), sharesMeta, shares);
      }
      known = std::move(spectrum);
    }
    out->steps.push_back(known);
  }
  if (out->steps.empty() || out->steps.back()->layers.empty()) return out;
  if (out->analysis.empty())
    out->analysis = store.artifact(stored.back().parts.front().values).analysis;
  const auto curveOf = [&](const char* name) {
    RankCurve curve;
    for (const store::MetricPoint& point : store.points(run, scoreName(*out, name, layer, head)))
      curve.emplace_back(point.step, point.value);
    return curve;
  };
  out->effective = curveOf("effective_rank");
  out->stable = curveOf("stable_rank");
  return out;
}

}  // namespace vitrine::ui
