// The way of an image as it is stored: by `vitrine sample --steps`, and by a replay of this page.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/store/run_reader.h"
#include "ui/playground/drawing.h"

namespace vitrine::ui {

/// The patch that lies there. \param at  down and right in the image, 0 to 1
/// \param grid  rows and columns of patches
[[nodiscard]] std::array<int, 2> patchUnder(const std::array<double, 2>& at,
                                         const std::array<int, 2>& grid);

struct WantedReplay {
  std::int64_t run = 0;
  std::string sha256;            ///< of the image's pixels
  std::array<double, 2> at{};    ///< in the patch, down and right, 0 to 1
  int frames = 0;                ///< that were asked for
};
struct StoredReplay {
  std::optional<Replay> replay;  ///< nothing: none of that image, patch and number is stored
  std::array<int, 2> grid{};     ///< rows and columns of its patches
  std::int64_t bytes = 0;        ///< of the ways of all images that the run has stored
};
/// What cannot be read, as an artifact whose bytes stayed on another machine, is not there.
/// \throws StoreError  the database cannot be read
[[nodiscard]] StoredReplay readReplay(store::RunReader& store, const WantedReplay& wanted);

}  // namespace vitrine::ui
