#include "core/kernels/cpu/mlstm/head.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kernels/cpu/gemm.h"
#include "core/kernels/cpu/kernels.h"

namespace vitrine::cpu {

namespace {

constexpr Factor kFactor = Factor::Float32;
/// Queries that meet their keys at once: their scores lie in a near cache. A chunk's last tile
/// takes what is left, up to half a tile more: products of few rows are slower.
constexpr std::int64_t kQueries = 48;
constexpr std::int64_t tilesOf(std::int64_t count) {
  return std::max<std::int64_t>(1, (count + kQueries / 2) / kQueries);
}
/// Tokens [begin, end) of the chunk that begins at `chunk`.
struct Tile {
  std::int64_t chunk, begin, end;
};
constexpr Tile tileOf(std::int64_t chunk, std::int64_t end, std::int64_t index) {
  const std::int64_t begin = chunk + index * kQueries;
  return {chunk, begin, index + 1 == tilesOf(end - chunk) ? end : begin + kQueries};
}

constexpr std::int64_t wholeSteps(std::int64_t count) {
  return (count + kScoreStep - 1) / kScoreStep * kScoreStep;
}
/// Double where a sum of logarithms is formed, float once it is one exponent.
float exponentialOf(double exponent) { return std::exp(static_cast<float>(exponent)); }

using Floats = AlignedFloats;
void setSize(Floats& room, std::int64_t count) { room.resize(static_cast<std::size_t>(count)); }

}  // namespace

std::int64_t MlstmShape::scoreStride() const { return wholeSteps(chunk); }

/// A right factor of which a product may use the first rows only.
struct MlstmHead::RightFactor {
  Floats values;
  std::int64_t depth = 0;

  void pack(std::int64_t rows, std::int64_t columns, const MatrixView& matrix) {
    depth = rows;
    const std::int64_t size = packedRightSize(kFactor, rows, columns);
    if (static_cast<std::int64_t>(values.size()) < size) setSize(values, size);
    packRight(kFactor, rows, columns, matrix, values.data());
  }
  /// out = start + left right[0, used), the left factor [rows, used].
  void multiply(std::int64_t rows, std::int64_t columns, std::int64_t used, const MatrixView& left,
                const Start& start, float* out, std::int64_t outStride,
                const Triangle& triangle = {}) const {
    if (used == depth)
      return gemm(kFactor, rows, columns, depth, left, values.data(), start, out, outStride,
                  triangle);
    const std::int64_t panel = kernels().panel;
    for (std::int64_t j = 0; j < columns; j += panel) {
      const Start from{start.values == nullptr ? nullptr : start.values + j, start.stride};
      gemm(kFactor, rows, std::min(panel, columns - j), used, left, values.data() + j * depth, from,
           out + j, outStride, triangle);
    }
  }
};

struct MlstmHead::Room {
  MlstmShape p;
  std::int64_t tile, stride;
  // Of the head.
  std::vector<double> local, stabiliser, stabiliserSlopes, rowSums, columnSums;
  Floats inverse, shift;
  Floats memories, memorySums;  ///< before every chunk
  // Of a chunk.
  Floats enter, leave;  ///< factors from the memory before it, and to the one after it
  Floats through;       ///< from the memory before it to gradients of h
  float decay = 0;      ///< of the memory over it
  RightFactor keys, values, keyRows, memoryRows, right;
  Floats scaled, scaledValues;
  Floats memory, sum;  ///< running state, or its gradient
  // Of a tile.
  Floats row, rowHigh, rowLow, column, columnHigh, columnLow, factors;
  Floats scores;  ///< or their gradients

