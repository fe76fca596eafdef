// Solids seen from any side (after LeCun et al. 2004, "NORB"): category, azimuth, elevation, light.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "plugins/datasets/shapes/generated_set.h"

namespace vitrine::shapes {

namespace {

using Vector = std::array<double, 3>;  // x right, y to the back, z up

Vector operator-(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector unit(const Vector& a) {
  const double length = std::sqrt(dot(a, a));
  return {a[0] / length, a[1] / length, a[2] / length};
}
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

struct Triangle {
  std::array<Vector, 3> corners;
};
using Mesh = std::vector<Triangle>;

/// A convex solid between two rings of as many points.
void addHull(const std::vector<Vector>& bottom, const std::vector<Vector>& top, Mesh& mesh) {
  const std::size_t count = bottom.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t next = (i + 1) % count;
    mesh.push_back({{bottom[i], bottom[next], top[next]}});
    mesh.push_back({{bottom[i], top[next], top[i]}});
    if (i < 1 || i + 1 >= count) continue;
    mesh.push_back({{bottom[0], bottom[i], bottom[i + 1]}});
    mesh.push_back({{top[0], top[i], top[i + 1]}});
  }
}

/// A box by centre and half sides; `narrow` scales the upper face along x and y.
void addBox(const Vector& centre, const Vector& half, Mesh& mesh,
            std::array<double, 2> narrow = {1, 1}) {
  std::vector<Vector> bottom, top;
  for (const auto& [sx, sy] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
    bottom.push_back({centre[0] + sx * half[0], centre[1] + sy * half[1], centre[2] - half[2]});
    top.push_back({centre[0] + sx * half[0] * narrow[0], centre[1] + sy * half[1] * narrow[1],
                   centre[2] + half[2]});
  }
  addHull(bottom, top, mesh);
}

/// A round body along `axis` (0 x, 1 y, 2 z) with a radius at each end.
void addRound(const Vector& centre, std::size_t axis, double half, std::array<double, 2> radii,
              Mesh& mesh) {
  std::array<std::vector<Vector>, 2> rings;
  for (std::size_t end = 0; end < 2; ++end) {
    for (int i = 0; i < 16; ++i) {
      const double angle = std::numbers::pi * i / 8;
      Vector point = centre;
      point[axis] += end == 0 ? -half : half;
      point[(axis + 1) % 3] += radii[end] * std::cos(angle);
      point[(axis + 2) % 3] += radii[end] * std::sin(angle);
      rings[end].push_back(point);
    }
  }
  addHull(rings[0], rings[1], mesh);
}

constexpr std::int64_t kCategories = 5, kAzimuths = 18, kElevations = 9, kLights = 6;
constexpr std::array<const char*, kCategories> kCategoryNames = {"chair", "car", "house", "mug",
                                                                 "plane"};

/// One of a category. None looks the same from two of the azimuths. \param shares  five numbers in
/// [0, 1) that make its proportions
Mesh solidOf(std::int64_t category, const std::array<double, 5>& shares) {
  const auto between = [&](std::size_t at, double low, double high) {
    return low + (high - low) * shares[at];
  };
  Mesh mesh;
  const double a = between(0, 0.45, 0.75), b = between(1, 0.45, 0.7), c = between(2, 0.6, 1.0);
  switch (category) {
    case 0:  // seat, back, legs
      addBox({0, 0, -0.1}, {a, b, 0.08}, mesh);
      addBox({0, b - 0.08, c / 2}, {a, 0.08, c / 2 + 0.1}, mesh);
      for (const double x : {-1.0, 1.0}) {
        for (const double y : {-1.0, 1.0})
          addBox({x * (a - 0.08), y * (b - 0.08), -0.55}, {0.08, 0.08, 0.4}, mesh);
      }
      break;
    case 1: {  // body, cabin towards the back, wheels
      const double length = between(3, 0.8, 1.0);
      addBox({0, 0, -0.2}, {length, a * 0.75, 0.22}, mesh);
      addBox({length * 0.25, 0, 0.2}, {length * 0.55, a * 0.65, 0.2}, mesh,
             {between(4, 0.5, 0.9), 0.9});
      for (const double x : {-0.6, 0.6}) {
        for (const double y : {-1.0, 1.0})
          addRound({x * length, y * a * 0.75, -0.42}, 1, 0.08, {0.22, 0.22}, mesh);
      }
      break;
    }
    case 2:  // walls, roof, chimney
      addBox({0, 0, -0.3}, {a, b, 0.45}, mesh);
      addBox({0, 0, 0.15 + c / 4}, {a * 1.1, b * 1.1, c / 4}, mesh, {between(3, 0.4, 1.0), 0.02});
      addBox({a * 0.6, b * 0.4, 0.15 + c / 3}, {0.1, 0.1, c / 3}, mesh);
      break;
    case 3:  // cup, handle
      addRound({0, 0, 0}, 2, c * 0.75, {a * between(3, 0.7, 1.0), a}, mesh);
      addBox({a + 0.25, 0, 0.3}, {0.3, 0.09, 0.08}, mesh);
      addBox({a + 0.25, 0, -0.3}, {0.3, 0.09, 0.08}, mesh);
      addBox({a + 0.48, 0, 0}, {0.08, 0.09, 0.3}, mesh);
      break;
    default:  // fuselage, wings, tail
      addRound({0, 0, 0}, 0, 0.95, {0.08 + 0.06 * b, 0.2 + 0.1 * a}, mesh);
      addBox({0.1, 0, 0}, {0.2 + 0.15 * shares[3], 0.95, 0.04}, mesh);
      addBox({-0.85, 0, 0.02}, {0.12, 0.25 + 0.2 * shares[4], 0.03}, mesh);
      addBox({-0.85, 0, 0.2}, {0.14, 0.03, 0.25}, mesh, {0.5, 1});
      break;
  }
  return mesh;
}

/// Brightness by nearest surface, `kFine` x `kFine` points a pixel.
class Renderer {
 public:
  static constexpr std::int64_t kFine = 3;
  Renderer(std::int64_t size, float background)
      : side_(size * kFine),
        depth_(static_cast<std::size_t>(side_ * side_), -std::numeric_limits<double>::infinity()),
        shade_(depth_.size(), background) {}

