// A database with a dozen runs in every state, for tests and for looking at the window. All numbers
// are made up.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/store/run_store.h"

namespace vitrine::ui {

struct SampleOptions {
  int extraRuns = 0;  ///< queued runs in an experiment of their own
  int points = 2000;  ///< of a finished training curve
  /// Done runs have checkpoints, spectra, attention, answers and images with recipes; one more run
  /// draws.
  bool hasArtifacts = false;

  auto operator<=>(const SampleOptions&) const = default;
};

/// Fills an empty database; returns the ids in order. Curves come from a formula and the project's
/// own generator, so that two databases are alike.
std::vector<std::int64_t> fillSampleDatabase(store::RunStore& store,
                                             const SampleOptions& options = {});

/// Makes `file`, which is not there yet, an empty database without points, and else one that
/// fillSampleDatabase() filled; returns the ids. A process fills one for each `options`, the others
/// are copies: their runs have the same UUIDs, each database has its own.
std::vector<std::int64_t> makeSampleDatabase(const std::filesystem::path& file,
                                             const SampleOptions& options = {});

/// Points [from, to) of run `index`, as a training run would write them every second step.
void appendSamplePoints(store::RunStore& store, std::int64_t run, std::int64_t segment, int index,
                        int from, int to, int total);

}  // namespace vitrine::ui
