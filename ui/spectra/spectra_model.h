// Singular values of attention, by layer and head: shares, ranks, and what is stored of them. No
// widgets.
//
// Ranks as in Wang et al. 2024, arXiv:2404.06773, figure 4: the first k whose singular values hold
// a share of their sum. Effective rank: exp of the entropy of the shares (Roy and Vetterli 2007).
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/store/run_reader.h"

namespace vitrine::ui {

struct HeadSpectrum {
  std::vector<float> values;  ///< descending, mean over images
  /// Share of the sum that the first k values hold, mean over images; of the values where that is
  /// not stored.
  std::vector<float> shares;
};
struct LayerSpectrum {
  std::int64_t layer = 0;  ///< number in the model
  std::vector<HeadSpectrum> heads;
};
struct Spectrum {
  std::int64_t step = 0;
  std::int64_t images = 0;  ///< 0: not known
  std::vector<LayerSpectrum> layers;
};

/// Adds the layers of an artifact `spectrum`, in the order of their numbers.
/// \param shares  of the artifact `cumulative` next to it; empty where there is none
/// \throws FileError  the data do not fit their description
void addLayers(Spectrum& spectrum, const Json& meta, std::span<const std::byte> values,
               const Json& sharesMeta, std::span<const std::byte> shares);

/// First k, counted from 1; NaN where the curve never gets there.
[[nodiscard]] double rankAt(const std::vector<float>& shares, double threshold);
/// NaN of a spectrum of zeros.
[[nodiscard]] double effectiveRankOf(const std::vector<float>& values);
[[nodiscard]] double stableRankOf(const std::vector<float>& values);
/// The mean of the heads' values and shares.
[[nodiscard]] HeadSpectrum meanOfHeads(const LayerSpectrum& layer);

struct RankSpread {
  double mean = 0, deviation = 0;  ///< over heads; NaN where there is none, 0 of one head
  int heads = 0;
};
[[nodiscard]] RankSpread rankOver(const LayerSpectrum& layer, double threshold);

/// Smallest and largest singular value above `floor` times the largest, for the colours.
[[nodiscard]] std::pair<double, double> rangeOf(const std::vector<const Spectrum*>& spectra,
                                                double floor);

/// Where a spectrum of a run is stored.
struct StoredSpectrum {
  struct Part {
    std::int64_t values = 0, shares = 0;  ///< ids of artifacts; shares may be 0
    [[nodiscard]] auto operator<=>(const Part&) const = default;
  };
  std::int64_t step = 0;
  std::string attention;          ///< which matrices: "softmax", "effective"
  std::string weights = "model";  ///< or "ema"
  std::vector<Part> parts;
};
/// By step, of the kind of attention that was stored last. Those of other data are left out, and
/// those of averaged weights where there are others.
[[nodiscard]] std::vector<StoredSpectrum> storedSpectra(
    const std::vector<store::ArtifactRow>& artifacts);

/// What was read, by its parts: a run may store some of them later.
using SpectrumCache = std::map<std::vector<StoredSpectrum::Part>, std::shared_ptr<const Spectrum>>;

/// A curve of a score over steps.
using RankCurve = std::vector<std::pair<std::int64_t, double>>;

struct SpectraRun {
  std::int64_t run = 0;
  std::string attention, weights;
  std::vector<std::shared_ptr<const Spectrum>> steps;
  RankCurve effective, stable;  ///< as the run measured them, of one layer, or one head of it
  std::string analysis;         ///< whose artifacts they are
};

/// The newest up to `step` (-1: of all); nullptr where there is none.
[[nodiscard]] std::shared_ptr<const Spectrum> spectrumAt(const SpectraRun& run, std::int64_t step);
/// That of the model before any training; nullptr where it was not stored.
[[nodiscard]] const Spectrum* untrainedOf(const SpectraRun& run);

/// The metric of a score of the run's analysis, of one layer or one head of it; "" without layers.
/// \param score  "effective_rank" \param layer  index, held within the run \param head  -1: all
[[nodiscard]] std::string scoreName(const SpectraRun& run, const std::string& score,
                                    std::size_t layer, int head);

/// \param head  -1: the mean of the heads
/// \param most  steps that are read at most, evenly apart
/// \throws Error
[[nodiscard]] std::shared_ptr<const SpectraRun> readSpectra(
    store::RunReader& store, std::int64_t run, const std::vector<StoredSpectrum>& stored,
    std::size_t layer, int head, std::size_t most, SpectrumCache& cache,
    const std::atomic<bool>& isStale);

}  // namespace vitrine::ui
