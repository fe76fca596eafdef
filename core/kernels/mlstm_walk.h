// Linear attention with decay by tiles of tokens: the one loop that an mLSTM's forward pass and its
// three gradients are made of.
//
// Within a tile, with w(t, s) = scale exp(rowLog_t + columnLog_s) for s <= t,
//
//     forwards   out_t = sum_{s <= t} w(t, s) (x_t . y_s) z_s + row_t    State^T x_t
//     backwards  out_s = sum_{t >= s} w(t, s) (x_s . y_t) z_t + column_s State^T x_s
//
// and between tiles State = decay State + sum_s column_s y_s z_s^T forwards, with row for column
// backwards. All factors lie in [0, scale]. Then
//
//     [numerator, sum]   = forwards(x = q, y = k, z = [v, 1])
//     dq                 = forwards(x = [g, d], y = [v, 1], z = k)
//     dv                 = backwards(x = k, y = q, z = g)
//     dk                 = backwards(x = [v, 1], y = [g, d], z = q)
//
// for gradients g of the numerators and d of the sums. Backwards, the last State is the gradient of
// the start state.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"

namespace vitrine::kernels {

enum class WalkDirection { Forwards, Backwards };

/// Contiguous tensors of one device and real type; the two logarithms are float64.
struct MlstmWalk {
  WalkDirection direction = WalkDirection::Forwards;
  std::int64_t tile = 1;
  double scale = 1;
  at::Tensor x, y;               ///< [units, tokens, inner]
  at::Tensor z;                  ///< [units, tokens, outer]
  at::Tensor rowLog, columnLog;  ///< [units, tokens]
  at::Tensor row, column;        ///< [units, tokens]
  at::Tensor decay;              ///< [units, tiles]
  at::Tensor state;              ///< [units, inner, outer]: of the first tile, then after the last
  at::Tensor out;                ///< [units, tokens, outer], written
};

/// The readable truth.
VITRINE_ENGINE_EXPORT void mlstmWalkCpu(const MlstmWalk& walk);

}  // namespace vitrine::kernels
