// Glyphs: letters and digits by font, weight, slant, colour, rotation, place and background, each
// with captions that say all of it.
#include <numbers>

#include "plugins/datasets/shapes/generated_set.h"
#include "plugins/datasets/shapes/glyph_strokes.h"

namespace vitrine::shapes {

namespace {

constexpr std::int64_t kGlyphColors = 12, kRotations = 24, kPlaces = 9, kBackgrounds = 6;

struct NamedColor {
  const char* name;
  Color color;
};
constexpr std::array<NamedColor, kGlyphColors> kNamedColors = {{{"black", {0.05F, 0.05F, 0.05F}},
                                                                {"grey", {0.45F, 0.45F, 0.45F}},
                                                                {"red", {0.85F, 0.1F, 0.1F}},
                                                                {"orange", {0.95F, 0.5F, 0.05F}},
                                                                {"yellow", {0.85F, 0.75F, 0.05F}},
                                                                {"green", {0.1F, 0.6F, 0.15F}},
                                                                {"teal", {0.05F, 0.55F, 0.55F}},
                                                                {"blue", {0.15F, 0.35F, 0.95F}},
                                                                {"navy", {0.05F, 0.05F, 0.45F}},
                                                                {"purple", {0.5F, 0.1F, 0.65F}},
                                                                {"pink", {0.95F, 0.4F, 0.7F}},
                                                                {"brown", {0.45F, 0.25F, 0.08F}}}};
constexpr std::array<const char*, kPlaces> kPlaceNames = {
    "in the top left", "at the top",         "in the top right", "on the left",        "",
    "on the right",    "in the bottom left", "at the bottom",    "in the bottom right"};
constexpr std::array<const char*, kBackgrounds> kBackgroundNames = {
    "white", "grey", "striped", "checkered", "dotted", "cloudy"};

enum GlyphFactor : std::size_t {
  kGlyph,
  kFont,
  kWeight,
  kSlant,
  kColor,
  kRotation,
  kPlace,
  kBackground,
  kGlyphFactors
};
using GlyphFactors = std::array<std::int64_t, kGlyphFactors>;
struct GlyphFactorKind {
  const char* name;
  std::int64_t values;
};
constexpr std::array<GlyphFactorKind, kGlyphFactors> kKinds = {{{"character", kGlyphs},
                                                                {"font", kFonts},
                                                                {"weight", 2},
                                                                {"slant", 2},
                                                                {"color", kGlyphColors},
                                                                {"rotation", kRotations},
                                                                {"place", kPlaces},
                                                                {"background", kBackgrounds}}};

/// One in ten pairs of a character and a colour, and of a font and a rotation.
bool isHeldOut(const GlyphFactors& factors) {
  return (factors[kGlyph] + 7 * factors[kColor]) % 10 == 0 ||
         (factors[kFont] + 3 * factors[kRotation]) % 10 == 0;
}

std::string valueName(std::size_t factor, std::int64_t value) {
  const auto at = static_cast<std::size_t>(value);
  switch (factor) {
    case kGlyph:
      return std::string(1, glyphName(value));
    case kFont:
      return fontFamily(value) + " " + std::to_string(value % 7 + 1);
    case kWeight:
      return value == 1 ? "bold" : "regular";
    case kSlant:
      return value == 1 ? "italic" : "upright";
    case kColor:
      return kNamedColors.at(at).name;
    case kRotation:
      return std::to_string(15 * value);
    case kPlace:
      return value == 4 ? "in the middle" : kPlaceNames.at(at);
    default:
      return kBackgroundNames.at(at);
  }
}

std::string characterPhrase(const GlyphFactors& factors) {
  const char glyph = glyphName(factors[kGlyph]);
  return std::string(glyph <= '9' ? "digit " : "letter ") + glyph;
}

/// "a bold red serif letter A rotated 30 degrees in the top left on a striped background"
std::string captionOf(const GlyphFactors& factors) {
  const std::string& color = valueName(kColor, factors[kColor]);
  std::string text;
  if (factors[kWeight] == 1) text += "bold ";
  if (factors[kSlant] == 1) text += "italic ";
  text += color + " " + fontFamily(factors[kFont]) + " " + characterPhrase(factors);
  text = (text.starts_with("i") || text.starts_with("o") ? "an " : "a ") + text;
  if (factors[kRotation] != 0)
    text += " rotated " + valueName(kRotation, factors[kRotation]) + " degrees";
  if (factors[kPlace] != 4) text += " " + valueName(kPlace, factors[kPlace]);
  return text + " on a " + valueName(kBackground, factors[kBackground]) + " background";
}

std::string shortCaptionOf(const GlyphFactors& factors) {
  const std::string color = valueName(kColor, factors[kColor]);
  return (color == "orange" ? "an " : "a ") + color + " " + characterPhrase(factors);
}

void paintGlyphBackground(Canvas& canvas, std::int64_t background) {
  if (background < 2) {
    const float grey = background == 0 ? 1.0F : 0.8F;
    canvas.clear({grey, grey, grey});
    return;
  }
  Texture texture;
  constexpr std::array<std::int64_t, 4> families = {0, 1, 2, 14};
  texture.family = families.at(static_cast<std::size_t>(background - 2));
  texture.period = static_cast<double>(canvas.width) / 8;
  texture.angle = background == 2 ? std::numbers::pi / 4 : 0;
  texture.dark = {0.78F, 0.78F, 0.78F};
  canvas.paintAll([&](std::int64_t y, std::int64_t x) { return texture.at(y, x); });
}

struct GlyphRules {
  std::size_t label = kGlyph;
  std::int64_t rotations = kRotations;  ///< 24 all, 5 within 30 degrees, 1 upright
  bool holdsOut = false;
};

class Glyphs final : public GeneratedSet {
 public:
  Glyphs(const std::string& name, std::uint64_t seed, std::array<std::int64_t, 3> sizes,
         DatasetInfo info, const GlyphRules& rules)
      : GeneratedSet(name, seed, sizes, std::move(info)), rules_(rules) {}

