// Noise schedules, diffusion losses, paths, solvers and generation metrics against reference cases.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "core/diffusion/guidance.h"
#include "core/diffusion/noise_process.h"
#include "core/diffusion/ode.h"
#include "core/diffusion/sde.h"
#include "core/eval/generation_metrics.h"
#include "core/nn/position/position_embedding.h"
#include "core/nn/position/timestep_embedding.h"
#include "core/train/update/ema.h"
#include "tests/support/golden/rules.h"

namespace vitrine::testing {

namespace {

using namespace diffusion;

BetaSchedule scheduleOf(const Json& model) {
  return counterpartOf<BetaSchedule>(
      model, "schedule", {{"cosine", BetaSchedule::Cosine}, {"linear", BetaSchedule::Linear}});
}

/// \throws Unmapped  the case computes `key` by another formula
void requireFormula(const Json& given, const char* key, const std::string& formula) {
  if (given.at(key).get<std::string>() != formula)
    throw Unmapped("analytic_model." + std::string(key) + " = " + given.at(key).dump() +
                   " has no counterpart");
}

void addTables(const NoiseProcess& process, const std::string& prefix, Tensors& pass) {
  const ProcessTables& t = process.tables();
  pass[prefix + "betas"] = t.beta;
  pass[prefix + "alphas_cumprod"] = t.alphaBar;
  pass[prefix + "alphas_cumprod_prev"] = t.alphaBarPrevious;
  pass[prefix + "alphas_cumprod_next"] = t.alphaBarNext;
  pass[prefix + "sqrt_alphas_cumprod"] = t.alphaBar.sqrt();
  pass[prefix + "sqrt_one_minus_alphas_cumprod"] = (1 - t.alphaBar).sqrt();
  pass[prefix + "log_one_minus_alphas_cumprod"] = (1 - t.alphaBar).log();
  pass[prefix + "sqrt_recip_alphas_cumprod"] = (1 / t.alphaBar).sqrt();
  pass[prefix + "sqrt_recipm1_alphas_cumprod"] = (1 / t.alphaBar - 1).sqrt();
  pass[prefix + "posterior_variance"] = t.posteriorVariance;
  pass[prefix + "posterior_log_variance_clipped"] = t.posteriorLogVariance;
  pass[prefix + "posterior_mean_coef1"] = t.startShare;
  pass[prefix + "posterior_mean_coef2"] = t.stateShare;
  pass[prefix + "timestep_map"] = process.originalSteps();
}

Tensors tables(const Json& model) {
  requireKnown(model, "model", {"T", "schedule", "learn_sigma", "respacing"});
  Tensors pass;
  const std::int64_t steps = model.at("T");
  addTables(NoiseProcess(scheduleOf(model), steps), "", pass);
  addTables(NoiseProcess(scheduleOf(model), steps, model.at("respacing")), "respaced/", pass);
  return pass;
}

bool learnsSigma(const GoldenCase& golden) {
  return golden.json.at("model").value("learn_sigma", true);
}

/// The tables of another set's dialect, its noising and guidance.
Tensors otherSchedule(const GoldenCase& golden) {
  Tensors pass;
  const Json& model = golden.json.at("model");
  requireKnown(model, "model", {"schedule", "timesteps", "s", "beta_max", "respaced"});
  if (scheduleOf(model) != BetaSchedule::Cosine || model.value("s", 0.008) != 0.008 ||
      model.value("beta_max", 0.999) != 0.999)
    throw Unmapped("a cosine schedule has s = 0.008 and beta_max = 0.999 here");
  const std::int64_t steps = model.at("timesteps");
  const NoiseProcess whole(BetaSchedule::Cosine, steps);
  pass["cosine/alpha_bar"] = whole.tables().alphaBar;
  pass["cosine/beta"] = whole.tables().beta;
  for (const Json& kept : model.at("respaced")) {
    const std::string number = std::to_string(kept.get<std::int64_t>());
    const NoiseProcess process(BetaSchedule::Cosine, steps, number);
    const std::string prefix = "respaced_" + number + "/";
    pass[prefix + "timesteps"] = process.originalSteps();
    pass[prefix + "alpha_bar"] = process.tables().alphaBar;
    pass[prefix + "beta"] = process.tables().beta;
    pass[prefix + "posterior_variance"] = process.tables().posteriorVariance;
    pass[prefix + "coef_x0"] = process.tables().startShare;
    pass[prefix + "coef_xt"] = process.tables().stateShare;
  }
  pass["q_sample/x_t"] = whole.noised(golden.io.at("q_sample/x0"), golden.io.at("q_sample/t"),
                                      golden.io.at("q_sample/noise"));
  for (const auto& [name, expected] : golden.io) {
    if (name.starts_with("time_embedding/dim_"))
      pass[name] = nn::timestepEmbedding(golden.io.at("time_embedding/t"), expected.size(1));
    if (name.starts_with("cfg/w_"))
      pass[name] = guided(golden.io.at("cfg/eps_conditional"),
                          golden.io.at("cfg/eps_unconditional"), std::stod(name.substr(6)));
  }
  return pass;
}

/// eps and, where a model learns its variance, v of the analytic model, at original steps.
at::Tensor analyticSteps(const GoldenCase& golden, const at::Tensor& x,
                         const at::Tensor& original) {
  const Json& given = golden.json.at("analytic_model");
  requireFormula(given, "eps", "tanh(a x + b t/1000)");
  const auto value = [&](const char* key) { return given.at(key).get<double>(); };
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[0] = x.size(0);
  const at::Tensor t = original.to(x.scalar_type()).view(shape) / 1000;
  const at::Tensor noise = (value("a") * x + value("b") * t).tanh();
  if (!learnsSigma(golden)) return noise;
  requireFormula(given, "v", "sin(c x + d t/1000)");
  return at::cat({noise, (value("c") * x + value("d") * t).sin()}, 1);
}

/// What the usual output of the case's model means.
StepOutput outputFormOf(const GoldenCase& golden) {
  StepOutput form;
  if (!learnsSigma(golden)) form.variance = StepVariance::FixedLarge;
  return form;
}

Tensors stepLosses(const GoldenCase& golden) {
  const Json& model = golden.json.at("model");
  requireKnown(model, "model", {"T", "schedule", "learn_sigma"});
  const NoiseProcess process(scheduleOf(model), model.at("T"));
  const at::Tensor &x = golden.io.at("input/x_start"), &noise = golden.io.at("input/noise"),
                   &t = golden.io.at("input/t");
  const at::Tensor state = process.noised(x, t, noise);
  const at::Tensor output = analyticSteps(golden, state, t);
  const at::Tensor first = output.narrow(1, 0, x.size(1));
  Tensors pass;
  pass["output/x_t"] = state;
  const StepBack truth = process.posterior(x, state, t);
  pass["output/posterior_mean"] = truth.mean;
  pass["output/posterior_log_variance"] = truth.logVariance.flatten(1).select(1, 0);
  const auto add = [&](const std::string& prefix, const at::Tensor& out, const StepOutput& form,
                       StepLoss kind) {
    const StepLosses losses = process.loss(out, x, t, noise, form, kind);
    pass["output/" + prefix + "loss"] = losses.total;
    if (losses.squaredError.defined()) pass["output/" + prefix + "mse"] = losses.squaredError;
    if (losses.bound.defined()) pass["output/" + prefix + "vb"] = losses.bound;
    const StepBack back = process.back(out, state, t, form);
    pass["output/" + prefix + "p_mean"] = back.mean;
    pass["output/" + prefix + "p_log_variance"] = back.logVariance;
    pass["output/" + prefix + "p_pred_xstart"] = back.start;
  };
  const StepOutput form = outputFormOf(golden);
  add("", output, form, StepLoss::Hybrid);
  add("rescaled_mse_", output, form, StepLoss::RescaledHybrid);
  // The reference's "KL" is the rescaled one.
  add("kl_", output, form, StepLoss::RescaledBound);
  add("predict_xstart_", output, {StepPrediction::Start, form.variance, {}}, StepLoss::Hybrid);
  add("fixed_large_", first, {StepPrediction::Noise, StepVariance::FixedLarge, {}},
      StepLoss::Hybrid);
  add("fixed_small_", first, {StepPrediction::Noise, StepVariance::FixedSmall, {}},
      StepLoss::Hybrid);
  return pass;
}

Tensors stepTrajectories(const GoldenCase& golden) {
  const Json& model = golden.json.at("model");
  requireKnown(model, "model", {"T", "schedule", "learn_sigma", "respacing", "clip"});
  const NoiseProcess process(scheduleOf(model), model.at("T"), model.at("respacing"));
  const at::Tensor& begin = golden.io.at("input/x_T");
  const at::Tensor& noise = golden.io.at("input/noise");
  StepOutput form = outputFormOf(golden);
  if (model.value("clip", false)) form.clip = 1;
  const auto backAt = [&](const at::Tensor& x, const at::Tensor& step) {
    const at::Tensor original = process.originalSteps().index_select(0, step);
    return process.back(analyticSteps(golden, x, original), x, step, form);
  };
  Tensors pass{{"output/timestep_map", process.originalSteps()}};
  const auto walk = [&](const std::string& name, const auto& next, bool isUp = false) {
    at::Tensor x = begin;
    std::vector<at::Tensor> states, starts;
    for (std::int64_t k = 0; k < process.steps(); ++k) {
      const std::int64_t index = isUp ? k : process.steps() - 1 - k;
      const at::Tensor step = at::full({x.size(0)}, index, at::kLong);
      const StepBack back = backAt(x, step);
      x = next(back, x, step, noise.select(0, std::min(k, noise.size(0) - 1)));
      states.push_back(x);
      starts.push_back(back.start);
    }
    pass["output/" + name] = at::stack(states);
    pass["output/" + name + "_pred_xstart"] = at::stack(starts);
  };
  using Step = const at::Tensor&;
  walk("ddpm", [&](const StepBack& back, Step, Step step, Step z) {
    return process.ddpmStep(back, step, z);
  });
  for (const auto& [name, expected] : golden.io) {
    if (!name.starts_with("output/ddim_eta") || name.ends_with("_pred_xstart")) continue;
    const double eta = std::stod(name.substr(15));
    walk(name.substr(7), [&](const StepBack& back, Step x, Step step, Step z) {
      return process.ddimStep(back, x, step, eta, z);
    });
  }
  walk(
      "ddim_reverse",
      [&](const StepBack& back, Step x, Step step, Step) {
        // All images are at the same step.
        const at::Tensor next =
            process.tables().alphaBarNext.select(0, step[0].item<std::int64_t>());
        return next.sqrt() * back.start +
               (1 - next).sqrt() * process.noiseFromStart(x, step, back.start);
      },
      true);
  return pass;
}

Tensors embeddings(const GoldenCase& golden) {
  requireKnown(golden.json.at("model"), "model", {"decays"});
  Tensors pass;
  for (const auto& [name, expected] : golden.io) {
    std::int64_t width = 0, height = 0, columns = 0;
    if (name.starts_with("output/timestep_embedding_"))
      pass[name] = nn::timestepEmbedding(golden.io.at("input/t"), expected.size(1));
    if (std::sscanf(name.c_str(), "output/sincos_%ld_%ldx%ld", &width, &height, &columns) == 3)
      pass[name] = nn::sinCosPositions({height, columns}, width, nn::ClassToken::None)[0];
    if (!name.starts_with("output/ema_")) continue;
    const at::Tensor& rows = golden.io.at("input/ema_parameters");
    at::Tensor parameter = rows[0].clone();
    train::Ema ema({parameter}, std::stod(name.substr(11)));
    std::vector<at::Tensor> averages;
    for (std::int64_t k = 0; k < rows.size(0); ++k) {
      parameter.copy_(rows[k]);
      if (k > 0) ema.update(at::zeros({}), at::full({}, static_cast<double>(k)));
      averages.push_back(ema.average()[0].clone());
    }
    pass[name] = at::stack(averages);
  }
  return pass;
}

/// Calls `add(name, expected)` for every tensor of the case. One without a counterpart is named and
/// left out: the others are compared all the same.
template <class Add>
void addEachTensor(const GoldenCase& golden, const Add& add) {
  for (const auto& [name, expected] : golden.io) {
    try {
      add(name, expected);
    } catch (const Unmapped& reason) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), reason.what());
    } catch (const ConfigError& refusal) {  // an unknown word, a form that is refused
      std::fprintf(stderr, "%s: %s\n", name.c_str(), refusal.what());
    }
  }
}

