#include "tests/support/golden/rules.h"

#include <ATen/ATen.h>

#include <cstdio>
#include <set>

#include "core/data/resample.h"
#include "core/eval/accuracy.h"
#include "core/model/parameter_layers.h"
#include "core/nn/drop_path.h"
#include "core/nn/losses.h"
#include "core/nn/position/rope.h"
#include "core/train/optimizer.h"
#include "core/train/schedule.h"
#include "core/train/update/ema.h"
#include "core/train/update/parameter_policy.h"
#include "tests/support/core_items.h"
#include "tests/support/golden/losses.h"
#include "tests/support/golden/text.h"

namespace vitrine::testing {

namespace {

using test::optimizerOf, test::scheduleOf;

at::Tensor resampled(ResampleFilter filter, const at::Tensor& image, const ResampleBox& box,
                     std::int64_t height, std::int64_t width) {
  const at::Tensor from = image.contiguous();
  at::Tensor out = at::empty({image.size(0), height, width}, at::kByte);
  Resampler resampler(filter, image.size(1), image.size(2), box, height, width);
  resampler.apply(image.size(0),
                  {from.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(from.numel())},
                  {out.mutable_data_ptr<std::uint8_t>(), static_cast<std::size_t>(out.numel())});
  return out;
}

ResampleBox whole(const at::Tensor& image) {
  return {0, 0, static_cast<double>(image.size(1)), static_cast<double>(image.size(2))};
}

Tensors resizing(const GoldenCase& golden) {
  const std::map<std::string, ResampleFilter> filters = {
      {"nearest", ResampleFilter::Nearest},   {"box", ResampleFilter::Box},
      {"bilinear", ResampleFilter::Bilinear}, {"hamming", ResampleFilter::Hamming},
      {"bicubic", ResampleFilter::Bicubic},   {"lanczos", ResampleFilter::Lanczos}};
  Tensors pass;
  const Json& settings = golden.settings();
  for (const auto& [name, expected] : golden.io) {
    for (const auto& [filterName, filter] : filters) {
      const std::string prefix = "output/" + filterName + "/";
      if (name.starts_with(prefix)) {
        const at::Tensor& image = golden.io.at("input/" + name.substr(prefix.size()));
        pass[name] = resampled(filter, image, whole(image), expected.size(1), expected.size(2));
      }
      const std::string crop = "output/crop_" + filterName + "_";
      if (name.starts_with(crop)) {
        const Json& part =
            settings.at("crops_top_left_height_width").at(std::stoul(name.substr(crop.size())));
        const at::Tensor image =
            golden.io.at("input/crop_source")
                .narrow(1, part.at(0).get<std::int64_t>(), part.at(2).get<std::int64_t>())
                .narrow(2, part.at(1).get<std::int64_t>(), part.at(3).get<std::int64_t>());
        pass[name] = resampled(filter, image, whole(image), expected.size(1), expected.size(2));
      }
    }
    if (name == "output/box_bicubic") {
      const Json& box = settings.at("box_left_top_right_bottom");
      pass[name] = resampled(ResampleFilter::Bicubic, golden.io.at("input/crop_source"),
                             {box.at(1), box.at(0), box.at(3), box.at(2)}, expected.size(1),
                             expected.size(2));
    }
  }
  return pass;
}

/// A rule of the reference, by the name its trajectory has.
struct Rule {
  Json table;  ///< of the optimizer
  std::vector<double> rates;
  double clip = 0, clipEps = 0;
  bool decaysAllButVectors = false;  ///< class token and positions, too
};

Rule ruleOf(const std::string& name, const Json& settings) {
  Rule rule;
  // One set says `lr`, `wd`, `clip`, another `learning_rates`, `weight_decay`, `clip_norm`.
  rule.rates =
      settings.at(settings.contains("lr") ? "lr" : "learning_rates").get<std::vector<double>>();
  const double decay = settings.at(settings.contains("wd") ? "wd" : "weight_decay");
  const double clip = settings.value("clip", settings.value("clip_norm", 1.0));
  Json& table = rule.table;
  const Json beta1 = settings.at("betas").at(0), beta2 = settings.at("betas").at(1);
  const double momentum = settings.value("momentum", 0.9);
  if (name.starts_with("lamb")) {
    table = {{"name", "lamb"},
             {"weight_decay", decay},
             {"beta1", beta1},
             {"beta2", beta2},
             {"eps", settings.at("lamb_eps")},
             {"bias_correction", name != "lamb_no_bias_correction"},
             {"always_adapt", name == "lamb_always_adapt"},
             {"trust_clip", name == "lamb_trust_clip"},
             {"decoupled_decay", name == "lamb_decoupled"}};
    rule.clip = name == "lamb_no_clip" ? 0 : 1;
  } else if (name.starts_with("lars")) {
    table = {{"name", "lars"},
             {"weight_decay", name == "lars_decay" ? settings.at("lars_wd").get<double>() : 0},
             {"momentum", momentum},
             {"trust_coefficient", settings.at("lars_trust_coefficient")}};
    rule.rates = settings.at("lars_lr").get<std::vector<double>>();
    rule.decaysAllButVectors = true;
  } else if (name == "sgd_clip_exact" || name == "sgd_clip_torch" ||
             name == "sgd_momentum_clip_1") {
    table = {{"name", "sgd"}, {"momentum", momentum}};
    rule.clip = clip;
    rule.clipEps = name == "sgd_clip_exact" ? 0 : 1e-6;
  } else if (name == "adam_kernel_decay" || name == "adamw_no_decay_1d_pos_cls" ||
             name == "adamw_clip_1") {
    const bool isKernels = name == "adam_kernel_decay";
    table = {{"name", "adamw"},
             {"weight_decay", isKernels ? settings.at("adam_decay").get<double>() : decay},
             {"beta1", beta1},
             {"beta2", beta2},
             {"eps", settings.at(isKernels ? "adam_eps" : "eps")}};
    rule.clip = name == "adamw_no_decay_1d_pos_cls" ? 0 : clip;
    rule.clipEps = isKernels ? 0 : 1e-6;
  } else {
    throw Unmapped("the optimizer rule '" + name + "' has no counterpart");
  }
  return rule;
}

void addTrajectory(const GoldenCase& golden, const std::string& name, const Rule& rule,
                   Tensors& pass) {
  ParameterGroup decay{"decay", {}, {}, 1, 1}, plain{"no_decay", {}, {}, 0, 1};
  std::vector<std::pair<std::string, at::Tensor>> parameters;
  for (const auto& [full, value] : golden.io) {
    if (!full.starts_with("input/param/")) continue;
    const std::string own = full.substr(12);
    const bool isPosition = own == "cls_token" || own == "pos_embed";
    parameters.emplace_back(own, value.clone().set_requires_grad(true));
    ParameterGroup& group =
        value.dim() > 1 && (rule.decaysAllButVectors || !isPosition) ? decay : plain;
    group.parameterNames.push_back(own);
    group.parameters.push_back(parameters.back().second);
  }
  train::Optimizer optimizer = optimizerOf(rule.table, {decay, plain});
  for (std::size_t step = 0; step < rule.rates.size(); ++step) {
    const std::string number = std::to_string(step);
    for (auto& [own, parameter] : parameters)
      parameter.mutable_grad() = golden.io.at("input/grad_" + number + "/" + own).clone();
    const at::Tensor norm = optimizer.gradientNorm();
    pass["output/grad_norm_" + number] = norm;
    pass["output/" + name + "/grad_norm_" + number] = norm;
    at::Tensor divisor;
    if (rule.clip > 0) divisor = norm.add(rule.clipEps).div(rule.clip).clamp_min(1);
    optimizer.step(rule.rates[step], at::zeros({}), divisor);
    optimizer.clearGradients();
    for (const auto& [own, parameter] : parameters)
      pass["output/" + name + "/step_" + number + "/" + own] = parameter.detach().clone();
  }
  for (const auto& [own, moment] : optimizer.state()) {
    const std::size_t slash = own.rfind('/');
    pass["output/" + name + own.substr(slash) + "/" + own.substr(0, slash)] = moment.clone();
  }
}

Tensors optimizing(const GoldenCase& golden) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : golden.io) {
    const std::size_t end = name.find("/step_0/");
    if (end != std::string::npos) names.insert(name.substr(7, end - 7));
  }
  Tensors pass;
  for (const std::string& name : names) {
    try {
      addTrajectory(golden, name, ruleOf(name, golden.settings()), pass);
    } catch (const Unmapped&) {
      continue;  // its tensors stay without counterpart and are counted so
    }
  }
  return pass;
}

