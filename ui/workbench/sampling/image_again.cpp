#include "ui/workbench/sampling/image_again.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/artifact/generated.h"
#include "core/config/config.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

std::int64_t SampleSettings::count() const { return stateInteger(values, "count", 1); }

std::uint64_t SampleSettings::seed() const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, stateInteger(values, "seed", 0)));
}

Json SampleSettings::request() const {
  Json request{{"op", "sample"}, {"settings", values}};
  if (!sampler.empty()) request["sampler"] = sampler;
  return request;
}

bool SampleSettings::operator==(const SampleSettings& other) const {
  return model.request() == other.model.request() && sampler == other.sampler &&
         difference(values, other.values).empty();
}

SampleSettings settingsAgain(const Json& recipe, std::int64_t run) {
  ImageAgain again = imageAgain(recipe, "the image");
  SampleSettings settings;
  settings.model.run = run;
  settings.model.checkpoint = std::to_string(again.step);
  settings.model.use = std::move(again.weights);
  settings.model.device = std::move(again.device);
  settings.model.precision = std::move(again.precision);
  settings.sampler = std::move(again.sampler);
  settings.values = std::move(again.settings);
  return settings;
}

std::optional<PixelDifference> pixelDifference(const QImage& a, const QImage& b) {
  if (a.size() != b.size() || a.isNull()) return std::nullopt;
  const QImage left = a.convertToFormat(QImage::Format_RGBA8888);
  const QImage right = b.convertToFormat(QImage::Format_RGBA8888);
  PixelDifference found;
  for (int y = 0; y < left.height(); ++y) {
    const uchar* one = left.constScanLine(y);
    const uchar* other = right.constScanLine(y);
    for (int x = 0; x < left.width(); ++x) {
      int largest = 0;
      for (int c = 0; c < 4; ++c)
        largest = std::max(largest, std::abs(one[4 * x + c] - other[4 * x + c]));
      found.largest = std::max(found.largest, largest);
      found.pixels += largest > 0 ? 1 : 0;
    }
  }
  return found;
}

std::optional<HashedImage> imageIn(const Json& answer, std::uint64_t seed) {
  const Json& image = stateMember(answer, "image");
  const Json &of = stateMember(image, "seed"), &bytes = stateMember(image, "bytes");
  const bool isWhole =
      of.is_number_integer() && stateMember(image, "sha256").is_string() && bytes.is_binary();
  if (!isWhole || of.get<std::uint64_t>() != seed) return std::nullopt;
  const auto& png = bytes.get_binary();
  return HashedImage{QImage::fromData(png.data(), static_cast<int>(png.size()), "PNG"),
                     stateText(image, "sha256")};
}

Verdict verdictOf(const HashedImage& stored, const std::optional<HashedImage>& again) {
  if (!again) return {false, QObject::tr("The sampler did not make this image again")};
  if (again->sha256 == stored.sha256) return {true, QObject::tr("Bit-exact on this machine")};
  const auto difference = pixelDifference(stored.image, again->image);
  if (!difference) return {false, QObject::tr("Made again with another size")};
  return {false, QObject::tr("Differs in %1, by %2 of 255 at most")
                     .arg(counted(difference->pixels, QObject::tr("pixel"), QObject::tr("pixels")))
                     .arg(difference->largest)};
}

}  // namespace vitrine::ui