const std::vector<std::string> kPaths{"linear", "gvp", "vp"};

/// [first, last] of "time_intervals/GVP/noise/sde_sbdm_last0.04".
at::Tensor timeInterval(const std::string& name) {
  char path[16], predicts[16], use[32];
  if (std::sscanf(name.c_str(), "time_intervals/%15[A-Za-z]/%15[a-z]/%31s", path, predicts, use) !=
      3)
    throw Unmapped(name + " has no counterpart");
  std::string word = path;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const Transport transport({pathOf(word), pathPredictionOf(predicts), PathWeight::None});
  const std::string when = use;
  Transport::Interval interval;
  if (when == "train") {
    interval = transport.trainingInterval();
  } else if (when == "ode") {
    interval = transport.odeInterval();
  } else {
    char form[16];
    double last = 0;
    if (std::sscanf(use, "sde_%15[a-z]_last%lf", form, &last) != 2)
      throw Unmapped(name + " has no counterpart");
    interval = transport.sdeInterval(diffusionFormOf(form), last);
  }
  return at::tensor({interval.first, interval.last}, at::kDouble);
}

Tensors paths(const GoldenCase& golden) {
  requireKnown(golden.json.at("model"), "model", {});
  const at::Tensor& t = golden.io.at("input/t");
  const std::int64_t rows = t.size(0), columns = golden.io.at("input/x1").size(0);
  const auto wide = [&](const char* name) {
    return golden.io.at(name).unsqueeze(0).expand({rows, columns}).contiguous();
  };
  const at::Tensor data = wide("input/x1"), noise = wide("input/x0");
  Tensors pass;
  addEachTensor(golden, [&](const std::string& name, const at::Tensor& /*expected*/) {
    if (name.starts_with("time_intervals/")) pass[name] = timeInterval(name);
  });
  for (const std::string& path : kPaths) {
    const Transport transport({pathOf(path), PathPrediction::Velocity, PathWeight::None});
    const std::string prefix = "output/" + path + "_";
    const auto put = [&](const std::string& name, const at::Tensor& value) {
      pass[prefix + name] = value.expand({rows, columns}).contiguous();
    };
    const Transport::Shares s = transport.shares(t, data);
    put("alpha", s.alpha);
    put("sigma", s.sigma);
    put("d_alpha", s.alphaRate);
    put("d_sigma", s.sigmaRate);
    const at::Tensor x = transport.state(data, noise, t), u = transport.velocity(data, noise, t);
    put("x_t", x);
    put("u_t", u);
    const at::Tensor score = transport.scoreFromVelocity(u, x, t);
    put("score", score);
    put("noise", (s.alpha / s.alphaRate * u - x) / (s.alpha / s.alphaRate * s.sigmaRate - s.sigma));
    put("velocity_from_score", transport.velocityFromScore(score, x, t));
    const Transport::Drift drift = transport.drift(x, t);
    put("drift", drift.drift);
    put("kappa", drift.kappa);
    put("w_SBDM", transport.diffusion(DiffusionForm::Sbdm, x, t));
    for (const char* form : {"sigma", "linear", "decreasing", "increasing-decreasing"})
      put(std::string("w_") + form, transport.diffusion(diffusionFormOf(form), x, t));
  }
  return pass;
}