at::Tensor ratesOf(const train::Schedule& schedule, std::int64_t total) {
  std::vector<double> rates;
  for (std::int64_t step = 0; step < total; ++step)
    rates.push_back(learningRate(schedule, step, total));
  return at::tensor(rates, at::kDouble);
}

Tensors scheduling(const GoldenCase& golden) {
  const Json& given = golden.settings();
  const std::int64_t total = given.at("total"), warm = given.at("warmup");
  const double base = given.at("base");
  const auto rates = [&](Json table) { return ratesOf(scheduleOf(table, base), total); };
  Tensors pass;
  pass["output/vit_cosine"] = rates({{"name", "cosine"}, {"warmup_steps", warm}});
  const double linearEnd =
      given.contains("linear_end") ? given.at("linear_end").get<double>() : given.value("end", 0.0);
  pass["output/vit_linear"] =
      rates({{"name", "linear"}, {"minimum", linearEnd}, {"warmup_steps", warm}});
  if (given.contains("min")) {
    Json inclusive{{"name", "cosine"},
                   {"minimum", given.at("min")},
                   {"warmup_steps", warm},
                   {"warmup_kind", "inclusive"}};
    pass["output/illama_cosine"] = rates(inclusive);
    inclusive["warmup_steps"] = 0;
    pass["output/illama_cosine_no_warmup"] = rates(inclusive);
  }
  if (given.contains("drop_path_rate"))
    pass["output/drop_path_rates"] = at::tensor(
        nn::dropPathRates(given.at("drop_path_rate"), given.at("drop_path_depth")), at::kDouble);
  if (!given.contains("poly_power")) return pass;
  Json poly{{"name", "poly"},
            {"minimum", given.at("poly_min")},
            {"power", given.at("poly_power")},
            {"ends_at_last_step", true}};
  pass["output/poly"] = rates(poly);
  poly["warmup_steps"] = warm;
  poly["warmup_start"] = given.at("poly_start_factor");
  Json old = poly;
  poly["warmup_kind"] = "inclusive";
  pass["output/poly_warmup"] = rates(poly);
  old["ends_at_last_step"] = false;
  old["spans_warmup"] = true;
  pass["output/poly_warmup_old_mmcv"] = rates(old);
  Json step{{"name", "step"}, {"milestones", given.at("milestones")}, {"gamma", given.at("gamma")}};
  pass["output/step"] = rates(step);
  step["warmup_kind"] = "inclusive";
  step["warmup_steps"] = warm;
  step["warmup_start"] = given.at("step_start_factor");
  pass["output/step_warmup"] = rates(step);
  pass["output/cosine_absolute_end"] =
      rates({{"name", "cosine"}, {"minimum", given.at("abs_end")}, {"warmup_steps", warm}});
  pass["output/cosine_timm_warmup_inside"] =
      rates({{"name", "cosine"},
             {"minimum", given.at("timm_min")},
             {"warmup_steps", warm},
             {"warmup_kind", "independent"},
             {"warmup_start", given.at("timm_warmup_init").get<double>() / base},
             {"spans_warmup", true}});
  return pass;
}

