#include "tests/support/golden/compare.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/model/weights.h"
#include "tests/support/golden/text.h"

namespace vitrine::testing {

namespace {

bool isGradient(const GoldenCase& golden, const std::string& tensor) {
  return tensor.starts_with("grad") || golden.gradients.contains(tensor);
}

double largestGradient(const GoldenCase& golden) {
  double most = 0;
  for (const auto& [name, tensor] : golden.gradients) {
    if (tensor.numel() > 0) most = std::max(most, tensor.abs().max().item<double>());
  }
  return most;
}

/// A number, or "1e-5 times the largest gradient element of the file".
double absoluteOf(const GoldenCase& golden, const Json& stated) {
  if (stated.is_number()) return stated.get<double>();
  const std::string text = stated.get<std::string>();
  if (text.find(" times the largest gradient element") == std::string::npos)
    throw Unmapped("a tolerance of '" + text + "' has no counterpart");
  return std::stod(text) * largestGradient(golden);
}

/// {"rtol": 2e-4, "atol": 3e-4}
Allowance mixedAllowance(const GoldenCase& golden, const Json& stated) {
  Allowance allowance;
  allowance.relative = stated.value("rtol", 0.0);
  allowance.absolute = absoluteOf(golden, stated.value("atol", Json(0.0)));
  return allowance;
}

/// Figures by topic: {"fixed_step": {...}, "dopri5": "..."}, {"sincos": {...}, "ema": {...}}.
std::optional<Allowance> allowanceByTopic(const GoldenCase& golden, const std::string& tensor) {
  const Json& stated = golden.json.at("tolerance");
  if (stated.is_string()) return Allowance{};  // "exact"
  if (stated.contains("fixed_step")) return mixedAllowance(golden, stated.at("fixed_step"));
  if (stated.contains("relative") && stated.at("relative").is_number()) {
    // Meant for tables in float64; what is stored in float32 has its rounding.
    const auto expected = golden.io.find(tensor);
    const bool isSingle =
        expected != golden.io.end() && expected->second.scalar_type() == at::kFloat;
    Allowance allowance;
    if (isSingle) {
      allowance.relativeToMost = 2e-6;
    } else {
      allowance.relative = stated.at("relative");
    }
    return allowance;
  }
  if (stated.contains("FID")) return mixedAllowance(golden, stated.at("FID"));
  for (const auto& [topic, figure] : stated.items()) {
    if (figure.is_object() && topic != "output" && topic != "grads" && topic != "float32" &&
        topic != "float64" && tensor.starts_with("output/" + topic))
      return mixedAllowance(golden, figure);
  }
  const char* kind = isGradient(golden, tensor) ? "grads" : "output";
  if (stated.contains(kind) && stated.at(kind).is_object())
    return mixedAllowance(golden, stated.at(kind));
  return std::nullopt;
}

/// Whether a tensor is what a case computes from. Few cases keep such ones outside of "input/".
bool isGiven(const GoldenCase& golden, const std::string& name) {
  static const std::set<std::string> given{"cfg/eps_conditional", "cfg/eps_unconditional",
                                           "q_sample/x0",         "q_sample/noise",
                                           "q_sample/t",          "time_embedding/t"};
  return name.starts_with("input/") || name.find("/input/") != std::string::npos ||
         name.starts_with("reference/") || name.starts_with("sample/") || given.contains(name) ||
         golden.io.contains(name + "_rotated");
}

/// Results that case.json holds itself, as tensors.
void addNumbers(GoldenCase& golden) {
  const std::string kind = golden.json.value("architecture", "");
  if (kind == "generation_metrics") {
    for (const auto& [name, value] : golden.json.at("metrics").items())
      golden.io["metrics/" + name] = at::full({}, value.get<double>(), at::kDouble);
  }
  if (kind == "metric" && golden.json.contains("results")) {
    for (const auto& [set, results] : golden.json.at("results").items()) {
      for (const auto& [name, value] : results.items())
        golden.io[set + "/output/" + name] = at::full({}, value.get<double>(), at::kDouble);
    }
  }
  // What a reference says beside its tensors: ends of time, calls of the field, refusals.
  if (const auto intervals = golden.json.find("time_intervals_t0_t1");
      intervals != golden.json.end()) {
    for (const auto& [name, ends] : intervals->items())
      golden.io["time_intervals/" + name] =
          at::tensor(ends.get<std::vector<double>>(), at::kDouble);
  }
  if (const auto calls = golden.json.find("function_evaluations"); calls != golden.json.end()) {
    for (const auto& [name, count] : calls->items())
      golden.io["function_evaluations/" + name] =
          at::full({}, count.get<std::int64_t>(), at::kLong);
  }
  if (kind == "respacing") {
    const Json invalid = golden.json.value("invalid", Json::object());
    for (const auto& [name, reason] : invalid.items())
      golden.io["refused/" + name] = at::full({}, 1, at::kLong);
    for (const auto& [name, kept] : golden.json.at("respacing").items())
      golden.io["respacing/" + name] = at::tensor(kept.get<std::vector<std::int64_t>>(), at::kLong);
  }
}

}  // namespace

std::string GoldenCase::name() const {
  return folder.parent_path().filename().string() + "/" + folder.filename().string();
}

double GoldenCase::tolerance(const std::string& kind) const {
  return json.at("tolerance").at(kind).get<double>();
}

const Json& GoldenCase::settings() const {
  return json.contains("parameters") ? json.at("parameters") : json.at("model");
}

GoldenCase readGoldenCase(const std::filesystem::path& folder) {
  GoldenCase golden{.folder = std::filesystem::absolute(folder).lexically_normal()};
  if (!golden.folder.has_filename()) golden.folder = golden.folder.parent_path();
  const std::filesystem::path file = golden.folder / "case.json";
  std::ifstream stream(file);
  if (!stream)
    throw FileError(file.string() + " cannot be read; a case has case.json and io.safetensors");
  golden.json = Json::parse(stream);
  // A case of numbers or texts alone keeps them in JSON.
  if (std::filesystem::exists(golden.folder / "io.safetensors")) {
    golden.io = readTensors(golden.folder / "io.safetensors");
  } else {
    golden.io = textExpectations(golden.folder);
  }
  addNumbers(golden);
  if (std::filesystem::exists(golden.folder / "grads.safetensors"))
    golden.gradients = readTensors(golden.folder / "grads.safetensors");
  return golden;
}

void requireKnown(const Json& table, const std::string& what,
                  std::initializer_list<const char*> known) {
  for (const auto& [key, value] : table.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Unmapped(what + "." + key + " has no counterpart");
  }
}

Allowance allowanceOf(const GoldenCase& golden, const std::string& tensor) {
  if (const auto byTopic = allowanceByTopic(golden, tensor)) return *byTopic;
  const Json& stated = golden.json.at("tolerance");
  const bool isGrad = isGradient(golden, tensor);
  Allowance allowance;
  if (stated.value("exact", false)) return allowance;
  if (const auto own = stated.find(tensor); own != stated.end() && own->is_number()) {
    allowance.relativeToMost = own->get<double>();
    return allowance;
  }
  // A figure for every tensor whose name begins like it: "output/boxes_clipped".
  for (const auto& [name, figure] : stated.items()) {
    if (!name.starts_with("output/") || !tensor.starts_with(name) || !figure.is_number()) continue;
    allowance.absolute = figure;
    return allowance;
  }
  if (stated.contains("output_grey_levels_allowed")) {
    allowance.absolute = stated.at("output_grey_levels_allowed");
  } else if (stated.contains("output_grey_levels")) {
    allowance.absolute = stated.at("output_grey_levels");
  } else if (stated.contains("output_relative") && !isGrad) {
    allowance.relative = stated.at("output_relative");
  } else if (stated.contains("atol") || stated.contains("rtol")) {
    allowance.absolute = stated.value("atol", 0.0);
    allowance.relative = stated.value("rtol", 0.0);
  } else if (stated.contains("absolute")) {
    allowance.absolute = stated.at("absolute");
  } else if (stated.contains("relative")) {
    // Of tables in float64; what is stored in float32 has that rounding on top.
    const auto expected = golden.io.find(tensor);
    const bool isRounded =
        expected != golden.io.end() && expected->second.scalar_type() == at::kFloat;
    allowance.relativeToMost = stated.at("relative").get<double>() + (isRounded ? 2e-7 : 0);
  } else if (const auto single = stated.find("float32"); single != stated.end()) {
    allowance.relativeToMost = single->at(isGrad ? "gradient" : "forward");
    // Some gradients of a file are nearly zero: they are measured against the largest of all.
    if (isGrad) allowance.floor = std::max(allowance.floor, 0.01 * largestGradient(golden));
  } else {
    // A case without a figure for its gradients means the one of its outputs.
    allowance.relativeToMost =
        stated.at(isGrad && stated.contains("grad") ? "grad" : "output").get<double>();
  }
  return allowance;
}

Compared compareTensors(const std::string& name, const at::Tensor& actual,
                        const at::Tensor& expected, const Allowance& allowance) {
  Compared result{.tensor = name};
  if (!actual.defined()) {
    result.problem = "there is no tensor";
    return result;
  }
  if (actual.numel() != expected.numel()) {
    result.problem =
        "shape " + c10::str(actual.sizes()) + " instead of " + c10::str(expected.sizes());
    return result;
  }
  const at::Tensor wanted = expected.to(at::kDouble).flatten();
  if (wanted.numel() == 0) return result;
  const at::Tensor difference =
      (actual.detach().to(at::kCPU, at::kDouble).flatten() - wanted).abs();
  // Equal infinities and NaN in the same places are equal.
  const at::Tensor ours = actual.detach().to(at::kCPU, at::kDouble).flatten();
  const at::Tensor same = ours.eq(wanted).logical_or(ours.isnan().logical_and(wanted.isnan()));
  const at::Tensor error = difference.masked_fill(same, 0);
  const double most = std::max(
      allowance.floor, wanted.masked_select(wanted.isfinite()).numel() > 0
                           ? wanted.masked_select(wanted.isfinite()).abs().max().item<double>()
                           : 0);
  const at::Tensor allowed = at::nan_to_num(wanted.abs(), 0, 0, 0)
                                 .mul(allowance.relative)
                                 .add(allowance.absolute + allowance.relativeToMost * most);
  const at::Tensor excess = at::nan_to_num(error - allowed, /*nan=*/1e300, /*posinf=*/1e300);
  const auto worst = excess.argmax().item<std::int64_t>();
  result.error = error[worst].item<double>();
  result.allowed = allowed[worst].item<double>();
  if (!std::isfinite(result.error)) result.problem = "not finite where the reference is";
  return result;
}

std::vector<Compared> compareCase(const GoldenCase& golden, const std::vector<Tensors>& passes) {
  std::vector<Compared> results;
  const auto compareAll = [&](const std::string& name, const at::Tensor& expected) {
    bool isFound = false;
    for (const Tensors& pass : passes) {
      const auto ours = pass.find(name);
      if (ours == pass.end()) continue;
      isFound = true;
      results.push_back(compareTensors(name, ours->second, expected, allowanceOf(golden, name)));
    }
    if (!isFound) results.push_back({name, 0, 0, "", false});
  };
  for (const auto& [name, expected] : golden.io) {
    if (!isGiven(golden, name)) compareAll(name, expected);
  }
  for (const auto& [name, expected] : golden.gradients) compareAll(name, expected);
  return results;
}

}  // namespace vitrine::testing