  /// \param corners  x right and y down in fine points, z towards the viewer
  void fill(const std::array<Vector, 3>& corners, float shade) {
    const auto [a, b, c] = corners;
    const double area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
    if (std::abs(area) < 1e-9) return;
    const auto range = [&](std::size_t axis) {
      const auto [low, high] = std::minmax({a[axis], b[axis], c[axis]});
      return std::pair{std::clamp<std::int64_t>(std::llround(low - 0.5), 0, side_),
                       std::clamp<std::int64_t>(std::llround(high + 0.5), 0, side_)};
    };
    const auto [left, right] = range(0);
    const auto [top, bottom] = range(1);
    for (std::int64_t y = top; y < bottom; ++y) {
      for (std::int64_t x = left; x < right; ++x) {
        const double px = static_cast<double>(x) + 0.5, py = static_cast<double>(y) + 0.5;
        const double v = ((px - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (py - a[1])) / area;
        const double w = ((b[0] - a[0]) * (py - a[1]) - (px - a[0]) * (b[1] - a[1])) / area;
        if (v < 0 || w < 0 || v + w > 1) continue;
        const double depth = a[2] + v * (b[2] - a[2]) + w * (c[2] - a[2]);
        const auto at = static_cast<std::size_t>(y * side_ + x);
        if (depth <= depth_[at]) continue;
        depth_[at] = depth;
        shade_[at] = shade;
      }
    }
  }

  [[nodiscard]] float pixel(std::int64_t y, std::int64_t x) const {
    float sum = 0;
    for (std::int64_t i = 0; i < kFine * kFine; ++i)
      sum +=
          shade_[static_cast<std::size_t>((y * kFine + i / kFine) * side_ + x * kFine + i % kFine)];
    return sum / static_cast<float>(kFine * kFine);
  }

 private:
  std::int64_t side_;
  std::vector<double> depth_;
  std::vector<float> shade_;
};

struct View {
  std::int64_t azimuth = 0, elevation = 0, light = 0;
};

/// Orthographic, Lambert's law with one light and some from everywhere.
void render(const Mesh& mesh, const View& view, Canvas& canvas) {
  const double azimuth = std::numbers::pi * static_cast<double>(view.azimuth) / 9;
  const double elevation = std::numbers::pi * (30 + 5 * static_cast<double>(view.elevation)) / 180;
  const double lightAzimuth =
      2 * std::numbers::pi * static_cast<double>(view.light) / kLights + 0.3;
  const Vector light = unit({std::cos(lightAzimuth), std::sin(lightAzimuth), 1.2});
  const double scale = 0.27 * static_cast<double>(canvas.height * Renderer::kFine);
  const double middle = 0.5 * static_cast<double>(canvas.height * Renderer::kFine);
  // The solid turns, viewer and light stay.
  const auto turned = [&](const Vector& p) {
    return Vector{std::cos(azimuth) * p[0] - std::sin(azimuth) * p[1],
                  std::sin(azimuth) * p[0] + std::cos(azimuth) * p[1], p[2]};
  };
  const auto seen = [&](const Vector& p) {
    const double up = std::cos(elevation) * p[2] + std::sin(elevation) * p[1];
    const double near = std::sin(elevation) * p[2] - std::cos(elevation) * p[1];
    return Vector{middle + scale * p[0], middle - scale * up, near};
  };
  const Vector viewer = {0, -std::cos(elevation), std::sin(elevation)};
  Renderer renderer(canvas.height, 0.75F);
  for (const Triangle& triangle : mesh) {
    std::array<Vector, 3> world{}, screen{};
    for (std::size_t i = 0; i < 3; ++i) {
      world[i] = turned(triangle.corners[i]);
      screen[i] = seen(world[i]);
    }
    Vector normal = cross(world[1] - world[0], world[2] - world[0]);
    if (dot(normal, normal) < 1e-18) continue;
    normal = unit(normal);
    // The side that is seen; of a closed body the others lie behind.
    if (dot(normal, viewer) < 0) normal = {-normal[0], -normal[1], -normal[2]};
    renderer.fill(screen, static_cast<float>(0.15 + 0.8 * std::max(0.0, dot(normal, light))));
  }
  canvas.paintAll([&](std::int64_t y, std::int64_t x) {
    const float grey = renderer.pixel(y, x);
    return Color{grey, grey, grey};
  });
}

constexpr std::int64_t kInstances = 5;  // of a category, in training and test each
constexpr std::int64_t kViews = kAzimuths * kElevations * kLights;
constexpr std::array<const char*, 4> kSolidLabels = {"category", "azimuth", "elevation", "light"};

/// Every combination once in each split, of instances that no other split has.
class Solids final : public GeneratedSet {
 public:
  Solids(std::uint64_t seed, DatasetInfo info, std::size_t label)
      : GeneratedSet("solids/1", seed,
                     {kCategories * kInstances * kViews, kCategories * kViews,
                      kCategories * kInstances * kViews},
                     std::move(info)),
        instances_(seed, "solids/1/instances"),
        label_(label) {}

