// Named tensors in, named tensors out: what `vitrine infer` and the reference cases run of a model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace vitrine {

using TensorMap = std::map<std::string, at::Tensor>;

/// The axis that tells samples apart.
inline constexpr const char* kBatchAxis = "batch";

/// One axis of a tensor: of a fixed size, or named. Axes of one name have one size in all tensors
/// of a pass.
struct Axis {
  Axis(std::int64_t fixed) : size(fixed) {}  // NOLINT: {"batch", 4, 8, 8}
  Axis(const char* named) : name(named) {}   // NOLINT
  Axis(std::string named, std::int64_t plus = 0) : name(std::move(named)), more(plus) {}  // NOLINT
  std::string name;       ///< "" of a fixed axis
  std::int64_t size = 0;  ///< of a fixed axis
  std::int64_t more = 0;  ///< {"batch", 1}: one more than there are samples
};

/// A tensor that a program reads.
struct TensorInput {
  std::string name;                   ///< "latent", "ids"
  at::ScalarType dtype = at::kFloat;  ///< kFloat takes every floating type, kLong every integer,
                                      ///< kBool also 8-bit integers; the program gets `dtype`
  std::vector<Axis> axes;
  bool isOptional = false;
  std::string doc{};  ///< "time step of each sample, 0 to 999"
  /// The tensor may lack its first axis, the batch: it is the same for every sample then.
  bool mayLackBatch = false;
};
/// The axes of a tensor of that many dimensions: all of the input's, or those behind the batch.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<Axis> axesOf(const TensorInput& input,
                                                             std::int64_t dimensions);

/// A tensor that a program makes, or a family of them: "block_<i>" is block_0, block_1, ...
struct TensorOutput {
  std::string name;
  std::vector<Axis> axes;
  std::vector<std::string> needs{};  ///< optional inputs without which it is not made
  bool isOnRequest = false;          ///< not made unless a caller names it
  std::string doc{};
};

/// A model's computation on named tensors. Models of any kind can offer it; a classifier of images
/// has it without doing anything (programOf).
class VITRINE_ENGINE_EXPORT TensorProgram : public Capability {
 public:
  static constexpr const char* kId = "tensor_program";
  [[nodiscard]] virtual std::vector<TensorInput> tensorInputs() const = 0;
  [[nodiscard]] virtual std::vector<TensorOutput> tensorOutputs() const = 0;
  /// Differentiable; in the mode and on the device of the model.
  /// \param inputs  as tensorInputs() says, checked
  /// \param wanted  names of tensorOutputs(), of which every needed input is given
  /// \returns       at least the wanted outputs, families by their members
  [[nodiscard]] virtual TensorMap runTensors(const TensorMap& inputs,
                                             const std::set<std::string>& wanted) = 0;
};

/// Size of the images that a classifier reads; 0: any.
struct ImageShape {
  std::int64_t channels = 0, height = 0, width = 0;
};

/// The model's own program. Of a classifier that has none: `image`, and optionally `target`, to
/// `features`, `logits` and `loss` (mean cross-entropy). On request also to `embeddings`,
/// `block_<i>`, `attention_<i>` (after the softmax) and `attention_masked_<i>` (what multiplies the
/// values).
/// \returns  valid as long as the model lives
/// \throws RefusedError  the model offers neither
[[nodiscard]] VITRINE_ENGINE_EXPORT std::shared_ptr<TensorProgram> programOf(
    Model& model, const ImageShape& images = {});

/// The tensors in the types of the program.
/// \param where  for messages: the file that they are from
/// \throws ConfigError  a name that the program does not read, one that is missing, a wrong type
/// \throws ShapeError   a wrong shape, or axes of one name with two sizes
[[nodiscard]] VITRINE_ENGINE_EXPORT TensorMap checkedInputs(const TensorProgram& program,
                                                            const TensorMap& given,
                                                            const std::string& where);

/// The default outputs for `inputs`: those that are not on request and need nothing else.
/// \throws ConfigError  nothing: says which inputs would give something
[[nodiscard]] VITRINE_ENGINE_EXPORT std::set<std::string> defaultOutputs(
    const TensorProgram& program, const TensorMap& inputs);

/// \throws ConfigError  a name that is none of the outputs, or one whose inputs are not given
VITRINE_ENGINE_EXPORT void requireOutputs(const TensorProgram& program, const TensorMap& inputs,
                                          const std::set<std::string>& wanted);

/// Whether the program may compute a part of the samples at a time. Every wanted output must begin
/// with the batch axis, and every given tensor, too, unless it has no axis. One that is the same
/// for every sample does not.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool isSplittable(const TensorProgram& program,
                                                      const TensorMap& inputs,
                                                      const std::set<std::string>& wanted);

/// "latent [batch, 4, 8, 8] float, t [batch] int64, y [batch] int64 (optional)".
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string inputsText(const TensorProgram& program);

}  // namespace vitrine
