#include "plugins/illama/illama.h"

#include <utility>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/nn/encoder_schema.h"

namespace vitrine::illama {

namespace {

struct Size {
  const char* name;
  const char* doc;
  int width, depth, heads, mlpWidth;
  double dropPath;
  const char* schedule;
  int epochs;
};

/// Widths of the hidden layer are floor(8/3 width) rounded up to a multiple of 256; recipes are the
/// final ones of Table 13.
constexpr Size kSizes[] = {
    {"tiny", "iLLaMA-T", 192, 12, 3, 512, 0.0, "constant", 50},
    {"small", "iLLaMA-S", 384, 12, 6, 1024, 0.1, "linear", 50},
    {"base", "iLLaMA-B", 768, 12, 12, 2048, 0.4, "linear", 25},
    {"large", "iLLaMA-L, pre-trained on ImageNet-21k", 1024, 24, 16, 2816, 0.1, "constant", 30},
};

Field maskField() {
  return tableField(
             "mask",
             {choiceField("kind", "causal", {"bidirectional", "causal", "modified_causal", "soft"},
                          "tokens that a token sees")
                  .titled("Mask")
                  .withChoiceDocs(
                      {"all", "itself and those before it",
                       "as causal, but the first token sees all",
                       "causal, with the others scaled by a factor that training reduces to 0"}),
              choiceField("mode", "multiplicative", {"multiplicative", "additive"},
                          "place where the mask acts")
                  .titled("Mask position")
                  .withChoiceDocs(
                      {"on the probabilities after the softmax, rows not renormalised (the "
                       "released models)",
                       "-inf on the logits before the softmax (Equation 1)"}),
              realField(
                  "alpha", nullptr,
                  "soft mask's factor; without a schedule it stays (none: 0), with one training "
                  "starts there (none: 1)")
                  .titled("Soft mask factor")
                  .range(0, 1)
                  .orNone(),
              choiceField("schedule", "none", {"none", "constant", "linear"},
                          "change of the soft mask's factor during training, per step")
                  .titled("Mask schedule")
                  .withChoiceDocs({"it stays at alpha", "alpha until the cutoff, then 0",
                                   "from alpha to 0 at the cutoff"}),
              integerField("epochs", 25, "cutoff of the schedule")
                  .titled("Mask cutoff")
                  .range(0, 100000)
                  .withUnit("epochs")},
             "mask between tokens")
      .titled("Attention mask");
}

Schema makeSchema() {
  Schema schema{.fields = nn::sizeFields()};
  schema.fields.push_back(choiceField("mlp", "swiglu", {"swiglu", "gelu_erf", "gelu_tanh"},
                                      "feed-forward part of a block")
                              .titled("MLP"));
  schema.fields.push_back(
      choiceField("norm", "rmsnorm", {"rmsnorm", "layernorm"}, "kind of every norm")
          .titled("Norm"));
  schema.fields.push_back(choiceField("class_token", "last", {"last", "first", "none"},
                                      "place of the class token; last is PS[cls]")
                              .titled("Class token"));
  schema.fields.push_back(choiceField("pos_embed", "learned", {"learned", "sincos", "none"},
                                      "position embedding added to the tokens once")
                              .titled("Position embedding"));
  schema.fields.push_back(
      tableField(
          "rope",
          {choiceField("mode", "1d", {"1d", "none"}, "rotary positions in every attention")
               .titled("RoPE mode")
               .withChoiceDocs({"along the sequence, class token included", "none"}),
           realField("theta", 10000.0, "base of the frequencies").titled("RoPE base").moreThan(1)},
          "rotary position embedding")
          .titled("Rotary positions"));
  schema.fields.push_back(maskField());
  for (Field& field : nn::commonFields()) schema.fields.push_back(std::move(field));
  schema.rules = nn::commonRules();
  schema.rules.push_back({Rule::Kind::Requires,
                          {"pool", "cls", "class_token", "last", "first"},
                          "the classifier reads that token"});
  schema.rules.push_back({Rule::Kind::Requires,
                          {"mask.kind", "soft", "mask.mode", "multiplicative"},
                          "the paper defines a soft mask only after the softmax (Equation 2)"});
  for (const char* schedule : {"constant", "linear"}) {
    schema.rules.push_back({Rule::Kind::Requires,
                            {"mask.schedule", schedule, "mask.kind", "soft"},
                            "only a soft mask has a factor to move"});
  }
  for (const Size& size : kSizes) {
    Json values = nn::imageNetSizes(16, size.width, size.depth, size.heads);
    values.update(
        Json{{"mlp_width", size.mlpWidth},
             {"drop_path", size.dropPath},
             {"mask", {{"kind", "soft"}, {"schedule", size.schedule}, {"epochs", size.epochs}}}});
    schema.presets.push_back({std::string("illama/") + size.name, size.doc, std::move(values)});
  }
  Json demo = nn::demoSizes();
  demo.update(Json{{"mlp_width", 176},
                   {"mask", {{"kind", "soft"}, {"schedule", "linear"}, {"epochs", 2}}}});
  schema.presets.push_back(
      {"illama/demo", "small enough for 28 px images on a laptop; linear soft mask over two epochs",
       std::move(demo)});
  return schema;
}

MaskSchedule scheduleOf(const std::string& word) {
  if (word == "constant") return MaskSchedule::Constant;
  if (word == "linear") return MaskSchedule::Linear;
  if (word.empty() || word == "none") return MaskSchedule::None;
  throw ConfigError("mask.schedule = \"" + word + "\" is not one of none, constant, linear");
}

/// Nothing: every token sees every token.
std::optional<MaskKind> maskKindOf(const std::string& word) {
  if (word.empty() || word == "bidirectional") return std::nullopt;
  if (word == "causal") return MaskKind::Causal;
  if (word == "modified_causal") return MaskKind::ModifiedCausal;
  if (word == "soft") return MaskKind::Soft;
  throw ConfigError("mask.kind = \"" + word +
                    "\" is not one of bidirectional, causal, modified_causal, soft");
}

}  // namespace

double maskAlphaAt(MaskSchedule schedule, double start, std::int64_t cutoffSteps,
                   std::int64_t step) {
  if (step >= cutoffSteps) return 0;
  if (schedule == MaskSchedule::Constant || cutoffSteps == 1) return start;
  return start * (1 - static_cast<double>(step) / static_cast<double>(cutoffSteps - 1));
}

Illama::Illama(const nn::VisionTransformerConfig& config, std::shared_ptr<CausalMask> mask,
               const SoftMask& softMask, std::uint64_t seed)
    : VisionTransformer(config, seed), mask_(std::move(mask)), softMask_(softMask) {
  finish();
}

std::vector<OfferedCapability> Illama::capabilities() {
  std::vector<OfferedCapability> all = VisionTransformer::capabilities();
  all.push_back({Scheduled::kId, static_cast<Scheduled*>(this)});
  return all;
}

void Illama::beforeStep(const StepPosition& position) {
  if (!mask_ || !mask_->isSoft() || softMask_.schedule == MaskSchedule::None) return;
  const double before = mask_->alpha();
  mask_->setAlpha(maskAlphaAt(softMask_.schedule, softMask_.alpha.value_or(1),
                              softMask_.epochs * position.stepsPerEpoch, position.step));
  hasJustEnded_ = before > 0 && mask_->alpha() == 0;
}

std::vector<Scheduled::Occurrence> Illama::occurrences() const {
  if (!hasJustEnded_) return {};
  return {{"mask_cutoff", "the soft mask is at its end: from this step on the model is causal"}};
}

std::vector<std::pair<std::string, double>> Illama::scheduledValues() const {
  if (!mask_ || !mask_->isSoft()) return {};
  return {{"model/mask_alpha", mask_->alpha()}};
}

void Illama::finish() {
  if (mask_)
    mask_->setAlpha(softMask_.schedule == MaskSchedule::None ? softMask_.alpha.value_or(0) : 0);
}

ItemCard IllamaArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "illama", "iLLaMA");
  card.paper =
      "Wang et al. 2024, \"Adapting LLaMA Decoder to Vision Transformer\", arXiv:2404.06773";
  card.doc =
      "A LLaMA decoder as image encoder: causal attention, class token at the end, soft mask, "
      "RMSNorm, SwiGLU, RoPE";
  card.offers = {ImageClassifier::kId, TokenEncoder::kId, AttentionSource::kId, FeaturePyramid::kId,
                 Scheduled::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> IllamaArchitecture::build(const Config& config, std::uint64_t seed) const {
  nn::VisionTransformerConfig c = nn::commonConfig(config);
  c.norm = nn::normKindOf(config.text("norm"));
  if (config.text("rope.mode") == "1d") c.ropeTheta = config.real("rope.theta");
  const std::optional<MaskKind> kind = maskKindOf(config.text("mask.kind"));
  const nn::MaskMode mode = nn::maskModeOf(config.text("mask.mode"));
  if (kind == MaskKind::Soft && mode == nn::MaskMode::Additive) {
    throw ConfigError(
        "a soft mask exists only multiplicatively; set mask.mode = \"multiplicative\"");
  }
  std::shared_ptr<CausalMask> mask;
  if (kind) mask = std::make_shared<CausalMask>(*kind, mode);
  c.mask = mask;
  c.init = nn::commonInit(c.inChannels * c.patchSize[0] * c.patchSize[1]);
  SoftMask softMask{.schedule = scheduleOf(config.text("mask.schedule")),
                    .alpha = config.maybeReal("mask.alpha"),
                    .epochs = config.integer("mask.epochs")};
  return std::make_shared<Illama>(c, mask, softMask, seed);
}

std::vector<WeightSign> IllamaArchitecture::weightSigns() const {
  return {{"an iLLaMA (SwiGLU, authors' names)", {"mlp.fc3."}}};
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<IllamaArchitecture>());
}

}  // namespace vitrine::illama