  std::int64_t label(Split split, std::int64_t id) const override {
    return factorsOf(split, id)[label_];
  }

 protected:
  void draw(Numbers& numbers, Split split, std::int64_t id, Sample& sample) const override {
    const std::array<std::int64_t, 5> factors = factorsOf(split, id);
    std::array<double, 5> shares{};
    for (std::size_t i = 0; i < shares.size(); ++i)
      shares[i] =
          instances_.uniform(static_cast<std::uint64_t>(factors[0]),
                             static_cast<std::uint64_t>(factors[4]), static_cast<std::uint32_t>(i));
    Canvas canvas(info().channels, info().height, info().width);
    render(solidOf(factors[0], shares), {factors[1], factors[2], factors[3]}, canvas);
    putImage(canvas, sample);
    (void)numbers;  // nothing is left to chance but the instances
    putLabel(factors[label_], sample);
    const auto values = sample["factors"].resize<std::int64_t>({5});
    std::copy(factors.begin(), factors.end(), values.begin());
  }

 private:
  /// Category, azimuth, elevation, light, instance. Neighbours in the list differ in all of them.
  [[nodiscard]] std::array<std::int64_t, 5> factorsOf(Split split, std::int64_t id) const {
    constexpr std::int64_t kStride = 7919;  // prime, so that each combination comes once
    std::int64_t index = id * kStride % size(split);
    std::array<std::int64_t, 5> factors{};
    constexpr std::array<std::int64_t, 4> counts = {kCategories, kAzimuths, kElevations, kLights};
    for (std::size_t i = 0; i < counts.size(); ++i, index /= counts[i - 1])
      factors[i] = index % counts[i];
    const std::int64_t first = split == Split::Train ? 0 : split == Split::Test ? kInstances : 10;
    factors[4] = first + index;
    return factors;
  }

  RandomStream instances_;
  std::size_t label_;
};

class SolidsSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    ItemCard card = generatedCard(
        "solids", "Solids",
        "Chair, car, house, mug or plane from 18 azimuths and 9 elevations under 6 lights",
        {"image", "label", "factors"}, 64);
    card.paper = "after LeCun et al. 2004, NORB";
    Field label = choiceField("label", "category", {kSolidLabels.begin(), kSolidLabels.end()},
                              "factor that is learned")
                      .titled("Label");
    label.withChoiceDocs(
        {"5 classes", "18, every 20 degrees", "9, from 30 to 70 degrees", "6 directions"});
    card.schema.fields.insert(
        card.schema.fields.begin() + 1,
        {label.runOnly(), integerField("channels", 1, "of an image, all alike")
                              .titled("Channels")
                              .range(1, 3)
                              .runOnly()});
    return card;
  }

  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size"), channels = config.integer("channels");
    DatasetInfo info = imageInfo(channels, size);
    info.fields.push_back({"factors",
                           FieldKind::Number,
                           at::kLong,
                           {5},
                           "category, azimuth / 20 degrees, (elevation - 30) / 5 degrees, light, "
                           "instance"});
    std::size_t label = 0;
    while (config.text("label") != kSolidLabels[label]) ++label;
    constexpr std::array<std::int64_t, 4> counts = {kCategories, kAzimuths, kElevations, kLights};
    for (std::int64_t c = 0; c < counts[label]; ++c) {
      info.classes.push_back(label == 0   ? kCategoryNames[static_cast<std::size_t>(c)]
                             : label == 1 ? std::to_string(20 * c)
                             : label == 2 ? std::to_string(30 + 5 * c)
                                          : std::to_string(c));
    }
    return std::make_shared<Solids>(seedFrom(config), std::move(info), label);
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeSolids() { return std::make_unique<SolidsSource>(); }

}  // namespace vitrine::shapes
