#include "plugins/tasks/generation/draw.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/plugin/sampler.h"

namespace vitrine::generation {

namespace {

using diffusion::GuidedDenoiser;
using Time = GuidedDenoiser::Time;

/// Noise of every sample by its own seed. \param draw  0: what a sample begins with
at::Tensor noiseOf(const std::vector<std::uint64_t>& seeds, const Denoiser::Sizes& sizes,
                   at::Device device, std::uint64_t draw) {
  std::vector<at::Tensor> all;
  for (const std::uint64_t seed : seeds)
    all.push_back(sampleNoise(seed, {sizes.channels, sizes.height, sizes.width}, draw));
  return at::stack(all).to(device);
}

class Drawing {
 public:
  Drawing(const GenerationSession& session, const DrawSettings& settings,
          const std::vector<std::uint64_t>& seeds, const at::Tensor& labels, at::Device device,
          const DrawWatch& watch)
      : session_(session),
        settings_(settings),
        seeds_(seeds),
        labels_(labels),
        device_(device),
        watch_(watch),
        sizes_(session.denoiser().denoiserSizes()) {
    if (settings.asked) attention_.emplace(*session.attention(), *settings.asked, labels.size(0));
  }

  Drawn run() {
    const at::Tensor noise = noiseOf(seeds_, sizes_, device_, 0);
    at::Tensor state;
    switch (settings_.method) {
      case Method::Ddpm:
      case Method::Ddim:
        state = backThroughSteps(noise);
        break;
      case Method::Ode:
        state = alongField(noise);
        break;
      case Method::Sde:
        state = alongNoisyField(noise);
        break;
    }
    if (drawn_.isComplete) drawn_.images = session_.images(state);
    return drawn_;
  }

 private:
  at::Tensor predict(const at::Tensor& state, double time) {
    return diffusion::guidedPrediction(session_.denoiser(), session_.guidance(), state, time,
                                       labels_, settings_.guidance);
  }
  bool isWanted(double share, double time, const std::function<at::Tensor()>& data) {
    if (!watch_ || watch_({share, time, data, attention_ ? &*attention_ : nullptr})) return true;
    drawn_.isComplete = false;
    return false;
  }

  at::Tensor backThroughSteps(at::Tensor state) {
    const bool isDdim = settings_.method == Method::Ddim;
    const diffusion::NoiseProcess& whole = session_.steps();
    const std::string kept = (isDdim ? "ddim" : "") + std::to_string(settings_.steps);
    const diffusion::NoiseProcess process =
        whole.respaced(diffusion::respacedSteps(whole.steps(), kept)).to(device_);
    const at::Tensor times = process.originalSteps().cpu();
    diffusion::StepOutput form = session_.stepOutput();
    if (settings_.isClipped) form.clip = 1;
    const std::int64_t count = process.steps();
    for (std::int64_t i = count - 1; i >= 0; --i) {
      const at::Tensor step =
          at::full({state.size(0)}, i, at::TensorOptions(at::kLong).device(device_));
      const auto time = static_cast<double>(times.const_data_ptr<std::int64_t>()[i]);
      const diffusion::StepBack back =
          process.back(predict(state, time).to(at::kFloat), state, step, form);
      ++drawn_.evaluations;
      const bool isNoisy = i > 0 && (!isDdim || settings_.eta > 0);
      const at::Tensor noise =
          isNoisy ? noiseOf(seeds_, sizes_, device_, static_cast<std::uint64_t>(count - i))
                  : at::zeros_like(state);
      state = isDdim ? process.ddimStep(back, state, step, settings_.eta, noise)
                     : process.ddpmStep(back, step, noise);
      const double share = static_cast<double>(count - i) / static_cast<double>(count);
      if (!isWanted(share, time, [&] { return back.start; })) break;
    }
    return state;
  }

  /// What the last prediction says of the data, for a watch.
  at::Tensor lastData() const {
    const at::Tensor time = at::full({lastState_.size(0)}, lastTime_, lastState_.options());
    return session_.transport().dataOf(lastOutput_, lastState_, time);
  }
  at::Tensor observed(const at::Tensor& state, double time) {
    lastOutput_ = predict(state, time).to(at::kFloat);
    lastState_ = state;
    lastTime_ = time;
    return lastOutput_;
  }
  diffusion::OdeWatch watcher() {
    return [this](double share, const at::Tensor&) {
      return isWanted(share, lastTime_, [this] { return lastData(); });
    };
  }

