// From samples to a batch: dense where all have one shape, else ragged, and texts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "core/data/batch.h"
#include "core/data/sample.h"
#include "core/engine_export.h"

namespace vitrine {

/// Tensors that are used again as soon as no batch holds them. Thread-safe.
class VITRINE_ENGINE_EXPORT TensorPool {
 public:
  [[nodiscard]] at::Tensor take(const std::vector<std::int64_t>& shape, at::ScalarType type);

 private:
  std::mutex mutex_;
  std::deque<at::Tensor> all_;
};

/// Puts samples into batches of at most `batchSize`. One object per thread; the pool is shared.
class VITRINE_ENGINE_EXPORT Collator {
 public:
  /// \param fields  what every sample has: a field of one shape becomes dense, another ragged
  Collator(std::vector<SampleField> fields, std::int64_t batchSize,
           std::shared_ptr<TensorPool> pool);

  /// Begins a batch; forgets what one that was not finished holds.
  void begin();
  /// \throws ConfigError  the sample lacks a field
  /// \throws ShapeError   a value is not as the field says: names sample, field and both shapes
  void add(const Sample& sample);
  /// The batch of what was added since begin().
  [[nodiscard]] Batch finish();

 private:
  struct Column {
    at::Tensor dense;               // [batchSize, shape]
    std::vector<std::byte> values;  // of a ragged field, one sample after another
    std::vector<std::int64_t> shapes;
    std::vector<std::vector<std::string>> texts;
  };
  void addDense(const SampleField& field, const SampleValue& value, std::int64_t id,
                Column& column) const;
  void addRagged(const SampleField& field, const SampleValue& value, std::int64_t id,
                 Column& column) const;
  [[nodiscard]] Ragged raggedOf(const SampleField& field, const Column& column) const;

  std::vector<SampleField> fields_;
  std::int64_t batchSize_;
  std::shared_ptr<TensorPool> pool_;
  std::vector<Column> columns_;  // by field
  std::vector<std::int64_t> ids_;
};

}  // namespace vitrine
