#include "core/nn/residual.h"

#include <ATen/ATen.h>

#include <tuple>
#include <utility>

#include "core/nn/cost.h"

namespace vitrine::nn {

Residual::Residual(Options options) : options_(std::move(options)) {}

at::Tensor Residual::finish(const at::Tensor& branch, bool isTraining,
                            const at::Generator& generator) const {
  const at::Tensor result = isTraining ? dropout(branch, options_.dropout, generator) : branch;
  return options_.scale ? options_.scale->forward(result) : result;
}

/// Some samples of the batch alone go through the branch.
Stream Residual::advanceSome(const at::Tensor& x, const at::Tensor& samples, const Mixer& mixer,
                             const at::Generator& generator) const {
  if (samples.size(0) == 0) return {x, {}};
  const at::Tensor kept = x.index_select(0, samples);
  const at::Tensor normed = options_.norm ? options_.norm->forward(kept) : kept;
  const at::Tensor branch = finish(mixer(normed, samples), true, generator);
  const double gain = static_cast<double>(x.size(0)) / static_cast<double>(samples.size(0));
  return {x.index_add(0, samples, branch.to(x.scalar_type()), gain), {}};
}

Stream Residual::advance(const Stream& stream, const Mixer& mixer, bool isTraining,
                         const at::Generator& generator) const {
  const DropPath& path = options_.dropPath;
  if (isTraining && path.kind == DropPath::Kind::Subset) {
    const at::Tensor samples =
        keptSamples(stream.x.size(0), path.rate, generator, stream.x.device());
    if (samples.defined()) return advanceSome(stream.sum(), samples, mixer, generator);
  }
  at::Tensor x, normed;
  if (options_.norm) {
    std::tie(x, normed) = options_.norm->forward(stream.x, stream.branch);
  } else {
    x = normed = stream.sum();
  }
  const at::Tensor branch = finish(mixer(normed, {}), isTraining, generator);
  return {x, isTraining ? dropPath(branch, path.rate, generator) : branch};
}

at::Tensor Residual::forward(const at::Tensor& x, const Mixer& mixer, bool isTraining,
                             const at::Generator& generator) const {
  return advance({x, {}}, mixer, isTraining, generator).sum();
}

BlockCost Residual::branchCost(BlockCost mixer, double tokens, double width) const {
  if (options_.scale) {
    addNumbers(mixer, options_.scale->cost(tokens));
    mixer.kind += ", layer scale";
  }
  if (options_.dropout > 0) mixer.activationBytes += kFloatBytes * kDropoutKept * tokens * width;
  return mixer;
}

}  // namespace vitrine::nn
