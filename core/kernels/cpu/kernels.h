// The engine's own loops over floats on the CPU: one table of functions for each width of vectors.
// The fused block, short attention and the fused rows of this folder use them.
//
// Each file with the name of a path is compiled with the flags of that path. It includes all loops,
// which lie in *_loops.h in unnamed namespaces. They use nothing of the standard library: an inline
// function that the linker keeps from such a file would run everywhere.
#pragma once

#include <cstdint>

#include "core/engine_export.h"

namespace vitrine::cpu {

/// What of a product counts where two of its three directions are tokens, and later ones do not.
/// Tiles leave out the rest as far as their own rows and columns allow.
struct Triangle {
  enum Kind {
    None,         ///< all of it counts
    Result,       ///< row r is wanted up to column first + r, the rest is left undefined
    LeftRows,     ///< row r of the left factor is zero after first + r along the depth
    LeftColumns,  ///< row r of the left factor is zero before r - first along the depth
  } kind = None;
  std::int64_t first = 0;
};

/// out[i][j] = start[i][j] + sum_k left[i][k] right[k][j], the sum in the order of k.
struct Product {
  std::int64_t rows, columns;
  std::int64_t words;  ///< depth in 32-bit words of the factors
  const float* left;
  std::int64_t leftRowStride, leftColumnStride;  ///< one of them is 1
  const float* right;                            ///< panels of Kernels::panel columns
  const float* start;                            ///< may be null
  std::int64_t startStride;
  float* out;
  std::int64_t outStride;
  Triangle triangle;
};

/// Some columns of a right factor on their way into one panel.
struct PanelSource {
  const float* from;
  std::int64_t stride;  ///< of its rows, or of its columns where these are dense
  std::int64_t depth, lanes;
};

/// out = norm(x + branch) of `rows` rows of `width` floats; `sum` receives x + branch. Without a
/// branch (null) `sum` is not touched. `means` (zero for RMS) and `scales` receive one value a row.
struct NormRows {
  const float* x = nullptr;
  const float* branch = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  ///< or null
  float* sum = nullptr;
  float* out = nullptr;
  float* means = nullptr;
  float* scales = nullptr;
};

/// Gradient of the norm's input; `through` (or null), the gradient that reaches it past the norm,
/// is added. Gradients of weight and bias are added to; RMS needs room for a bias' all the same.
struct NormGradients {
  const float* sum = nullptr;  ///< the norm's input
  const float* weight = nullptr;
  const float* means = nullptr;
  const float* scales = nullptr;
  const float* through = nullptr;
  const float* outGradient = nullptr;
  float* gradient = nullptr;
  float* weightGradient = nullptr;
  float* biasGradient = nullptr;
};

/// Rows of attention of one head.
struct ScoreRows {
  std::int64_t queries, keys;
  std::int64_t stride;  ///< of a row of logits or slopes, a multiple of kScoreStep
  float scale;
  const float* additive;        ///< [queries, keys] or null
  const float* multiplicative;  ///< [queries, keys] or null
};
/// Rows that are walked along the keys end at a multiple of this.
inline constexpr std::int64_t kScoreStep = 16;

/// Rows of one tile of queries against keys. First come `before` keys of earlier tiles with weights
/// row[r] * column[c], then the tile's own `rows` up to the query itself. Weights of the latter are
/// scale * exp(row + column); each logarithm has a leading and a trailing part.
struct DecayRows {
  std::int64_t rows, before;
  std::int64_t stride;  ///< of a row of products
  float scale;
  const float *row, *rowHigh, *rowLow;           ///< [rows]
  const float *column, *columnHigh, *columnLow;  ///< [before], [rows], [rows]
};

/// Rows whose channels are mixed in groups of four. \pre width is a multiple of 4
struct GroupRows {
  std::int64_t rows, width;
  const float* x;
  std::int64_t stride;  ///< of a row of x
};

/// Two bfloat16 in a word, the first in the lower half.
using BFloat16Pair = std::uint32_t __attribute__((may_alias));

/// Products of bfloat16 pairs: depths are halved and rounded up, factors are packed first.
struct PairKernels {
  void (*multiply)(const Product& product);
  void (*packRows)(const PanelSource& source, float* panel);
  void (*packColumns)(const PanelSource& source, float* panel);
  /// The left factor: from dense rows, each of which stays dense; from dense columns, likewise.
  void (*packLeftRows)(std::int64_t rows, std::int64_t depth, const float* from,
                       std::int64_t rowStride, float* to);
  void (*packLeftColumns)(std::int64_t rows, std::int64_t depth, const float* from,
                          std::int64_t columnStride, float* to);
};

struct Kernels {
  const char* name;
  std::int64_t panel;        ///< columns that the packed form of a right factor keeps together
  const PairKernels* pairs;  ///< null where the processor does not multiply bfloat16

