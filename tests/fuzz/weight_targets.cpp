// Safetensors and lists of shards.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/safetensors.h"
#include "core/files/safetensors_set.h"
#include "tests/fuzz/memory_file.h"

namespace vitrine::fuzz {

void runSafetensors(Bytes input) {
  const MemoryFile file(input);
  takes<FileError>([&] {
    const SafetensorsFile opened(file.path());
    std::set<std::string> names;
    std::uint64_t next = 0;
    std::vector<std::byte> bytes;
    for (const SafetensorsEntry& entry : opened.entries()) {
      require(names.insert(entry.name).second, "every name is there once");
      require(isUtf8(entry.name), "names are UTF-8");
      require(opened.find(entry.name) == &entry, "every tensor is found by its name");
      require(entry.begin == next && entry.end >= entry.begin, "no hole and no overlap");
      std::uint64_t size = safetensorsElementSize(entry.dtype);
      require(size > 0, "the dtype is known");
      bool isZero = false;
      for (const std::int64_t side : entry.shape) {
        require(side >= 0, "sides are not negative");
        isZero = isZero || side == 0;
        if (isZero) continue;
        const auto factor = static_cast<std::uint64_t>(side);
        require(size <= ~std::uint64_t{0} / factor, "sizes fit 64 bits");
        size *= factor;
      }
      require((isZero ? 0 : size) == entry.end - entry.begin,
              "the bytes are those of shape and dtype");
      bytes.resize(static_cast<std::size_t>(entry.end - entry.begin));
      opened.read(entry, bytes);
      next = entry.end;
    }
    std::uint64_t header = 0;
    for (int i = 7; i >= 0; --i) header = header << 8 | input[static_cast<std::size_t>(i)];
    require(8 + header + next == input.size(), "the tensors cover the file");
  });
}

void runSafetensorsIndex(Bytes input) {
  const std::string text(input.begin(), input.end());
  takes<FileError>([&] {
    const SafetensorsIndex index = readSafetensorsIndex(text, "list.json");
    require(!index.shardOf.empty(), "a list names tensors");
    for (const auto& [name, shard] : index.shardOf) {
      require(isUtf8(name) && name.size() <= 1024, "names are short UTF-8");
      require(std::filesystem::path(shard).filename() == shard && shard.front() != '.' &&
                  shard.find('\0') == std::string::npos,
              "a shard lies beside the list");
    }
  });
}

}  // namespace vitrine::fuzz
