// The number by which a run gets its colour, dash and symbol: its id, or one that it shares.
#pragma once

#include <cstdint>
#include <map>

namespace vitrine::ui {

/// The number of a run for seriesColor(), seriesDash() and seriesSymbol(): what setRunSeries() says
/// of it, else its id. May be asked from any thread.
[[nodiscard]] std::int64_t seriesOf(std::int64_t run);
/// Whether runs share numbers: what draws several runs as one then has the number of its first run.
[[nodiscard]] bool isSeriesShared();
/// Whether a user chose the number of the run; what draws several runs as one has that of its first
/// run then, too.
[[nodiscard]] bool hasOwnSeries(std::int64_t run);
/// \param shared  by run; empty: every run has its own
/// \param own     by run, which a user chose: it wins over `shared`
void setRunSeries(std::map<std::int64_t, std::int64_t> shared,
                  std::map<std::int64_t, std::int64_t> own = {});

}  // namespace vitrine::ui
