// The search in changed databases as a program: database_search COUNT [FIRST] [FOLDER FOR FINDINGS]
// [PROCESSES]
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "tests/fuzz/database_search.h"

namespace {

/// SQLite's small blocks, from lists of free ones: reading a schema takes thousands, and an
/// address sanitizer's allocator would be 40 % of the search. SQLite is not instrumented, and what
/// it hands out is copied before it is decoded; blocks above kSmall stay with the sanitizer.
class SmallBlocks {
 public:
  static void* take(int bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    Head* head = nullptr;
    if (size > kSmall) {
      head = static_cast<Head*>(std::malloc(size + sizeof(Head)));
      if (head == nullptr) return nullptr;
    } else if (Head*& free = free_[(size + kStep - 1) / kStep]; free != nullptr) {
      head = std::exchange(free, free->next);
    } else {
      const std::size_t whole = (size + kStep - 1) / kStep * kStep + sizeof(Head);
      if (left_ < whole) {
        chunk_ = static_cast<char*>(std::malloc(kChunk));
        if (chunk_ == nullptr) return nullptr;
        left_ = kChunk;
      }
      left_ -= whole;
      head = reinterpret_cast<Head*>(chunk_ + left_);
    }
    head->bytes = size;
    return head + 1;
  }
  static void giveBack(void* block) {
    if (block == nullptr) return;
    Head* head = static_cast<Head*>(block) - 1;
    if (head->bytes > kSmall) return std::free(head);
    Head*& free = free_[(head->bytes + kStep - 1) / kStep];
    head->next = std::exchange(free, head);
  }
  static int sizeOf(void* block) {
    return block == nullptr ? 0 : static_cast<int>((static_cast<Head*>(block) - 1)->bytes);
  }
  static void* resize(void* block, int bytes) {
    void* other = take(bytes);
    if (other == nullptr) return nullptr;
    std::memcpy(other, block, static_cast<std::size_t>(std::min(bytes, sizeOf(block))));
    giveBack(block);
    return other;
  }
  static int roundUp(int bytes) {
    return (bytes + static_cast<int>(kStep) - 1) / static_cast<int>(kStep) *
           static_cast<int>(kStep);
  }
  static int start(void*) { return SQLITE_OK; }
  static void end(void*) {}

 private:
  static constexpr std::size_t kSmall = 512, kStep = 16, kChunk = 1 << 20;
  struct alignas(16) Head {
    std::size_t bytes;
    Head* next;  ///< of a block that is free
  };
  static inline Head* free_[kSmall / kStep + 1] = {};
  static inline char* chunk_ = nullptr;
  static inline std::size_t left_ = 0;
};

}  // namespace

int main(int count, char** words) {
  vitrine::fuzz::DatabaseSearch search;
  search.count = count > 1 ? std::atoll(words[1]) : 10'000;
  search.first = count > 2 ? std::atoll(words[2]) : 0;
  search.keep = count > 3 ? words[3] : "";
  search.processes =
      count > 4 ? std::atoi(words[4]) : static_cast<int>(std::thread::hardware_concurrency());
  // A worker has one thread: SQLite's mutexes and statistics would be a tenth of its time.
  sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3_mem_methods blocks{
      SmallBlocks::take,    SmallBlocks::giveBack, SmallBlocks::resize, SmallBlocks::sizeOf,
      SmallBlocks::roundUp, SmallBlocks::start,    SmallBlocks::end,    nullptr};
  sqlite3_config(SQLITE_CONFIG_MALLOC, &blocks);
  try {
    const vitrine::fuzz::DatabaseReport report = vitrine::fuzz::searchDatabases(search);
    for (const auto& finding : report.findings)
      std::printf("finding: input %lld: %s\n", static_cast<long long>(finding.input),
                  finding.what.c_str());
    std::printf("inputs %lld opened %lld imported %lld findings %zu peak_MB %lld\n",
                static_cast<long long>(report.inputs), static_cast<long long>(report.opened),
                static_cast<long long>(report.imported), report.findings.size(),
                static_cast<long long>(report.peakMegabytes));
    return report.findings.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "database_search: %s\n", error.what());
    return 2;
  }
}