 protected:
  void draw(Numbers& numbers, Split split, std::int64_t, Sample& sample) const override {
    GlyphFactors factors = drawFactors(numbers);
    while (rules_.holdsOut && isHeldOut(factors) != (split == Split::Test))
      factors = drawFactors(numbers);
    Canvas canvas(3, info().height, info().width);
    paintGlyphBackground(canvas, factors[kBackground]);
    paint(canvas, factors);
    putImage(canvas, sample);
    putLabel(factors[rules_.label], sample);
    const auto captions = sample["captions"].resizeTexts(2);
    captions[0] = captionOf(factors);
    captions[1] = shortCaptionOf(factors);
    const auto values = sample["factors"].resize<std::int64_t>({kGlyphFactors});
    std::copy(factors.begin(), factors.end(), values.begin());
  }

 private:
  [[nodiscard]] GlyphFactors drawFactors(Numbers& numbers) const {
    GlyphFactors factors{};
    for (std::size_t i = 0; i < kGlyphFactors; ++i) factors[i] = numbers.below(kKinds[i].values);
    if (rules_.rotations < kRotations) {
      const std::int64_t half = rules_.rotations / 2;
      factors[kRotation] = (factors[kRotation] % rules_.rotations - half + kRotations) % kRotations;
    }
    return factors;
  }

  static void paint(Canvas& canvas, const GlyphFactors& factors) {
    const auto side = static_cast<double>(canvas.height);
    const std::int64_t row = factors[kPlace] / 3, column = factors[kPlace] % 3;
    Placement placement;
    placement.radius = side * 0.04;
    placement.x = side * (0.3 + 0.2 * static_cast<double>(column));
    placement.y = side * (0.3 + 0.2 * static_cast<double>(row));
    placement.angle = std::numbers::pi * static_cast<double>(factors[kRotation]) / 12;
    const GlyphStyle style{factors[kFont], factors[kWeight] == 1, factors[kSlant] == 1};
    const Color color = kNamedColors[static_cast<std::size_t>(factors[kColor])].color;
    Coverage coverage(canvas.height, canvas.width);
    Outline placed;
    for (const Outline& outline : glyphOutlines(factors[kGlyph], style)) {
      place(outline, placement, placed);
      coverage.fill(placed);
      canvas.paint(coverage, [&](std::int64_t, std::int64_t) { return color; });
    }
  }

  GlyphRules rules_;
};

class GlyphsSource final : public DatasetSource {
 public:
  ItemCard card() const override {
    ItemCard card = generatedCard(
        "glyphs", "Glyphs",
        "Letters and digits by font, weight, slant, colour, rotation, place, background, captioned",
        {"image", "label", "captions", "factors"}, 32, {50'000, 2'000, 5'000});
    std::vector<std::string> names;
    for (const GlyphFactorKind& kind : kKinds) names.emplace_back(kind.name);
    Field label = choiceField("label", "character", names, "factor that is learned");
    Field rotations =
        choiceField("rotations", "all", {"all", "tilted", "upright"}, "rotations that are drawn")
            .titled("Rotations");
    rotations.withChoiceDocs({"24, every 15 degrees; some letters turned look like others",
                              "-30 to 30 degrees, every 15", "none"});
    Field held =
        choiceField("held_out", "none", {"none", "pairs"}, "values that training never sees")
            .titled("Held out");
    held.withChoiceDocs({"nothing: splits differ by chance alone",
                         "a tenth of the pairs of character and colour and of font and rotation; "
                         "every test image has one"});
    card.schema.fields.insert(
        card.schema.fields.begin() + 1,
        {label.titled("Label").runOnly(), rotations.runOnly(), held.runOnly()});
    return card;
  }

  std::shared_ptr<const Dataset> open(const Config& config) const override {
    const std::int64_t size = config.integer("size");
    GlyphRules rules{.label = 0};
    while (config.text("label") != kKinds[rules.label].name) ++rules.label;
    const std::string rotations = config.text("rotations");
    rules.rotations = rotations == "all" ? kRotations : rotations == "tilted" ? 5 : 1;
    rules.holdsOut = config.text("held_out") == "pairs";
    DatasetInfo info = imageInfo(3, size);
    info.fields.push_back({"captions",
                           FieldKind::Text,
                           at::kByte,
                           {-1},
                           "two: every factor, and colour and character alone"});
    info.fields.push_back({"factors",
                           FieldKind::Number,
                           at::kLong,
                           {kGlyphFactors},
                           "character, font, weight, slant, colour, rotation / 15 degrees, place, "
                           "background"});
    for (std::int64_t c = 0; c < kKinds[rules.label].values; ++c)
      info.classes.push_back(valueName(rules.label, c));
    return std::make_shared<Glyphs>("glyphs/1", seedFrom(config), sizesFrom(config),
                                    std::move(info), rules);
  }
};

}  // namespace

std::unique_ptr<DatasetSource> makeGlyphs() { return std::make_unique<GlyphsSource>(); }

}  // namespace vitrine::shapes
