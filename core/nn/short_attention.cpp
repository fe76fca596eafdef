#include "core/nn/short_attention.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/nn/fast_exp.h"
#include "core/nn/vector_clones.h"

namespace vitrine::nn {

namespace {

/// Sizes and strides of one call. Rows of q are `queryStride` floats apart, those of k and v
/// `keyStride`.
struct Problem {
  std::int64_t batch = 0, heads = 0, queries = 0, keys = 0, headDim = 0;
  std::int64_t queryStride = 0, keyStride = 0, outStride = 0;
  std::int64_t firstQuery = 0;
  float scale = 1;
  const float* cosine = nullptr;  ///< [keys, headDim/2] or null
  const float* sine = nullptr;
  const float* additive = nullptr;        ///< [queries, keys] or null
  const float* multiplicative = nullptr;  ///< [queries, keys] or null
};

/// Vectors are filled whole: rows that are walked along the keys end at a multiple of 16.
constexpr std::int64_t padded(std::int64_t keys) { return (keys + 15) / 16 * 16; }

/// Copies a row, turned by its position when there are angles. Direction -1 turns back.
inline void loadRow(const float* row, const Problem& p, std::int64_t position, float direction,
                    float* out) {
  if (p.cosine == nullptr) {
    for (std::int64_t c = 0; c < p.headDim; ++c) out[c] = row[c];
    return;
  }
  const float* cosine = p.cosine + position * (p.headDim / 2);
  const float* sine = p.sine + position * (p.headDim / 2);
  for (std::int64_t m = 0; m < p.headDim / 2; ++m) {
    const float a = row[2 * m], b = row[2 * m + 1], s = direction * sine[m];
    out[2 * m] = a * cosine[m] - b * s;
    out[2 * m + 1] = a * s + b * cosine[m];
  }
}

/// out[c * stride + t] = rows[t][c]; the padding is zero.
inline void transpose(const float* rows, std::int64_t count, std::int64_t headDim, float* out) {
  const std::int64_t stride = padded(count);
  for (std::int64_t c = 0; c < headDim; ++c) {
    for (std::int64_t t = 0; t < count; ++t) out[c * stride + t] = rows[t * headDim + c];
    for (std::int64_t t = count; t < stride; ++t) out[c * stride + t] = 0;
  }
}

/// sums[j] = scale * sum_c left[c] * rightTransposed[c][j], j over the padded keys.
inline void dotWithAll(const float* left, const float* rightTransposed, std::int64_t headDim,
                       std::int64_t stride, float scale, float* sums) {
  for (std::int64_t first = 0; first < stride; first += 16) {
    float block[16] = {};
    for (std::int64_t c = 0; c < headDim; ++c) {
      const float factor = left[c];
      const float* column = rightTransposed + c * stride + first;
      for (int j = 0; j < 16; ++j) block[j] += factor * column[j];
    }
    for (int j = 0; j < 16; ++j) sums[first + j] = block[j] * scale;
  }
}

/// out[c] += sum_j weights[j] * rows[j][c]
inline void addWeightedRows(const float* weights, const float* rows, std::int64_t count,
                            std::int64_t headDim, float* out) {
  for (std::int64_t first = 0; first < headDim; first += 16) {
    const std::int64_t lanes = std::min<std::int64_t>(16, headDim - first);
    float block[16] = {};
    if (lanes == 16) {
      for (std::int64_t j = 0; j < count; ++j) {
        const float factor = weights[j];
        const float* row = rows + j * headDim + first;
        for (int c = 0; c < 16; ++c) block[c] += factor * row[c];
      }
    } else {
      for (std::int64_t j = 0; j < count; ++j) {
        for (std::int64_t c = 0; c < lanes; ++c)
          block[c] += weights[j] * rows[j * headDim + first + c];
      }
    }
    for (std::int64_t c = 0; c < lanes; ++c) out[first + c] += block[c];
  }
}

/// Scratch of one thread: rows of q, k, v, dO and gradients, and transposes.
struct Scratch {
  explicit Scratch(const Problem& p)
      : stride(padded(p.keys)),
        query(static_cast<std::size_t>(p.queries * p.headDim)),
        key(static_cast<std::size_t>(p.keys * p.headDim)),
        value(key.size()),
        outGradient(query.size()),
        queryGradient(query.size()),
        keyGradient(key.size()),
        valueGradient(key.size()),
        transposed(static_cast<std::size_t>(stride * p.headDim)),
        logits(static_cast<std::size_t>(p.queries * stride)),
        weights(logits.size()),
        column(static_cast<std::size_t>(padded(p.queries))) {}
  std::int64_t stride;
  std::vector<float> query, key, value, outGradient, queryGradient, keyGradient, valueGradient,
      transposed, logits, weights, column;
};

VITRINE_VECTOR_CLONES
void forwardHead(const Problem& p, const float* query, const float* key, const float* value,
                 float* out, float* probabilities, Scratch& s) {
  for (std::int64_t j = 0; j < p.keys; ++j)
    loadRow(key + j * p.keyStride, p, j, 1, &s.key[static_cast<std::size_t>(j * p.headDim)]);
  for (std::int64_t j = 0; j < p.keys; ++j) {
    for (std::int64_t c = 0; c < p.headDim; ++c)
      s.value[static_cast<std::size_t>(j * p.headDim + c)] = value[j * p.keyStride + c];
  }
  transpose(s.key.data(), p.keys, p.headDim, s.transposed.data());
  float* logits = s.logits.data();
  for (std::int64_t i = 0; i < p.queries; ++i) {
    loadRow(query + i * p.queryStride, p, p.firstQuery + i, 1, s.query.data());
    dotWithAll(s.query.data(), s.transposed.data(), p.headDim, s.stride, p.scale, logits);
    if (p.additive != nullptr) {
      for (std::int64_t j = 0; j < p.keys; ++j) logits[j] += p.additive[i * p.keys + j];
    }
    for (std::int64_t j = p.keys; j < s.stride; ++j)
      logits[j] = -std::numeric_limits<float>::infinity();
    float lanes[16];
    for (int j = 0; j < 16; ++j) lanes[j] = logits[j];
    for (std::int64_t first = 16; first < s.stride; first += 16) {
      for (int j = 0; j < 16; ++j)
        lanes[j] = lanes[j] > logits[first + j] ? lanes[j] : logits[first + j];
    }
    float largest = lanes[0];
    for (int j = 1; j < 16; ++j) largest = largest > lanes[j] ? largest : lanes[j];
    float sums[16] = {};
    for (std::int64_t first = 0; first < s.stride; first += 16) {
      for (int j = 0; j < 16; ++j) {
        const float e = expNegative(logits[first + j] - largest);
        logits[first + j] = e;
        sums[j] += e;
      }
    }
    float sum = 0;
    for (int j = 0; j < 16; ++j) sum += sums[j];
    const float inverse = 1 / sum;
    float* row = probabilities + i * p.keys;
    for (std::int64_t j = 0; j < p.keys; ++j) row[j] = logits[j] * inverse;
    const float* weights = row;
    if (p.multiplicative != nullptr) {
      for (std::int64_t j = 0; j < p.keys; ++j)
        logits[j] = row[j] * p.multiplicative[i * p.keys + j];
      weights = logits;
    }
    float* target = out + i * p.outStride;
    for (std::int64_t c = 0; c < p.headDim; ++c) target[c] = 0;
    addWeightedRows(weights, s.value.data(), p.keys, p.headDim, target);
  }
}

/// Gradients of one head; each target row is written, not added to.
struct HeadGradients {
  float* query;
  float* key;
  float* value;
};

VITRINE_VECTOR_CLONES
void backwardHead(const Problem& p, const float* query, const float* key, const float* value,
                  const float* outGradient, const float* probabilities,
                  const HeadGradients& gradients, Scratch& s) {
  const auto at = [&p](std::vector<float>& rows, std::int64_t row) {
    return rows.data() + row * p.headDim;
  };
  for (std::int64_t j = 0; j < p.keys; ++j) {
    loadRow(key + j * p.keyStride, p, j, 1, at(s.key, j));
    for (std::int64_t c = 0; c < p.headDim; ++c) at(s.value, j)[c] = value[j * p.keyStride + c];
  }
  transpose(s.value.data(), p.keys, p.headDim, s.transposed.data());
  // weights[i] = row i of P * S; logits[i] = row i of the logits' gradient, already times the
  // scale.
  for (std::int64_t i = 0; i < p.queries; ++i) {
    loadRow(query + i * p.queryStride, p, p.firstQuery + i, 1, at(s.query, i));
    for (std::int64_t c = 0; c < p.headDim; ++c)
      at(s.outGradient, i)[c] = outGradient[i * p.outStride + c];
    float* slope = s.logits.data() + i * s.stride;
    float* weight = s.weights.data() + i * s.stride;
    dotWithAll(at(s.outGradient, i), s.transposed.data(), p.headDim, s.stride, 1, slope);
    const float* row = probabilities + i * p.keys;
    if (p.multiplicative != nullptr) {
      const float* factor = p.multiplicative + i * p.keys;
      for (std::int64_t j = 0; j < p.keys; ++j) {
        weight[j] = row[j] * factor[j];
        slope[j] *= factor[j];
      }
    } else {
      for (std::int64_t j = 0; j < p.keys; ++j) weight[j] = row[j];
    }
    float mean = 0;
    for (std::int64_t j = 0; j < p.keys; ++j) mean += row[j] * slope[j];
    for (std::int64_t j = 0; j < p.keys; ++j) slope[j] = row[j] * (slope[j] - mean) * p.scale;
    float* target = at(s.queryGradient, i);
    for (std::int64_t c = 0; c < p.headDim; ++c) target[c] = 0;
    addWeightedRows(slope, s.key.data(), p.keys, p.headDim, target);
    loadRow(target, p, p.firstQuery + i, -1, gradients.query + i * p.queryStride);
  }
  for (std::int64_t j = 0; j < p.keys; ++j) {
    float* target = gradients.value + j * p.keyStride;
    for (std::int64_t c = 0; c < p.headDim; ++c) target[c] = 0;
    for (std::int64_t i = 0; i < p.queries; ++i)
      s.column[static_cast<std::size_t>(i)] = s.weights[static_cast<std::size_t>(i * s.stride + j)];
    addWeightedRows(s.column.data(), s.outGradient.data(), p.queries, p.headDim, target);
    float* keyRow = at(s.keyGradient, j);
    for (std::int64_t c = 0; c < p.headDim; ++c) keyRow[c] = 0;
    for (std::int64_t i = 0; i < p.queries; ++i)
      s.column[static_cast<std::size_t>(i)] = s.logits[static_cast<std::size_t>(i * s.stride + j)];
    addWeightedRows(s.column.data(), s.query.data(), p.queries, p.headDim, keyRow);
    loadRow(keyRow, p, j, -1, gradients.key + j * p.keyStride);
  }
}

const float* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

/// The constants of a call, made contiguous; kept alive by the autograd node.
struct Constants {
  at::Tensor cosine, sine, additive, multiplicative;
};

Problem problemOf(const at::Tensor& query, const at::Tensor& keyValue, std::int64_t heads,
                  std::int64_t firstQuery, const Constants& constants) {
  Problem p;
  const bool isPacked = !keyValue.defined();
  const std::int64_t width = isPacked ? query.size(2) / 3 : query.size(2);
  p.batch = query.size(0);
  p.heads = heads;
  p.queries = query.size(1);
  p.keys = isPacked ? p.queries : keyValue.size(1);
  p.headDim = width / heads;
  p.queryStride = query.size(2);
  p.keyStride = isPacked ? query.size(2) : keyValue.size(2);
  p.outStride = width;
  p.firstQuery = firstQuery;
  p.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(p.headDim)));
  p.cosine = pointer(constants.cosine);
  p.sine = pointer(constants.sine);
  p.additive = pointer(constants.additive);
  p.multiplicative = pointer(constants.multiplicative);
  return p;
}

