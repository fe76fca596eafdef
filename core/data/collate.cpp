#include "core/data/collate.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine {

namespace {

std::string shown(at::ScalarType type, const std::vector<std::int64_t>& shape) {
  return std::string(c10::toString(type)) + " [" +
         joined(shape,
                [](std::int64_t side) {
                  return side < 0 ? std::string("any") : std::to_string(side);
                }) +
         "]";
}

[[noreturn]] void refuse(const SampleField& field, const SampleValue& value, std::int64_t id) {
  throw ShapeError("field '" + field.name + "' of sample " + std::to_string(id) + " is " +
                   shown(value.type(), value.shape()) + ", where a batch takes " +
                   shown(field.type, field.shape) +
                   (field.kind == FieldKind::Image
                        ? "; add resize or center_crop to data.pipeline or set an image size"
                        : ""));
}

bool fits(const SampleField& field, const SampleValue& value) {
  if (value.type() != field.type || value.shape().size() != field.shape.size()) return false;
  for (std::size_t i = 0; i < field.shape.size(); ++i) {
    if (field.shape[i] >= 0 && field.shape[i] != value.shape()[i]) return false;
  }
  return true;
}

/// Whether only the first side differs, so that the others stay sides of the tensor of values.
bool isOpenInFront(const SampleField& field) {
  return field.shape[0] < 0 &&
         std::find(field.shape.begin() + 1, field.shape.end(), -1) == field.shape.end();
}

at::Tensor tensorOf(const std::vector<std::int64_t>& values, at::IntArrayRef shape) {
  at::Tensor tensor = at::empty(shape, at::kLong);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<std::int64_t>());
  return tensor;
}

}  // namespace

at::Tensor TensorPool::take(const std::vector<std::int64_t>& shape, at::ScalarType type) {
  const std::lock_guard lock(mutex_);
  for (const at::Tensor& tensor : all_) {
    // A narrowed or reshaped view, or what autograd saved, counts on the storage.
    if (tensor.use_count() == 1 && tensor.storage().use_count() == 1 &&
        tensor.scalar_type() == type && tensor.sizes() == at::IntArrayRef(shape)) {
      return tensor;
    }
  }
  return all_.emplace_back(at::empty(shape, type));
}

Collator::Collator(std::vector<SampleField> fields, std::int64_t batchSize,
                   std::shared_ptr<TensorPool> pool)
    : fields_(std::move(fields)),
      batchSize_(batchSize),
      pool_(std::move(pool)),
      columns_(fields_.size()) {}

void Collator::begin() {
  ids_.clear();
  for (Column& column : columns_) {
    column.dense.reset();
    column.values.clear();
    column.shapes.clear();
    column.texts.clear();
  }
}

void Collator::add(const Sample& sample) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const SampleField& field = fields_[i];
    const SampleValue& value = sample.at(field.name);
    if (field.kind == FieldKind::Text) {
      columns_[i].texts.emplace_back(value.texts().begin(), value.texts().end());
    } else if (field.isRagged()) {
      addRagged(field, value, sample.id(), columns_[i]);
    } else {
      addDense(field, value, sample.id(), columns_[i]);
    }
  }
  ids_.push_back(sample.id());
}

void Collator::addDense(const SampleField& field, const SampleValue& value, std::int64_t id,
                        Column& column) const {
  if (value.type() != field.type || value.shape() != field.shape) refuse(field, value, id);
  if (!column.dense.defined()) {
    std::vector<std::int64_t> shape{batchSize_};
    shape.insert(shape.end(), field.shape.begin(), field.shape.end());
    column.dense = pool_->take(shape, field.type);
  }
  const std::span<const std::byte> bytes = value.bytes();
  std::memcpy(static_cast<std::byte*>(column.dense.mutable_data_ptr()) + ids_.size() * bytes.size(),
              bytes.data(), bytes.size());
}

void Collator::addRagged(const SampleField& field, const SampleValue& value, std::int64_t id,
                         Column& column) const {
  if (!fits(field, value)) refuse(field, value, id);
  const std::span<const std::byte> bytes = value.bytes();
  column.values.insert(column.values.end(), bytes.begin(), bytes.end());
  column.shapes.insert(column.shapes.end(), value.shape().begin(), value.shape().end());
}

Ragged Collator::raggedOf(const SampleField& field, const Column& column) const {
  const auto rank = field.shape.size();
  const bool isOpen = isOpenInFront(field);
  std::vector<std::int64_t> offsets{0};
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    std::int64_t rows = 1;
    for (std::size_t side = 0; side < (isOpen ? 1 : rank); ++side)
      rows *= column.shapes[i * rank + side];
    offsets.push_back(offsets.back() + rows);
  }
  std::vector<std::int64_t> shape{offsets.back()};
  if (isOpen) shape.insert(shape.end(), field.shape.begin() + 1, field.shape.end());
  Ragged ragged{.values = at::empty(shape, field.type)};
  if (!column.values.empty())
    std::memcpy(ragged.values.mutable_data_ptr(), column.values.data(), column.values.size());
  ragged.offsets = tensorOf(offsets, {static_cast<std::int64_t>(offsets.size())});
  ragged.shapes = tensorOf(
      column.shapes, {static_cast<std::int64_t>(ids_.size()), static_cast<std::int64_t>(rank)});
  return ragged;
}

Batch Collator::finish() {
  Batch batch;
  const auto size = static_cast<std::int64_t>(ids_.size());
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const SampleField& field = fields_[i];
    Column& column = columns_[i];
    if (field.kind == FieldKind::Text) {
      batch.texts[field.name] = std::move(column.texts);
    } else if (field.isRagged()) {
      batch.ragged[field.name] = raggedOf(field, column);
    } else if (column.dense.defined()) {
      batch.fields[field.name] =
          size == batchSize_ ? column.dense : column.dense.narrow(0, 0, size);
    }
  }
  batch.sampleIds = ids_;
  begin();
  return batch;
}

}  // namespace vitrine
