#include "core/model/tensor_program.h"

#include <ATen/ops/cross_entropy_loss.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/model/capabilities.h"

namespace vitrine {

namespace {

std::string axisText(const Axis& axis) {
  if (axis.name.empty()) return std::to_string(axis.size);
  return axis.more == 0 ? axis.name : axis.name + " + " + std::to_string(axis.more);
}

std::string dtypeText(at::ScalarType type) {
  switch (type) {
    case at::kLong:
      return "int64";
    case at::kBool:
      return "bool";
    case at::kFloat:
      return "float32";
    default:
      return c10::toString(type);
  }
}

/// "[batch, tokens] or [tokens]"
std::string axesText(const TensorInput& input) {
  const auto text = [](const std::vector<Axis>& axes) {
    return "[" + joined(axes, axisText) + "]";
  };
  const auto dimensions = std::ssize(input.axes);
  return text(input.axes) +
         (input.mayLackBatch ? " or " + text(axesOf(input, dimensions - 1)) : "");
}

/// "t [batch] int64"
std::string inputText(const TensorInput& input) {
  return input.name + " " + axesText(input) + " " + dtypeText(input.dtype) +
         (input.isOptional ? " (optional)" : "");
}

const TensorInput* find(const std::vector<TensorInput>& inputs, const std::string& name) {
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const TensorInput& each) { return each.name == name; });
  return found == inputs.end() ? nullptr : &*found;
}

bool suits(at::ScalarType given, at::ScalarType wanted) {
  if (given == wanted) return true;
  if (wanted == at::kBool) return given == at::kByte || given == at::kChar;
  if (wanted == at::kLong) return c10::isIntegralType(given, /*includeBool=*/false);
  return c10::isFloatingType(wanted) && c10::isFloatingType(given);
}

/// Sizes of named axes, and which tensor set them.
class AxisSizes {
 public:
  /// \throws ShapeError
  void add(const TensorInput& input, at::IntArrayRef sizes, const std::string& where) {
    const std::vector<Axis> axes = axesOf(input, std::ssize(sizes));
    bool fits = sizes.size() == axes.size();
    for (std::size_t i = 0; fits && i < sizes.size(); ++i) {
      const Axis& axis = axes[i];
      const std::int64_t size = sizes[i] - axis.more;
      if (axis.name.empty()) {
        fits = sizes[i] == axis.size;
        continue;
      }
      fits = fits && (size > 0 || (size == 0 && axis.name != kBatchAxis));
      const auto [known, isNew] = known_.try_emplace(axis.name, Known{size, input.name});
      if (fits && known->second.size != size) {
        throw ShapeError("'" + input.name + "' in " + where + " has shape " + c10::str(sizes) +
                         ", so " + axis.name + " is " + std::to_string(size) + ", and '" +
                         known->second.from + "' says " + std::to_string(known->second.size));
      }
    }
    if (!fits) {
      throw ShapeError("'" + input.name + "' in " + where + " has shape " + c10::str(sizes) +
                       ", the model reads " + axesText(input) +
                       "; give it that shape, or configure the model for yours");
    }
  }

 private:
  struct Known {
    std::int64_t size;
    std::string from;
  };
  std::map<std::string, Known> known_;
};

/// The inputs that `output` needs and that are not given.
std::vector<std::string> missingFor(const TensorOutput& output, const TensorMap& inputs) {
  std::vector<std::string> missing;
  for (const std::string& name : output.needs) {
    if (!inputs.contains(name)) missing.push_back(name);
  }
  return missing;
}

constexpr const char* kBlocks = "block_<i>";
constexpr const char* kAttention = "attention_<i>";
constexpr const char* kMaskedAttention = "attention_masked_<i>";

