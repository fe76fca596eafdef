// The image that lies below an attention map, stored next to it.
#pragma once

#include <string_view>

namespace vitrine {

/// What its name ends with: "image 3 pixels".
inline constexpr std::string_view kMapImageEnd = " pixels";

/// Whether an artifact of this name is the image below an attention map. "image 3 pixels" is that
/// of "image 3", "image 3, layers 0, 2" and "image 3 decay".
[[nodiscard]] inline bool isImageOf(std::string_view name, std::string_view map) {
  if (!name.ends_with(kMapImageEnd)) return false;
  name.remove_suffix(kMapImageEnd.size());
  if (!map.starts_with(name)) return false;
  map.remove_prefix(name.size());
  return map.empty() || map.front() == ',' || map.front() == ' ';
}

}  // namespace vitrine
