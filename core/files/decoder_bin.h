// Flat weight files of text decoders (`.bin`): a header of sizes, then float32 tensors in a fixed
// order without names. Read strictly; knows no torch.
//
//     version 0   int32 width, hidden, layers, heads, key heads, vocabulary (negative: a head of
//                 its own), context; tensors; two tables of rotary angles; the head
//     version 1   "ak42" (a little-endian 0x616b3432), int32 1, the same sizes, u8 1 where the head
//                 is the embedding; zeros up to byte 256; tensors; the head
//
// Tensors have the names of the first public checkpoints of such decoders: `tok_embeddings.weight`,
// `layers.0.attention.wq.weight`, `norm.weight`, `output.weight`. Rotary pairs are interleaved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

struct DecoderBinEntry {
  std::string name;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, bytes = 0;  ///< within the file
};

class VITRINE_FOUNDATION_EXPORT DecoderBinFile {
 public:
  /// Whether a file named `*.bin` begins as one of these; pickles and archives of that name do not.
  /// \throws FileError  it cannot be read
  [[nodiscard]] static bool isOne(const std::filesystem::path& file);
  /// \throws FileError  sizes that cannot be, another version, more or fewer bytes than the sizes
  ///                    want: names the file and both numbers
  explicit DecoderBinFile(const std::filesystem::path& file);
  ~DecoderBinFile();
  DecoderBinFile(DecoderBinFile&&) noexcept;
  DecoderBinFile& operator=(DecoderBinFile&&) noexcept;

  [[nodiscard]] const std::vector<DecoderBinEntry>& entries() const noexcept;  ///< as in the file
  /// float32 of one tensor. \throws FileError  cut file or I/O error \pre out.size() == entry.bytes
  void read(const DecoderBinEntry& entry, std::span<std::byte> out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine
