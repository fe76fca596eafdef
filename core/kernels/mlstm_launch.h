// The launchers of mlstm.cu, as their caller sees them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/kernels/cpu/mlstm/gates.h"

namespace vitrine::kernels {

enum class Scalar;

/// MlstmWalk (core/kernels/mlstm_walk.h) by addresses; all contiguous, of type Scalar but the
/// logarithms.
struct MlstmWalkArrays {
  bool isForwards = true;
  std::int64_t units = 0, tokens = 0, inner = 0, outer = 0;
  std::int64_t tile = 1;  ///< at most 32
  double scale = 1;
  const void *x = nullptr, *y = nullptr, *z = nullptr;
  const double *rowLog = nullptr, *columnLog = nullptr;
  const void *row = nullptr, *column = nullptr, *decay = nullptr;
  void *state = nullptr, *out = nullptr;
};
cudaError_t launchMlstmWalk(Scalar scalar, const MlstmWalkArrays& walk, cudaStream_t stream);

/// Arrays of all units, one behind the other; `scan` holds those of the first and any start.
struct GateScanArrays {
  std::int64_t units = 0;
  GateScan scan;
  const double* start = nullptr;  ///< [units]
};
cudaError_t launchScanGates(const GateScanArrays& scans, double* local, double* stabiliser,
                            cudaStream_t stream);
struct GateScanBackArrays {
  const double *stabiliser = nullptr, *rows = nullptr, *columns = nullptr;
  const double* stabilisers = nullptr;  ///< or null
  double *logForget = nullptr, *logInput = nullptr, *start = nullptr;
};
cudaError_t launchScanGatesBack(const GateScanArrays& scans, const GateScanBackArrays& arrays,
                                cudaStream_t stream);

}  // namespace vitrine::kernels