  void (*multiply)(const Product& product);
  /// Fills a panel, columns after the last with zeros: from dense rows, from dense columns.
  void (*packRows)(const PanelSource& source, float* panel);
  void (*packColumns)(const PanelSource& source, float* panel);

  void (*normRows)(bool isRms, float eps, std::int64_t rows, std::int64_t width,
                   const NormRows& at);
  void (*normRowsBackward)(bool isRms, std::int64_t rows, std::int64_t width,
                           const NormGradients& at);
  void (*geluTanh)(std::int64_t count, const float* x, float* out, float* slopes);
  void (*geluErf)(std::int64_t count, const float* x, float* out, float* slopes);
  void (*swiGlu)(std::int64_t count, const float* gate, const float* up, float* out);
  void (*swiGluBackward)(std::int64_t count, const float* gate, const float* up,
                         const float* gradient, float* gateGradient, float* upGradient);
  /// out = a * b
  void (*multiplyRows)(std::int64_t count, const float* a, const float* b, float* out);
  /// sums[c] += sum over rows, `stride` apart, of x[r][c]
  void (*addRows)(std::int64_t rows, std::int64_t width, const float* x, std::int64_t stride,
                  float* sums);
  /// out = a + factor * b
  void (*addScaledRows)(std::int64_t count, const float* a, const float* b, float factor,
                        float* out);
  /// out[r][c] = a[r][c] + factor * gate[c] * b[r][c]
  void (*addGatedRows)(std::int64_t rows, std::int64_t width, const float* a, const float* b,
                       const float* gate, float factor, float* out);
  /// Back through that: out[r][c] = factor * gate[c] * gradient[r][c], and the gate's gradient, sum
  /// over rows of factor * gradient[r][c] * b[r][c], is added.
  void (*gateBackward)(std::int64_t rows, std::int64_t width, const float* gradient, const float* b,
                       const float* gate, float factor, float* out, float* gateGradient);

  /// Probabilities of rows of plain products, and where a mask multiplies, what is left of them in
  /// `logits`.
  void (*softmaxRows)(const ScoreRows& rows, float* logits, float* probabilities);
  /// From gradients of P * S in `slopes` to those of the plain products; `weights` receives P * S
  /// where there is an S.
  void (*slopeRows)(const ScoreRows& rows, const float* probabilities, float* slopes,
                    float* weights);
  /// Turns the channel pairs of one row, with direction -1 back; `out` may be `in`.
  void (*turnRow)(const float* in, const float* cosine, const float* sine, float direction,
                  std::int64_t pairs, float* out);
  /// The same in bfloat16.
  void (*turnWords)(const BFloat16Pair* in, const float* cosine, const float* sine,
                    std::int64_t pairs, BFloat16Pair* out);
  /// As turnRow, of pairs whose second channels follow all the first ones.
  void (*turnHalves)(const float* in, const float* cosine, const float* sine, float direction,
                     std::int64_t pairs, float* out);

  /// Products become scores, zero after the query; `sums` receives those of each row.
  void (*decayRows)(const DecayRows& rows, float* products, float* sums);
  /// Slopes of scores become those of products: (factors[r] * slope + shifts[r]) * weight.
  void (*decayRowsBackward)(const DecayRows& rows, const float* factors, const float* shifts,
                            float* slopes);
  /// out[r][c] = factors[r] * x[r][c]
  void (*scaleRows)(std::int64_t rows, std::int64_t width, const float* x, std::int64_t stride,
                    const float* factors, float* out, std::int64_t outStride);
  /// sums[r] = x . map[r], the rows of the map `stride` apart.
  void (*dotRows)(std::int64_t count, const float* x, std::int64_t rows, const float* map,
                  std::int64_t stride, float* sums);
  /// a . b with products and sums in float64.
  double (*dotInDouble)(std::int64_t count, const float* a, const float* b);
  /// out[r][c] = bias[c] + sum_d wheel[d][c] x[r][c ^ d] (group_loops.h); rows of `out` are dense.
  /// \param bias  or null
  void (*mixGroups)(const GroupRows& rows, const float* wheel, const float* bias, float* out);
  /// Sums over rows of gradient[r][c] x[r][c ^ d] and of gradient[r][c]; written, not added.
  void (*mixGroupsBackward)(const GroupRows& rows, const float* gradient, float* wheel,
                            float* bias);
};

/// Of cpuPath(); on the reference path the baseline's, for callers that ask for these loops by
/// name.
[[nodiscard]] VITRINE_ENGINE_EXPORT const Kernels& kernels();

/// One for each file; those that this architecture does not have are missing at link time.
const Kernels& baselineKernels();
const Kernels& avx2Kernels();
const Kernels& avx512Kernels();
const PairKernels& avx512Pairs();

}  // namespace vitrine::cpu