Tensors layering(const GoldenCase& golden) {
  const Json& given = golden.settings();
  train::ParameterPolicy policy{.layerDecay = given.at("decay").get<double>()};
  ParameterGroup all{"all", {}, {}, 1, 1};
  std::vector<std::string> names;
  for (const auto& [name, layer] : given.at("layer_id").items()) {
    names.push_back(name);
    all.parameterNames.push_back(name);
    all.parameters.push_back(at::zeros({}));
  }
  at::Tensor scales = at::zeros_like(golden.io.at("output/scale_by_layer"));
  const std::vector<std::int64_t> found = layersOf(names);
  std::map<std::string, std::int64_t> layers;
  for (std::size_t i = 0; i < names.size(); ++i) layers[names[i]] = found[i];
  for (const ParameterGroup& group : withPolicy({all}, policy, layers)) {
    for (const std::string& name : group.parameterNames)
      scales[given.at("layer_id").at(name).get<std::int64_t>()] = group.learningRateScale;
  }
  return {{"output/scale_by_layer", scales}};
}

Tensors averaging(const GoldenCase& golden) {
  Tensors pass;
  for (const Json& value : golden.settings().at("decays")) {
    const double decay = value;
    std::vector<std::string> names;
    std::vector<at::Tensor> parameters;
    for (const auto& [name, tensor] : golden.io) {
      if (!name.starts_with("input/param_0/")) continue;
      names.push_back(name.substr(14));
      parameters.push_back(tensor.clone());
    }
    train::Ema ema(parameters, decay);
    const std::string prefix = "output/decay_" + value.dump() + "/after_";
    for (int step = 1; golden.io.contains(prefix + std::to_string(step) + "/" + names.at(0));
         ++step) {
      const std::string number = std::to_string(step);
      for (std::size_t i = 0; i < names.size(); ++i)
        parameters[i].copy_(golden.io.at("input/param_" + number + "/" + names[i]));
      ema.update(at::zeros({}), at::full({}, static_cast<double>(step)));
      for (std::size_t i = 0; i < names.size(); ++i)
        pass[prefix + number + "/" + names[i]] = ema.average()[i].clone();
    }
  }
  return pass;
}

