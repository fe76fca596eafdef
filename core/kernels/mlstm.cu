// The walk of mlstm_walk.h and the scans of cpu/mlstm/gates.h on a GPU.
//
// A block takes one head and 32 columns of z through the whole sequence, tile by tile, with its
// part of the state in shared memory; blocks never meet, so results do not depend on their order.
// Scores of a tile are computed by every block of a head again: for the widths of one head that
// costs less than the traffic of handing them over. Eight threads share a row of the tile, each
// with four columns.
#include "core/kernels/launch.cuh"
#include "core/kernels/mlstm_launch.h"

namespace vitrine::kernels {

namespace {

constexpr int kTile = 32;
constexpr int kColumns = 32;  ///< of z, per block
constexpr int kPiece = 64;    ///< of the inner width, at a time
constexpr int kThreads = 256;
constexpr int kPerThread = kTile * kColumns / kThreads;
constexpr int kPart = kColumns / kPerThread;  ///< threads of a row

__device__ float exponential(double exponent, float) { return expf(static_cast<float>(exponent)); }
__device__ double exponential(double exponent, double) { return exp(exponent); }

template <class Real>
struct WalkRoom {
  Real x[kTile][kPiece + 1], y[kTile][kPiece + 1];
  Real z[kTile][kColumns + 1], scores[kTile][kTile + 1];
  double rowLog[kTile], columnLog[kTile];
  Real read[kTile], write[kTile];
};

/// The arrays of one block.
template <class Real>
struct WalkBlock {
  const Real *x, *y, *z, *read, *write, *decay;
  const double *rowLog, *columnLog;
  Real *stateOut, *out;
  std::int64_t tokens, inner, outer, firstColumn;
};

template <class Real>
__device__ WalkBlock<Real> walkBlock(const MlstmWalkArrays& walk) {
  const std::int64_t unit = blockIdx.x, tiles = (walk.tokens + walk.tile - 1) / walk.tile;
  const auto of = [unit](const void* array, std::int64_t each) {
    return static_cast<const Real*>(array) + unit * each;
  };
  WalkBlock<Real> block;
  block.tokens = walk.tokens, block.inner = walk.inner, block.outer = walk.outer;
  block.firstColumn = static_cast<std::int64_t>(blockIdx.y) * kColumns;
  block.x = of(walk.x, walk.tokens * walk.inner);
  block.y = of(walk.y, walk.tokens * walk.inner);
  block.z = of(walk.z, walk.tokens * walk.outer);
  block.read = of(walk.isForwards ? walk.row : walk.column, walk.tokens);
  block.write = of(walk.isForwards ? walk.column : walk.row, walk.tokens);
  block.decay = of(walk.decay, tiles);
  block.rowLog = walk.rowLog + unit * walk.tokens;
  block.columnLog = walk.columnLog + unit * walk.tokens;
  block.stateOut = static_cast<Real*>(walk.state) + unit * walk.inner * walk.outer;
  block.out = static_cast<Real*>(walk.out) + unit * walk.tokens * walk.outer;
  return block;
}

/// What a tile needs besides x and y. Tokens and columns that are not there are zero.
template <class Real>
__device__ void loadTile(const WalkBlock<Real>& block, std::int64_t begin, std::int64_t count,
                         WalkRoom<Real>& room) {
  for (int i = threadIdx.x; i < kTile * kColumns; i += kThreads) {
    const int b = i / kColumns, j = i % kColumns;
    const std::int64_t column = block.firstColumn + j;
    room.z[b][j] =
        b < count && column < block.outer ? block.z[(begin + b) * block.outer + column] : Real(0);
  }
  for (int b = threadIdx.x; b < kTile; b += kThreads) {
    const bool isThere = b < count;
    room.rowLog[b] = isThere ? block.rowLog[begin + b] : 0;
    room.columnLog[b] = isThere ? block.columnLog[begin + b] : 0;
    room.read[b] = isThere ? block.read[begin + b] : Real(0);
    room.write[b] = isThere ? block.write[begin + b] : Real(0);
  }
}

template <class Real>
__device__ void loadPiece(const WalkBlock<Real>& block, std::int64_t begin, std::int64_t count,
                          std::int64_t first, WalkRoom<Real>& room) {
  for (int i = threadIdx.x; i < kTile * kPiece; i += kThreads) {
    const int b = i / kPiece, c = i % kPiece;
    const bool isThere = b < count && first + c < block.inner;
    const std::int64_t at = (begin + b) * block.inner + first + c;
    room.x[b][c] = isThere ? block.x[at] : Real(0);
    room.y[b][c] = isThere ? block.y[at] : Real(0);
  }
}

template <class Real>
__global__ void __launch_bounds__(kThreads) walkKernel(MlstmWalkArrays walk) {
  extern __shared__ __align__(16) unsigned char shared[];
  WalkRoom<Real>& room = *reinterpret_cast<WalkRoom<Real>*>(shared);
  Real* state = reinterpret_cast<Real*>(shared + sizeof(WalkRoom<Real>));  // [inner][kColumns]
  const WalkBlock<Real> block = walkBlock<Real>(walk);
  const int row = threadIdx.x / kPart, part = threadIdx.x % kPart;

  for (std::int64_t i = threadIdx.x; i < block.inner * kColumns; i += kThreads) {
    const std::int64_t column = block.firstColumn + i % kColumns;
    state[i] = column < block.outer ? block.stateOut[i / kColumns * block.outer + column] : Real(0);
  }
  const std::int64_t tiles = (block.tokens + walk.tile - 1) / walk.tile;
  for (std::int64_t step = 0; step < tiles; ++step) {
    const std::int64_t tile = walk.isForwards ? step : tiles - 1 - step, begin = tile * walk.tile;
    const std::int64_t left = block.tokens - begin, count = left < walk.tile ? left : walk.tile;
    const Real decay = block.decay[tile];
    loadTile(block, begin, count, room);

    Real scores[kPerThread] = {}, before[kPerThread] = {};
    for (std::int64_t first = 0; first < block.inner; first += kPiece) {
      const int width =
          block.inner - first < kPiece ? static_cast<int>(block.inner - first) : kPiece;
      loadPiece(block, begin, count, first, room);
      __syncthreads();
      Real* rows = state + first * kColumns;
      for (int i = 0; i < width; ++i) {
        const Real own = room.x[row][i];
#pragma unroll
        for (int c = 0; c < kPerThread; ++c) {
          scores[c] += own * room.y[part + c * kPart][i];
          before[c] += own * rows[i * kColumns + part + c * kPart];
        }
      }
      __syncthreads();  // the state has been read, now it may change
      for (int e = threadIdx.x; e < width * kColumns; e += kThreads) {
        const int i = e / kColumns, j = e % kColumns;
        Real sum = decay * rows[e];
        for (int b = 0; b < count; ++b) sum += room.write[b] * room.y[b][i] * room.z[b][j];
        rows[e] = sum;
      }
      __syncthreads();  // x and y may change
    }
#pragma unroll
    for (int c = 0; c < kPerThread; ++c) {
      const int other = part + c * kPart;
      const bool isSeen = walk.isForwards ? other <= row : other >= row;
      const double exponent = walk.isForwards ? room.rowLog[row] + room.columnLog[other]
                                              : room.rowLog[other] + room.columnLog[row];
      const bool isThere = row < count && other < count && isSeen;
      room.scores[row][other] =
          isThere ? scores[c] * static_cast<Real>(walk.scale) * exponential(exponent, Real())
                  : Real(0);
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < kPerThread; ++c) {
      const int j = part + c * kPart;
      Real sum = room.read[row] * before[c];
      for (int b = 0; b < kTile; ++b) sum += room.scores[row][b] * room.z[b][j];
      if (row < count && block.firstColumn + j < block.outer)
        block.out[(begin + row) * block.outer + block.firstColumn + j] = sum;
    }
    __syncthreads();  // the room may change
  }
  for (std::int64_t i = threadIdx.x; i < block.inner * kColumns; i += kThreads) {
    const std::int64_t column = block.firstColumn + i % kColumns;
    if (column < block.outer) block.stateOut[i / kColumns * block.outer + column] = state[i];
  }
}

template <class Real>
cudaError_t launchWalk(const MlstmWalkArrays& walk, cudaStream_t stream) {
  if (walk.units == 0 || walk.tokens == 0) return cudaSuccess;
  const auto bytes =
      static_cast<int>(sizeof(WalkRoom<Real>) + walk.inner * kColumns * sizeof(Real));
  const cudaError_t status =
      cudaFuncSetAttribute(walkKernel<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  const dim3 grid(static_cast<unsigned>(walk.units),
                  static_cast<unsigned>((walk.outer + kColumns - 1) / kColumns));
  walkKernel<Real><<<grid, kThreads, static_cast<std::size_t>(bytes), stream>>>(walk);
  return launchStatus();
}

/// The scan of the unit that this thread has, or none.
__device__ bool scanOfThread(const GateScanArrays& scans, GateScan& scan, std::int64_t& unit) {
  unit = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (unit >= scans.units) return false;
  scan = scans.scan;
  scan.logForget += unit * scan.tokens;
  scan.logInput += unit * scan.tokens;
  scan.start = scans.start[unit];
  return true;
}

__global__ void scanKernel(GateScanArrays scans, double* local, double* stabiliser) {
  GateScan scan;
  std::int64_t unit;
  if (!scanOfThread(scans, scan, unit)) return;
  scanGates(scan, local + unit * scan.tokens, stabiliser + unit * scan.tokens);
}

__global__ void scanBackKernel(GateScanArrays scans, GateScanBackArrays arrays) {
  GateScan scan;
  std::int64_t unit;
  if (!scanOfThread(scans, scan, unit)) return;
  const std::int64_t at = unit * scan.tokens;
  arrays.start[unit] =
      scanGatesBack(scan, arrays.stabiliser + at, arrays.rows + at, arrays.columns + at,
                    arrays.stabilisers == nullptr ? nullptr : arrays.stabilisers + at,
                    arrays.logForget + at, arrays.logInput + at);
}

/// Few units, each a chain of additions: small blocks spread them over the processors.
constexpr int kScanThreads = 32;
unsigned scanBlocks(std::int64_t units) {
  return static_cast<unsigned>((units + kScanThreads - 1) / kScanThreads);
}

}  // namespace

cudaError_t launchMlstmWalk(Scalar scalar, const MlstmWalkArrays& walk, cudaStream_t stream) {
  if (walk.tile < 1 || walk.tile > kTile) return cudaErrorInvalidValue;
  switch (scalar) {
    case Scalar::Float64:
      return launchWalk<double>(walk, stream);
    case Scalar::Float32:
      return launchWalk<float>(walk, stream);
    case Scalar::BFloat16:
    case Scalar::Float16:
      break;
  }
  return cudaErrorInvalidValue;
}

cudaError_t launchScanGates(const GateScanArrays& scans, double* local, double* stabiliser,
                            cudaStream_t stream) {
  if (scans.units == 0) return cudaSuccess;
  scanKernel<<<scanBlocks(scans.units), kScanThreads, 0, stream>>>(scans, local, stabiliser);
  return launchStatus();
}

cudaError_t launchScanGatesBack(const GateScanArrays& scans, const GateScanBackArrays& arrays,
                                cudaStream_t stream) {
  if (scans.units == 0) return cudaSuccess;
  scanBackKernel<<<scanBlocks(scans.units), kScanThreads, 0, stream>>>(scans, arrays);
  return launchStatus();
}

}  // namespace vitrine::kernels
