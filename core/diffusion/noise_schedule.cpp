#include "core/diffusion/noise_schedule.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <set>

#include "core/base/error.h"

namespace vitrine::diffusion {

namespace {

constexpr double kReferenceSteps = 1000, kFirstBeta = 1e-4, kLastBeta = 0.02;
constexpr double kCosineOffset = 0.008, kMostBeta = 0.999;
constexpr std::int64_t kMostSteps = 1000000;

double cosineAlphaBar(double share) {
  const double angle = (share + kCosineOffset) / (1 + kCosineOffset) * std::numbers::pi / 2;
  return std::cos(angle) * std::cos(angle);
}

[[noreturn]] void refuse(const std::string& request, const std::string& why) {
  throw ConfigError("respacing \"" + request + "\": " + why);
}

std::int64_t countFrom(const std::string& text, const std::string& request) {
  const bool isNumber =
      !text.empty() && text.size() < 8 &&
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!isNumber)
    refuse(request, "write a number of steps (250), one for each section (10,15,20), or ddim50");
  return std::stoll(text);
}

std::vector<std::int64_t> strided(std::int64_t steps, std::int64_t wanted,
                                  const std::string& request) {
  std::int64_t more = steps, fewer = 1;  // the nearest that a stride keeps
  for (std::int64_t stride = 1; wanted > 0 && stride <= steps; ++stride) {
    const std::int64_t count = (steps + stride - 1) / stride;
    if (count > wanted) more = count;
    if (count < wanted) fewer = std::max(fewer, count);
    if (count != wanted) continue;
    std::vector<std::int64_t> kept;
    for (std::int64_t step = 0; step < steps; step += stride) kept.push_back(step);
    return kept;
  }
  refuse(request, "no whole stride through " + std::to_string(steps) + " steps keeps exactly " +
                      std::to_string(wanted) + " of them; take " + std::to_string(fewer) +
                      (more > wanted ? " or " + std::to_string(more) : ""));
}

}  // namespace

std::vector<double> betasOf(BetaSchedule schedule, std::int64_t steps) {
  if (steps < 2 || steps > kMostSteps) {
    throw ConfigError("a noise schedule of " + std::to_string(steps) +
                      " steps is not possible; take 2 to " + std::to_string(kMostSteps));
  }
  // Its last step would add all noise there is, and nothing could be taken back.
  constexpr auto kFewestLinear = static_cast<std::int64_t>(kReferenceSteps * kLastBeta) + 1;
  if (schedule == BetaSchedule::Linear && steps < kFewestLinear) {
    throw ConfigError("a linear noise schedule of " + std::to_string(steps) +
                      " steps would leave nothing of an image; take " +
                      std::to_string(kFewestLinear) + " or more, or the cosine schedule");
  }
  std::vector<double> betas(static_cast<std::size_t>(steps));
  const double count = static_cast<double>(steps);
  for (std::int64_t i = 0; i < steps; ++i) {
    const double place = static_cast<double>(i);
    double& beta = betas[static_cast<std::size_t>(i)];
    if (schedule == BetaSchedule::Linear) {
      const double scale = kReferenceSteps / count;
      const double first = scale * kFirstBeta, last = scale * kLastBeta;
      beta = i + 1 == steps ? last : first + place * ((last - first) / (count - 1));
    } else {
      beta = std::min(1 - cosineAlphaBar((place + 1) / count) / cosineAlphaBar(place / count),
                      kMostBeta);
    }
  }
  return betas;
}

std::vector<std::int64_t> respacedSteps(std::int64_t steps, const std::string& request) {
  if (request.empty()) return strided(steps, steps, request);
  if (request.starts_with("ddim"))
    return strided(steps, countFrom(request.substr(4), request), request);
  std::vector<std::int64_t> counts;
  for (std::size_t begin = 0; begin <= request.size();) {
    const std::size_t end = std::min(request.find(',', begin), request.size());
    counts.push_back(countFrom(request.substr(begin, end - begin), request));
    begin = end + 1;
  }
  const auto sections = static_cast<std::int64_t>(counts.size());
  std::set<std::int64_t> kept;
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < sections; ++i) {
    const std::int64_t size = steps / sections + (i < steps % sections ? 1 : 0);
    const std::int64_t count = counts[static_cast<std::size_t>(i)];
    if (count < 1 || count > size) {
      refuse(request, "a section of " + std::to_string(size) + " steps cannot give " +
                          std::to_string(count) + "; take 1 to " + std::to_string(size));
    }
    const double stride =
        count == 1 ? 1 : static_cast<double>(size - 1) / static_cast<double>(count - 1);
    // Added up, not multiplied: the published indices depend on its rounding.
    double place = 0;
    for (std::int64_t k = 0; k < count; ++k, place += stride)
      kept.insert(first + static_cast<std::int64_t>(std::nearbyint(place)));
    first += size;
  }
  return {kept.begin(), kept.end()};
}

}  // namespace vitrine::diffusion