/// Hands out blocks and attention while it lives.
class Taps {
 public:
  Taps(Model& model, const std::set<std::string>& wanted, TensorMap& out)
      : encoder_(capabilityOf<TokenEncoder>(model)), source_(capabilityOf<AttentionSource>(model)) {
    if (wanted.contains(kBlocks)) {
      encoder_->setBlockTap([&out](std::int64_t block, const at::Tensor& tokens) {
        out["block_" + std::to_string(block)] = tokens;
      });
    }
    if (wanted.contains(kAttention)) tap(AttentionTap::Kind::Softmax, "attention_", out);
    if (wanted.contains(kMaskedAttention))
      tap(AttentionTap::Kind::Effective, "attention_masked_", out);
  }
  ~Taps() {
    if (encoder_ != nullptr) encoder_->setBlockTap({});
    if (source_ != nullptr) source_->setAttentionTap(nullptr);
  }
  Taps(const Taps&) = delete;
  Taps& operator=(const Taps&) = delete;

 private:
  void tap(AttentionTap::Kind kind, const std::string& prefix, TensorMap& out) {
    auto tap = std::make_shared<AttentionTap>();
    tap->kind = kind;
    tap->receive = [&out, prefix](const AttentionRecord& record) {
      out[prefix + std::to_string(record.layer)] = record.weights;
    };
    source_->setAttentionTap(tap);
  }
  TokenEncoder* encoder_;
  AttentionSource* source_;
};

Axis axisOf(std::int64_t size, const char* name) { return size > 0 ? Axis(size) : Axis(name); }

/// What every classifier of images can do.
class ClassifierProgram final : public TensorProgram {
 public:
  ClassifierProgram(Model& model, ImageClassifier& classifier, const ImageShape& images)
      : model_(model), classifier_(classifier), images_(images) {}

  std::vector<TensorInput> tensorInputs() const override {
    return {{"image",
             at::kFloat,
             {kBatchAxis, axisOf(images_.channels, "channels"), axisOf(images_.height, "height"),
              axisOf(images_.width, "width")},
             false,
             "as the model was trained on, normalised"},
            {"target", at::kLong, {kBatchAxis}, true, "label of each image"}};
  }

  std::vector<TensorOutput> tensorOutputs() const override {
    std::vector<TensorOutput> all{
        {"features", {kBatchAxis, "width of features"}, {}, false, "input of the classifier"},
        {"logits", {kBatchAxis, "classes"}},
        {"loss", {}, {"target"}, false, "mean cross-entropy"}};
    if (capabilityOf<TokenEncoder>(model_) != nullptr) {
      all.push_back({"embeddings",
                     {kBatchAxis, "tokens", "channels of tokens"},
                     {},
                     true,
                     "before the first block"});
      all.push_back(
          {kBlocks, {kBatchAxis, "tokens", "channels of tokens"}, {}, true, "after every block"});
    }
    if (capabilityOf<AttentionSource>(model_) != nullptr) {
      all.push_back({kAttention,
                     {kBatchAxis, "heads", "queries", "keys"},
                     {},
                     true,
                     "after the softmax of every layer"});
      all.push_back({kMaskedAttention,
                     {kBatchAxis, "heads", "queries", "keys"},
                     {},
                     true,
                     "weights of the values, after a mask that follows the softmax"});
    }
    return all;
  }

  TensorMap runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) override {
    const at::Tensor& image = inputs.at("image");
    TensorMap out;
    std::set<std::string> tapped = wanted;
    if (wanted.contains(kAttention) && wanted.contains(kMaskedAttention)) {
      // A tap hears one of the two; the other takes a pass of its own.
      const Taps taps(model_, {kMaskedAttention}, out);
      (void)classifier_.features(image);
      tapped.erase(kMaskedAttention);
    }
    {
      const Taps taps(model_, tapped, out);
      out["features"] = classifier_.features(image);
    }
    out["logits"] = classifier_.head(out["features"]);
    if (wanted.contains("loss"))
      out["loss"] = at::cross_entropy_loss(out["logits"], inputs.at("target"));
    if (wanted.contains("embeddings"))
      out["embeddings"] = capabilityOf<TokenEncoder>(model_)->embed(image).values;
    return out;
  }

 private:
  Model& model_;
  ImageClassifier& classifier_;
  ImageShape images_;
};

}  // namespace

std::vector<Axis> axesOf(const TensorInput& input, std::int64_t dimensions) {
  const bool lacksBatch = input.mayLackBatch && dimensions + 1 == std::ssize(input.axes);
  return std::vector<Axis>(input.axes.begin() + (lacksBatch ? 1 : 0), input.axes.end());
}