/// Where head h of image b begins.
struct Offsets {
  Offsets(const Problem& p, std::int64_t unit, bool isPacked) {
    const std::int64_t b = unit / p.heads, h = unit % p.heads, width = p.heads * p.headDim;
    query = b * p.queries * p.queryStride + h * p.headDim;
    key = b * p.keys * p.keyStride + h * p.headDim + (isPacked ? width : 0);
    value = key + width;
    out = b * p.queries * p.outStride + h * p.headDim;
    probabilities = unit * p.queries * p.keys;
  }
  std::int64_t query, key, value, out, probabilities;
};

/// Heads are handed out in fixed shares, so results do not depend on which thread takes which.
constexpr std::int64_t kHeadsAtOnce = 8;

class ShortAttention : public torch::autograd::Function<ShortAttention> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& queryIn,
                            const std::optional<at::Tensor>& keyValueIn, const Constants& constants,
                            std::int64_t heads, std::int64_t firstQuery) {
    const at::Tensor query = queryIn.contiguous();
    const at::Tensor keyValue = keyValueIn ? keyValueIn->contiguous() : at::Tensor();
    const Problem p = problemOf(query, keyValue, heads, firstQuery, constants);
    const bool isPacked = !keyValue.defined();
    const at::Tensor out = at::empty({p.batch, p.queries, p.heads * p.headDim}, query.options());
    const at::Tensor probabilities =
        at::empty({p.batch, p.heads, p.queries, p.keys}, query.options());
    const float* q = query.data_ptr<float>();
    const float* kv = isPacked ? q : keyValue.data_ptr<float>();
    at::parallel_for(0, p.batch * p.heads, kHeadsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      Scratch scratch(p);
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const Offsets at(p, unit, isPacked);
        forwardHead(p, q + at.query, kv + at.key, kv + at.value, out.data_ptr<float>() + at.out,
                    probabilities.data_ptr<float>() + at.probabilities, scratch);
      }
    });
    context->save_for_backward({query, keyValue, constants.cosine, constants.sine,
                                constants.additive, constants.multiplicative, probabilities});
    context->saved_data["heads"] = heads;
    context->saved_data["first_query"] = firstQuery;
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outGradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &query = saved[0], &keyValue = saved[1], &probabilities = saved[6];
    const Problem p = problemOf(query, keyValue, context->saved_data["heads"].toInt(),
                                context->saved_data["first_query"].toInt(),
                                Constants{saved[2], saved[3], saved[4], saved[5]});
    const bool isPacked = !keyValue.defined();
    const at::Tensor outGradient = outGradients[0].to(at::kFloat).contiguous();
    const at::Tensor queryGradient = at::empty_like(query);
    const at::Tensor keyValueGradient = isPacked ? at::Tensor() : at::empty_like(keyValue);
    const float* q = query.data_ptr<float>();
    const float* kv = isPacked ? q : keyValue.data_ptr<float>();
    float* dq = queryGradient.data_ptr<float>();
    float* dkv = isPacked ? dq : keyValueGradient.data_ptr<float>();
    at::parallel_for(0, p.batch * p.heads, kHeadsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      Scratch scratch(p);
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const Offsets at(p, unit, isPacked);
        backwardHead(p, q + at.query, kv + at.key, kv + at.value,
                     outGradient.data_ptr<float>() + at.out,
                     probabilities.data_ptr<float>() + at.probabilities,
                     {dq + at.query, dkv + at.key, dkv + at.value}, scratch);
      }
    });
    return {queryGradient, keyValueGradient, {}, {}, {}};
  }
};

at::Tensor plainRows(const at::Tensor& mask, std::int64_t queries, std::int64_t keys) {
  return mask.defined() ? mask.detach().to(at::kFloat).reshape({queries, keys}).contiguous()
                        : at::Tensor();
}

}  // namespace

at::Tensor shortAttention(const AttentionInput& input, std::int64_t keys) {
  const std::int64_t queries = input.query.size(1);
  Constants constants;
  if (input.angles.defined()) {
    constants.cosine = input.angles.cos().contiguous();
    constants.sine = input.angles.sin().contiguous();
  }
  constants.additive = plainRows(input.additive, queries, keys);
  constants.multiplicative = plainRows(input.multiplicative, queries, keys);
  std::optional<at::Tensor> keyValue;
  if (input.keyValue.defined()) keyValue = input.keyValue;
  return ShortAttention::apply(input.query, keyValue, constants, input.heads, input.firstQuery);
}

}  // namespace vitrine::nn
