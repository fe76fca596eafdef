#include "core/train/block_cache.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace vitrine::train {

namespace {

/// Large blocks in use, by their address: LibTorch frees some by that alone.
struct Lent {
  BlockCache* cache;
  std::size_t bytes;
  c10::DataPtr block;
};
struct LentBlocks {
  std::mutex mutex;
  std::unordered_map<void*, Lent> at;
};
LentBlocks& lentBlocks() {
  static auto* const blocks = new LentBlocks;  // tensors may outlive every other object
  return *blocks;
}

void giveBack(void* data) {
  std::unordered_map<void*, Lent>::node_type found;
  {
    LentBlocks& blocks = lentBlocks();
    const std::lock_guard lock(blocks.mutex);
    found = blocks.at.extract(data);
  }
  if (found.empty()) return c10::GetDefaultCPUAllocator()->raw_deallocate(data);
  Lent& lent = found.mapped();
  lent.cache->take(lent.bytes, std::move(lent.block));
}

}  // namespace

c10::DataPtr BlockCache::allocate(std::size_t bytes) {
  if (bytes < kLeastBytes) return below_.allocate(bytes);
  c10::DataPtr block;
  std::list<FreeBlock> dropped;  // freed after the lock
  {
    const std::lock_guard lock(mutex_);
    // The last one freed is the likeliest to be in the caches still.
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                    [bytes](const FreeBlock& kept) { return kept.bytes == bytes; });
    counts_.inUse += bytes;
    most_ = std::max(most_, counts_.inUse);
    if (found != kept_.rend()) {
      block = std::move(found->block);
      kept_.erase(std::next(found).base());
      counts_.kept -= bytes;
      ++counts_.reused;
    }
    while (counts_.inUse + counts_.kept > most_) dropOldest(dropped);
  }
  dropped.clear();
  if (!block) block = fresh(bytes);
  void* const data = block.get();
  const c10::Device device = block.device();
  {
    LentBlocks& blocks = lentBlocks();
    const std::lock_guard lock(blocks.mutex);
    blocks.at.emplace(data, Lent{this, bytes, std::move(block)});
  }
  return {data, data, &giveBack, device};
}

c10::DeleterFnPtr BlockCache::raw_deleter() const { return &giveBack; }

c10::DataPtr BlockCache::fresh(std::size_t bytes) {
  // LibTorch's own has no type of error for this.
  const auto tried = [&]() -> c10::DataPtr {
    try {
      return below_.allocate(bytes);
    } catch (const c10::Error&) {
      return {};
    }
  };
  c10::DataPtr block = tried();
  if (block) return block;
  {
    // What is kept may be what is missing.
    std::list<FreeBlock> dropped;
    const std::lock_guard lock(mutex_);
    while (!kept_.empty()) dropOldest(dropped);
  }
  block = tried();
  if (block) return block;
  const std::lock_guard lock(mutex_);
  counts_.inUse -= bytes;
  TORCH_CHECK_WITH(OutOfMemoryError, false, "no memory for a block of ", bytes, " bytes");
}

void BlockCache::dropOldest(std::list<FreeBlock>& dropped) {
  counts_.kept -= kept_.front().bytes;
  dropped.splice(dropped.end(), kept_, kept_.begin());
}

void BlockCache::take(std::size_t bytes, c10::DataPtr block) {
  const std::lock_guard lock(mutex_);
  counts_.inUse -= bytes;
  counts_.kept += bytes;
  kept_.push_back({bytes, std::move(block)});
}

void BlockCache::copy_data(void* to, const void* from, std::size_t bytes) const {
  default_copy_data(to, from, bytes);
}

BlockCache::Counts BlockCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void reuseLargeBlocks() {
  // Never freed: tensors may outlive every other object of the process.
  static BlockCache& cache = *new BlockCache(*c10::GetDefaultCPUAllocator());
  c10::SetCPUAllocator(&cache);
}

}  // namespace vitrine::train
