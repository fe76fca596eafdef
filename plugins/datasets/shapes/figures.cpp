#include "plugins/datasets/shapes/figures.h"

#include <array>
#include <cmath>
#include <numbers>

namespace vitrine::shapes {

namespace {

constexpr double kPi = std::numbers::pi;

/// Points on circles around 0: `radii` in turn, the first one upwards.
Outline regular(int points, std::initializer_list<double> radii) {
  Outline out;
  for (int i = 0; i < points; ++i) {
    const double radius = radii.begin()[static_cast<std::size_t>(i) % radii.size()];
    const double angle = 2 * kPi * i / points;
    out.push_back({radius * std::sin(angle), -radius * std::cos(angle)});
  }
  return out;
}

Outline heart() {
  Outline out;
  for (int i = 0; i < 64; ++i) {
    const double t = 2 * kPi * i / 64, s = std::sin(t);
    const double y = 13 * std::cos(t) - 5 * std::cos(2 * t) - 2 * std::cos(3 * t) - std::cos(4 * t);
    out.push_back({16 * s * s * s / 18, -(y + 2.5) / 18});
  }
  return out;
}

Outline crescent() {
  Outline out;
  for (int i = 0; i <= 40; ++i) {
    const double t = kPi * (0.25 + 1.5 * i / 40);
    out.push_back({std::cos(t), std::sin(t)});
  }
  // Back along a circle through both tips.
  for (int i = 1; i < 30; ++i) {
    const double t = kPi * (1.5 - i / 30.0);
    out.push_back({std::sqrt(0.5) + std::sqrt(0.5) * std::cos(t), std::sqrt(0.5) * std::sin(t)});
  }
  return out;
}

Outline halfDisk() {
  Outline out;
  for (int i = 0; i <= 32; ++i)
    out.push_back({0.92 * std::cos(kPi * i / 32), 0.37 - 0.92 * std::sin(kPi * i / 32)});
  return out;
}

Outline drop() {
  Outline out{{0, -1}};
  for (int i = 0; i <= 40; ++i) {
    const double t = kPi * (-0.15 + 1.3 * i / 40);
    out.push_back({0.6 * std::cos(t), 0.4 + 0.6 * std::sin(t)});
  }
  return out;
}

std::array<Outline, kShapes> makeOutlines() {
  const double side = std::sqrt(0.5);
  return {
      Outline{{-side, -side}, {side, -side}, {side, side}, {-side, side}},
      regular(64, {1.0}),
      heart(),
      regular(3, {1.0}),
      regular(10, {1.0, 0.45}),
      Outline{{-0.3, -0.95},
              {0.3, -0.95},
              {0.3, -0.3},
              {0.95, -0.3},
              {0.95, 0.3},
              {0.3, 0.3},
              {0.3, 0.95},
              {-0.3, 0.95},
              {-0.3, 0.3},
              {-0.95, 0.3},
              {-0.95, -0.3},
              {-0.3, -0.3}},
      regular(6, {1.0}),
      Outline{{0, -1},
              {0.7, -0.2},
              {0.28, -0.2},
              {0.28, 0.95},
              {-0.28, 0.95},
              {-0.28, -0.2},
              {-0.7, -0.2}},
      crescent(),
      halfDisk(),
      Outline{{-0.6, -0.8}, {-0.1, -0.8}, {-0.1, 0.3}, {0.6, 0.3}, {0.6, 0.8}, {-0.6, 0.8}},
      Outline{{-0.75, -0.65},
              {0.75, -0.65},
              {0.75, -0.15},
              {0.25, -0.15},
              {0.25, 0.95},
              {-0.25, 0.95},
              {-0.25, -0.15},
              {-0.75, -0.15}},
      Outline{
          {0.35, -0.93}, {-0.5, 0.15}, {-0.05, 0.15}, {-0.35, 0.93}, {0.5, -0.15}, {0.05, -0.15}},
      Outline{{0, -0.95},
              {0.75, -0.25},
              {0.55, -0.25},
              {0.55, 0.8},
              {-0.55, 0.8},
              {-0.55, -0.25},
              {-0.75, -0.25}},
      Outline{{-0.6, -0.8}, {0.6, -0.8}, {0.08, 0}, {0.6, 0.8}, {-0.6, 0.8}, {-0.08, 0}},
      drop()};
}

std::uint32_t hash(std::int64_t x, std::int64_t y, std::uint32_t seed) noexcept {
  std::uint32_t value = static_cast<std::uint32_t>(x) * 0x9E3779B1U ^
                        static_cast<std::uint32_t>(y) * 0x85EBCA77U ^ seed;
  value = (value ^ value >> 16) * 0x7FEB352DU;
  value = (value ^ value >> 15) * 0x846CA68BU;
  return value ^ value >> 16;
}
double unit(std::int64_t x, std::int64_t y, std::uint32_t seed) noexcept {
  return hash(x, y, seed) * 0x1p-32;
}

/// Smooth noise: random values on a lattice, blended.
double noise(double x, double y, std::uint32_t seed) noexcept {
  const double fx = std::floor(x), fy = std::floor(y);
  const auto ix = static_cast<std::int64_t>(fx), iy = static_cast<std::int64_t>(fy);
  const auto ease = [](double t) { return t * t * (3 - 2 * t); };
  const double u = ease(x - fx), v = ease(y - fy);
  const auto mix = [](double a, double b, double t) { return a + (b - a) * t; };
  return mix(mix(unit(ix, iy, seed), unit(ix + 1, iy, seed), u),
             mix(unit(ix, iy + 1, seed), unit(ix + 1, iy + 1, seed), u), v);
}

/// Five octaves, amplitude 1/f.
double clouds(double x, double y, std::uint32_t seed) noexcept {
  double sum = 0, total = 0, amplitude = 1;
  for (std::uint32_t octave = 0; octave < 5; ++octave) {
    sum += amplitude * noise(x, y, seed + octave * 101);
    total += amplitude;
    amplitude /= 2;
    x *= 2;
    y *= 2;
  }
  return sum / total;
}

/// Distance to the nearest of one random point per cell.
double cells(double x, double y, std::uint32_t seed) noexcept {
  const auto ix = static_cast<std::int64_t>(std::floor(x));
  const auto iy = static_cast<std::int64_t>(std::floor(y));
  double nearest = 4;
  for (std::int64_t cy = iy - 1; cy <= iy + 1; ++cy) {
    for (std::int64_t cx = ix - 1; cx <= ix + 1; ++cx) {
      const double dx = static_cast<double>(cx) + unit(cx, cy, seed) - x;
      const double dy = static_cast<double>(cy) + unit(cx, cy, seed + 7) - y;
      nearest = std::min(nearest, dx * dx + dy * dy);
    }
  }
  return std::min(1.0, std::sqrt(nearest));
}

double fraction(double value) { return value - std::floor(value); }
double wave(double value) { return 0.5 + 0.5 * std::sin(2 * kPi * value); }

/// Distance to the nearest centre of a hexagonal lattice, in its periods.
double hexagons(double u, double v) {
  const double height = std::sqrt(3.0);
  double nearest = 4;
  for (const double shift : {0.0, 0.5}) {
    const double x = fraction(u + shift) - 0.5, y = (fraction(v / height + shift) - 0.5) * height;
    nearest = std::min(nearest, x * x + y * y);
  }
  return std::sqrt(nearest);
}

double scales(double u, double v) {
  // Half circles in rows, each row half a period aside, the lower row in front.
  const double row = std::floor(2 * v);
  for (int back = 0; back < 2; ++back) {
    const double y = 2 * v - (row - back);
    const double x = fraction(u + 0.5 * std::fmod(std::abs(row - back), 2.0)) - 0.5;
    const double distance = std::sqrt(4 * x * x + (y * y) / 2.0);
    if (distance < 1) return distance;
  }
  return 1;
}

}  // namespace

const std::string& shapeName(std::int64_t shape) {
  static const std::array<std::string, kShapes> names = {
      "square",   "circle",    "heart", "triangle", "star", "cross", "hexagon",   "arrow",
      "crescent", "half disk", "L",     "T",        "bolt", "house", "hourglass", "drop"};
  return names.at(static_cast<std::size_t>(shape));
}

const Outline& shapeOutline(std::int64_t shape) {
  static const std::array<Outline, kShapes> outlines = makeOutlines();
  return outlines.at(static_cast<std::size_t>(shape));
}

void place(const Outline& outline, const Placement& placement, Outline& out) {
  const double cosine = std::cos(placement.angle) * placement.radius;
  const double sine = std::sin(placement.angle) * placement.radius;
  out.clear();
  for (const Point& point : outline) {
    const double y = point.y * placement.stretch;
    out.push_back(
        {placement.x + cosine * point.x - sine * y, placement.y + sine * point.x + cosine * y});
  }
}

const std::string& colorName(std::int64_t color) {
  static const std::array<std::string, kColors> names = {"grey",  "red",    "blue", "green",
                                                         "brown", "purple", "cyan", "yellow"};
  return names.at(static_cast<std::size_t>(color));
}

const Color& colorOf(std::int64_t color) {
  static const std::array<Color, kColors> colors = {
      Color{0.55F, 0.55F, 0.55F}, Color{0.85F, 0.15F, 0.15F}, Color{0.15F, 0.3F, 0.9F},
      Color{0.1F, 0.6F, 0.2F},    Color{0.5F, 0.3F, 0.1F},    Color{0.55F, 0.15F, 0.7F},
      Color{0.1F, 0.8F, 0.85F},   Color{0.95F, 0.85F, 0.1F}};
  return colors.at(static_cast<std::size_t>(color));
}

const std::string& textureName(std::int64_t family) {
  static const std::array<std::string, kTextures> names = {
      "stripes", "checker", "dots",   "bricks", "hatch", "waves",  "hexagons", "rings",
      "plaid",   "zigzag",  "scales", "cells",  "wood",  "marble", "clouds",   "grain"};
  return names.at(static_cast<std::size_t>(family));
}

double Texture::value(double x, double y) const {
  const double cosine = std::cos(angle) / period, sine = std::sin(angle) / period;
  const double px = x - shiftX, py = y - shiftY;
  const double u = cosine * px + sine * py, v = cosine * py - sine * px;
  const double fu = fraction(u) - 0.5, fv = fraction(v) - 0.5;
  switch (family) {
    case 0:
      return wave(u);
    case 1:
      return (fu < 0) == (fv < 0) ? 1 : 0;
    case 2:
      return fu * fu + fv * fv < 0.09 ? 1 : 0;
    case 3: {
      const double shifted = fraction(u / 2 + (fraction(v / 2) < 0.5 ? 0.0 : 0.5));
      return fraction(v) < 0.15 || shifted < 0.08 ? 1 : 0.25;
    }
    case 4:
      return std::abs(fraction(u + v) - 0.5) < 0.12 || std::abs(fraction(u - v) - 0.5) < 0.12 ? 1
                                                                                              : 0;
    case 5:
      return wave(u + 0.35 * std::sin(2 * kPi * v));
    case 6:
      return std::min(1.0, 1.8 * hexagons(u, v));
    case 7:
      return wave(std::sqrt(u * u + v * v));
    case 8:
      return 0.5 * (fu < 0 ? 1 : 0) + 0.5 * (fv < 0 ? 1 : 0);
    case 9:
      return fraction(u + std::abs(fv)) < 0.5 ? 1 : 0;
    case 10:
      return scales(u, v);
    case 11:
      return cells(u, v, seed);
    case 12:
      return wave(std::sqrt(u * u + 0.02 * v * v) + 1.5 * noise(u / 3, v / 9, seed));
    case 13:
      return wave(u / 2 + 2.5 * clouds(u / 2, v / 2, seed));
    case 14:
      return clouds(u / 2, v / 2, seed);
    default:
      return unit(static_cast<std::int64_t>(std::floor(4 * u)),
                  static_cast<std::int64_t>(std::floor(4 * v)), seed);
  }
}

Color Texture::at(std::int64_t y, std::int64_t x) const {
  const auto share =
      static_cast<float>(value(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5));
  Color color;
  for (std::size_t c = 0; c < 3; ++c) color[c] = dark[c] + share * (light[c] - dark[c]);
  return color;
}

Texture drawTexture(Numbers& numbers, std::int64_t family, double leastPeriod, double mostPeriod) {
  Texture texture;
  texture.family = family;
  texture.period = numbers.between(leastPeriod, mostPeriod);
  texture.angle = numbers.between(0, kPi);
  texture.shiftX = numbers.between(0, 256);
  texture.shiftY = numbers.between(0, 256);
  texture.seed = static_cast<std::uint32_t>(numbers.below(std::int64_t{1} << 32));
  for (std::size_t c = 0; c < 3; ++c) {
    texture.dark[c] = static_cast<float>(numbers.between(0.0, 0.35));
    texture.light[c] = static_cast<float>(numbers.between(0.55, 1.0));
  }
  return texture;
}

}  // namespace vitrine::shapes
