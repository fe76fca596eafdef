#include "plugins/visionllama/rope_settings.h"

#include <ATen/ATen.h>

#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"

namespace vitrine::visionllama {

std::array<double, 2> RopeSettings::scaleOf(Sides image) const {
  if (scale != RopeScale::Anchor) return {1, 1};
  return nn::anchorScale(image, anchorPixels, isPerAxis);
}

Field ropeField(RopeUse use) {
  std::vector<Field> fields{
      choiceField("mode", "2d", {"2d", "1d", "none"}, "positions that queries and keys turn by")
          .titled("RoPE mode")
          .withChoiceDocs({"row and column of the patch", "its raster index", "none"}),
      realField("base", 10000.0, "base of the frequencies").titled("RoPE base").moreThan(1),
      realField("ratio", 1.0, "share of each head's channels that turn, the first ones")
          .titled("Turning share")
          .moreThan(0)
          .range(0, 1),
      flagField("shared", true, "all heads turn by the same frequencies; else each takes its slice")
          .titled("Shared frequencies"),
      choiceField("axis_order", "col_first", {"col_first", "row_first"},
                  "axis that turns the even pairs of channels")
          .titled("Axis order")
          .withChoiceDocs({"the column, as in the released weights", "the row, as in the paper"}),
      choiceField("scale", "none", {"none", "as", "ntk"},
                  "rule at another resolution than that of training")
          .titled("Resolution scaling")
          .withChoiceDocs({"nothing: positions grow with the grid",
                           "positions are multiplied by anchor / grid (AS2DRoPE)",
                           "the base of the frequencies grows"}),
      sizeField("anchor", nullptr,
                "grid of training for scale = \"as\"; none: that of image_size in training")
          .titled("Anchor grid")
          .range(1, 16384)
          .orNone()
          .withUnit("patches"),
      sizeField("anchor_pixels", nullptr, "the same as an image size")
          .titled("Anchor image size")
          .range(1, 65536)
          .orNone()
          .withUnit("px"),
      flagField("per_axis", false, "rows and columns are scaled each by its own factor")
          .titled("Scale per axis"),
      realField("ntk_alpha", 1.0, "factor of scale = \"ntk\"").titled("NTK alpha").atLeast(1),
      choiceField("ntk_form", "mul", {"mul", "d_minus_2", "d_minus_4"},
                  "growth of the base with alpha")
          .titled("NTK form")
          .withChoiceDocs(
              {"base * alpha", "base * alpha^(d / (d - 2))", "base * alpha^(d / (d - 4))"})};
  if (use == RopeUse::Plain) {
    fields.push_back(
        choiceField("cls_pos", "-1,W-1", {"-1,W-1", "0,W-1", "none"},
                    "row and column of the class token on a grid of W columns")
            .titled("Class token's place")
            .withChoiceDocs({"raster index -1 divided with rounding down",
                             "raster index -1 divided with rounding to zero", "it is not turned"}));
  }
  if (use == RopeUse::Pyramid) {
    fields.push_back(
        choiceField("anchor_mode", "stage", {"stage", "repo14"}, "source of the anchor of a stage")
            .titled("Anchor of a stage")
            .withChoiceDocs({"the stage's own grid in training",
                             "14 in every stage, as the released code has it"}));
    fields.push_back(choiceField("ntk_on", "both", {"both", "queries"},
                                 "change by scale = \"ntk\" in layers with sub-sampled keys")
                         .titled("NTK on")
                         .withChoiceDocs({"queries and keys", "queries alone, as released"}));
  }
  if (use != RopeUse::Plain) {
    fields.push_back(flagField("lsa_scaled", false, "scale positions inside of windows, too")
                         .titled("Scale windows"));
  }
  return tableField("rope", std::move(fields), "rotary position embedding")
      .titled("Rotary positions");
}

RopeSettings ropeSettingsOf(const Config& config, Sides imageSize, Sides patchSize) {
  RopeSettings s;
  const std::string mode = config.text("rope.mode"), scale = config.text("rope.scale"),
                    form = config.text("rope.ntk_form");
  s.mode = mode == "2d" ? RopeMode::Grid : mode == "1d" ? RopeMode::Line : RopeMode::None;
  s.base = config.real("rope.base");
  s.ratio = config.real("rope.ratio");
  s.isShared = config.flag("rope.shared");
  s.axes = config.text("rope.axis_order") == "row_first" ? nn::RopeAxes::RowFirst
                                                         : nn::RopeAxes::ColumnFirst;
  if (s.mode == RopeMode::Line) s.axes = nn::RopeAxes::Line;
  s.scale = scale == "as" ? RopeScale::Anchor : scale == "ntk" ? RopeScale::Ntk : RopeScale::None;
  s.isPerAxis = config.flag("rope.per_axis");
  s.ntkAlpha = config.real("rope.ntk_alpha");
  s.ntkRule = form == "d_minus_2"   ? nn::NtkRule::LowestLine
              : form == "d_minus_4" ? nn::NtkRule::LowestGrid
                                    : nn::NtkRule::Plain;
  if (config.has("rope.anchor_mode") && config.text("rope.anchor_mode") == "repo14")
    s.anchorMode = AnchorMode::Fourteen;
  if (config.has("rope.ntk_on")) s.isNtkOfKeys = config.text("rope.ntk_on") == "both";
  if (config.has("rope.lsa_scaled")) s.isWindowScaled = config.flag("rope.lsa_scaled");
  s.anchorPixels = imageSize;
  if (config.has("rope.anchor_pixels")) s.anchorPixels = config.size("rope.anchor_pixels");
  if (config.has("rope.anchor")) {
    const Sides anchor = config.size("rope.anchor");
    const Sides pixels{anchor[0] * patchSize[0], anchor[1] * patchSize[1]};
    if (config.has("rope.anchor_pixels") && pixels != s.anchorPixels) {
      throw ConfigError("rope.anchor " + formatSides(anchor) + " is an image of " +
                        formatSides(pixels) + " pixels, and rope.anchor_pixels says " +
                        formatSides(s.anchorPixels) + "; give one of the two");
    }
    s.anchorPixels = pixels;
  }
  return s;
}

Json trainedAnchor(const Config& config) {
  if (config.has("rope.anchor") || config.has("rope.anchor_pixels")) return Json::object();
  const Sides size = config.size("image_size");
  return {{"rope", {{"anchor_pixels", {size[0], size[1]}}}}};
}

HeadRotation::HeadRotation(const RopeSettings& settings, std::int64_t heads, std::int64_t headDim)
    : settings_(settings) {
  if (settings.mode == RopeMode::None) return;
  nn::RopeSpectrum spectrum{
      .channels = static_cast<std::int64_t>(settings.ratio * static_cast<double>(headDim) + 1e-9),
      .axes = settings.axes,
      .theta = settings.base};
  if (!settings.isShared) spectrum.heads = heads;
  const std::int64_t step = settings.mode == RopeMode::Line ? 2 : 4;
  if (spectrum.channels < step || spectrum.channels % step != 0) {
    throw ConfigError("rope.ratio " + formatReal(settings.ratio) + " of " +
                      std::to_string(headDim) + " channels a head turns " +
                      std::to_string(spectrum.channels) + ", which is not a positive multiple of " +
                      std::to_string(step) +
                      "; change rope.ratio, width or heads, or set "
                      "rope.mode = \"none\"");
  }
  training_ = nn::ropeFrequencies(spectrum);
  scaled_ = training_;
  if (settings.scale != RopeScale::Ntk) return;
  spectrum.theta =
      nn::ntkTheta(settings.base, settings.ntkAlpha, settings.ntkRule, spectrum.channels);
  scaled_ = nn::ropeFrequencies(spectrum);
}

at::Tensor HeadRotation::angles(const at::Tensor& places, std::array<double, 2> scale,
                                std::int64_t columns, Base base) const {
  if (settings_.mode == RopeMode::None || !training_.defined()) return {};
  const at::Tensor& frequencies = base == Base::Scaled ? scaled_ : training_;
  const at::Tensor where = places.to(at::kDouble);
  if (settings_.mode == RopeMode::Line) {
    const at::Tensor index =
        where.select(-1, 0) * static_cast<double>(columns) + where.select(-1, 1);
    return nn::ropeAngles(index * (scale[0] * scale[1]), frequencies, settings_.axes);
  }
  const at::Tensor factors = at::tensor(std::vector<double>{scale[0], scale[1]}, where.options());
  return nn::ropeAngles(where * factors, frequencies, settings_.axes);
}

std::string HeadRotation::name() const {
  if (settings_.mode == RopeMode::None) return "none";
  std::string text = settings_.mode == RopeMode::Line              ? "1-D, raster index"
                     : settings_.axes == nn::RopeAxes::ColumnFirst ? "2-D, column first"
                                                                   : "2-D, row first";
  if (settings_.ratio < 1) text += ", " + formatReal(100 * settings_.ratio) + " % of the channels";
  if (!settings_.isShared) text += ", a spectrum over all heads";
  if (settings_.scale == RopeScale::Anchor) text += ", auto-scaled";
  if (settings_.scale == RopeScale::Ntk) text += ", NTK alpha " + formatReal(settings_.ntkAlpha);
  return text;
}

PlainRotation::PlainRotation(const RopeSettings& settings, std::int64_t heads, std::int64_t headDim,
                             Sides patchSize, nn::ClassPlace classPlace)
    : settings_(settings),
      heads_(settings, heads, headDim),
      patchSize_(patchSize),
      classPlace_(classPlace) {}

at::Tensor PlainRotation::angles(const at::Tensor& places, Sides grid) const {
  const at::Tensor where = places.to(at::kDouble);
  const at::Tensor isClass = where.select(-1, 0).lt(0).unsqueeze(-1);
  const at::Tensor token = nn::classPosition(grid, classPlace_).to(where.device());
  return heads_.angles(at::where(isClass, token, where),
                       settings_.scaleOf({grid[0] * patchSize_[0], grid[1] * patchSize_[1]}),
                       grid[1], HeadRotation::Base::Scaled);
}

std::string PlainRotation::name() const { return heads_.name(); }

nn::ClassPlace classPlaceOf(const std::string& word) {
  if (word == "-1,W-1") return nn::ClassPlace::BeforeGrid;
  if (word == "0,W-1") return nn::ClassPlace::FirstRow;
  if (word.empty() || word == "none") return nn::ClassPlace::Origin;
  throw ConfigError("rope.cls_pos = \"" + word + "\" is not one of -1,W-1, 0,W-1, none");
}

at::Tensor keyPositions(KeyPlaces rule, Sides cells, std::int64_t cell, std::int64_t columns) {
  if (rule == KeyPlaces::Calibrated || cell == 1) return nn::cellPositions(cells, cell);
  const double side = static_cast<double>(cell);
  const at::Tensor index = at::arange(cells[0] * cells[1], at::kLong);
  const at::Tensor row = index.div(columns, "floor"), column = index.remainder(columns);
  return at::stack({row, column}, 1).to(at::kDouble) * side + (1 - 1 / side);
}

}  // namespace vitrine::visionllama
