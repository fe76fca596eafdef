#include "plugins/datasets/shapes/scene.h"

#include <algorithm>

namespace vitrine::shapes {

Scene::Scene(std::int64_t size, double mostCovered)
    : size_(size),
      mostCovered_(mostCovered),
      owners_(static_cast<std::size_t>(size * size), -1),
      coverage_(size, size) {}

bool Scene::add(const Object& object) {
  place(shapeOutline(object.shape), object.placement, outline_);
  coverage_.fill(outline_);
  std::vector<std::int64_t> covered(objects_.size());
  std::int64_t pixels = 0;
  const auto each = [&](const auto& take) {
    for (std::int64_t y = coverage_.top; y < coverage_.bottom; ++y) {
      for (std::int64_t x = coverage_.left; x < coverage_.right; ++x) {
        if (coverage_.at(y, x) > 0.5F) take(owners_[static_cast<std::size_t>(y * size_ + x)]);
      }
    }
  };
  each([&](std::int64_t owner) {
    ++pixels;
    if (owner >= 0) ++covered[static_cast<std::size_t>(owner)];
  });
  if (pixels == 0) return false;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const auto hidden = static_cast<double>(objects_[i].pixels - objects_[i].visible + covered[i]);
    if (hidden > mostCovered_ * static_cast<double>(objects_[i].pixels)) return false;
  }
  for (std::size_t i = 0; i < objects_.size(); ++i) objects_[i].visible -= covered[i];
  const std::int64_t number = std::ssize(objects_);
  each([&](std::int64_t& owner) { owner = number; });
  objects_.push_back(object);
  objects_.back().pixels = objects_.back().visible = pixels;
  return true;
}

std::int64_t Scene::largest() const noexcept {
  const auto found =
      std::max_element(objects_.begin(), objects_.end(),
                       [](const Object& a, const Object& b) { return a.visible < b.visible; });
  return found == objects_.end() ? -1 : found - objects_.begin();
}

void Scene::paint(Canvas& canvas) const {
  Coverage coverage(size_, size_);
  Outline outline;
  for (const Object& object : objects_) {
    place(shapeOutline(object.shape), object.placement, outline);
    coverage.fill(outline);
    const Color base = colorOf(object.color);
    const Placement& at = object.placement;
    canvas.paint(coverage, [&](std::int64_t y, std::int64_t x) {
      if (!object.isShaded) return base;
      // Lit from the upper left.
      const double depth =
          (static_cast<double>(x) - at.x + static_cast<double>(y) - at.y) / (2 * at.radius);
      const auto light = static_cast<float>(1.0 - 0.45 * std::clamp(depth + 0.35, 0.0, 1.0));
      return Color{base[0] * light, base[1] * light, base[2] * light};
    });
  }
}

std::string phraseOf(const Object& object) {
  return std::string(object.isLarge ? "large " : "small ") + colorName(object.color) + " " +
         shapeName(object.shape);
}

double radiusOf(bool isLarge, std::int64_t size) noexcept {
  return static_cast<double>(size) * (isLarge ? 0.2 : 0.11);
}

bool addAnywhere(Scene& scene, Object object, Numbers& numbers) {
  const auto size = static_cast<double>(scene.size());
  const double margin = object.placement.radius;
  for (int attempt = 0; attempt < 40; ++attempt) {
    object.placement.x = numbers.between(margin, size - margin);
    object.placement.y = numbers.between(margin, size - margin);
    if (scene.add(object)) return true;
  }
  return false;
}

void paintBackground(Canvas& canvas, Numbers& numbers) {
  Texture texture = drawTexture(numbers, numbers.below(kTextures), 6, 20);
  // Little contrast: objects stand out by colour.
  for (std::size_t c = 0; c < 3; ++c) {
    texture.dark[c] = 0.25F + 0.6F * texture.dark[c];
    texture.light[c] = 0.3F + 0.4F * texture.light[c];
  }
  canvas.paintAll([&](std::int64_t y, std::int64_t x) { return texture.at(y, x); });
}

}  // namespace vitrine::shapes
