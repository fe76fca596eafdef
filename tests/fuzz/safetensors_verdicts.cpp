// Prints one line for each file on stdin, "ok" or the refusal: what the comparison with the
// reference reader asks. A file is a little-endian u32 length and its bytes.
#include <cstdio>
#include <vector>

#include "core/base/error.h"
#include "core/files/safetensors.h"
#include "tests/fuzz/memory_file.h"

int main() {
  unsigned char length[4];
  while (std::fread(length, 1, sizeof length, stdin) == sizeof length) {
    const std::size_t size = length[0] | static_cast<std::size_t>(length[1]) << 8 |
                             static_cast<std::size_t>(length[2]) << 16 |
                             static_cast<std::size_t>(length[3]) << 24;
    std::vector<std::uint8_t> bytes(size);
    if (std::fread(bytes.data(), 1, size, stdin) != size) return 2;
    const vitrine::fuzz::MemoryFile file(bytes);
    try {
      const vitrine::SafetensorsFile opened(file.path());
      std::puts("ok");
    } catch (const vitrine::FileError& refusal) {
      std::puts(refusal.what());
    }
  }
  return 0;
}
