#include "plugins/transforms/corruptions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/luma.h"
#include "core/config/item_card.h"
#include "core/data/resample.h"
#include "plugins/transforms/corruption_filters.h"
#include "plugins/transforms/image_fields.h"
#include "plugins/transforms/lanes.h"

namespace vitrine::transforms {

namespace {

FloatImage unitOf(const Pixels& pixels) {
  FloatImage image(pixels.channels, pixels.height, pixels.width);
  for (std::size_t i = 0; i < image.values.size(); ++i) image.values[i] = pixels.values[i] / 255.0;
  return image;
}

/// Clipped to [0, 1], times 255, truncated.
void put(const FloatImage& image, const Pixels& pixels) {
  for (std::size_t i = 0; i < image.values.size(); ++i)
    pixels.values[i] = static_cast<std::uint8_t>(std::clamp(image.values[i], 0.0, 1.0) * 255);
}

/// Calls change(value) for every number of an image, channels last: the order of the numbers.
template <class Change>
void each(FloatImage& image, const Change& change) {
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      for (std::int64_t c = 0; c < image.channels; ++c) change(image.at(c, y, x));
    }
  }
}

struct Job {
  FloatImage image;
  std::size_t level;  ///< severity - 1
  const CorruptionNumbers& draw;
};

void gaussianNoise(Job& job) {
  constexpr std::array deviations{0.08, 0.12, 0.18, 0.26, 0.38};
  each(job.image, [&](double& v) { v += deviations[job.level] * job.draw.normal(); });
}

void shotNoise(Job& job) {
  constexpr std::array photons{60.0, 25.0, 12.0, 5.0, 3.0};
  const double full = photons[job.level];
  each(job.image, [&](double& v) { v = job.draw.poisson(v * full) / full; });
}

void impulseNoise(Job& job) {
  constexpr std::array amounts{0.03, 0.06, 0.09, 0.17, 0.27};
  std::vector<bool> isHit;
  each(job.image, [&](double&) { isHit.push_back(job.draw.between(0, 1) <= amounts[job.level]); });
  std::size_t i = 0;
  each(job.image, [&](double& v) {
    const bool isSalt = job.draw.between(0, 1) <= 0.5;
    if (isHit[i++]) v = isSalt ? 1 : 0;
  });
}

void speckleNoise(Job& job) {
  constexpr std::array deviations{0.15, 0.2, 0.35, 0.45, 0.6};
  each(job.image, [&](double& v) { v += v * deviations[job.level] * job.draw.normal(); });
}

void defocusBlur(Job& job) {
  constexpr double kDisks[5][2] = {{3, 0.1}, {4, 0.5}, {6, 0.5}, {8, 0.5}, {10, 0.5}};
  job.image = defocused(job.image, kDisks[job.level][0], kDisks[job.level][1]);
}

/// Pixels take the place of others near them; the source means to swap and copies.
void glassBlur(Job& job) {
  constexpr double kDeviations[] = {0.7, 0.9, 1, 1.1, 1.5};
  constexpr std::int64_t kReaches[] = {1, 2, 2, 3, 4}, kPasses[] = {2, 1, 3, 2, 2};
  const double deviation = kDeviations[job.level];
  const std::int64_t reach = kReaches[job.level];
  FloatImage& image = job.image;
  image = gaussian(image, deviation, deviation, Border::Nearest);
  for (double& v : image.values) v = std::floor(std::clamp(v, 0.0, 1.0) * 255) / 255;
  for (std::int64_t pass = 0; pass < kPasses[job.level]; ++pass) {
    for (std::int64_t y = image.height - reach; y > reach; --y) {
      for (std::int64_t x = image.width - reach; x > reach; --x) {
        const std::int64_t dx = job.draw.below(2 * reach) - reach;
        const std::int64_t dy = job.draw.below(2 * reach) - reach;
        for (std::int64_t c = 0; c < image.channels; ++c)
          image.at(c, y, x) = image.at(c, y + dy, x + dx);
      }
    }
  }
  image = gaussian(image, deviation, deviation, Border::Nearest);
}

