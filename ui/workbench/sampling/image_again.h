// Requests to a sampler, a stored image made again from its recipe, and whether the pixels are the
// same.
#pragma once

#include <QImage>
#include <QString>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "ui/workbench/model_service.h"

namespace vitrine::ui {

/// One request of the operation `sample`.
struct SampleSettings {
  ModelChoice model;
  std::string sampler;           ///< id; "": the one that fits the model best
  Json values = Json::object();  ///< seed, count and the sampler's own keys

  [[nodiscard]] std::int64_t count() const;  ///< images or texts, 1 where it is not said
  [[nodiscard]] std::uint64_t seed() const;
  /// Without id and model.
  [[nodiscard]] Json request() const;
  [[nodiscard]] bool operator==(const SampleSettings& other) const;
};

/// The request that makes an image again, with its whole batch.
/// \throws RefusedError  as imageAgain()
[[nodiscard]] SampleSettings settingsAgain(const Json& recipe, std::int64_t run);

/// How much two pictures differ.
struct PixelDifference {
  int largest = 0;          ///< of 255, in any channel
  std::int64_t pixels = 0;  ///< that differ
};
/// Nothing where their sizes differ.
[[nodiscard]] std::optional<PixelDifference> pixelDifference(const QImage& a, const QImage& b);

struct HashedImage {
  QImage image;
  std::string sha256;  ///< of the pixels
};
/// The image of this seed in an answer {image} of the operation `sample`. Nothing where the answer
/// has another one, or none that can be read.
[[nodiscard]] std::optional<HashedImage> imageIn(const Json& answer, std::uint64_t seed);
/// What Verify found, as a sentence. \param again  nothing: the sampler did not make it
struct Verdict {
  bool isExact = false;
  QString sentence;
};
[[nodiscard]] Verdict verdictOf(const HashedImage& stored, const std::optional<HashedImage>& again);

}  // namespace vitrine::ui