  at::Tensor alongField(const at::Tensor& noise) {
    const diffusion::Transport& transport = session_.transport();
    const auto interval = transport.odeInterval();
    diffusion::OdeOptions options;
    options.method = settings_.solver;
    options.absolute = settings_.absolute;
    options.relative = settings_.relative;
    options.watch = watcher();
    options.keepsLastAlone = true;
    const bool isAdaptive = settings_.solver == diffusion::OdeMethod::Dopri5;
    const diffusion::OdeSolution solution = diffusion::solve(
        [&](const at::Tensor& state, double time) {
          const at::Tensor t = at::full({state.size(0)}, time, state.options());
          return transport.velocityOf(observed(state, time), state, t);
        },
        noise,
        diffusion::evenTimes(interval.first, interval.last, isAdaptive ? 2 : settings_.steps + 1),
        options);
    drawn_.evaluations = solution.evaluations;
    return solution.states.back();
  }

  at::Tensor alongNoisyField(const at::Tensor& noise) {
    diffusion::SdeOptions options = settings_.sde;
    // The last step counts as one.
    options.steps = settings_.steps + (options.last == diffusion::LastStep::None ? 1 : 0);
    options.watch = watcher();
    options.keepsLastAlone = true;
    const diffusion::SdeSolution solution = diffusion::solve(
        session_.transport(),
        [this](const at::Tensor& state, double time) { return observed(state, time); }, noise,
        [this](std::int64_t k) {
          return noiseOf(seeds_, sizes_, device_, static_cast<std::uint64_t>(k + 1));
        },
        options);
    drawn_.evaluations = solution.evaluations;
    return solution.states.back();
  }

  const GenerationSession& session_;
  const DrawSettings& settings_;
  const std::vector<std::uint64_t>& seeds_;
  const at::Tensor& labels_;
  at::Device device_;
  const DrawWatch& watch_;
  Denoiser::Sizes sizes_;
  std::optional<PatchAttention> attention_;
  at::Tensor lastOutput_, lastState_;
  double lastTime_ = 0;
  Drawn drawn_;
};

}  // namespace

std::string samplerName(Method method) {
  switch (method) {
    case Method::Ddpm:
      return "ddpm";
    case Method::Ddim:
      return "ddim";
    case Method::Ode:
      return "ode";
    case Method::Sde:
      break;
  }
  return "sde";
}

void requireProcess(Time process, Method method) {
  const bool isOfSteps = method == Method::Ddpm || method == Method::Ddim;
  if (isOfSteps == (process == Time::Step)) return;
  const std::string sampler = "sampler '" + samplerName(method);
  throw ConfigError(isOfSteps
                        ? sampler +
                              "' goes back through the steps of a diffusion, and this run learned "
                              "a path from noise to data; take sampler ode or sde"
                        : sampler +
                              "' follows a path from noise to data, and this run learned the "
                              "steps of a diffusion; take sampler ddpm or ddim");
}

DrawSettings drawSettings(const GenerationSession& session, Method method, const Config& config) {
  requireProcess(session.process(), method);
  DrawSettings s{.method = method,
                 .steps = config.integer("steps"),
                 .guidance = {config.real("guidance"), config.integer("guidance_channels")}};
  diffusion::requireGuidable(session.labelDrop(), s.guidance);
  s.asked = askedPatch(config, session.attention());
  switch (method) {
    case Method::Ddpm:
    case Method::Ddim:
      s.isClipped =
          config.text("clip") == "auto" ? !session.hasCodec() : config.text("clip") == "yes";
      if (method == Method::Ddim) s.eta = config.real("eta");
      break;
    case Method::Ode:
      s.solver = diffusion::odeMethodOf(config.text("solver"));
      s.absolute = config.real("absolute_tolerance");
      s.relative = config.real("relative_tolerance");
      break;
    case Method::Sde: {
      s.sde.method = diffusion::sdeMethodOf(config.text("solver").substr(4));  // behind "sde_"
      s.sde.form = diffusion::diffusionFormOf(config.text("form"));
      s.sde.last = diffusion::lastStepOf(config.text("last_step"));
      s.sde.lastLength = config.real("last_step_size");
      session.transport().requireForm(s.sde.form);
      break;
    }
  }
  return s;
}

Drawn draw(const GenerationSession& session, const DrawSettings& settings,
           const std::vector<std::uint64_t>& seeds, const at::Tensor& labels, at::Device device,
           const DrawWatch& watch) {
  const cpu::ConstantParameters constant;
  return Drawing(session, settings, seeds, labels, device, watch).run();
}

at::Tensor bytesOf(const at::Tensor& images) {
  return (images.to(at::kFloat) * 127.5 + 128).clamp(0, 255).to(at::kByte);
}

}  // namespace vitrine::generation