void motionBlur(Job& job) {
  constexpr std::int64_t kRadii[] = {10, 15, 15, 15, 20};
  constexpr double kDeviations[] = {3, 5, 8, 12, 15};
  job.image =
      movedAlong(job.image, kRadii[job.level], kDeviations[job.level], job.draw.between(-45, 45));
}

void zoomBlur(Job& job) {
  constexpr double kSteps[] = {0.01, 0.01, 0.02, 0.02, 0.03};
  constexpr int kCounts[] = {12, 16, 11, 13, 11};
  FloatImage sum = job.image;
  for (int i = 0; i < kCounts[job.level]; ++i) {
    const FloatImage layer = zoomed(job.image, 1 + i * kSteps[job.level]);
    for (std::int64_t c = 0; c < sum.channels; ++c) {
      for (std::int64_t y = 0; y < std::min(sum.height, layer.height); ++y) {
        for (std::int64_t x = 0; x < std::min(sum.width, layer.width); ++x)
          sum.at(c, y, x) += layer.at(c, y, x);
      }
    }
  }
  for (double& v : sum.values) v /= kCounts[job.level] + 1;
  job.image = std::move(sum);
}

void gaussianBlur(Job& job) {
  constexpr double kDeviations[] = {1, 2, 3, 4, 6};
  const double deviation = kDeviations[job.level];
  job.image = gaussian(job.image, deviation, deviation, Border::Nearest);
}

void snow(Job& job) {
  struct Level {
    double mean, deviation, zoom, threshold;
    std::int64_t radius;
    double blur, kept;
  };
  constexpr Level kLevels[] = {{0.1, 0.3, 3, 0.5, 10, 4, 0.8},
                               {0.2, 0.3, 2, 0.5, 12, 4, 0.7},
                               {0.55, 0.3, 4, 0.9, 12, 8, 0.7},
                               {0.55, 0.3, 4.5, 0.85, 12, 8, 0.65},
                               {0.55, 0.3, 2.5, 0.85, 12, 12, 0.55}};
  const Level& level = kLevels[job.level];
  FloatImage& image = job.image;
  FloatImage flakes(1, image.height, image.width);
  each(flakes, [&](double& v) { v = level.mean + level.deviation * job.draw.normal(); });
  flakes = zoomed(flakes, level.zoom);
  for (double& v : flakes.values) v = v < level.threshold ? 0 : std::clamp(v, 0.0, 1.0);
  flakes = movedAlong(flakes, level.radius, level.blur, job.draw.between(-135, -45));
  for (double& v : flakes.values) v = std::nearbyint(v * 255) / 255;
  const std::int64_t rows = std::min(image.height, flakes.height);
  const std::int64_t columns = std::min(image.width, flakes.width);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const double grey = image.channels == 3
                              ? lumaOf(image.at(0, y, x), image.at(1, y, x), image.at(2, y, x))
                              : image.at(0, y, x);
      const bool isCovered = y < rows && x < columns;
      const double fallen =
          isCovered ? flakes.at(0, y, x) + flakes.at(0, rows - 1 - y, columns - 1 - x) : 0;
      for (std::int64_t c = 0; c < image.channels; ++c) {
        double& v = image.at(c, y, x);
        v = level.kept * v + (1 - level.kept) * std::max(v, grey * 1.5 + 0.5) + fallen;
      }
    }
  }
}

void fog(Job& job) {
  constexpr double kAmounts[] = {1.5, 2, 2.5, 2.5, 3}, kDecays[] = {2, 2, 1.7, 1.5, 1.4};
  FloatImage& image = job.image;
  std::int64_t side = 1;
  while (side < std::max(image.height, image.width)) side *= 2;
  const std::vector<double> haze = plasma(side, kDecays[job.level], job.draw.between);
  const double amount = kAmounts[job.level];
  const double most = *std::max_element(image.values.begin(), image.values.end());
  for (std::int64_t c = 0; c < image.channels; ++c) {
    for (std::int64_t y = 0; y < image.height; ++y) {
      for (std::int64_t x = 0; x < image.width; ++x) {
        double& v = image.at(c, y, x);
        v = (v + amount * haze[static_cast<std::size_t>(y * side + x)]) * most / (most + amount);
      }
    }
  }
}

