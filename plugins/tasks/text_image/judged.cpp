#include "plugins/tasks/text_image/judged.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "core/base/log.h"
#include "core/plugin/sampler.h"

namespace vitrine::text_image {

namespace {

constexpr std::uint64_t kFirstSeed = 1;
constexpr std::int64_t kMostTogether = 50, kMostGridImages = 64;

/// [N, C, H, W] bytes; image i has the seed kFirstSeed + i, whichever it is drawn with.
at::Tensor drawnBytes(TextImageModel& model, LanguageModel& language,
                      const std::vector<text::TokenIds>& captions, const DrawSettings& settings,
                      at::Device device) {
  std::map<text::TokenIds, std::vector<std::int64_t>> places;
  for (std::size_t i = 0; i < captions.size(); ++i)
    places[captions[i]].push_back(static_cast<std::int64_t>(i));
  const TextImageModel::Sizes sizes = model.textImageSizes();
  at::Tensor bytes =
      at::empty({std::ssize(captions), sizes.channels, sizes.height, sizes.width}, at::kByte);
  for (const auto& [caption, all] : places) {
    for (std::int64_t first = 0; first < std::ssize(all); first += kMostTogether) {
      const auto size = std::min(kMostTogether, std::ssize(all) - first);
      std::vector<std::uint64_t> seeds;
      for (std::int64_t i = first; i < first + size; ++i)
        seeds.push_back(kFirstSeed + static_cast<std::uint64_t>(all[static_cast<std::size_t>(i)]));
      const at::Tensor images = drawnImages(model, language, caption, seeds, settings, device);
      if (const std::string why = notFinite(images, seeds); !why.empty()) log::warning(why);
      bytes.index_copy_(0, at::tensor(all, at::kLong).narrow(0, first, size), bytesOf(images));
    }
  }
  return bytes;
}

void addGrid(const at::Tensor& bytes, const std::vector<std::string>& titles, Results& results) {
  const std::int64_t count = std::min(bytes.size(0), kMostGridImages);
  const at::Tensor pixels = bytes.narrow(0, 0, count).permute({0, 2, 3, 1}).contiguous();
  Artifact grid{"text_image", "drawings", artifact_kind::kImageGrid};
  setUint8(grid, {pixels.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(pixels.numel())},
           pixels.sizes().vec(), {"image", "row", "column", "channel"});
  grid.meta["titles"] =
      std::vector<std::string>(titles.begin(), titles.begin() + static_cast<std::ptrdiff_t>(count));
  results.artifact(std::move(grid));
}

}  // namespace

void judgeDrawings(TextImageModel& model, LanguageModel& language, const CaptionedDrawing& drawing,
                   const DrawSettings& settings, const ImageJudge* judge,
                   const std::vector<std::string>& classes, at::Device device, Results& results) {
  const at::Tensor bytes = drawnBytes(model, language, drawing.captions, settings, device);
  addGrid(bytes, drawing.titles, results);
  if (judge == nullptr || drawing.labels.empty()) return;
  const std::int64_t count = bytes.size(0);
  std::vector<std::int64_t> asked(classes.size(), 0), agreed(classes.size(), 0);
  for (std::int64_t first = 0; first < count; first += kMostTogether) {
    const std::int64_t size = std::min(kMostTogether, count - first);
    const at::Tensor chosen =
        judge->look(bytes.narrow(0, first, size), device).logits.argmax(1).contiguous();
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t label = drawing.labels[static_cast<std::size_t>(first + i)];
      ++asked.at(static_cast<std::size_t>(label));
      if (chosen.const_data_ptr<std::int64_t>()[i] == label)
        ++agreed[static_cast<std::size_t>(label)];
    }
  }
  Artifact table{"text_image", "judged", artifact_kind::kTable};
  Json rows = Json::array();
  std::int64_t right = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    right += agreed[i];
    rows.push_back({classes[i], agreed[i], asked[i]});
  }
  rows.push_back({"all", right, count});
  setJson(table, {{"columns", {"class", "judge agrees", "drawings"}}, {"rows", std::move(rows)}});
  table.meta["judge"] = {{"name", judge->name()}, {"sha256", judge->sha256()}};
  results.artifact(std::move(table));
  results.score("agreement", static_cast<double>(right) / static_cast<double>(count));
}

}  // namespace vitrine::text_image
