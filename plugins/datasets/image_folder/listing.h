// Lists the images of a folder by class and split. Reads names only, never files.
//
//     FOLDER/<class>/**/x.png                         split by the hash of each path
//     FOLDER/{train,validation|val|valid,test}/<class>/**/x.png
//
// Images are sorted by path, byte by byte, so the order is the same on every file system. A
// symbolic link to a place inside FOLDER counts as its target. A link that leads out is listed as
// unusable, unless links may lead anywhere. Folders below a class are entered, linked ones among
// them never.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/data/dataset.h"

namespace vitrine::image_folder {

struct ListedImage {
  std::string path;  ///< below the folder, with '/'
  std::int64_t label = 0;
  std::uint64_t pixels = 0;  ///< height x width; known once the file was looked at
};

enum class Links { Inside, Anywhere };

struct ListingOptions {
  Links links = Links::Inside;
  double testFraction = 0.1, validationFraction = 0;  ///< of a folder without split folders
  /// Folder with train.txt and, where they are there, validation.txt and test.txt
  /// (core/files/sample_lists.h), which say the images of each split; "": none.
  std::filesystem::path lists{};
};

struct Listing {
  std::vector<std::string> classes;
  std::array<std::vector<ListedImage>, 3> images;             ///< by Split
  std::vector<std::pair<std::string, std::string>> unusable;  ///< path, why
  std::map<std::string, std::int64_t> otherFiles;  ///< ending -> how many were passed over
};

/// \throws FileError  there is no folder or class, a split has a class that train lacks, or train
///         is the only split. Also above 10,000,000 images or 8 folders deep, and for a list that
///         is broken or names an image twice
[[nodiscard]] Listing listImages(const std::filesystem::path& folder,
                                 const ListingOptions& options);

/// Images of a folder that JSON lines {train,validation,test}.jsonl in `lists` name, and their
/// captions. The label of an image is the index of its captions in `captions`; there are no
/// classes.
struct CaptionedListing {
  Listing listing;
  std::vector<std::vector<std::string>> captions;
};
/// \throws FileError  as listImages and readCaptions
[[nodiscard]] CaptionedListing listCaptions(const std::filesystem::path& folder,
                                            const std::filesystem::path& lists, Links links);

/// Whether the name ends as those of PNG, JPEG and WebP files do, in either case.
[[nodiscard]] bool isImageName(const std::filesystem::path& file);

/// Whether links lead `path` out of `folder`, which is there; false of a path that leads nowhere.
[[nodiscard]] bool isOutside(const std::filesystem::path& folder,
                             const std::filesystem::path& path);

/// Split of an image by the hash of its path: SHA-256 as a number in [0, 1), test first, then
/// validation, then train.
[[nodiscard]] Split splitOf(const std::string& path, const ListingOptions& options);

}  // namespace vitrine::image_folder
