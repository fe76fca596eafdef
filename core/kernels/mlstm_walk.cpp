#include "core/kernels/mlstm_walk.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace vitrine::kernels {

namespace {

/// One head.
template <class Real>
struct MlstmWalker {
  const MlstmWalk& walk;
  std::int64_t tokens, inner, outer;
  const Real *x, *y, *z, *row, *column, *decay;
  const double *rowLog, *columnLog;
  Real *state, *out;

  MlstmWalker(const MlstmWalk& w, std::int64_t unit)
      : walk(w), tokens(w.x.size(1)), inner(w.x.size(2)), outer(w.z.size(2)) {
    const auto at = [&](const at::Tensor& tensor) {
      return tensor.const_data_ptr<Real>() + unit * tensor.stride(0);
    };
    x = at(w.x), y = at(w.y), z = at(w.z), row = at(w.row), column = at(w.column);
    decay = at(w.decay);
    rowLog = w.rowLog.const_data_ptr<double>() + unit * tokens;
    columnLog = w.columnLog.const_data_ptr<double>() + unit * tokens;
    state = w.state.mutable_data_ptr<Real>() + unit * inner * outer;
    out = w.out.mutable_data_ptr<Real>() + unit * tokens * outer;
  }

  [[nodiscard]] double weight(std::int64_t query, std::int64_t key) const {
    return walk.scale * std::exp(rowLog[query] + columnLog[key]);
  }

  /// What token `a` reads of the tokens [begin, end) of its own tile, and of the state.
  void read(std::int64_t a, std::int64_t begin, std::int64_t end) const {
    const bool isForwards = walk.direction == WalkDirection::Forwards;
    const Real* own = x + a * inner;
    const Real before = isForwards ? row[a] : column[a];
    Real* to = out + a * outer;
    std::fill(to, to + outer, Real(0));
    for (std::int64_t i = 0; before != 0 && i < inner; ++i) {
      for (std::int64_t j = 0; j < outer; ++j) to[j] += before * own[i] * state[i * outer + j];
    }
    for (std::int64_t b = isForwards ? begin : a; b < (isForwards ? a + 1 : end); ++b) {
      double product = 0;
      for (std::int64_t i = 0; i < inner; ++i)
        product += static_cast<double>(own[i]) * y[b * inner + i];
      const auto share = static_cast<Real>(product * (isForwards ? weight(a, b) : weight(b, a)));
      for (std::int64_t j = 0; j < outer; ++j) to[j] += share * z[b * outer + j];
    }
  }

  void write(std::int64_t tile, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = 0; i < inner * outer; ++i) state[i] *= decay[tile];
    const Real* factors = walk.direction == WalkDirection::Forwards ? column : row;
    for (std::int64_t b = begin; b < end; ++b) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const Real factor = factors[b] * y[b * inner + i];
        for (std::int64_t j = 0; j < outer; ++j) state[i * outer + j] += factor * z[b * outer + j];
      }
    }
  }

  void run() const {
    const std::int64_t tiles = (tokens + walk.tile - 1) / walk.tile;
    for (std::int64_t i = 0; i < tiles; ++i) {
      const std::int64_t tile = walk.direction == WalkDirection::Forwards ? i : tiles - 1 - i;
      const std::int64_t begin = tile * walk.tile, end = std::min(tokens, begin + walk.tile);
      for (std::int64_t a = begin; a < end; ++a) read(a, begin, end);
      write(tile, begin, end);
    }
  }
};

}  // namespace

void mlstmWalkCpu(const MlstmWalk& walk) {
  AT_DISPATCH_FLOATING_TYPES(walk.x.scalar_type(), "mlstmWalkCpu", [&] {
    at::parallel_for(0, walk.x.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t unit = begin; unit < end; ++unit) MlstmWalker<scalar_t>(walk, unit).run();
    });
  });
}

}  // namespace vitrine::kernels
