// Several objects before a background: what most generated sets draw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/datasets/shapes/figures.h"

namespace vitrine::shapes {

struct Object {
  std::int64_t shape = 0, color = 0;
  bool isLarge = false, isShaded = false;
  Placement placement;
  std::int64_t pixels = 0;   ///< mostly covered by it when it was drawn
  std::int64_t visible = 0;  ///< of those, not covered by a later one
};

/// Objects are added from back to front. A new one may cover at most `mostCovered` of each other.
class Scene {
 public:
  Scene(std::int64_t size, double mostCovered);
  /// Adds the object, or does nothing. \returns  whether it was added
  bool add(const Object& object);
  [[nodiscard]] const std::vector<Object>& objects() const noexcept { return objects_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// Number of the object in front at a pixel, -1 for none.
  [[nodiscard]] std::int64_t ownerAt(std::int64_t y, std::int64_t x) const noexcept {
    return owners_[static_cast<std::size_t>(y * size_ + x)];
  }
  /// Number of the object with the most visible pixels, -1 for none.
  [[nodiscard]] std::int64_t largest() const noexcept;
  /// Paints the objects over the picture: colour flat, or darker to the lower right.
  void paint(Canvas& canvas) const;

 private:
  std::int64_t size_;
  double mostCovered_;
  std::vector<Object> objects_;
  std::vector<std::int64_t> owners_;  // [size, size]
  Coverage coverage_;
  Outline outline_;
};

/// "small blue heart"
[[nodiscard]] std::string phraseOf(const Object& object);
/// Radius of a small or large object in an image of this size.
[[nodiscard]] double radiusOf(bool isLarge, std::int64_t size) noexcept;
/// Tries up to 40 places for an object whose shape, colour and radius are given.
/// \returns  whether one was found
bool addAnywhere(Scene& scene, Object object, Numbers& numbers);
/// A quiet texture of any family over the whole canvas.
void paintBackground(Canvas& canvas, Numbers& numbers);

}  // namespace vitrine::shapes
