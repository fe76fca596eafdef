// Finds generated images of all runs by what their recipes say, without reading their pictures.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/store/run_reader.h"

namespace vitrine::store {

/// As much of an image as a list of many needs.
struct ImageEntry {
  std::int64_t id = 0, run = 0, step = 0;
  std::uint64_t seed = 0;
  std::int32_t width = 0, height = 0;  ///< pixels
  [[nodiscard]] bool operator==(const ImageEntry&) const = default;
};

struct ImageCondition {
  enum class Test { Is, IsNot, Less, AtMost, More, AtLeast };
  /// "run" (number, or a part of the name), "step", "seed", "width", "height", "tag", or "starred"
  /// (without a value). Also "words" (a part of the recipe or of the run's name). Else a key of the
  /// recipe: "sampler", "class", "settings.steps"; those of the settings also without "settings.".
  std::string key;
  Test test = Test::Is;
  std::string value;  ///< a number where it reads as one
  /// Images of this class by this run.
  struct OfClass {
    std::int64_t run = 0, label = 0;
    [[nodiscard]] bool operator==(const OfClass&) const = default;
  };
  /// Of "words" and "class": classes that `value` names; their images fit, too.
  std::vector<OfClass> classes{};
  [[nodiscard]] bool operator==(const ImageCondition&) const = default;
};
/// All of them hold.
using ImageSearch = std::vector<ImageCondition>;

/// Images with an id above `after`, by id. Stops early, with fewer, once `isStopped` is true.
/// \throws ConfigError  a key with other characters than letters, digits, "_", "-" and ".", or an
/// order asked of a value that is not a number
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<ImageEntry> findImages(
    RunReader& store, const ImageSearch& search, std::int64_t after,
    const std::atomic<bool>& isStopped);

/// Ids of images that have a star or a tag, each with one; by id.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::pair<std::int64_t, std::string>> taggedImages(
    RunReader& store);

/// State that a list of images was read from. While `history` stays, all images of the list exist,
/// and new ones have an id above `newest`.
struct ImageStanding {
  std::int64_t newest = 0, count = 0, history = 0;
  [[nodiscard]] bool operator==(const ImageStanding&) const = default;
};
[[nodiscard]] VITRINE_STORE_EXPORT ImageStanding imageStanding(RunReader& store);

}  // namespace vitrine::store
