// What makes metrics cheap, counted: allocations on the training thread, and those of a long curve.
// A program of its own, because it stands in for `operator new`.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "core/store/metrics/metric_batch.h"
#include "core/store/spool/store_sink.h"
#include "tests/core/store/temp_database.h"

namespace {

constexpr std::size_t kLarge = 1u << 20;  // bytes
thread_local std::size_t allocations = 0, largeAllocations = 0;

void* take(std::size_t bytes) {
  ++allocations;
  if (bytes >= kLarge) ++largeAllocations;
  if (void* taken = std::malloc(bytes != 0 ? bytes : 1)) return taken;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return take(bytes); }
void* operator new[](std::size_t bytes) { return take(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return take(bytes); }
void operator delete(void* taken) noexcept { std::free(taken); }
void operator delete[](void* taken) noexcept { std::free(taken); }
void operator delete(void* taken, std::size_t) noexcept { std::free(taken); }
void operator delete[](void* taken, std::size_t) noexcept { std::free(taken); }

namespace vitrine::store {
namespace {

using MetricCost = testing::StoreTest;

MetricRecord trainerRecord(std::int64_t step) {
  return {step,
          static_cast<double>(step) / 469.0,
          static_cast<double>(step) * 0.03,
          {{"train/loss", 1.0},
           {"optimizer/learning_rate", 1e-3},
           {"optimizer/gradient_norm", 2.0},
           {"system/images_per_second", 4000.0}}};
}

TEST_F(MetricCost, OfACallIsNoAllocationOnceTheNamesAreKnown) {
  auto [store, run] = openWithRunning();
  RunControl control;
  StoreSink sink(file(), run, 1, control);
  // Two batches take turns: one is filled while the other is stored.
  for (int turn = 0; turn < 4; ++turn) {
    for (std::int64_t step = 0; step < 3000; ++step) sink.metrics(trainerRecord(step));
    sink.flush();
  }
  const MetricRecord record = trainerRecord(5);
  const std::size_t before = allocations;
  for (int i = 0; i < 1000; ++i) sink.metrics(record);
  EXPECT_EQ(allocations, before);
}

TEST_F(MetricCost, OfALongCurveIsOneLargeAllocation) {
  auto [store, run] = openWithRunning();
  for (std::int64_t first = 0; first < 60'500; first += 5500) {
    RunStore::Batch batch;
    for (std::int64_t step = first; step < first + 5500; ++step)
      batch.metrics.push_back(record(step, {{"train/loss", 1.0}}));
    store.append(run, 1, batch);
  }
  static_cast<void>(store.points(run, "train/loss"));  // statements are prepared
  const std::size_t before = largeAllocations;
  EXPECT_EQ(store.points(run, "train/loss").size(), 60'500u);
  EXPECT_EQ(largeAllocations - before, 1u);
}

TEST(MetricBatch, GivesTheRecordsBackAsTheyWere) {
  std::vector<MetricRecord> records{trainerRecord(1),
                                    trainerRecord(2),
                                    {2, 0.5, 1.5, {{"test/top1", 0.75}, {"train/loss", -0.0}}},
                                    {3, 0.5, 1.5, {}},
                                    trainerRecord(4)};
  const MetricBatch batch(records);
  std::vector<MetricRecord> back{records[0]};
  batch.appendTo(back);
  ASSERT_EQ(back.size(), records.size() + 1);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(back[i + 1].step, records[i].step);
    EXPECT_EQ(back[i + 1].epoch, records[i].epoch);
    EXPECT_EQ(back[i + 1].time, records[i].time);
    EXPECT_EQ(back[i + 1].values, records[i].values);
  }
}

TEST(MetricBatch, KeepsNamesButNoRecordWhenItIsCleared) {
  MetricBatch batch;
  batch.add(trainerRecord(1));
  batch.clear();
  EXPECT_TRUE(batch.isEmpty());
  EXPECT_EQ(batch.names().size(), 4u);
  batch.add({9, 0, 0, {{"system/images_per_second", 5.0}}});
  ASSERT_EQ(batch.values().size(), 1u);
  EXPECT_EQ(batch.names()[batch.values()[0].name], "system/images_per_second");
}

TEST(MetricBatch, LetsGoOfTheRoomThatAFloodTook) {
  MetricBatch batch;
  for (std::int64_t step = 0; step < 100'000; ++step) batch.add(trainerRecord(step));
  batch.clear();
  EXPECT_EQ(batch.values().capacity(), 0u);
  EXPECT_EQ(batch.moments().capacity(), 0u);
}

}  // namespace
}  // namespace vitrine::store
