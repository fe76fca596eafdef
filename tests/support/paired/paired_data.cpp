
#include "core/base/random.h"
#include "paired.h"

namespace paired {

namespace {

class Data final : public vitrine::Dataset {
 public:
  Data() {
    info_.channels = 1;
    info_.height = info_.width = kSide;
    info_.classes = {"upper left", "upper right", "lower left", "lower right"};
    info_.mean = {0.5};
    info_.deviation = {0.5};
    info_.fields = vitrine::labelledImageFields(1, kSide, kSide);
    info_.fields.push_back(
        {"tokens", vitrine::FieldKind::Tokens, at::kLong, {-1}, "one to five words"});
  }
  const vitrine::DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(vitrine::Split split) const override {
    return split == vitrine::Split::Train ? 64 : split == vitrine::Split::Test ? 32 : 0;
  }
  std::int64_t label(vitrine::Split, std::int64_t id) const override { return id % kQuarters; }
  void read(vitrine::Split split, std::int64_t id, vitrine::Sample& sample) const override {
    requireSample(split, id);
    const vitrine::RandomStream stream(static_cast<std::uint64_t>(split), "paired");
    const auto number = static_cast<std::uint64_t>(id);
    const std::int64_t quarter = label(split, id);
    const auto pixels = sample["image"].resize<std::uint8_t>({1, kSide, kSide});
    for (std::int64_t i = 0; i < kPixels; ++i) {
      const bool isBright = (i / kSide >= kSide / 2) == (quarter >= 2) &&
                            (i % kSide >= kSide / 2) == (quarter % 2 == 1);
      pixels[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(
          (isBright ? 200 : 20) + stream.below(40, number, static_cast<std::uint64_t>(i)));
    }
    const auto words = static_cast<std::int64_t>(1 + stream.below(5, number, 1000));
    const auto tokens = sample["tokens"].resize<std::int64_t>({words});
    for (std::size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = 3 * quarter + static_cast<std::int64_t>(stream.below(3, number, 1001 + i));
    sample["label"].resize<std::int64_t>({})[0] = quarter;
  }

 private:
  vitrine::DatasetInfo info_;
};

}  // namespace

vitrine::ItemCard PairedData::card() const {
  return {.kind = vitrine::ItemKind::Dataset,
          .id = "paired",
          .title = "Quarters and words",
          .doc = "Images with one bright quarter, and one to five words that say which",
          .offers = {"image", "tokens", "label"}};
}

std::shared_ptr<const vitrine::Dataset> PairedData::open(const vitrine::Config&) const {
  return std::make_shared<Data>();
}

}  // namespace paired
