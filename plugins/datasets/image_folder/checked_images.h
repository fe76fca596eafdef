// Checks which of the listed images can be used. Each file is read once; the result is kept in the
// user's cache and holds until size, time or inode of the file change. A file that cannot be read
// is asked for again each time.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "plugins/datasets/image_folder/listing.h"

namespace vitrine::image_folder {

enum class Verify {
  Structure,  ///< the whole file is walked (core/files/image_header.h)
  Decode,     ///< and decoded
};

struct CheckOptions {
  Verify verify = Verify::Decode;
  double badLimit = 0.05;             ///< share of unusable images above which nothing is opened
  std::filesystem::path cacheFolder;  ///< "": nothing is kept
};

/// Size, time and inode of a file: what it must keep for an old finding about it to hold. "" of
/// a file that is missing.
[[nodiscard]] std::string stampOf(const std::filesystem::path& file);

/// SHA-256 of the paths and stamps of `files`: for Dataset::fingerprint().
[[nodiscard]] std::string fingerprintOf(std::span<const std::filesystem::path> files);

/// Takes what cannot be used out of `listing.images` and adds it to `listing.unusable`, sorted by
/// path; the others get their number of pixels. Warns of each, by name up to 200 of them.
/// \throws FileError  more than `badLimit` of the images, or all of a split, cannot be used: names
///         the first five
void keepUsable(const std::filesystem::path& folder, const CheckOptions& options, Listing& listing);

/// $XDG_CACHE_HOME/vitrine/image_folder, or "" where there is no home.
[[nodiscard]] std::filesystem::path userCacheFolder();

}  // namespace vitrine::image_folder
