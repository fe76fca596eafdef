// Tells what a file that should have been safetensors is instead, by its content.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/files/posix_file.h"

namespace vitrine::files {

/// A clause after the file's name, with the remedy: "is a Python pickle ...; convert it ..."; ""
/// when it is nothing known. \param size  of the file, bytes
[[nodiscard]] std::string foreignFormat(const Descriptor& fd, const std::filesystem::path& file,
                                        std::uint64_t size);

}  // namespace vitrine::files
