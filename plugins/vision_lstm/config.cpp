#include "plugins/vision_lstm/config.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/config/model_fields.h"

namespace vitrine::vision_lstm {

namespace {

using kernels::GateKind;
using kernels::MlstmForm;
using kernels::Normaliser;
using kernels::NormaliserGradient;

template <class Value>
struct Word {
  const char* word;
  Value value;
  const char* doc;
};

constexpr Word<Convolution> kConvolutions[] = {
    {"conv2d", Convolution::Grid, "over the grid, in the orientation of the scan"},
    {"causal1d", Convolution::Causal1d, "over the scan, of tokens before (first version)"},
    {"conv1d", Convolution::Line, "over the scan, centred"},
    {"none", Convolution::None, "no convolution"}};
constexpr Word<Directions> kDirections[] = {
    {"bi", Directions::Bi, "rows from the top left, then from the bottom right, in turns"},
    {"uni", Directions::Uni, "rows from the top left in every block"},
    {"quad", Directions::Quad, "rows and columns, each both ways"},
    {"oct", Directions::Oct, "rows and columns from all four corners"}};
constexpr Word<Concurrency> kConcurrencies[] = {
    {"sequential", Concurrency::Sequential, "block after block"},
    {"parallel", Concurrency::Parallel, "two blocks read the same stream (Equation 15)"}};
constexpr Word<Pooling> kPoolings[] = {
    {"bilateral_concat", Pooling::BilateralConcat, "first and last token, side by side"},
    {"bilateral_mean", Pooling::BilateralMean, "mean of first and last token"},
    {"avg", Pooling::Average, "mean over all patches"},
    {"center_avg", Pooling::CentreAverage, "mean over a square in the middle of the grid"},
    {"cls_mid", Pooling::ClassMiddle, "a class token in the middle of the sequence"},
    {"cls_bilateral", Pooling::ClassBilateral, "class tokens at both ends, side by side"},
    {"cls_mid_bilateral", Pooling::ClassAll, "class tokens at both ends and in the middle"},
    {"none", Pooling::Tokens, "no classifier: features of all tokens"},
    {"to_image", Pooling::Image, "no classifier: features as an image"}};
constexpr Word<GateKind> kForgetGates[] = {{"sigmoid", GateKind::Sigmoid, "as in all code"},
                                           {"exp", GateKind::Exp, "as in Equation 8"}};
constexpr Word<GateKind> kInputGates[] = {
    {"exp", GateKind::Exp, "as in the paper"},
    {"sigmoid", GateKind::Sigmoid, "no stabiliser is needed"}};
constexpr Word<Normaliser> kNormalisers[] = {
    {"bounded", Normaliser::Bounded, "max(|n.q|, 1)"},
    {"none", Normaliser::None, "1: the memory is read as it is"}};
constexpr Word<NormaliserGradient> kNormaliserGradients[] = {
    {"exact", NormaliserGradient::Exact, "gradients pass through the normaliser"},
    {"ignored", NormaliserGradient::Ignored,
     "the normaliser is held constant, as in mlstm_kernels"}};
constexpr Word<MlstmForm> kForms[] = {
    {"chunkwise", MlstmForm::Chunkwise, "pairs within chunks, the memory between them"},
    {"parallel", MlstmForm::Parallel, "all pairs of tokens: slow, on the CPU"},
    {"recurrent", MlstmForm::Recurrent, "token by token: slow, on the CPU"}};
constexpr Word<Start> kStarts[] = {
    {"original", Start::Original, "proj_down by 2 / sqrt(D), as the paper's models were made"},
    {"original-fixed", Start::Fixed, "proj_down by 2 / (depth sqrt(D)), as was meant"}};
constexpr Word<bool> kConventions[] = {
    {"exact", false, "a chunk's state takes a product per token"},
    {"paper", true, "one update of the state per chunk, as the paper prints"}};

template <class Value, std::size_t kCount>
Field wordField(const char* name, const char* title, const Word<Value> (&words)[kCount],
                const char* doc) {
  std::vector<std::string> choices, docs;
  for (const Word<Value>& each : words) {
    choices.emplace_back(each.word);
    docs.emplace_back(each.doc);
  }
  return choiceField(name, words[0].word, choices, doc).titled(title).withChoiceDocs(docs);
}

template <class Value, std::size_t kCount>
Value valueOf(const char* key, std::string word, const Word<Value> (&words)[kCount]) {
  if (word.empty()) word = "none";  // what a file writes for nothing
  for (const Word<Value>& each : words) {
    if (word == each.word) return each.value;
  }
  throw ConfigError(std::string(key) + " = \"" + word + "\" is not one of " +
                    joined(words, [](const auto& each) { return each.word; }));
}

std::vector<Field> sizeFields() {
  return {
      imageSizeField(),
      inChannelsField(),
      classesField("outputs of the classifier; 0: a model of features").range(0, 1000000),
      widthField(192, "channels of the residual stream; blocks work on twice as many", "dim"),
      depthField(24, "blocks, each with one scan"),
      patchSizeField(Json{16, 16}, "height and width of one patch", "patch"),
      sizeField("stride", nullptr, "pixels between patches; none: the patch, so that they tile")
          .titled("Patch stride")
          .range(1, 4096)
          .orNone()
          .withUnit("px"),
      headsField(4, "heads of each block's memory"),
      integerField("qkv_block", 4, "channels that queries, keys and values mix among themselves")
          .titled("QKV block")
          .range(1, 65536)
          .withUnit("channels"),
  };
}

Field epsField(const char* name, const char* title, double value, const char* doc) {
  return realField(name, value, doc).titled(title).atLeast(0).lessThan(1);
}

std::vector<Field> switchFields() {
  return {
      wordField("conv", "Convolution", kConvolutions, "convolution before queries and keys"),
      integerField("conv_kernel", 3, "tokens, or side of a square of them, that it sees")
          .titled("Convolution kernel")
          .range(1, 63),
      wordField("directions", "Directions", kDirections, "scans that blocks take in turns"),
      wordField("concurrency", "Concurrency", kConcurrencies, "order of blocks"),
      wordField("pooling", "Pooling", kPoolings, "input of the classifier"),
      integerField("center", 2, "side of the square of center_avg")
          .titled("Centre")
          .range(1, 1024)
          .withUnit("tokens"),
      choiceField("pos_embed", "learned", {"learned", "none"},
                  "position embedding added to the patches once")
          .titled("Position embedding"),
      sizeField("weights_image_size", nullptr,
                "image size that a weight file was made for; its own shapes say it too")
          .titled("Image size of weights")
          .range(1, 16384)
          .orNone()
          .withUnit("px"),
      flagField("bias", true,
                "biases of projections and block norms; convolution and gates keep theirs")
          .titled("Biases"),
      flagField("head_norm", true, "a norm between pooling and classifier").titled("Head norm"),
  };
}

std::vector<Field> cellFields() {
  return {
      wordField("forget_gate", "Forget gate", kForgetGates, "activation of the forget gate"),
      wordField("input_gate", "Input gate", kInputGates, "activation of the input gate"),
      wordField("normaliser", "Normaliser", kNormalisers, "divisor of a reading"),
      wordField("normaliser_grad", "Normaliser gradient", kNormaliserGradients,
                "whether gradients pass through it")
          .runOnly(),
      wordField("cell_backend", "Cell", kForms, "form in which the memory is computed").runOnly(),
      integerField("chunk", nullptr,
                   "tokens of a chunk; none: all up to 64 + 2 x head width tokens, else 64")
          .titled("Chunk")
          .range(1, 1048576)
          .orNone()
          .withUnit("tokens")
          .runOnly(),
      epsField("cell_eps", "Cell epsilon", 1e-6, "added to the stabilised normaliser"),
      epsField("norm_eps", "Norm epsilon", 1e-6, "of the norm after the last block"),
      epsField("head_norm_eps", "Head norm epsilon", 1e-5, "of the norm before the classifier"),
      epsField("block_norm_eps", "Block norm epsilon", 1e-5, "of the norm before each block"),
      epsField("out_norm_eps", "Memory norm epsilon", 1e-5, "of the norm of each head's reading"),
      realField("drop_path", 0.0, "share of a batch that passes by each block in training")
          .titled("Drop path")
          .atLeast(0)
          .lessThan(1),
      flagField("drop_path_decay", false, "drop path linear from 0 in the first block")
          .titled("Drop path grows"),
      wordField("init", "Initialisation", kStarts, "first values of proj_down"),
      wordField("flops_convention", "FLOPs", kConventions,
                "counting rule of the chunkwise form; chunk = none counts as 64")
          .runOnly(),
  };
}

struct Size {
  const char* name;
  const char* doc;
  int width, depth;
};

constexpr Size kSizes[] = {{"t", "ViL-T", 192, 24},
                           {"s", "ViL-S", 384, 24},
                           {"b", "ViL-B", 768, 24},
                           {"l", "ViL-L of the runtime table", 1024, 48}};
constexpr Size kFirstSizes[] = {{"v1_t", "first version, ViL-T", 192, 24},
                                {"v1_t_plus", "first version, ViL-T+", 192, 29},
                                {"v1_s", "first version, ViL-S", 384, 24},
                                {"v1_s_plus", "first version, ViL-S+", 384, 26},
                                {"v1_b", "first version, ViL-B", 768, 24}};

void check(const VisionLstmConfig& c) {
  const auto refuse = [](const std::string& sentence) { throw ConfigError(sentence); };
  for (const std::size_t side : {0U, 1U}) {
    if (c.patch[side] > c.imageSize[side])
      refuse("patch " + std::to_string(c.patch[side]) + " is larger than the image's side of " +
             std::to_string(c.imageSize[side]) + " px; take smaller patches");
    if ((c.imageSize[side] - c.patch[side]) % c.stride[side] != 0)
      refuse("patches of " + std::to_string(c.patch[side]) + " px every " +
             std::to_string(c.stride[side]) + " px do not end at the edge of an image of " +
             std::to_string(c.imageSize[side]) + " px; change patch, stride or image_size");
  }
  const auto divides = [&](const char* key, std::int64_t value) {
    if (c.inner() % value != 0)
      refuse(std::string(key) + " " + std::to_string(value) + " does not divide 2 x dim = " +
             std::to_string(c.inner()) + "; the blocks' channels are shared out evenly");
  };
  divides("heads", c.heads);
  divides("qkv_block", c.qkvBlock);
  if (c.kernel % 2 == 0 && c.convolution != Convolution::Causal1d &&
      c.convolution != Convolution::None)
    refuse("conv_kernel " + std::to_string(c.kernel) +
           " has no centre; take an odd one, or conv = \"causal1d\"");
  if (c.classTokens() > 0 && c.convolution == Convolution::Grid)
    refuse("conv = \"conv2d\" has no place for class tokens; use causal1d, conv1d or none");
  if (c.classTokens() > 0 && (c.directions == Directions::Quad || c.directions == Directions::Oct))
    refuse("scans along columns have no place for class tokens; use directions uni or bi");
  if (c.concurrency == Concurrency::Parallel && c.depth % 2 != 0)
    refuse("concurrency = \"parallel\" takes blocks in pairs, and depth is " +
           std::to_string(c.depth) + "; make it even");
  const bool isFeatures = c.pooling == Pooling::Tokens || c.pooling == Pooling::Image;
  if (isFeatures && c.classes > 0)
    refuse("a classifier needs a pooling; set num_classes = 0 for features, or a pooling");
  const Grid grid = c.grid();
  if (c.pooling == Pooling::CentreAverage && (c.centre > grid.rows || c.centre > grid.columns))
    refuse("center " + std::to_string(c.centre) + " is larger than the grid of " +
           std::to_string(grid.rows) + " x " + std::to_string(grid.columns) + " tokens");
}

}  // namespace

Grid VisionLstmConfig::grid() const {
  return {(imageSize[0] - patch[0]) / stride[0] + 1, (imageSize[1] - patch[1]) / stride[1] + 1};
}
Grid VisionLstmConfig::storedGrid() const {
  return {imageSize[0] / patch[0], imageSize[1] / patch[1]};
}
std::int64_t VisionLstmConfig::classTokens() const {
  switch (pooling) {
    case Pooling::ClassMiddle:
      return 1;
    case Pooling::ClassBilateral:
      return 2;
    case Pooling::ClassAll:
      return 3;
    default:
      return 0;
  }
}
std::int64_t VisionLstmConfig::tokens() const { return grid().count() + classTokens(); }
std::int64_t VisionLstmConfig::pooledWidth() const {
  if (pooling == Pooling::BilateralConcat) return 2 * width;
  return std::max<std::int64_t>(1, classTokens()) * width;
}
bool VisionLstmConfig::hasPairNames() const {
  return directions == Directions::Bi && concurrency == Concurrency::Sequential && depth % 2 == 0;
}

Schema makeSchema() {
  Schema schema;
  for (auto fields : {sizeFields(), switchFields(), cellFields()}) {
    for (Field& field : fields) schema.fields.push_back(std::move(field));
  }
  schema.rules = {{Rule::Kind::Divides,
                   {"patch", "image_size"},
                   "the position table has a place for each patch"}};
  const Json common{{"image_size", Json{224, 224}}, {"in_channels", 3}, {"num_classes", 1000},
                    {"patch", Json{16, 16}},        {"heads", 4},       {"qkv_block", 4}};
  for (const Size& size : kSizes) {
    Json values = common;
    values.update({{"dim", size.width}, {"depth", size.depth}});
    schema.presets.push_back({std::string("vision_lstm/") + size.name, size.doc, values});
  }
  for (const Size& size : kFirstSizes) {
    Json values = common;
    values.update({{"dim", size.width},
                   {"depth", size.depth},
                   {"conv", "causal1d"},
                   {"conv_kernel", 4},
                   {"bias", false},
                   {"pooling", "bilateral_mean"},
                   {"norm_eps", 1e-5},
                   {"head_norm_eps", 1e-6}});
    schema.presets.push_back({std::string("vision_lstm/") + size.name, size.doc, values});
  }
  schema.presets.push_back({"vision_lstm/demo", "small enough for 28 px images on a laptop",
                            Json{{"image_size", Json{28, 28}},
                                 {"patch", Json{4, 4}},
                                 {"in_channels", 1},
                                 {"num_classes", 10},
                                 {"dim", 48},
                                 {"depth", 4},
                                 {"heads", 4}}});
  return schema;
}

VisionLstmConfig readConfig(const Config& config) {
  VisionLstmConfig c{.imageSize = config.size("image_size"), .patch = config.size("patch")};
  c.stride = config.has("stride") ? config.size("stride") : c.patch;
  c.inChannels = config.integer("in_channels");
  c.classes = config.integer("num_classes");
  c.width = config.integer("dim");
  c.depth = config.integer("depth");
  c.heads = config.integer("heads");
  c.qkvBlock = config.integer("qkv_block");
  c.convolution = valueOf("conv", config.text("conv"), kConvolutions);
  c.kernel = config.integer("conv_kernel");
  c.directions = valueOf("directions", config.text("directions"), kDirections);
  c.concurrency = valueOf("concurrency", config.text("concurrency"), kConcurrencies);
  c.pooling = valueOf("pooling", config.text("pooling"), kPoolings);
  c.centre = config.integer("center");
  c.hasPositions = config.text("pos_embed") == "learned";
  c.hasHeadNorm = config.flag("head_norm");
  c.bias = config.flag("bias") ? nn::Bias::Present : nn::Bias::None;
  c.normEps = config.real("norm_eps");
  c.headNormEps = config.real("head_norm_eps");
  c.blockNormEps = config.real("block_norm_eps");
  c.outNormEps = config.real("out_norm_eps");
  c.dropPath = config.real("drop_path");
  c.dropPathGrows = config.flag("drop_path_decay");
  c.start = valueOf("init", config.text("init"), kStarts);
  c.countsAsPaper = valueOf("flops_convention", config.text("flops_convention"), kConventions);
  c.cell.forgetGate = valueOf("forget_gate", config.text("forget_gate"), kForgetGates);
  c.cell.inputGate = valueOf("input_gate", config.text("input_gate"), kInputGates);
  c.cell.normaliser = valueOf("normaliser", config.text("normaliser"), kNormalisers);
  c.cell.normaliserGradient =
      valueOf("normaliser_grad", config.text("normaliser_grad"), kNormaliserGradients);
  c.cell.form = valueOf("cell_backend", config.text("cell_backend"), kForms);
  c.cell.chunk = config.maybeInteger("chunk").value_or(0);
  c.cell.eps = config.real("cell_eps");
  check(c);
  return c;
}

}  // namespace vitrine::vision_lstm