/// A loss and the gradient of its logits, under the names of the case.
template <class Function>
void addLoss(const GoldenCase& golden, const std::string& name, const std::string& logitsName,
             Tensors& pass, const Function& function) {
  if (!golden.io.contains("output/" + name)) return;
  at::Tensor logits = golden.io.at("input/" + logitsName).clone().requires_grad_(true);
  const at::Tensor loss = function(logits);
  pass["output/" + name] = loss.detach();
  loss.backward();
  pass["grad/" + name] = logits.grad();
}

Tensors losses(const GoldenCase& golden) {
  const Json& given = golden.settings();
  const at::Tensor labels = golden.io.at("input/labels");
  const std::int64_t classes = golden.io.at("input/logits").size(1);
  const double lambda = given.at("lam");
  const at::Tensor oneHot = smoothedTargets(labels, classes, 0);
  const at::Tensor smoothed = smoothedTargets(labels, classes, given.at("smoothing"));
  const at::Tensor mixed = mixedTargets(oneHot, lambda);
  const at::Tensor mixedSmoothed = mixedTargets(smoothed, lambda);
  Tensors pass{{"target/smoothed", smoothed},
               {"target/mixed_no_smoothing", mixed},
               {"target/mixed_smoothing", mixedSmoothed},
               {"target/binarised", binaryTargets(mixed)},
               {"target/binarised_with_smoothing", binaryTargets(mixedSmoothed)},
               {"target/binarised_threshold_0.2", binaryTargets(mixedSmoothed, 0.2)},
               {"output/smoothed_target", smoothed},
               {"output/mixed_target", mixedSmoothed}};
  pass["output/accuracy_first_label"] =
      at::full({}, static_cast<double>(eval::topKCorrect(golden.io.at("input/logits"), labels, 1)) /
                       static_cast<double>(labels.size(0)));
  const auto binary = [&](const std::string& name, const at::Tensor& targets, OverClasses over,
                          const std::string& logitsName = "logits") {
    addLoss(golden, name, logitsName, pass,
            [&](const at::Tensor& logits) { return binaryCrossEntropy(logits, targets, over); });
  };
  binary("bce_deit3", binaryTargets(mixed), OverClasses::Mean);
  binary("bce_mixed_soft", mixed, OverClasses::Mean);
  binary("bce_mixed_smoothing", mixedSmoothed, OverClasses::Mean);
  binary("bce_binarised_with_smoothing", binaryTargets(mixedSmoothed), OverClasses::Mean);
  binary("bce_threshold_0.2", binaryTargets(mixedSmoothed, 0.2), OverClasses::Mean);
  binary("bce_label_smoothing", smoothed, OverClasses::Mean);
  binary("bce_label_smoothing_sum_classes", smoothed, OverClasses::Sum);
  binary("sigmoid_sum_one_hot", oneHot, OverClasses::Sum);
  binary("sigmoid_sum_mixed", mixed, OverClasses::Sum);
  if (golden.io.contains("input/extreme_targets")) {
    binary("extreme_sum", golden.io.at("input/extreme_targets"), OverClasses::Sum,
           "extreme_logits");
  }
  binary("sigmoid_sum_over_classes", oneHot, OverClasses::Sum);
  binary("sigmoid_mean_soft_target", mixedSmoothed, OverClasses::Mean);
  addLoss(golden, "cross_entropy", "logits", pass,
          [&](const at::Tensor& logits) { return softCrossEntropy(logits, oneHot); });
  addLoss(golden, "label_smoothing", "logits", pass,
          [&](const at::Tensor& logits) { return softCrossEntropy(logits, smoothed); });
  addLoss(golden, "soft_target", "logits", pass,
          [&](const at::Tensor& logits) { return softCrossEntropy(logits, mixedSmoothed); });
  if (golden.io.contains("input/teacher_logits")) {
    const at::Tensor& teacher = golden.io.at("input/teacher_logits");
    const at::Tensor none = at::zeros({});
    addLoss(golden, "distillation_hard", "logits", pass, [&](const at::Tensor& logits) {
      return nn::distilled(none, logits, teacher, {1, {}});
    });
    addLoss(golden, "distillation_soft", "logits", pass, [&](const at::Tensor& logits) {
      return nn::distilled(none, logits, teacher, {1, given.at("temperature").get<double>()});
    });
  }
  return pass;
}

