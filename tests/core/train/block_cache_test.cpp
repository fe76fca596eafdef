// Large blocks of CPU memory that tensors use one after another.
#include "core/train/block_cache.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

namespace vitrine::train {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Refuses `refusals` allocations, then the default one.
class Scarce final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (refusals > 0 && refusals-- > 0) TORCH_CHECK(false, "no memory");
    ++allocations;
    return c10::GetDefaultCPUAllocator()->allocate(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
  int allocations = 0, refusals = 0;
};

class Blocks : public ::testing::Test {
 protected:
  Scarce below_;
  BlockCache cache_{below_};
};

TEST_F(Blocks, ThatAreFreedServeTheNextOfTheirSize) {
  const void* first = nullptr;
  for (int step = 0; step < 4; ++step) {
    const c10::DataPtr block = cache_.allocate(40 * kMiB);
    if (step == 0) first = block.get();
    EXPECT_EQ(block.get(), first);
    EXPECT_EQ(cache_.counts().inUse, 40 * kMiB);
  }
  EXPECT_EQ(below_.allocations, 1);
  EXPECT_EQ(cache_.counts().reused, 3U);
  EXPECT_EQ(cache_.counts().kept, 40 * kMiB);
}

TEST_F(Blocks, BelowTheLeastSizeAreNotKept) {
  for (int step = 0; step < 3; ++step) (void)cache_.allocate(BlockCache::kLeastBytes - 1);
  EXPECT_EQ(below_.allocations, 3);
  EXPECT_EQ(cache_.counts().kept, 0U);
}

TEST_F(Blocks, AreFreedByTheirAddressAlone) {
  for (const std::size_t bytes : {kMiB, 40 * kMiB}) {
    void* const block = cache_.raw_allocate(bytes);
    ASSERT_NE(block, nullptr);
    cache_.raw_deallocate(block);
    EXPECT_EQ(cache_.counts().inUse, 0U);
  }
  EXPECT_EQ(cache_.counts().kept, 40 * kMiB);
}

TEST_F(Blocks, InUseAndKeptNeverExceedTheMostThatWasInUse) {
  { const c10::DataPtr one = cache_.allocate(40 * kMiB), two = cache_.allocate(50 * kMiB); }
  EXPECT_EQ(cache_.counts().kept, 90 * kMiB);
  const c10::DataPtr third = cache_.allocate(60 * kMiB);
  EXPECT_EQ(cache_.counts().inUse, 60 * kMiB);
  EXPECT_LE(cache_.counts().inUse + cache_.counts().kept, 90 * kMiB) << "the oldest went";
  const c10::DataPtr fourth = cache_.allocate(100 * kMiB);
  EXPECT_EQ(cache_.counts().kept, 0U);
}

TEST_F(Blocks, ThatAreKeptAreFreedWhereMemoryIsMissing) {
  {
    const c10::DataPtr one = cache_.allocate(200 * kMiB), two = cache_.allocate(100 * kMiB);
  }
  below_.refusals = 1;
  const c10::DataPtr block = cache_.allocate(40 * kMiB);
  ASSERT_NE(block.get(), nullptr);
  EXPECT_EQ(cache_.counts().kept, 0U) << "200 MiB were left of the limit";
  EXPECT_EQ(cache_.counts().inUse, 40 * kMiB);
  below_.refusals = 2;
  EXPECT_THROW((void)cache_.allocate(80 * kMiB), c10::OutOfMemoryError);
  EXPECT_EQ(cache_.counts().inUse, 40 * kMiB) << "what was refused is not in use";
}

}  // namespace
}  // namespace vitrine::train