std::shared_ptr<TensorProgram> programOf(Model& model, const ImageShape& images) {
  if (auto* own = capabilityOf<TensorProgram>(model))
    return {std::shared_ptr<void>(), own};  // the model owns it
  if (auto* classifier = capabilityOf<ImageClassifier>(model))
    return std::make_shared<ClassifierProgram>(model, *classifier, images);
  const std::string offered = joined(capabilitiesOf(model));
  throw RefusedError(std::string("this model has no outputs by name: it offers neither ") +
                     TensorProgram::kId + " nor " + ImageClassifier::kId + " but " +
                     (offered.empty() ? "nothing" : offered));
}

std::string inputsText(const TensorProgram& program) {
  return joined(program.tensorInputs(), inputText);
}

TensorMap checkedInputs(const TensorProgram& program, const TensorMap& given,
                        const std::string& where) {
  const std::vector<TensorInput> inputs = program.tensorInputs();
  for (const auto& [name, tensor] : given) {
    if (find(inputs, name) == nullptr)
      throw ConfigError(where + " has a tensor '" + name +
                        "' that the model does not read; it reads " + inputsText(program));
  }
  TensorMap checked;
  AxisSizes sizes;
  for (const TensorInput& input : inputs) {
    const auto found = given.find(input.name);
    if (found == given.end()) {
      if (input.isOptional) continue;
      throw ConfigError(where + " has no tensor '" + input.name + "'; the model reads " +
                        inputsText(program));
    }
    const at::Tensor& tensor = found->second;
    if (!suits(tensor.scalar_type(), input.dtype)) {
      throw ConfigError("'" + input.name + "' in " + where + " is of type " +
                        dtypeText(tensor.scalar_type()) + ", the model reads " + inputText(input));
    }
    sizes.add(input, tensor.sizes(), where);
    checked[input.name] = tensor.to(input.dtype).contiguous();
  }
  return checked;
}

std::set<std::string> defaultOutputs(const TensorProgram& program, const TensorMap& inputs) {
  std::set<std::string> names;
  std::vector<std::string> ways;
  for (const TensorOutput& output : program.tensorOutputs()) {
    if (output.isOnRequest) continue;
    const std::vector<std::string> missing = missingFor(output, inputs);
    if (missing.empty())
      names.insert(output.name);
    else
      ways.push_back("'" + output.name + "' takes also " + joined(missing));
  }
  if (names.empty()) {
    throw ConfigError("these inputs give nothing: " + joined(ways) + "; the model reads " +
                      inputsText(program));
  }
  return names;
}

void requireOutputs(const TensorProgram& program, const TensorMap& inputs,
                    const std::set<std::string>& wanted) {
  const std::vector<TensorOutput> outputs = program.tensorOutputs();
  for (const std::string& name : wanted) {
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const TensorOutput& each) { return each.name == name; });
    if (found == outputs.end()) {
      throw ConfigError("the model has no output '" + name + "'; it has " +
                        joined(outputs, std::mem_fn(&TensorOutput::name)));
    }
    const std::vector<std::string> missing = missingFor(*found, inputs);
    if (!missing.empty())
      throw ConfigError("the output '" + name + "' needs the input " + joined(missing));
  }
}

bool isSplittable(const TensorProgram& program, const TensorMap& inputs,
                  const std::set<std::string>& wanted) {
  const auto isOfSamples = [](const std::vector<Axis>& axes) {
    return !axes.empty() && axes.front().name == kBatchAxis && axes.front().more == 0;
  };
  for (const TensorInput& input : program.tensorInputs()) {
    const auto given = inputs.find(input.name);
    if (given == inputs.end()) continue;
    const std::vector<Axis> axes = axesOf(input, given->second.dim());
    if (!axes.empty() && !isOfSamples(axes)) return false;
  }
  for (const TensorOutput& output : program.tensorOutputs()) {
    if (wanted.contains(output.name) && !isOfSamples(output.axes)) return false;
  }
  return true;
}

}  // namespace vitrine
