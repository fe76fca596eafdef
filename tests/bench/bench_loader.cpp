// Times batches of 28-pixel images from memory to the training step, on the calling thread alone:
// no transform but the normalising one (--augment off), or a crop and a flip as well (--augment
// on).
//
// Reads one line per turn from stdin, a number of epochs of 61,440 images; answers with one line,
// their images per second in millions. `run.sh loader` prints the median.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/config/catalog.h"
#include "core/plugin/pipeline.h"
#include "core/plugin/registry.h"
#include "plugins/transforms/transforms.h"
#include "tests/bench/turns.h"

using namespace vitrine;

namespace {

class Images final : public LabelledImages {
 public:
  static constexpr std::int64_t kCount = 61440, kSide = 28;
  Images() : pixels_(kCount * kSide * kSide) {
    info_.channels = 1;
    info_.height = info_.width = kSide;
    info_.classes = {"even", "odd"};
    for (std::size_t i = 0; i < pixels_.size(); ++i)
      pixels_[i] = static_cast<std::uint8_t>(31 * i + i / 97);
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override { return split == Split::Validation ? 0 : kCount; }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t> image) const override {
    std::copy_n(pixels_.begin() + id * kSide * kSide, image.size(), image.begin());
    return id % 2;
  }

 private:
  DatasetInfo info_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

int main(int count, char** words) {
  bench::becomeComputeProcess(words);
  std::map<std::string, std::string> options = bench::readOptions(count, words);
  Registry registry;
  transforms::registerAll(registry);
  Json data = dataSchema().defaults();
  if (options["--augment"] == "on") data["augment"] = {{"crop_padding", 2}, {"flip", 0.5}};
  const Pipeline pipeline(registry, Config(data), std::make_shared<const Images>(), 0, {});
  const auto stream =
      pipeline.stream(Split::Train, {.batchSize = 128, .workers = 0, .isTraining = true});
  bench::takeTurns(1, [&] {
    const double milliseconds = bench::timed([&] {
      for (std::int64_t i = 0; i < stream->batchesPerEpoch(); ++i)
        static_cast<void>(stream->next());
    });
    return static_cast<double>(Images::kCount) / milliseconds / 1e3;
  });
  return 0;
}