constexpr const char* kFlowFormula = "tanh(a x) + b sin(3 t) - 0.5 x";
at::Tensor analyticField(const Json& given, const at::Tensor& x, double t) {
  return (given.at("a").get<double>() * x).tanh() + given.at("b").get<double>() * std::sin(3 * t) -
         0.5 * x;
}

Tensors odes(const GoldenCase& golden) {
  const Json& model = golden.json.at("model");
  const Json& given = golden.json.at("analytic_model");
  requireKnown(model, "model", {"num_steps", "atol", "rtol"});
  requireFormula(given, "output", kFlowFormula);
  const at::Tensor& x = golden.io.at("input/x");
  const auto fieldOf = [&](const Transport& transport) {
    return [&given, transport](const at::Tensor& state, double time) {
      const at::Tensor t = at::full({state.size(0)}, time, state.options());
      return transport.velocityOf(analyticField(given, state, time), state, t);
    };
  };
  Tensors pass;
  addEachTensor(golden, [&](const std::string& name, const at::Tensor& expected) {
    char path[16], predicts[16], method[16];
    if (std::sscanf(name.c_str(), "output/ode_%15[a-z]_%15[a-z]_%15[a-z0-9]", path, predicts,
                    method) == 3) {
      const Transport transport({pathOf(path), pathPredictionOf(predicts), PathWeight::None});
      const auto interval = transport.odeInterval();
      const OdeSolution solution = solve(
          fieldOf(transport), x, evenTimes(interval.first, interval.last, model.at("num_steps")),
          {odeMethodOf(method), model.at("atol"), model.at("rtol"), true, {}});
      pass[name] = expected.dim() > x.dim() ? at::stack(solution.states) : solution.states.back();
      pass["function_evaluations/" + name.substr(11)] =
          at::full({}, solution.evaluations, at::kLong);
    }
    double absolute = 0, relative = model.at("rtol");
    const bool isPair = std::sscanf(name.c_str(), "output/dopri5_2points_atol%lf_rtol%lf",
                                    &absolute, &relative) == 2;
    const bool isAlone =
        !isPair &&
        std::sscanf(name.c_str(), "output/dopri5_first_sample_alone_atol%lf", &absolute) == 1;
    if (isAlone && absolute < 1e-7) relative = 1e-6;
    if (isPair || isAlone) {
      const OdeSolution solution = solve(fieldOf(Transport()), isAlone ? x.narrow(0, 0, 1) : x,
                                         {0, 1}, {OdeMethod::Dopri5, absolute, relative, true, {}});
      pass[name] = solution.states.back();
      pass["function_evaluations/" + name.substr(7)] =
          at::full({}, solution.evaluations, at::kLong);
    }
    if (name == "output/ode_exact") {
      pass[name] = solve(fieldOf(Transport()), x, evenTimes(0, 1, 2001),
                         {OdeMethod::RungeKutta, 0, 0, false, {}})
                       .states.back();
    }
  });
  return pass;
}

