// Multi-head attention as a module: the maps around attend(). For source files only.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/engine_export.h"
#include "core/model/model.h"
#include "core/nn/attend.h"
#include "core/nn/layers.h"

namespace vitrine::nn {

/// Number of maps that make queries, keys and values. A map of several has its rows by kind, then
/// by head.
enum class Projections {
  One,       ///< q, k and v
  KeyValue,  ///< q; k and v
  Separate,  ///< q; k; v
};

struct AttentionNames {
  std::string all = "qkv";  ///< Projections::One
  std::string query = "q", key = "k", value = "v";
  std::string keyValue = "kv";
  std::string out = "proj";
};

struct MultiHeadOptions {
  std::int64_t width = 0, heads = 1;
  std::int64_t keyHeads = 0;      ///< shared by heads / keyHeads queries each; 0: one for each head
  std::int64_t headDim = 0;       ///< 0: width / heads
  std::int64_t contextWidth = 0;  ///< of what keys and values are made of; 0: width
  Projections projections = Projections::One;
  Bias inBias = Bias::Present, outBias = Bias::Present;
  AttentionNames names = {};
};

/// Inputs and options of one pass through the layer.
struct AttentionCall {
  AttendOptions options;  ///< of the whole sequence; its path is ignored where `tap` is set
  at::Tensor context;     ///< [batch, keys, contextWidth]; undefined for x itself
  std::int64_t row = -1;  ///< the one query whose output is wanted, or -1 for all
  /// Sees the probabilities, [batch, heads, queries, keys].
  std::function<void(const AttentionOutput&)> tap;
};

struct VITRINE_ENGINE_EXPORT MultiHeadAttention final : torch::nn::Module {
  /// \throws ShapeError  heads that do not divide, or one map for tokens of two widths
  explicit MultiHeadAttention(const MultiHeadOptions& options);

  /// [batch, tokens, width] -> [batch, tokens or 1, width]
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const AttentionCall& call = {}) const;

  /// The parts, for callers that keep keys and values from call to call: [batch, tokens, heads,
  /// headDim], not turned.
  struct Projected {
    at::Tensor query, key, value;
  };
  [[nodiscard]] Projected project(const at::Tensor& x, const at::Tensor& context = {}) const;
  /// The last map, on values [batch, tokens, heads, headDim].
  [[nodiscard]] at::Tensor join(const at::Tensor& values) const;

  [[nodiscard]] BlockCost cost(double queries, double keys, bool hasFactor = false) const;
  /// Bytes that one pass keeps for its gradient; part of `cost`.
  [[nodiscard]] double keptBytes(double queries, double keys, bool hasFactor = false) const;

  [[nodiscard]] const MultiHeadOptions& options() const { return options_; }
  std::shared_ptr<Linear> all, query, key, value, keyValue, out;  ///< those that there are

 private:
  [[nodiscard]] bool isPacked(const AttentionCall& call) const;
  [[nodiscard]] AttentionOutput attendPacked(const at::Tensor& x, const AttentionCall& call) const;
  MultiHeadOptions options_;
};

/// The row of each query, where a mask is not broadcast over queries; -1 leaves it whole.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor maskOfRow(const at::Tensor& mask, std::int64_t row);

}  // namespace vitrine::nn