  explicit Room(const MlstmShape& shape)
      : p(shape),
        tile(std::min(shape.chunk, kQueries + kQueries / 2)),
        stride(shape.scoreStride()) {
    const auto tokens = static_cast<std::size_t>(p.tokens);
    local.resize(tokens), stabiliser.resize(tokens);
    for (Floats* room : {&enter, &leave, &through, &column}) setSize(*room, p.chunk);
    for (Floats* room : {&row, &rowHigh, &rowLow, &columnHigh, &columnLow, &factors})
      setSize(*room, tile);
    setSize(scores, tile * stride);
    setSize(scaled, p.chunk * p.keyWidth);
    setSize(memory, p.keyWidth * p.valueWidth);
    setSize(sum, p.keyWidth);
  }

  [[nodiscard]] std::int64_t chunks() const { return (p.tokens + p.chunk - 1) / p.chunk; }
  [[nodiscard]] DecayRows decayRows(std::int64_t rows, std::int64_t before) const {
    return {rows,           before,        stride,        p.scale,           row.data(),
            rowHigh.data(), rowLow.data(), column.data(), columnHigh.data(), columnLow.data()};
  }

  void scan(const MlstmRows& in) {
    kernels::scanGates({p.tokens, p.chunk, in.logForget, in.logInput, in.start}, local.data(),
                       stabiliser.data());
  }
  [[nodiscard]] double before(const MlstmRows& in, std::int64_t token) const {
    return token == 0 ? in.start : stabiliser[static_cast<std::size_t>(token - 1)];
  }
  [[nodiscard]] float bound(std::int64_t t) const {
    return exponentialOf(-stabiliser[static_cast<std::size_t>(t)]);
  }
  [[nodiscard]] float normaliser(std::int64_t t, float signedSum) const {
    const float least = bound(t);
    return (p.isBounded ? std::max(std::abs(signedSum), least) : least) + static_cast<float>(p.eps);
  }

  void setChunk(const MlstmRows& in, std::int64_t begin, std::int64_t end) {
    const double first = before(in, begin), last = stabiliser[static_cast<std::size_t>(end - 1)],
                 whole = local[static_cast<std::size_t>(end - 1)];
    for (std::int64_t t = begin; t < end; ++t) {
      const auto at = static_cast<std::size_t>(t), i = static_cast<std::size_t>(t - begin);
      enter[i] = p.scale * exponentialOf(local[at] + first - stabiliser[at]);
      leave[i] = exponentialOf(whole - local[at] + in.logInput[t] - last);
    }
    decay = exponentialOf(whole + first - last);
  }

  void setTile(const MlstmRows& in, const Tile& at) {
    const auto [chunk, begin, end] = at;
    const bool isFirst = begin == chunk;
    const double past = isFirst ? 0 : local[static_cast<std::size_t>(begin - 1)];
    const double largest = isFirst ? 0 : stabiliser[static_cast<std::size_t>(begin - 1)];
    const auto split = [](double value, float& high, float& low) {
      high = static_cast<float>(value);
      low = static_cast<float>(value - high);
    };
    for (std::int64_t t = begin; t < end; ++t) {
      const auto token = static_cast<std::size_t>(t), i = static_cast<std::size_t>(t - begin);
      const double since = local[token] - past;
      row[i] = isFirst ? 0 : p.scale * exponentialOf(since + largest - stabiliser[token]);
      split(since - stabiliser[token], rowHigh[i], rowLow[i]);
      split(in.logInput[t] - since, columnHigh[i], columnLow[i]);
    }
    for (std::int64_t s = chunk; s < begin; ++s) {
      column[static_cast<std::size_t>(s - chunk)] =
          exponentialOf(past - local[static_cast<std::size_t>(s)] + in.logInput[s] - largest);
    }
  }

  /// Plain products of a tile's rows with the keys (or values) of the chunk up to their own.
  void products(const Tile& at, std::int64_t depth, const MatrixView& left,
                const RightFactor& factor, float* out) const {
    const std::int64_t panel = kernels().panel;
    const std::int64_t columns = std::min(stride, (at.end - at.chunk + panel - 1) / panel * panel);
    gemm(kFactor, at.end - at.begin, columns, depth, left, factor.values.data(), {}, out, stride,
         {Triangle::Result, at.begin - at.chunk});
  }