/// The angles of a table that case.json describes.
at::Tensor ropeTable(const Json& table) {
  requireKnown(
      table, "tables",
      {"rotated_width", "grid", "base", "kind", "t1", "sx", "sy", "cls", "cls_pos", "row_first"});
  const std::array<std::int64_t, 2> grid = table.at("grid");
  const std::int64_t channels = table.at("rotated_width");
  const double theta = table.value("base", 1e4);
  const std::string kind = table.value("kind", "2d"), place = table.value("cls_pos", "floor");
  if ((kind != "1d" && kind != "2d") || (place != "floor" && place != "trunc") ||
      (kind == "1d" && table.value("cls", false)))
    throw Unmapped("a table of kind " + kind + " with the class token at " + place +
                   " has no counterpart");
  if (kind == "1d") {
    return nn::ropeAngles(at::arange(grid[0] * grid[1], at::kDouble) * table.value("t1", 1.0),
                          nn::RopeSpectrum{channels, nn::RopeAxes::Line, theta, 0}, at::kDouble);
  }
  at::Tensor positions = nn::gridPositions(grid);
  if (table.value("cls", false)) {
    const auto rule = place == "floor" ? nn::ClassPlace::BeforeGrid : nn::ClassPlace::FirstRow;
    positions = at::cat({nn::classPosition(grid, rule).unsqueeze(0), positions});
  }
  positions = positions * at::tensor({table.value("sy", 1.0), table.value("sx", 1.0)}, at::kDouble);
  const auto axes =
      table.value("row_first", false) ? nn::RopeAxes::RowFirst : nn::RopeAxes::ColumnFirst;
  return nn::ropeAngles(positions, nn::RopeSpectrum{channels, axes, theta, 0}, at::kDouble);
}