/// Changes saturation and value of hue, saturation, value; of a grey image the value alone.
template <class Change>
void inHsv(FloatImage& image, const Change& change) {
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (image.channels != 3) {
        double none = 0;
        change(none, image.at(0, y, x));
        continue;
      }
      const double r = image.at(0, y, x), g = image.at(1, y, x), b = image.at(2, y, x);
      double value = std::max({r, g, b});
      const double range = value - std::min({r, g, b});
      double saturation = range == 0 ? 0 : range / value, hue = 0;
      if (range > 0) {
        hue = b == value ? 4 + (r - g) / range : g == value ? 2 + (b - r) / range : (g - b) / range;
        hue -= 6 * std::floor(hue / 6);
      }
      change(saturation, value);
      const double whole = std::floor(hue), part = hue - whole;
      const double p = value * (1 - saturation), q = value * (1 - part * saturation);
      const double t = value * (1 - (1 - part) * saturation);
      const std::array<std::array<double, 3>, 6> colours{{{value, t, p},
                                                          {q, value, p},
                                                          {p, value, t},
                                                          {p, q, value},
                                                          {t, p, value},
                                                          {value, p, q}}};
      const auto& colour = colours[static_cast<std::size_t>(whole) % 6];
      for (std::int64_t c = 0; c < 3; ++c) image.at(c, y, x) = colour[static_cast<std::size_t>(c)];
    }
  }
}

void brightness(Job& job) {
  constexpr double kAdded[] = {0.1, 0.2, 0.3, 0.4, 0.5};
  inHsv(job.image,
        [&](double&, double& value) { value = std::clamp(value + kAdded[job.level], 0.0, 1.0); });
}

void saturateColours(Job& job) {
  constexpr double kFactors[] = {0.3, 0.1, 2, 5, 20}, kAdded[] = {0, 0, 0, 0.1, 0.2};
  inHsv(job.image, [&](double& saturation, double&) {
    saturation = std::clamp(saturation * kFactors[job.level] + kAdded[job.level], 0.0, 1.0);
  });
}

void lowerContrast(Job& job) {
  constexpr double kFactors[] = {0.4, 0.3, 0.2, 0.1, 0.05};
  const std::int64_t plane = job.image.height * job.image.width;
  for (std::int64_t c = 0; c < job.image.channels; ++c) {
    const auto first = job.image.values.begin() + c * plane, last = first + plane;
    double mean = 0;
    for (auto v = first; v != last; ++v) mean += *v / static_cast<double>(plane);
    for (auto v = first; v != last; ++v) *v = (*v - mean) * kFactors[job.level] + mean;
  }
}

void elasticTransform(Job& job) {
  constexpr double kLengths[] = {12.5, 16.25, 21.25, 25, 30};
  FloatImage& image = job.image;
  const double most = static_cast<double>(image.height) * 0.005;
  std::array<std::vector<double>, 2> ways;  // columns first
  for (std::vector<double>& way : ways) {
    FloatImage field(1, image.height, image.width);
    each(field, [&](double& v) { v = job.draw.between(-most, most); });
    field = gaussian(field, static_cast<double>(image.height) * 0.01,
                     static_cast<double>(image.width) * 0.01, Border::Reflect, /*cut=*/3);
    way = std::move(field.values);
    for (double& v : way) v *= kLengths[job.level];
  }
  image = displaced(image, ways[1], ways[0]);
}

const std::map<std::string, void (*)(Job&)>& onNumbers() {
  static const std::map<std::string, void (*)(Job&)> kinds{{"gaussian_noise", gaussianNoise},
                                                           {"shot_noise", shotNoise},
                                                           {"impulse_noise", impulseNoise},
                                                           {"speckle_noise", speckleNoise},
                                                           {"defocus_blur", defocusBlur},
                                                           {"glass_blur", glassBlur},
                                                           {"motion_blur", motionBlur},
                                                           {"zoom_blur", zoomBlur},
                                                           {"gaussian_blur", gaussianBlur},
                                                           {"snow", snow},
                                                           {"fog", fog},
                                                           {"brightness", brightness},
                                                           {"contrast", lowerContrast},
                                                           {"saturate", saturateColours},
                                                           {"elastic_transform", elasticTransform}};
  return kinds;
}

