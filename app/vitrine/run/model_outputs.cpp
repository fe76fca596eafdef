#include "app/vitrine/run/model_outputs.h"

#include <ATen/ops/cat.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <map>

namespace vitrine::app {

namespace {

/// float32 on the CPU, whatever it was computed in.
at::Tensor copyOf(const at::Tensor& value) {
  const bool isHalf = value.scalar_type() == at::kBFloat16 || value.scalar_type() == at::kHalf;
  return value.detach().to(at::kCPU, isHalf ? at::kFloat : value.scalar_type(), false, true);
}

std::string withoutIndex(const std::string& name) {
  constexpr std::string_view kIndex = "_<i>";
  return name.ends_with(kIndex) ? name.substr(0, name.size() - kIndex.size()) : name;
}

/// "attention_3" of "attention_masked_3"; others as they are.
std::string plainAttention(const std::string& name) {
  const std::string effective = withoutIndex(kEffectiveOutputs) + "_";
  if (!name.starts_with(effective)) return name;
  return withoutIndex(kAttentionOutputs) + "_" + name.substr(effective.size());
}

/// Whether `name` is `wanted` or a member of it.
bool belongs(const std::string& name, const std::set<std::string>& wanted) {
  if (wanted.contains(name)) return true;
  const std::size_t end = name.find_last_of('_');
  return end != std::string::npos && wanted.contains(name.substr(0, end) + "_<i>");
}

}  // namespace

InputSource inputSource(const TensorProgram& program, const TensorMap& inputs,
                        OutputChoice& choice) {
  std::int64_t samples = 1;
  for (const TensorInput& input : program.tensorInputs()) {
    const auto given = inputs.find(input.name);
    if (given == inputs.end()) continue;
    const std::vector<Axis> axes = axesOf(input, given->second.dim());
    if (!axes.empty() && axes.front().name == kBatchAxis)
      samples = given->second.size(0) - axes.front().more;
  }
  if (!isSplittable(program, inputs, choice.names)) {
    choice.batchSize = samples;
    return {samples, [&inputs](std::int64_t, std::int64_t) { return inputs; }};
  }
  return {samples, [&inputs](std::int64_t first, std::int64_t number) {
            TensorMap part = inputs;
            for (auto& [name, tensor] : part) {
              if (tensor.dim() > 0) tensor = tensor.narrow(0, first, number);
            }
            return part;
          }};
}

namespace {

/// "block_0_<i>" for "block_<i>": the blocks of one stage.
bool isStageOf(const std::string& output, const std::string& family) {
  const std::string stem = withoutIndex(family) + "_", rest = withoutIndex(output);
  return family != withoutIndex(family) && output != rest && rest.starts_with(stem) &&
         rest.find_first_not_of("0123456789", stem.size()) == std::string::npos &&
         rest.size() > stem.size();
}

}  // namespace

std::set<std::string> outputNames(const TensorProgram& program, const TensorMap& inputs,
                                  const std::vector<std::string>& asked) {
  const std::vector<TensorOutput> all = program.tensorOutputs();
  std::set<std::string> names;
  for (const std::string& word : asked) {
    bool isKnown = false;
    for (const TensorOutput& output : all) {
      const bool canBeMade =
          std::all_of(output.needs.begin(), output.needs.end(),
                      [&](const std::string& need) { return inputs.contains(need); });
      const bool isMeant =
          word == output.name || word == withoutIndex(output.name) || isStageOf(output.name, word);
      if (!isMeant && !(word == "all" && canBeMade)) continue;
      names.insert(output.name);
      isKnown = true;
    }
    if (!isKnown) names.insert(word);  // refused below, with all that there is
  }
  requireOutputs(program, inputs, names);
  return names;
}

NamedTensors modelOutputs(TensorProgram& program, const InputSource& inputs,
                          const OutputChoice& choice, at::Device device, train::Precision precision,
                          const std::function<void(std::int64_t)>& passed) {
  const c10::NoGradGuard noGradient;
  const train::AutocastScope autocast(precision, device.type());
  std::map<std::string, std::vector<at::Tensor>> parts;
  for (std::int64_t first = 0; first < inputs.count; first += choice.batchSize) {
    const std::int64_t number = std::min(choice.batchSize, inputs.count - first);
    TensorMap given = inputs.read(first, number);
    for (auto& [name, tensor] : given) tensor = tensor.to(device);
    for (const auto& [name, value] : program.runTensors(given, choice.names)) {
      if (!belongs(name, choice.names)) continue;
      parts[choice.isEffective ? plainAttention(name) : name].push_back(copyOf(value));
    }
    if (passed) passed(first + number);
  }
  NamedTensors whole;
  for (const auto& [name, all] : parts)
    whole.emplace_back(name, all.size() == 1 ? all.front().contiguous() : at::cat(all, 0));
  return whole;
}

}  // namespace vitrine::app
