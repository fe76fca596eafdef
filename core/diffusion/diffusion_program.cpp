// Named tensors in, named tensors out: predictions, losses and the guided pass.
#include <ATen/ATen.h>

#include <utility>

#include "core/base/error.h"
#include "core/diffusion/diffusion_state.h"
#include "core/diffusion/noise_process.h"
#include "core/diffusion/transport.h"

namespace vitrine::diffusion {

namespace {

constexpr std::int64_t kSteps = 1000, kGuidedChannels = 3;

/// Every transport that a flow may be trained as, by the middle of its output's name.
std::vector<std::pair<std::string, TransportOptions>> transports() {
  std::vector<std::pair<std::string, TransportOptions>> all;
  for (const char* path : {"linear", "gvp", "vp"}) {
    for (const char* predicts : {"velocity", "noise", "score"}) {
      for (const char* weight : {"none", "velocity", "likelihood"}) {
        const TransportOptions options{pathOf(path), pathPredictionOf(predicts),
                                       pathWeightOf(weight)};
        // A velocity's loss has no weight.
        if (options.predicts == PathPrediction::Velocity && options.weight != PathWeight::None)
          continue;
        all.emplace_back(std::string(path) + "_" + predicts + "_" + weight, options);
      }
    }
  }
  return all;
}

std::string pathPart(const std::string& name) { return name.substr(0, name.find('_')); }

}  // namespace

class DiffusionTransformer::Program {
 public:
  Program(State& state, const TensorMap& in, const std::set<std::string>& wanted)
      : state_(state), in_(in), wanted_(wanted) {}

  TensorMap run() {
    predict();
    if (in_.contains("noise")) {
      if (state_.options.time == GuidedDenoiser::Time::Step) {
        addStepLosses();
      } else {
        addFlowLosses();
      }
    }
    if (in_.contains("cfg_latent") && wanted_.contains("cfg")) addGuided();
    return std::move(out_);
  }

 private:
  [[nodiscard]] at::Tensor network(const at::Tensor& x) const {
    return state_.run(x, in_.at("t"), in_.at("y"), {});
  }
  [[nodiscard]] bool wantsAny(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (wanted_.contains(name)) return true;
    }
    return false;
  }

  void predict() {
    if (!wantsAny({"prediction", "block_<i>", "attention_<i>"})) return;
    State::Taps taps;
    if (wanted_.contains("block_<i>")) {
      taps.block = [this](std::int64_t i, const at::Tensor& stream) {
        out_["block_" + std::to_string(i)] = stream;
      };
    }
    if (wanted_.contains("attention_<i>")) {
      taps.attention = [this](std::int64_t i, const nn::AttentionOutput& output) {
        out_["attention_" + std::to_string(i)] = output.softmax;
      };
    }
    out_["prediction"] = state_.run(in_.at("latent"), in_.at("t"), in_.at("y"), taps);
  }

  void addStepLosses() {
    const at::Tensor &start = in_.at("latent"), &step = in_.at("t"), &noise = in_.at("noise");
    const NoiseProcess process(BetaSchedule::Linear, kSteps);
    const at::Tensor noisy = process.noised(start, step, noise);
    StepOutput form;
    if (!state_.options.learnsSigma) form.variance = StepVariance::FixedLarge;
    const StepLosses losses = process.loss(network(noisy), start, step, noise, form);
    out_["x_t"] = noisy;
    out_["loss_mse"] = losses.squaredError;
    if (losses.bound.defined()) out_["loss_vb"] = losses.bound;
    out_["loss_per_sample"] = losses.total;
    out_["loss"] = losses.total.mean();
  }

  void addFlowLosses() {
    const at::Tensor &data = in_.at("latent"), &time = in_.at("t"), &noise = in_.at("noise");
    TensorMap outputs;  // of the network, by path
    const auto outputFor = [&](const std::string& path, const Transport& transport) {
      at::Tensor& output = outputs[path];
      if (!output.defined()) output = network(transport.state(data, noise, time));
      return output;
    };
    for (const auto& [name, options] : transports()) {
      const Transport transport(options);
      const std::string path = pathPart(name);
      if (options.predicts == PathPrediction::Velocity) {
        out_["x_t_" + path] = transport.state(data, noise, time);
        out_["u_t_" + path] = transport.velocity(data, noise, time);
      }
      if (wanted_.contains("transport_" + name))
        out_["transport_" + name] = transport.loss(outputFor(path, transport), data, noise, time);
    }
    if (!wantsAny({"loss", "loss_per_sample"})) return;
    const Transport usual;
    const at::Tensor losses = usual.loss(outputFor("linear", usual), data, noise, time);
    out_["loss_per_sample"] = losses;
    out_["loss"] = losses.mean();
  }