Tensors sdes(const GoldenCase& golden) {
  const Json& model = golden.json.at("model");
  const Json& given = golden.json.at("analytic_model");
  requireKnown(model, "model", {"num_steps", "last_step_size", "diffusion_norm"});
  requireFormula(given, "output", kFlowFormula);
  const at::Tensor &x = golden.io.at("input/x"), &noise = golden.io.at("input/noise");
  Tensors pass;
  addEachTensor(golden, [&](const std::string& name, const at::Tensor& expected) {
    char path[16], predicts[16], form[32], method[16], last[16];
    if (std::sscanf(name.c_str(), "output/sde_%15[a-z]_%15[a-z]_%31[a-z-]_%15[a-z]_%15[a-z]", path,
                    predicts, form, method, last) != 5)
      return;
    const Transport transport({pathOf(path), pathPredictionOf(predicts), PathWeight::None});
    SdeOptions options{sdeMethodOf(method),        diffusionFormOf(form), lastStepOf(last),
                       model.at("last_step_size"), model.at("num_steps"), {}};
    options.norm = model.value("diffusion_norm", 1.0);
    const SdeSolution solution = solve(
        transport,
        [&](const at::Tensor& state, double t) { return analyticField(given, state, t); }, x,
        [&](std::int64_t k) { return noise[k]; }, options);
    pass[name] = expected.dim() > x.dim() ? at::stack(solution.states) : solution.states.back();
  });
  return pass;
}