  /// state = decay * state + sum of factors[t] left_t right_t^T over the chunk; `right` is packed.
  void addToState(bool hasState, std::int64_t count, const float* left, std::int64_t leftStride,
                  const Floats& weights, const RightFactor& packed) {
    const Kernels& loops = cpu::kernels();
    loops.scaleRows(count, p.keyWidth, left, leftStride, weights.data(), scaled.data(), p.keyWidth);
    for (Floats* each : {&memory, &sum}) {
      if (hasState) {
        loops.scaleRows(1, static_cast<std::int64_t>(each->size()), each->data(), 0, &decay,
                        each->data(), 0);
      } else {
        std::fill(each->begin(), each->end(), 0.0F);
      }
    }
    packed.multiply(p.keyWidth, p.valueWidth, count, {scaled.data(), 1, p.keyWidth},
                    {memory.data(), p.valueWidth}, memory.data(), p.valueWidth);
  }

  void writeMemory(const MlstmRows& in, bool hasMemory, std::int64_t begin, std::int64_t end) {
    addToState(hasMemory, end - begin, in.key + begin * p.keyStride, p.keyStride, leave, values);
    kernels().addRows(end - begin, p.keyWidth, scaled.data(), p.keyWidth, sum.data());
  }
  void packValues(const MlstmRows& in, std::int64_t begin, std::int64_t end) {
    values.pack(end - begin, p.valueWidth, {in.value + begin * p.valueStride, p.valueStride, 1});
  }
  void packKeys(const MlstmRows& in, std::int64_t begin, std::int64_t end) {
    keys.pack(p.keyWidth, end - begin, transposed({in.key + begin * p.keyStride, p.keyStride, 1}));
  }
  void takeStart(const MlstmRows& in) {
    if (in.memory == nullptr) return;
    std::copy(in.memory, in.memory + p.keyWidth * p.valueWidth, memory.begin());
    std::copy(in.sum, in.sum + p.keyWidth, sum.begin());
  }

