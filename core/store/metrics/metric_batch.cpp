#include "core/store/metrics/metric_batch.h"

namespace vitrine::store {

namespace {

constexpr std::size_t kKeptValues = 1u << 18;  // room that stays after a flood: 4 MiB

}  // namespace

MetricBatch::MetricBatch(std::span<const MetricRecord> records) {
  for (const MetricRecord& record : records) add(record);
}

std::uint32_t MetricBatch::indexOf(const std::string& name) {
  const auto [found, isNew] = indices_.try_emplace(name, names_.size());
  if (isNew) names_.push_back(name);
  return found->second;
}

void MetricBatch::add(const MetricRecord& record) {
  if (record.values.size() > expected_.size()) expected_.resize(record.values.size(), 0);
  moments_.push_back({record.step, record.epoch, record.time, values_.size()});
  for (std::size_t i = 0; i < record.values.size(); ++i) {
    const auto& [name, value] = record.values[i];
    // A trainer names the same metrics in the same order again and again: no look-up then.
    std::uint32_t& index = expected_[i];
    if (index >= names_.size() || names_[index] != name) index = indexOf(name);
    values_.push_back({index, value});
    moments_.back().end = values_.size();
  }
}

void MetricBatch::clear() noexcept {
  moments_.clear();
  values_.clear();
  if (values_.capacity() <= kKeptValues) return;
  std::vector<Moment>().swap(moments_);
  std::vector<Value>().swap(values_);
}

void MetricBatch::swap(MetricBatch& other) noexcept {
  moments_.swap(other.moments_);
  values_.swap(other.values_);
  names_.swap(other.names_);
  indices_.swap(other.indices_);
  expected_.swap(other.expected_);
}

void MetricBatch::appendTo(std::vector<MetricRecord>& records) const {
  const std::size_t before = records.size();
  try {
    std::size_t at = 0;
    for (const Moment& moment : moments_) {
      MetricRecord& record =
          records.emplace_back(MetricRecord{moment.step, moment.epoch, moment.time, {}});
      record.values.reserve(moment.end - at);
      for (; at < moment.end; ++at)
        record.values.emplace_back(names_[values_[at].name], values_[at].value);
    }
  } catch (...) {
    records.resize(before);
    throw;
  }
}

}  // namespace vitrine::store