Tensors keptSteps(const Json& given) {
  requireKnown(given.at("model"), "model", {});
  Tensors pass;
  const Json invalid = given.value("invalid", Json::object());
  for (const auto& [name, reason] : invalid.items()) {
    const std::size_t colon = name.find(':');
    bool isRefused = false;
    try {
      static_cast<void>(respacedSteps(std::stoll(name.substr(0, colon)), name.substr(colon + 1)));
    } catch (const ConfigError&) {
      isRefused = true;
    }
    pass["refused/" + name] = at::full({}, isRefused ? 1 : 0, at::kLong);
  }
  for (const auto& [name, kept] : given.at("respacing").items()) {
    const std::size_t colon = name.find(':');
    pass["respacing/" + name] = at::tensor(
        respacedSteps(std::stoll(name.substr(0, colon)), name.substr(colon + 1)), at::kLong);
  }
  return pass;
}

Tensors generationMetrics(const GoldenCase& golden) {
  const Json& model = golden.json.at("model");
  requireKnown(model, "model", {"k", "split"});
  const std::int64_t k = model.at("k");
  const at::Tensor &real = golden.io.at("reference/pool"), &made = golden.io.at("sample/pool");
  const eval::FeatureMoments a = eval::momentsOf(real), b = eval::momentsOf(made);
  const auto number = [](double value) { return at::full({}, value, at::kDouble); };
  const at::Tensor &logits = golden.io.at("sample/logits"),
                   &realSpatial = golden.io.at("reference/spatial"),
                   &madeSpatial = golden.io.at("sample/spatial");
  const std::int64_t few = made.size(1) / 2;
  const eval::PrecisionRecall shares = eval::precisionRecall(real, made, k);
  const double distance = eval::frechetDistance(a, b);
  const double spatial =
      eval::frechetDistance(eval::momentsOf(realSpatial), eval::momentsOf(madeSpatial));
  return {{"metrics/FID", number(distance)},
          {"metrics/FID_eigenvalue_form", number(distance)},
          {"metrics/sFID", number(spatial)},
          {"metrics/sFID_eigenvalue_form", number(spatial)},
          {"metrics/FID_fewer_samples_than_features_eigenvalue_form",
           number(eval::frechetDistance(a, eval::momentsOf(made.narrow(0, 0, few))))},
          {"metrics/IS_one_split", number(eval::inceptionScore(logits))},
          {"metrics/IS_splits_of_20", number(eval::inceptionScore(logits, model.at("split")))},
          {"metrics/IS_sorted_by_argmax",
           number(eval::inceptionScore(
               logits.index_select(0, at::argsort(logits.argmax(1), /*stable=*/true, 0, false)),
               model.at("split")))},
          {"metrics/precision", number(shares.precision)},
          {"metrics/recall", number(shares.recall)},
          {"output/mu_reference", a.mean},
          {"output/sigma_reference", a.covariance},
          {"output/mu_sample", b.mean},
          {"output/sigma_sample", b.covariance},
          {"output/radii_reference", eval::squaredRadii(real, k)},
          {"output/radii_sample", eval::squaredRadii(made, k)}};
}

