#include "ui/attention/attention_compute.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "core/config/lookup.h"
#include "core/config/reads_images.h"

namespace vitrine::ui {

namespace {

constexpr int kSamplerSteps = 50;
constexpr int kDrawnSteps = 8;  // of those the ones whose attention is kept

// What the card of an analysis offers where it makes artifacts of kind attention: their matrix.
constexpr std::string_view kOfImages = "attention:", kOfWeights = "attention_of_weights:";

}  // namespace

std::vector<AttentionWay> attentionWays(const Catalog& catalog, const Json& config) {
  std::vector<AttentionWay> ways;
  const ItemCard* architecture =
      catalog.find(ItemKind::Architecture, textAt(config, "model.architecture"));
  if (architecture == nullptr) return ways;
  const std::vector<std::string>& offers = architecture->offers;
  const bool isSource = offersEvery(offers, {"attention_source"});
  const bool canRead = readsImages(offers);
  for (const ItemCard& analysis : catalog.items) {
    if (analysis.kind != ItemKind::Analysis || !offersEvery(offers, analysis.needs) || !canRead)
      continue;
    for (const std::string& made : analysis.offers) {
      const bool isOfWeights = made.starts_with(kOfWeights);
      if (!isOfWeights && !made.starts_with(kOfImages)) continue;
      AttentionWay way;
      way.series = {analysis.id, made.substr((isOfWeights ? kOfWeights : kOfImages).size())};
      way.isOfWeights = isOfWeights;
      way.hasLayers = analysis.schema.find("layers") != nullptr;
      way.hasQueries = analysis.schema.find("query") != nullptr;
      way.hasMatrices = analysis.schema.find("attention") != nullptr;
      way.hasPlaces = analysis.schema.find("place") != nullptr;
      ways.push_back(std::move(way));
    }
  }
  std::stable_partition(ways.begin(), ways.end(),
                        [](const AttentionWay& way) { return !way.isOfWeights; });
  const bool denoises =
      offersEvery(offers, {"denoiser"}) || offersEvery(offers, {"guided_denoiser"});
  // The sampler that fits the run is chosen by the program.
  if (ways.empty() && isSource && denoises) ways.push_back({{"", "softmax"}, true});
  return ways;
}

Json attentionRequest(const AttentionQuestion& question) {
  const AttentionWay& way = question.way;
  if (way.isDrawn) {
    Json request{{"op", "sample"},
                 {"settings",
                  {{"seed", question.sample},
                   {"count", 1},
                   {"steps", kSamplerSteps},
                   {"previews", kDrawnSteps},
                   {"attention", {question.patch[0], question.patch[1]}}}},
                 {"previews", true}};
    if (!way.series.analysis.empty()) request["sampler"] = way.series.analysis;
    if (question.storeWithin > 0) request["store_steps"] = question.storeWithin;
    return request;
  }
  Json settings = Json::object();
  if (way.hasQueries) settings["query"] = "all";
  if (way.hasMatrices) settings["attention"] = way.series.matrix;
  if (way.hasPlaces && question.place) settings["place"] = *question.place;
  if (question.layer) settings["layers"] = Json::array({*question.layer});
  Json request{{"op", "analyse"}, {"item", way.series.analysis}};
  if (question.storeWithin > 0 && question.image.isNull()) {
    request["store"] = true;
    request["store_within"] = question.storeWithin;
  }
  if (way.isOfWeights) {
    // Of no image.
  } else if (question.image.isNull()) {
    settings["ids"] = Json::array({question.sample});
    if (!question.split.empty()) request["split"] = question.split;
  } else {
    const QImage pixels = question.image.convertToFormat(QImage::Format_RGB888);
    std::vector<std::uint8_t> bytes;
    for (int y = 0; y < pixels.height(); ++y)
      bytes.insert(bytes.end(), pixels.constScanLine(y),
                   pixels.constScanLine(y) + static_cast<std::ptrdiff_t>(3) * pixels.width());
    request["image"] = {{"shape", {pixels.height(), pixels.width(), 3}},
                        {"bytes", Json::binary(std::move(bytes))}};
  }
  request["settings"] = std::move(settings);
  return request;
}

void AttentionResponse::take(const Json& part) {
  for (const char* key : {"artifact", "preview"}) {
    const auto found = part.find(key);
    if (found == part.end() || !found->is_object()) continue;
    store::ArtifactRow row;
    row.id = static_cast<std::int64_t>(rows_.size()) + 1;
    row.name = textAt(*found, "name");
    row.kind = textAt(*found, "kind");
    row.meta = found->value("meta", Json::object());
    std::vector<std::byte> bytes;
    const auto data = found->find("bytes");
    if (data != found->end() && data->is_binary()) {
      const std::vector<std::uint8_t>& given = data->get_binary();
      const auto view = std::as_bytes(std::span(given));
      bytes.assign(view.begin(), view.end());
    }
    rows_.push_back(std::move(row));
    bytes_.push_back(std::move(bytes));
  }
}

std::vector<AttentionResponse::Found> AttentionResponse::found(const AttentionWay& way,
                                                               std::int64_t step) {
  for (store::ArtifactRow& row : rows_) {
    row.analysis = way.series.analysis;
    row.step = step;
  }
  std::vector<Found> all;
  for (AttentionEntry& entry : attentionEntries(rows_)) {
    auto image = readAttention(
        entry, rows_, [this](std::int64_t id) { return bytes_[static_cast<std::size_t>(id) - 1]; });
    all.push_back({std::move(entry), std::move(image)});
  }
  return all;
}

}  // namespace vitrine::ui
