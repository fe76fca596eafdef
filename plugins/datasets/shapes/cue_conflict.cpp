// Shape against texture (after Geirhos et al. 2019, arXiv:1811.12231).
#include "plugins/datasets/shapes/generated_set.h"

namespace vitrine::shapes {

namespace {

constexpr std::int64_t kPerShape = 80;  // 16 x 80 = 1,280 conflicts, as in the paper

enum class Cue { Both, Silhouette, Texture };

/// Training and validation: shape k always has texture k. Test: the textures of the other classes
/// in turn.
class CueConflict final : public GeneratedSet {
 public:
  CueConflict(std::uint64_t seed, std::int64_t train, std::int64_t validation, DatasetInfo info,
              Cue cue)
      : GeneratedSet("cue_conflict/1", seed, {train, validation, kShapes * kPerShape},
                     std::move(info)),
        cue_(cue) {}

  std::int64_t label(Split split, std::int64_t id) const override {
    return cue_ == Cue::Texture ? familyOf(split, id) : id % kShapes;
  }

 protected:
  void draw(Numbers& numbers, Split split, std::int64_t id, Sample& sample) const override {
    const std::int64_t size = info().height, shape = id % kShapes, family = familyOf(split, id);
    const auto side = static_cast<double>(size);
    const Texture texture = drawTexture(numbers, family, side / 12, side / 6);
    Placement placement;
    placement.radius = side * numbers.between(0.3, 0.42);
    placement.angle = numbers.between(-0.4, 0.4);
    placement.x = side / 2 + side * numbers.between(-0.07, 0.07);
    placement.y = side / 2 + side * numbers.between(-0.07, 0.07);

    Canvas canvas(3, size, size);
    const auto textured = [&](std::int64_t y, std::int64_t x) { return texture.at(y, x); };
    if (cue_ == Cue::Texture) {
      canvas.paintAll(textured);
    } else {
      const auto grey = static_cast<float>(numbers.between(0.85, 1));
      canvas.clear({grey, grey, grey});
      Outline outline;
      place(shapeOutline(shape), placement, outline);
      Coverage coverage(size, size);
      coverage.fill(outline);
      if (cue_ == Cue::Both) {
        canvas.paint(coverage, textured);
      } else {
        canvas.paint(coverage, [](std::int64_t, std::int64_t) { return Color{0, 0, 0}; });
      }
    }
    putImage(canvas, sample);
    putLabel(label(split, id), sample);
    putLabel(shape, sample, "shape");
    putLabel(family, sample, "texture");
  }

 private:
  /// The class of the texture.
  [[nodiscard]] static std::int64_t familyOf(Split split, std::int64_t id) {
    const std::int64_t shape = id % kShapes, other = id / kShapes % (kShapes - 1);
    if (split != Split::Test) return shape;
    return other < shape ? other : other + 1;
  }

  Cue cue_;
};

class CueConflictSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    ItemCard card = generatedCard(
        "cue_conflict", "Shape against texture",
        "16 silhouettes and 16 textures: alike in training, in conflict in the 1,280 test images",
        {"image", "label", "shape", "texture"}, 64);
    card.paper = "after Geirhos et al. 2019, arXiv:1811.12231";
    Field cue = choiceField("cue", "both", {"both", "silhouette", "texture"}, "cues that are shown")
                    .titled("Cue");
    cue.withChoiceDocs({"a silhouette filled with a texture; the label is the shape",
                        "a black silhouette", "the texture on the whole image, as the label"});
    card.schema.fields.push_back(cue.runOnly());
    card.schema.fields.push_back(integerField("train_size", 16'000, "samples of the split")
                                     .titled("Training samples made")
                                     .range(16, 100'000'000)
                                     .runOnly());
    card.schema.fields.push_back(integerField("validation_size", 800, "samples of the split")
                                     .titled("Validation samples made")
                                     .range(0, 100'000'000)
                                     .runOnly());
    return card;
  }
  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size");
    DatasetInfo info = imageInfo(3, size);
    info.fields.push_back({"shape", FieldKind::Label, at::kLong, {}, "class of the silhouette"});
    info.fields.push_back({"texture", FieldKind::Label, at::kLong, {}, "class of the texture"});
    for (std::int64_t c = 0; c < kShapes; ++c)
      info.classes.push_back(shapeName(c) + " / " + textureName(c));
    const std::string cue = config.text("cue");
    return std::make_shared<CueConflict>(seedFrom(config), config.integer("train_size"),
                                         config.integer("validation_size"), std::move(info),
                                         cue == "both"         ? Cue::Both
                                         : cue == "silhouette" ? Cue::Silhouette
                                                               : Cue::Texture);
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeCueConflict() { return std::make_unique<CueConflictSource>(); }

}  // namespace vitrine::shapes
