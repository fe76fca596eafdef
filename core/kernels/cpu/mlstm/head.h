// One head of an mLSTM over one sample in float32, forward and backward, on the calling thread. It
// reads rows of the projections directly, in chunks, with tiles of queries within them.
//
// Weights of pairs of tokens follow from the gates (core/kernels/cpu/mlstm/gates.h), so scores need
// no largest value and nothing is rescaled. Only pairs of one tile take an exponential.
#pragma once

#include <cstdint>
#include <memory>

#include "core/kernels/cpu/mlstm/gates.h"

namespace vitrine::cpu {

/// Sizes and strides of every head of a call.
struct MlstmShape {
  std::int64_t tokens = 0, keyWidth = 0, valueWidth = 0;
  std::int64_t queryStride = 0, keyStride = 0, valueStride = 0, outStride = 0;  ///< of rows
  std::int64_t chunk = 1;
  float scale = 1;
  double eps = 0;
  bool isBounded = true;  ///< the normaliser is max(|sum|, bound), else the bound alone
  bool isExact = true;    ///< gradients pass through the normaliser
  bool keepsState = false;
  /// Places of a row of kept scores.
  [[nodiscard]] std::int64_t scoreStride() const;
};

/// Inputs of a head.
struct MlstmRows {
  const float *query, *key, *value;
  const double *logForget, *logInput;             ///< [tokens]
  const float *memory = nullptr, *sum = nullptr;  ///< start state, or null
  double start = 0;                               ///< m_0, -inf without a start state
};

/// Outputs of the forward pass.
struct MlstmResults {
  float* h;                 ///< rows outStride apart
  float* stabiliser;        ///< [tokens]
  float* signedSum;         ///< [tokens]
  float* scores = nullptr;  ///< [tokens, scoreStride()] for a backward pass, or null
  float *memory = nullptr, *sum = nullptr;  ///< of the last token, where they are kept
};

/// Inputs and outputs of the backward pass. Gradients of q, k and v are dense rows.
struct MlstmSlopes {
  const float* h;          ///< rows outStride apart
  const float* signedSum;  ///< [tokens]
  const float* scores;     ///< of the forward pass
  const float* slope;      ///< gradient of h, rows outStride apart
  float *query, *key, *value;
  double *logForget, *logInput;             ///< [tokens]
  float *memory = nullptr, *sum = nullptr;  ///< of the start state, where there is one
  double* start = nullptr;
};

/// Passes over one head after the other, with room that a thread keeps.
class MlstmHead {
 public:
  explicit MlstmHead(const MlstmShape& shape);
  ~MlstmHead();
  MlstmHead(const MlstmHead&) = delete;
  MlstmHead& operator=(const MlstmHead&) = delete;
  void forward(const MlstmRows& in, const MlstmResults& out);
  void backward(const MlstmRows& in, const MlstmSlopes& out);

 private:
  struct RightFactor;
  struct Room;
  std::unique_ptr<Room> room_;
};

}  // namespace vitrine::cpu
