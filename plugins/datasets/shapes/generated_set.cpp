#include "plugins/datasets/shapes/generated_set.h"

#include <algorithm>

#include "core/config/item_card.h"

namespace vitrine::shapes {

GeneratedSet::GeneratedSet(const std::string& name, std::uint64_t seed,
                           std::array<std::int64_t, 3> sizes, DatasetInfo info)
    : streams_{RandomStream(seed, name + "/train"), RandomStream(seed, name + "/validation"),
               RandomStream(seed, name + "/test")},
      sizes_(sizes),
      info_(std::move(info)) {}

void GeneratedSet::read(Split split, std::int64_t id, Sample& sample) const {
  requireSample(split, id);
  Numbers numbers(streams_[static_cast<std::size_t>(split)], id);
  draw(numbers, split, id, sample);
}

ItemCard generatedCard(const std::string& id, const std::string& title, const std::string& doc,
                       std::vector<std::string> offers, std::int64_t imageSize,
                       std::array<std::int64_t, 3> sizes) {
  ItemCard card = itemCard(ItemKind::Dataset, id, title, doc);
  card.offers = std::move(offers);
  card.schema.fields = runOnly({integerField("size", imageSize, "sides of an image")
                                    .titled("Image sides")
                                    .range(16, 512)
                                    .withUnit("px")});
  const std::array<std::pair<const char*, const char*>, 3> splits = {
      {{"train_size", "Training samples made"},
       {"validation_size", "Validation samples made"},
       {"test_size", "Test samples made"}}};
  for (std::size_t i = 0; i < splits.size() && sizes[0] > 0; ++i) {
    card.schema.fields.push_back(integerField(splits[i].first, sizes[i], "samples of the split")
                                     .titled(splits[i].second)
                                     .range(i == 0 ? 1 : 0, 100'000'000)
                                     .runOnly());
  }
  card.schema.fields.push_back(
      integerField("seed", 0, "seed of the set; another seed is another set")
          .titled("Seed of the set")
          .atLeast(0)
          .runOnly());
  card.schema.fields.push_back(
      integerField("version", 1, "of the generator: what it draws does not change within one")
          .titled("Version of the set")
          .range(1, 1)
          .runOnly());
  return card;
}

std::array<std::int64_t, 3> sizesFrom(const Config& config) {
  return {config.integer("train_size"), config.integer("validation_size"),
          config.integer("test_size")};
}

std::uint64_t seedFrom(const Config& config) {
  return static_cast<std::uint64_t>(config.integer("seed"));
}

DatasetInfo imageInfo(std::int64_t channels, std::int64_t size) {
  DatasetInfo info{.channels = channels};
  info.height = info.width = size;
  info.mean.assign(static_cast<std::size_t>(channels), 0.5);
  info.deviation.assign(static_cast<std::size_t>(channels), 0.25);
  info.fields = labelledImageFields(channels, size, size);
  return info;
}

void putImage(const Canvas& canvas, Sample& sample, std::string_view name) {
  canvas.toBytes(sample[name].resize<std::uint8_t>({canvas.channels, canvas.height, canvas.width}));
}

void registerAll(Registry& registry) {
  registry.add(makeSprites());
  registry.add(makeSegments());
  registry.add(makeCueConflict());
  registry.add(makeSceneCaptions());
  registry.add(makeMultiLabel());
  registry.add(makeTextures());
  registry.add(makeCount());
  registry.add(makePathfinder());
  registry.add(makeEdits());
  registry.add(makeGlyphs());
  registry.add(makeSolids());
  registry.add(makeMazes());
}

}  // namespace vitrine::shapes
