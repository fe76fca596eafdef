#include "plugins/analyses/attention_tap.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/model/text_image_model.h"
#include "core/plugin/text_session.h"

namespace vitrine::analyses {

namespace {

class InstalledTap {
 public:
  InstalledTap(AttentionSource& source, std::shared_ptr<const AttentionTap> tap) : source_(source) {
    source_.setAttentionTap(std::move(tap));
  }
  ~InstalledTap() { source_.setAttentionTap(nullptr); }
  InstalledTap(const InstalledTap&) = delete;
  InstalledTap& operator=(const InstalledTap&) = delete;

 private:
  AttentionSource& source_;
};

/// Where samples are texts with images, and the model reads them so; else nullptr.
const JointSession* jointSessionOf(const ProbeContext& context) {
  const bool readsImages = capabilityOf<ImageClassifier>(context.model) != nullptr ||
                           capabilityOf<TokenEncoder>(context.model) != nullptr;
  if (readsImages || capabilityOf<TextImageModel>(context.model) == nullptr) return nullptr;
  return dynamic_cast<const JointSession*>(&context.session);
}

/// Returns the logits of a classifier, else an undefined tensor.
at::Tensor runOn(Model& model, const at::Tensor& images) {
  if (auto* classifier = capabilityOf<ImageClassifier>(model)) return classifier->classify(images);
  auto* encoder = capabilityOf<TokenEncoder>(model);
  if (encoder == nullptr) {
    throw ConfigError(
        "the attention of an image needs a model that classifies or encodes images, and this one "
        "does neither");
  }
  (void)encoder->encode(encoder->embed(images), {});
  return {};
}

void sortByLayer(std::vector<AttentionRecord>& records) {
  std::stable_sort(
      records.begin(), records.end(),
      [](const AttentionRecord& a, const AttentionRecord& b) { return a.layer < b.layer; });
}

/// What the tap receives while `run` runs, by layer.
std::vector<AttentionRecord> recordsOf(Model& model, const std::vector<std::int64_t>& layers,
                                       AttentionTap::Kind kind, const std::function<void()>& run) {
  auto& source = requireCapability<AttentionSource>(model, "this analysis");
  const std::int64_t depth = source.attentionLayers();
  for (const std::int64_t layer : layers) {
    if (layer < 0 || layer >= depth) {
      throw ConfigError("there is no attention layer " + std::to_string(layer) +
                        "; the model has layers 0 to " + std::to_string(depth - 1));
    }
  }
  std::vector<AttentionRecord> records;
  const auto tap = std::make_shared<AttentionTap>();
  tap->layers = layers;
  tap->kind = kind;
  tap->receive = [&records](const AttentionRecord& record) {
    // A copy: the model may write the next layer over it.
    const auto onCpu = [](const at::Tensor& tensor, at::ScalarType type) {
      return tensor.defined() ? tensor.detach().to(at::kCPU, type, false, true) : tensor;
    };
    records.push_back({record.layer, onCpu(record.weights, at::kFloat),
                       onCpu(record.queryPositions, at::kDouble),
                       onCpu(record.keyPositions, at::kDouble), record.window, record.time});
  };
  {
    const at::NoGradGuard noGradient;
    const InstalledTap installed(source, tap);
    run();
  }
  sortByLayer(records);
  if (records.empty()) throw Error("the model handed out no attention");
  return records;
}

}  // namespace

std::vector<CapturedSequence> captureSequences(const ProbeContext& context,
                                               const std::vector<std::int64_t>& layers,
                                               AttentionTap::Kind kind) {
  std::vector<CapturedSequence> all;
  const JointSession* session = jointSessionOf(context);
  if (session == nullptr) return all;
  auto& model = *capabilityOf<TextImageModel>(context.model);
  for (std::int64_t row = 0; row < context.batch.size(); ++row) {
    JointSession::Sequence sequence = session->sequenceOf(context.batch, row);
    auto records = recordsOf(context.model, layers, kind,
                             [&] { static_cast<void>(model.mixed(sequence.sequences)); });
    all.push_back({std::move(records), std::move(sequence.words)});
  }
  return all;
}

std::vector<AttentionRecord> captureAttention(const ProbeContext& context,
                                              const std::vector<std::int64_t>& layers,
                                              AttentionTap::Kind kind, at::Tensor* logits) {
  std::vector<AttentionRecord> records;
  for (CapturedSequence& each : captureSequences(context, layers, kind))
    std::move(each.records.begin(), each.records.end(), std::back_inserter(records));
  sortByLayer(records);
  if (!records.empty()) return records;
  return recordsOf(context.model, layers, kind, [&] {
    const at::Tensor answers = runOn(context.model, context.batch.at("image"));
    if (logits != nullptr && answers.defined())
      *logits = answers.detach().to(at::kCPU, at::kFloat).contiguous();
  });
}

Json positionsOf(const at::Tensor& positions) {
  Json out = Json::array();
  if (!positions.defined()) return out;
  const at::Tensor values = positions.contiguous();
  const auto* data = values.const_data_ptr<double>();
  for (std::int64_t i = 0; i < values.size(0); ++i) out.push_back({data[2 * i], data[2 * i + 1]});
  return out;
}

std::vector<Field> attentionFields() {
  return {listField("layers", FieldType::Integer, Json::array(),
                    "layers to look at, from 0; empty: all")
              .titled("Layers")
              .atLeast(0)
              .runOnly(),
          choiceField("attention", "effective", {"effective", "softmax"}, "matrix that is analysed")
              .titled("Attention")
              .withChoiceDocs({"weights of the values, after a mask", "right after the softmax"})
              .runOnly()};
}

AttentionTap::Kind attentionKind(const Config& config) {
  return config.text("attention") == "softmax" ? AttentionTap::Kind::Softmax
                                               : AttentionTap::Kind::Effective;
}

}  // namespace vitrine::analyses