/// Sets of features under their names: "wide/input/features_1".
Tensors frechetDistances(const GoldenCase& golden) {
  Tensors made;
  for (const auto& [set, results] : golden.json.at("results").items()) {
    std::array<eval::FeatureMoments, 2> moments;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      moments[i] = eval::momentsOf(golden.io.at(set + "/input/features_" + number));
      made[set + "/output/mean_" + number] = moments[i].mean;
      made[set + "/output/covariance_" + number] = moments[i].covariance;
    }
    made[set + "/output/frechet_distance"] =
        at::full({}, eval::frechetDistance(moments[0], moments[1]), at::kDouble);
  }
  return made;
}

}  // namespace

std::optional<Tensors> runDiffusionCase(const GoldenCase& golden) {
  const std::string kind = golden.json.value("architecture", "");
  if (kind == "respacing") return keptSteps(golden.json);
  if (kind == "ddpm_tables") return tables(golden.json.at("model"));
  if (kind == "diffusion" && golden.io.contains("cosine/beta")) return otherSchedule(golden);
  if (kind == "ddpm_losses") return stepLosses(golden);
  if (kind == "ddpm_ddim_trajectory") return stepTrajectories(golden);
  if (kind == "embedding_tables_and_ema") return embeddings(golden);
  if (kind == "sit_paths") return paths(golden);
  if (kind == "sit_ode") return odes(golden);
  if (kind == "sit_sde") return sdes(golden);
  if (kind == "generation_metrics") return generationMetrics(golden);
  if (kind == "metric" && golden.json.contains("results")) return frechetDistances(golden);
  return std::nullopt;
}

}  // namespace vitrine::testing
