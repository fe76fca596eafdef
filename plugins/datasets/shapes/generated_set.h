// Parts shared by the generated sets: sizes, streams of numbers, their part of `[data]`.
//
// A sample is a function of (set, version, seed, split, id) alone, through Philox. Order, threads
// and resumes do not matter, and nothing is kept in memory.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/registry.h"
#include "plugins/datasets/shapes/figures.h"

namespace vitrine::shapes {

class GeneratedSet : public Dataset {
 public:
  /// \param name    of the random streams: the set and its version
  /// \param sizes   samples by Split
  GeneratedSet(const std::string& name, std::uint64_t seed, std::array<std::int64_t, 3> sizes,
               DatasetInfo info);
  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override {
    return sizes_[static_cast<std::size_t>(split)];
  }
  void read(Split split, std::int64_t id, Sample& sample) const override;

 protected:
  virtual void draw(Numbers& numbers, Split split, std::int64_t id, Sample& sample) const = 0;

 private:
  std::array<RandomStream, 3> streams_;  // by Split
  std::array<std::int64_t, 3> sizes_;
  DatasetInfo info_;
};

/// A card with the keys that every generated set has: size, seed, version; and, with `sizes` above
/// 0, train_size, validation_size and test_size.
[[nodiscard]] ItemCard generatedCard(const std::string& id, const std::string& title,
                                     const std::string& doc, std::vector<std::string> offers,
                                     std::int64_t imageSize,
                                     std::array<std::int64_t, 3> sizes = {0, 0, 0});
/// Values of those keys.
[[nodiscard]] std::array<std::int64_t, 3> sizesFrom(const Config& config);
[[nodiscard]] std::uint64_t seedFrom(const Config& config);
/// Channels, sides, mean and deviation of images drawn here, with the fields "image" and "label";
/// further fields and the classes are the caller's.
[[nodiscard]] DatasetInfo imageInfo(std::int64_t channels, std::int64_t size);
/// Writes a canvas to the field `name`.
void putImage(const Canvas& canvas, Sample& sample, std::string_view name = "image");
inline void putLabel(std::int64_t label, Sample& sample, std::string_view name = "label") {
  sample[name].resize<std::int64_t>({})[0] = label;
}

[[nodiscard]] std::unique_ptr<DatasetSource> makeSprites();
[[nodiscard]] std::unique_ptr<DatasetSource> makeSegments();
[[nodiscard]] std::unique_ptr<DatasetSource> makeCueConflict();
[[nodiscard]] std::unique_ptr<DatasetSource> makeSceneCaptions();
[[nodiscard]] std::unique_ptr<DatasetSource> makeMultiLabel();
[[nodiscard]] std::unique_ptr<DatasetSource> makeTextures();
[[nodiscard]] std::unique_ptr<DatasetSource> makeCount();
[[nodiscard]] std::unique_ptr<DatasetSource> makePathfinder();
[[nodiscard]] std::unique_ptr<DatasetSource> makeEdits();
[[nodiscard]] std::unique_ptr<DatasetSource> makeGlyphs();
[[nodiscard]] std::unique_ptr<DatasetSource> makeSolids();
[[nodiscard]] std::unique_ptr<DatasetSource> makeMazes();
/// Adds every set of this plugin.
void registerAll(Registry& registry);

}  // namespace vitrine::shapes
