// The scalar part of an mLSTM, which depends on its gates alone and not on queries or keys.
//
// With l_t the logarithm of the forget gate and i_t that of the input gate,
//
//     m_t = max(l_t + m_{t-1}, i_t)               stabiliser, m_0 = -inf without a start state
//     F_t = l_{a+1} + ... + l_t                   within the tile that begins behind token a
//
// so no product has to be looked at for a largest value. Sums over whole sequences are never
// formed: their differences would lose what float64 holds. Code for the CPU and for CUDA.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define VITRINE_EVERYWHERE __host__ __device__
#else
#define VITRINE_EVERYWHERE
#endif

namespace vitrine::kernels {

/// One head of one sample.
struct GateScan {
  std::int64_t tokens = 0, tile = 1;
  const double* logForget = nullptr;  ///< [tokens]
  const double* logInput = nullptr;   ///< [tokens]
  double start = 0;                   ///< m_0, or -inf
};

/// \param local       [tokens], receives F
/// \param stabiliser  [tokens], receives m
VITRINE_EVERYWHERE inline void scanGates(const GateScan& scan, double* local, double* stabiliser) {
  double sum = 0, largest = scan.start;
  for (std::int64_t t = 0; t < scan.tokens; ++t) {
    if (t % scan.tile == 0) sum = 0;
    sum += scan.logForget[t];
    const double kept = largest + scan.logForget[t];
    largest = kept > scan.logInput[t] ? kept : scan.logInput[t];
    local[t] = sum;
    stabiliser[t] = largest;
  }
}

/// Gradients of the two logarithms. A pair (t, s) is a query and an earlier key. It adds its
/// weight's gradient to i_s and to every l from s + 1 to t. Sums over keys and over queries
/// therefore suffice.
///
/// \param rows         [tokens], of each query over its keys: q_t . dq_t
/// \param columns      [tokens], of each key over its queries: k_s . dk_s
/// \param stabilisers  [tokens], direct gradients of m (where eps is added to it), or null
/// \param logForget    [tokens], receives dl; \param logInput  [tokens], receives di
/// \returns  what of the gradients of m reaches the start state's
VITRINE_EVERYWHERE inline double scanGatesBack(const GateScan& scan, const double* stabiliser,
                                               const double* rows, const double* columns,
                                               const double* stabilisers, double* logForget,
                                               double* logInput) {
  double sum = 0, carried = 0;
  for (std::int64_t t = scan.tokens - 1; t >= 0; --t) {
    if (stabilisers != nullptr) carried += stabilisers[t];
    sum += rows[t] - columns[t];
    const bool isFromInput = stabiliser[t] == scan.logInput[t];
    logInput[t] = columns[t] + (isFromInput ? carried : 0);
    if (isFromInput) carried = 0;
    logForget[t] = sum + carried;
  }
  return carried;
}

}  // namespace vitrine::kernels
