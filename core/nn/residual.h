// Residual branches around any mixer: x + drop(scale(mixer(norm(x)))). For source files only.
#pragma once

#include <ATen/core/Generator.h>

#include <functional>
#include <memory>

#include "core/engine_export.h"
#include "core/nn/drop_path.h"
#include "core/nn/layers.h"

namespace vitrine::nn {

/// Residual stream and the branch that has not been added to it yet (undefined: none). The next
/// norm adds it in the same pass over memory.
struct Stream {
  at::Tensor x, branch;
  [[nodiscard]] at::Tensor sum() const { return branch.defined() ? x + branch : x; }
};

/// The function of the branch on norm(x).
/// \param samples  int64: which of the batch these are, where drop path left some out; undefined
///                 when they are all there. Positions and masks of each sample go by it
using Mixer = std::function<at::Tensor(const at::Tensor& normed, const at::Tensor& samples)>;

/// The arithmetic of a branch. The layers belong to the model, which names and registers them:
/// several branches may share one, and the names are those of any checkpoint.
class VITRINE_ENGINE_EXPORT Residual {
 public:
  struct Options {
    std::shared_ptr<AnyNorm> norm = nullptr;      ///< null for none
    std::shared_ptr<LayerScale> scale = nullptr;  ///< null for none
    double dropout = 0;                           ///< of the mixer's output
    DropPath dropPath = {};
  };
  Residual() = default;
  explicit Residual(Options options);

  /// \param x           [batch, ..]
  /// \param isTraining  drops are the identity otherwise
  /// \param generator   of the device of `x`; needed where something is dropped
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const Mixer& mixer, bool isTraining,
                                   const at::Generator& generator = {}) const;
  /// The same without the last sum, and with the one before it: for chains of branches.
  [[nodiscard]] Stream advance(const Stream& stream, const Mixer& mixer, bool isTraining,
                               const at::Generator& generator = {}) const;
  /// The mixer's cost with what stands between it and the stream; the norm is a piece of its own.
  [[nodiscard]] BlockCost branchCost(BlockCost mixer, double tokens, double width) const;

 private:
  [[nodiscard]] at::Tensor finish(const at::Tensor& branch, bool isTraining,
                                  const at::Generator& generator) const;
  [[nodiscard]] Stream advanceSome(const at::Tensor& x, const at::Tensor& samples,
                                   const Mixer& mixer, const at::Generator& generator) const;
  Options options_;
};

}  // namespace vitrine::nn