  /// The two halves of a batch hold the same states under two labels; both keep their own values
  /// in the channels that are not guided.
  void addGuided() {
    const at::Tensor &latent = in_.at("cfg_latent"), &labels = in_.at("cfg_y");
    const std::int64_t half = latent.size(0);
    if (labels.size(0) != 2 * half)
      throw ShapeError("cfg_t and cfg_y hold two values for each of the " + std::to_string(half) +
                       " states of cfg_latent, not " + std::to_string(labels.size(0)));
    const at::Tensor both = state_.run(at::cat({latent, latent}), in_.at("cfg_t"), labels, {});
    const at::Tensor c = both.narrow(0, 0, half), u = both.narrow(0, half, half);
    const std::int64_t channels = std::min(kGuidedChannels, both.size(1));
    const at::Tensor cFirst = c.narrow(1, 0, channels), uFirst = u.narrow(1, 0, channels);
    const at::Tensor moved = uFirst + in_.at("cfg_scale") * (cFirst - uFirst);
    const std::int64_t rest = both.size(1) - channels;
    out_["cfg"] = at::cat({at::cat({moved, c.narrow(1, channels, rest)}, 1),
                           at::cat({moved, u.narrow(1, channels, rest)}, 1)});
  }

  State& state_;
  const TensorMap& in_;
  const std::set<std::string>& wanted_;
  TensorMap out_;
};

std::vector<TensorInput> DiffusionTransformer::tensorInputs() const {
  const DiffusionTransformerOptions& o = state_->options;
  const bool isStep = o.time == Time::Step;
  const at::ScalarType time = isStep ? at::kLong : at::kFloat;
  const char* range = isStep ? "step of each sample, 0 to 999" : "time of each sample, 0 to 1";
  const auto states = [&](const char* batch) -> std::vector<Axis> {
    return {batch, o.channels, o.inputSize[0], o.inputSize[1]};
  };
  return {{"latent", at::kFloat, states(kBatchAxis), false, "states, or the data before noise"},
          {"t", time, {kBatchAxis}, false, range},
          {"y", at::kLong, {kBatchAxis}, false, "class; num_classes is none of them"},
          {"noise", at::kFloat, states(kBatchAxis), true, "for the losses"},
          {"cfg_latent", at::kFloat, states("guided"), true, "states of the guided pass"},
          {"cfg_t", time, {"guided_twice"}, true, "times of both halves"},
          {"cfg_y", at::kLong, {"guided_twice"}, true, "labels of both halves"},
          {"cfg_scale", at::kFloat, {}, true, "1: without guidance"}};
}

std::vector<TensorOutput> DiffusionTransformer::tensorOutputs() const {
  const DiffusionTransformerOptions& o = state_->options;
  const std::int64_t tokens = state_->places.size(0);
  const std::int64_t outputs = denoiserSizes().outputs, height = o.inputSize[0],
                     width = o.inputSize[1];
  const std::vector<Axis> state{kBatchAxis, o.channels, height, width}, each{kBatchAxis};
  const std::vector<std::string> noise{"noise"};
  std::vector<TensorOutput> all{
      {"prediction", {kBatchAxis, outputs, height, width}, {}, false, "the network on `latent`"},
      {"block_<i>", {kBatchAxis, tokens, o.width}, {}, true, "residual stream after block i"},
      {"attention_<i>", {kBatchAxis, o.heads, tokens, tokens}, {}, true, "after the softmax"},
      {"loss", {}, noise, false, "mean over the batch"},
      {"loss_per_sample", each, noise, false, "of each sample"},
      {"cfg",
       {"guided_twice", outputs, height, width},
       {"cfg_latent", "cfg_t", "cfg_y", "cfg_scale"},
       false,
       "both halves, the first three channels guided"}};
  if (o.time == Time::Step) {
    all.push_back({"x_t", state, noise, false, "latent with noise added"});
    all.push_back({"loss_mse", each, noise, false, "squared error of the predicted noise"});
    if (o.learnsSigma)
      all.push_back({"loss_vb", each, noise, false, "variational bound, bits per dimension"});
    return all;
  }
  for (const auto& [name, options] : transports()) {
    if (options.predicts == PathPrediction::Velocity) {
      all.push_back({"x_t_" + pathPart(name), state, noise, true, "the state between"});
      all.push_back({"u_t_" + pathPart(name), state, noise, true, "its velocity"});
    }
    all.push_back({"transport_" + name, each, noise, true, "loss of each sample"});
  }
  return all;
}

TensorMap DiffusionTransformer::runTensors(const TensorMap& inputs,
                                           const std::set<std::string>& wanted) {
  return Program(*state_, inputs, wanted).run();
}

}  // namespace vitrine::diffusion
