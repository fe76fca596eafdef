// IDX (the format of MNIST and Fashion-MNIST), plain or gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

struct IdxArray {
  std::vector<std::int64_t> shape;  ///< rank 1 to 4
  std::vector<std::uint8_t> data;   ///< unsigned bytes, C order
};

/// Reads an array of unsigned bytes. The size must be exactly what the header says.
/// \throws FileError  names the file and the broken rule: magic, type, rank, size, cut or trailing
///                    data
[[nodiscard]] VITRINE_FOUNDATION_EXPORT IdxArray readIdx(const std::filesystem::path& file);

}  // namespace vitrine
