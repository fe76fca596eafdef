// Requests to `vitrine serve` for attention that is not stored, and their answers.
#pragma once

#include <QImage>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "ui/attention/attention_reading.h"

namespace vitrine::ui {

/// A way to have the attention of a model.
struct AttentionWay {
  AttentionSeries series;
  bool isDrawn = false;  ///< by a sampler, one patch at a time; `sample` is then a seed
  bool isOfWeights = false;  ///< of no image: positions and filters of the first layer
  bool hasLayers = false;    ///< can be asked for some layers alone
  bool hasQueries = false;   ///< keeps a few queries unless it is asked for all
  bool hasMatrices = false;  ///< has to be told which matrix
  bool hasPlaces = false;    ///< of windows, can be asked for that of a patch
  bool operator==(const AttentionWay&) const = default;
};

/// What a run with this configuration can be asked for, the usual one first. It goes by what its
/// architecture offers and what the analyses' cards say that they make. Empty where it offers no
/// attention, or where the catalog does not know it.
[[nodiscard]] std::vector<AttentionWay> attentionWays(const Catalog& catalog, const Json& config);

struct AttentionQuestion {
  AttentionWay way;
  std::int64_t sample = 0;
  std::string split = {};  ///< of the sample; "": the one that evaluations end with
  std::array<std::int64_t, 2> patch{0, 0};  ///< of a drawn image: whose attention is kept
  QImage image = {};                        ///< instead of a sample; may be null
  std::int64_t storeWithin = 0;  ///< bytes: results that are not larger are stored
  std::optional<std::array<double, 2>> place = {};  ///< of the patch whose window is asked for
  std::optional<int> layer = {};  ///< only this one
};
/// The operation `analyse` or `sample` of resources/docs/serve.md.
[[nodiscard]] Json attentionRequest(const AttentionQuestion& question);

/// Artifacts that an answer brought, as rows with ids of their own.
class AttentionResponse {
 public:
  /// {artifact: ...} or {preview: ...}; others are passed over.
  void take(const Json& part);
  /// All images in it.
  struct Found {
    AttentionEntry entry;
    std::shared_ptr<const AttentionImage> image;
  };
  /// \param step  of the weights \throws FileError  an artifact's data do not fit its meta
  [[nodiscard]] std::vector<Found> found(const AttentionWay& way, std::int64_t step);

 private:
  std::vector<store::ArtifactRow> rows_;
  std::vector<std::vector<std::byte>> bytes_;
};

}  // namespace vitrine::ui
