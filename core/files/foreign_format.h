// The format of a file that should have been another one, by its content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/files/posix_file.h"

namespace vitrine::files {

struct ForeignFormat {
  enum class Kind { Pickle, Other };  ///< a pickle runs code when it is opened
  Kind kind = Kind::Other;
  std::string clause;  ///< after the file's name, with the remedy: "is ...; convert it ..."
};

/// Nothing when the format is not a known one. \param size  of the file, bytes
[[nodiscard]] std::optional<ForeignFormat> foreignFormat(const Descriptor& fd,
                                                         const std::filesystem::path& file,
                                                         std::uint64_t size);

}  // namespace vitrine::files