Tensors rotaryTables(const GoldenCase& golden) {
  Tensors pass;
  for (const auto& [name, table] : golden.json.at("tables").items()) {
    at::Tensor angles;
    try {
      angles = ropeTable(table);
    } catch (const Unmapped& reason) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), reason.what());
      continue;  // its tensors stay without counterpart and are counted so
    }
    pass[name + "/cos"] = angles.cos();
    pass[name + "/sin"] = angles.sin();
    // The case has tokens before heads.
    if (const auto q = golden.io.find(name + "/q"); q != golden.io.end())
      pass[name + "/q_rotated"] =
          nn::applyRope(q->second.transpose(1, 2), angles).transpose(1, 2).contiguous();
  }
  for (const auto& [name, expected] : golden.io) {
    std::int64_t height = 0, width = 0, cell = 0;
    if (!name.ends_with("/calibrated_row_col") ||
        std::sscanf(name.c_str(), "gsa/%ldx%ld_r%ld/", &height, &width, &cell) != 3)
      continue;
    pass[name] = nn::cellPositions({height / cell, width / cell}, cell);
  }
  return pass;
}

Tensors rotaryOperator(const GoldenCase& golden) {
  Tensors pass;
  const at::Tensor& positions = golden.io.at("input/positions");
  at::Tensor x = golden.io.at("input/x").clone().requires_grad_(true);
  at::Tensor loss = at::zeros({});
  for (const auto& [name, upstream] : golden.io) {
    char kind[32];
    double theta = 0;
    if (std::sscanf(name.c_str(), "input/upstream_%20[a-z_]%lf", kind, &theta) != 2) continue;
    const std::string word = kind;
    if (word != "half_split_" && word != "interleaved_")
      throw Unmapped("pairs of channels called " + word + " have no counterpart");
    const nn::RopeSpectrum spectrum{x.size(2), nn::RopeAxes::Line, theta, 0};
    const auto pairs =
        word == "half_split_" ? nn::RopePairs::HalfSplit : nn::RopePairs::Interleaved;
    const at::Tensor turned =
        nn::applyRope(x.unsqueeze(0), nn::ropeAngles(positions, spectrum), pairs)[0];
    pass["output/" + name.substr(15)] = turned.detach();
    loss = loss + (turned * upstream).sum();
  }
  loss.backward();
  pass["output/loss"] = loss.detach();
  pass["grad/input/x"] = x.grad();
  return pass;
}

}  // namespace

std::vector<Tensors> runRuleCase(const GoldenCase& golden) {
  const auto has = [&](const std::string& prefix) {
    const auto found = golden.io.lower_bound(prefix);
    return found != golden.io.end() && found->first.starts_with(prefix);
  };
  if (golden.json.value("architecture", "") == "resize" &&
      golden.json.value("dtype", "") == "uint8")
    return {resizing(golden)};
  if (has("input/grad_0/") && has("input/param/")) return {optimizing(golden)};
  if (has("output/vit_cosine")) return {scheduling(golden)};
  if (has("output/scale_by_layer")) return {layering(golden)};
  if (has("output/decay_")) return {averaging(golden)};
  if (has("input/logits") && has("input/labels") && golden.settings().contains("lam"))
    return {losses(golden)};
  if (const auto measured = runMeasureCase(golden)) return {*measured};
  if (const auto diffusion = runDiffusionCase(golden)) return {*diffusion};
  if (golden.json.value("architecture", "") == "rope_tables") return {rotaryTables(golden)};
  if (has("input/upstream_interleaved_")) return {rotaryOperator(golden)};
  if (isTextCase(golden)) return runTextCase(golden);
  throw Unmapped("no family of cases here holds these tensors");
}

}  // namespace vitrine::testing