/// Box-filtered to a share of the sides, and enlarged again without smoothing.
void pixelate(const Pixels& image, std::size_t level) {
  constexpr double kShares[] = {0.6, 0.5, 0.4, 0.3, 0.25};
  const auto part = [&](std::int64_t side) {
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(static_cast<double>(side) * kShares[level]));
  };
  const std::int64_t height = part(image.height), width = part(image.width);
  std::vector<std::uint8_t> small(static_cast<std::size_t>(image.channels * height * width));
  const std::span<std::uint8_t> all(image.values, static_cast<std::size_t>(image.size()));
  Resampler(ResampleFilter::Box, image.height, image.width, height, width)
      .apply(image.channels, all, small);
  Resampler(ResampleFilter::Nearest, height, width, image.height, image.width)
      .apply(image.channels, small, all);
}

/// By inversion: numbers up to 60 need a few dozen sums at most.
double poissonOf(double mean, double uniform) {
  double probability = std::exp(-mean), sum = probability;
  int count = 0;
  while (uniform > sum && count < 1000) {
    ++count;
    probability *= mean / count;
    sum += probability;
  }
  return count;
}

class Corrupt final : public Transform {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(ItemKind::Transform, "corrupt", "Corrupt");
    card.paper = "Hendrycks and Dietterich 2019, arXiv:1903.12261";
    card.doc = "Noise, blur, weather or digital damage of one of five severities";
    card.needs = {"image"};
    card.schema.fields = runOnly(
        {choiceField("kind", "gaussian_noise", corruptionKinds(), "of damage").titled("Kind"),
         integerField("severity", 3, "1 is slight, 5 is heavy").titled("Severity").range(1, 5)});
    return card;
  }

  std::vector<SampleField> fields(const Config&, const TransformContext& context) const override {
    (void)byteImages(context.fields, "corrupt");
    return context.fields;
  }

  std::unique_ptr<SampleTransform> forSamples(const Config& config,
                                              const TransformContext& context) const override {
    return onSamples([images = byteImages(context.fields, "corrupt"), kind = config.text("kind"),
                      severity = static_cast<int>(config.integer("severity"))](Sample& sample,
                                                                               const Draws& draws) {
      Lanes lanes(draws);
      const CorruptionNumbers numbers{
          [&] { return lanes.normal(); },
          [&](double low, double high) { return lanes.between(low, high); },
          [&](std::int64_t bound) { return lanes.below(bound); },
          [&](double mean) { return poissonOf(mean, lanes.uniform()); }};
      for (const std::string& name : images)
        corrupt(pixelsOf(sample[name]), kind, severity, numbers);
    });
  }
};

}  // namespace

const std::vector<std::string>& corruptionKinds() {
  static const std::vector<std::string> kinds{"gaussian_noise",
                                              "shot_noise",
                                              "impulse_noise",
                                              "speckle_noise",
                                              "defocus_blur",
                                              "glass_blur",
                                              "motion_blur",
                                              "zoom_blur",
                                              "gaussian_blur",
                                              "snow",
                                              "fog",
                                              "brightness",
                                              "contrast",
                                              "saturate",
                                              "elastic_transform",
                                              "pixelate",
                                              "jpeg_compression"};
  return kinds;
}

void corrupt(const Pixels& image, const std::string& kind, int severity,
             const CorruptionNumbers& numbers) {
  if (severity < 1 || severity > 5)
    throw ConfigError("a corruption of severity " + std::to_string(severity) +
                      " is not known; choose 1 to 5");
  const auto level = static_cast<std::size_t>(severity - 1);
  if (kind == "pixelate") return pixelate(image, level);
  if (kind == "jpeg_compression") {
    constexpr int kQualities[] = {25, 18, 15, 10, 7};
    return throughJpeg(image.values, image.channels, image.height, image.width, kQualities[level]);
  }
  if (kind == "saturate" && image.channels != 3) return;
  const auto found = onNumbers().find(kind);
  if (found == onNumbers().end())
    throw ConfigError("there is no corruption '" + kind + "'; known are " +
                      joined(corruptionKinds()));
  Job job{unitOf(image), level, numbers};
  found->second(job);
  put(job.image, image);
}

std::unique_ptr<Transform> makeCorrupt() { return std::make_unique<Corrupt>(); }

}  // namespace vitrine::transforms