  void forwardTile(const MlstmRows& in, const MlstmResults& out, const Tile& at, bool hasMemory);
  void forward(const MlstmRows& in, const MlstmResults& out);
  void keepStates(const MlstmRows& in);
  void setSlopes(const MlstmSlopes& at);
  void backwardTile(const MlstmRows& in, const MlstmSlopes& to, const Tile& at,
                    const float* sumBefore, bool isAdded);
  void backwardChunk(const MlstmRows& in, const MlstmSlopes& at, std::int64_t index, bool hasSlope);
  void backward(const MlstmRows& in, const MlstmSlopes& at);
  void gateSlopes(const MlstmRows& in, const MlstmSlopes& at);
};

void MlstmHead::Room::forwardTile(const MlstmRows& in, const MlstmResults& out, const Tile& at,
                                  bool hasMemory) {
  const Kernels& loops = cpu::kernels();
  const auto [chunk, begin, end] = at;
  const std::int64_t rows = end - begin, width = end - chunk;
  const float* query = in.query + begin * p.queryStride;
  float *h = out.h + begin * p.outStride, *sums = out.signedSum + begin;
  float* tileScores = out.scores == nullptr ? scores.data() : out.scores + begin * stride;
  setTile(in, at);
  products(at, p.keyWidth, {query, p.queryStride, 1}, keys, tileScores);
  loops.decayRows(decayRows(rows, begin - chunk), tileScores, sums);
  const float* entering = enter.data() + (begin - chunk);
  if (hasMemory) {
    loops.dotRows(p.keyWidth, sum.data(), rows, query, p.queryStride, factors.data());
    for (std::int64_t r = 0; r < rows; ++r)
      sums[r] += entering[r] * factors[static_cast<std::size_t>(r)];
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    factors[static_cast<std::size_t>(r)] = 1 / normaliser(begin + r, sums[r]);
    out.stabiliser[begin + r] = static_cast<float>(stabiliser[static_cast<std::size_t>(begin + r)]);
  }
  loops.scaleRows(rows, width, tileScores, stride, factors.data(), tileScores, stride);
  values.multiply(rows, p.valueWidth, width, {tileScores, stride, 1}, {}, h, p.outStride,
                  {Triangle::LeftRows, begin - chunk});
  if (!hasMemory) return;
  for (std::int64_t r = 0; r < rows; ++r) factors[static_cast<std::size_t>(r)] *= entering[r];
  loops.scaleRows(rows, p.keyWidth, query, p.queryStride, factors.data(), scaled.data(),
                  p.keyWidth);
  memoryRows.multiply(rows, p.valueWidth, p.keyWidth, {scaled.data(), p.keyWidth, 1},
                      {h, p.outStride}, h, p.outStride);
}

void MlstmHead::Room::forward(const MlstmRows& in, const MlstmResults& out) {
  scan(in);
  takeStart(in);
  bool hasMemory = in.memory != nullptr;
  for (std::int64_t begin = 0; begin < p.tokens; begin += p.chunk) {
    const std::int64_t end = std::min(p.tokens, begin + p.chunk);
    const bool isWritten = end < p.tokens || p.keepsState;
    packKeys(in, begin, end);
    packValues(in, begin, end);
    if (hasMemory || isWritten) setChunk(in, begin, end);
    if (hasMemory) memoryRows.pack(p.keyWidth, p.valueWidth, {memory.data(), p.valueWidth, 1});
    for (std::int64_t i = 0; i < tilesOf(end - begin); ++i)
      forwardTile(in, out, tileOf(begin, end, i), hasMemory);
    if (isWritten) writeMemory(in, hasMemory, begin, end);
    hasMemory = true;
  }
  if (!p.keepsState) return;
  std::copy(memory.begin(), memory.end(), out.memory);
  std::copy(sum.begin(), sum.end(), out.sum);
}

/// The memory before every chunk, once more.
void MlstmHead::Room::keepStates(const MlstmRows& in) {
  const std::int64_t size = p.keyWidth * p.valueWidth;
  setSize(memories, chunks() * size);
  setSize(memorySums, chunks() * p.keyWidth);
  takeStart(in);
  bool hasMemory = in.memory != nullptr;
  for (std::int64_t i = 0; i < chunks(); ++i) {
    const std::int64_t begin = i * p.chunk, end = std::min(p.tokens, begin + p.chunk);
    if (hasMemory) {
      std::copy(memory.begin(), memory.end(), memories.begin() + i * size);
      std::copy(sum.begin(), sum.end(), memorySums.begin() + i * p.keyWidth);
    }
    if (end == p.tokens) break;
    setChunk(in, begin, end);
    packValues(in, begin, end);
    writeMemory(in, hasMemory, begin, end);
    hasMemory = true;
  }
}

/// Gradients of sums and stabilisers from that of h, and the factors that make of the latter those
/// of numerators.
void MlstmHead::Room::setSlopes(const MlstmSlopes& at) {
  setSize(inverse, p.tokens);
  setSize(shift, p.tokens);
  stabiliserSlopes.resize(static_cast<std::size_t>(p.tokens));
  for (std::int64_t t = 0; t < p.tokens; ++t) {
    const auto i = static_cast<std::size_t>(t);
    const float signedSum = at.signedSum[t];
    inverse[i] = 1 / normaliser(t, signedSum);
    shift[i] = 0;
    stabiliserSlopes[i] = 0;
    if (!p.isExact) continue;
    float along = 0;
    kernels().dotRows(p.valueWidth, at.slope + t * p.outStride, 1, at.h + t * p.outStride, 0,
                      &along);
    along *= inverse[i];
    if (p.isBounded && std::abs(signedSum) > bound(t)) shift[i] = signedSum > 0 ? -along : along;
    stabiliserSlopes[i] = -static_cast<double>(along) * p.eps;
  }
}

/// \param isAdded  whether gradients of keys and values are there already
void MlstmHead::Room::backwardTile(const MlstmRows& in, const MlstmSlopes& to, const Tile& at,
                                   const float* sumBefore, bool isAdded) {
  const Kernels& loops = cpu::kernels();
  const auto [chunk, begin, end] = at;
  const std::int64_t rows = end - begin, width = end - chunk;
  const float *query = in.query + begin * p.queryStride, *g = to.slope + begin * p.outStride;
  const float *own = inverse.data() + begin, *shifts = shift.data() + begin;
  float* dq = to.query + begin * p.keyWidth;
  setTile(in, at);
  products(at, p.valueWidth, {g, p.outStride, 1}, values, scores.data());
  loops.decayRowsBackward(decayRows(rows, begin - chunk), own, shifts, scores.data());
  keyRows.multiply(rows, p.keyWidth, width, {scores.data(), stride, 1}, {}, dq, p.keyWidth,
                   {Triangle::LeftRows, begin - chunk});
  if (sumBefore != nullptr) {
    const float* entering = enter.data() + (begin - chunk);
    loops.scaleRows(rows, p.valueWidth, g, p.outStride, through.data() + (begin - chunk),
                    scaledValues.data(), p.valueWidth);
    memoryRows.multiply(rows, p.keyWidth, p.valueWidth, {scaledValues.data(), p.valueWidth, 1},
                        {dq, p.keyWidth}, dq, p.keyWidth);
    for (std::int64_t r = 0; r < rows; ++r) {
      float* into = dq + r * p.keyWidth;
      loops.addScaledRows(p.keyWidth, into, sumBefore, entering[r] * shifts[r], into);
    }
  }
  const auto add = [&](const float* weights, const float* from, std::int64_t fromStride,
                       std::int64_t columns, float* out) {
    right.pack(rows, columns, {from, fromStride, 1});
    const Start start = isAdded ? Start{out, columns} : Start{};
    right.multiply(width, columns, rows, {weights, 1, stride}, start, out, columns,
                   {Triangle::LeftColumns, begin - chunk});
  };
  add(scores.data(), query, p.queryStride, p.keyWidth, to.key + chunk * p.keyWidth);
  // Of these tokens, gradients of queries and keys are whole now, and near.
  for (std::int64_t t = begin; t < end; ++t) {
    const auto i = static_cast<std::size_t>(t);
    rowSums[i] =
        loops.dotInDouble(p.keyWidth, in.query + t * p.queryStride, to.query + t * p.keyWidth);
    columnSums[i] =
        loops.dotInDouble(p.keyWidth, in.key + t * p.keyStride, to.key + t * p.keyWidth);
  }
  add(to.scores + begin * stride, g, p.outStride, p.valueWidth, to.value + chunk * p.valueWidth);
}

void MlstmHead::Room::backwardChunk(const MlstmRows& in, const MlstmSlopes& at, std::int64_t index,
                                    bool hasSlope) {
  const Kernels& loops = cpu::kernels();
  const std::int64_t begin = index * p.chunk, end = std::min(p.tokens, begin + p.chunk),
                     count = end - begin;
  const bool hasMemory = index > 0 || in.memory != nullptr;
  const MatrixView key{in.key + begin * p.keyStride, p.keyStride, 1},
      value{in.value + begin * p.valueStride, p.valueStride, 1};
  float *dk = at.key + begin * p.keyWidth, *dv = at.value + begin * p.valueWidth;
  if (hasSlope || hasMemory) setChunk(in, begin, end);
  if (hasSlope) {
    loops.scaleRows(count, p.keyWidth, key.values, p.keyStride, leave.data(), scaled.data(),
                    p.keyWidth);
    right.pack(p.keyWidth, p.valueWidth, {memory.data(), p.valueWidth, 1});
    right.multiply(count, p.valueWidth, p.keyWidth, {scaled.data(), p.keyWidth, 1}, {}, dv,
                   p.valueWidth);
    loops.scaleRows(count, p.valueWidth, value.values, p.valueStride, leave.data(),
                    scaledValues.data(), p.valueWidth);
    right.pack(p.valueWidth, p.keyWidth, transposed({memory.data(), p.valueWidth, 1}));
    right.multiply(count, p.keyWidth, p.valueWidth, {scaledValues.data(), p.valueWidth, 1}, {}, dk,
                   p.keyWidth);
    for (std::int64_t s = 0; s < count; ++s) {
      loops.addScaledRows(p.keyWidth, dk + s * p.keyWidth, sum.data(),
                          leave[static_cast<std::size_t>(s)], dk + s * p.keyWidth);
    }
  }
  values.pack(p.valueWidth, count, transposed(value));
  keyRows.pack(count, p.keyWidth, key);
  const float* sumBefore = nullptr;
  if (hasMemory) {
    sumBefore = memorySums.data() + index * p.keyWidth;
    for (std::int64_t t = 0; t < count; ++t) {
      through[static_cast<std::size_t>(t)] =
          enter[static_cast<std::size_t>(t)] * inverse[static_cast<std::size_t>(begin + t)];
    }
    memoryRows.pack(
        p.valueWidth, p.keyWidth,
        transposed({memories.data() + index * p.keyWidth * p.valueWidth, p.valueWidth, 1}));
  }
  // The last tile meets all keys of the chunk: its products are those that others are added to.
  const std::int64_t tiles = tilesOf(count);
  for (std::int64_t i = tiles - 1; i >= 0; --i)
    backwardTile(in, at, tileOf(begin, end, i), sumBefore, hasSlope || i + 1 < tiles);
  if (!hasMemory) return;
  right.pack(count, p.valueWidth, {at.slope + begin * p.outStride, p.outStride, 1});
  const float* query = in.query + begin * p.queryStride;
  addToState(hasSlope, count, query, p.queryStride, through, right);
  for (std::int64_t t = 0; t < count; ++t) {
    loops.addScaledRows(
        p.keyWidth, sum.data(), query + t * p.queryStride,
        enter[static_cast<std::size_t>(t)] * shift[static_cast<std::size_t>(begin + t)],
        sum.data());
  }
}

void MlstmHead::Room::gateSlopes(const MlstmRows& in, const MlstmSlopes& at) {
  const double carried = kernels::scanGatesBack(
      {p.tokens, p.chunk, in.logForget, in.logInput, in.start}, stabiliser.data(), rowSums.data(),
      columnSums.data(), stabiliserSlopes.data(), at.logForget, at.logInput);
  if (in.memory == nullptr) return;
  double total = carried;
  for (std::size_t i = 0; i < memory.size(); ++i)
    total += static_cast<double>(memory[i]) * in.memory[i];
  for (std::size_t i = 0; i < sum.size(); ++i) total += static_cast<double>(sum[i]) * in.sum[i];
  *at.start = total;
  std::copy(memory.begin(), memory.end(), at.memory);
  std::copy(sum.begin(), sum.end(), at.sum);
}

void MlstmHead::Room::backward(const MlstmRows& in, const MlstmSlopes& at) {
  setSize(scaledValues, p.chunk * p.valueWidth);
  for (auto* sums : {&rowSums, &columnSums}) sums->resize(static_cast<std::size_t>(p.tokens));
  scan(in);
  setSlopes(at);
  if (chunks() > 1 || in.memory != nullptr) keepStates(in);
  for (std::int64_t index = chunks() - 1; index >= 0; --index)
    backwardChunk(in, at, index, index + 1 < chunks());
  gateSlopes(in, at);
}

MlstmHead::MlstmHead(const MlstmShape& shape) : room_(std::make_unique<Room>(shape)) {}
MlstmHead::~MlstmHead() = default;
void MlstmHead::forward(const MlstmRows& in, const MlstmResults& out) { room_->forward(in, out); }
void MlstmHead::backward(const MlstmRows& in, const MlstmSlopes& out) { room_->backward(in, out); }

}  // namespace vitrine::cpu
