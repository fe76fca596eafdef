#include "core/kernels/mlstm.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "core/base/error.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/mlstm/cell.h"
#include "core/kernels/cpu/path_rule.h"
#include "core/kernels/mlstm_forms.h"

namespace vitrine::kernels {

namespace {

/// Tokens of a tile of the CUDA kernel.
constexpr std::int64_t kCudaTile = 32;
/// The most tokens of a tile of the plain walk: sums of logarithms over more lose digits of their
/// differences.
constexpr std::int64_t kPlainTile = 64;

void checkMlstm(const MlstmInput& in, const MlstmOptions& options) {
  const auto refuse = [&](const std::string& wanted, const at::Tensor& tensor) {
    std::ostringstream text;
    text << "an mLSTM needs " << wanted << ", not " << tensor.sizes() << " next to queries "
         << in.q.sizes();
    throw ShapeError(text.str());
  };
  if (in.q.dim() != 4 || in.q.size(2) < 1 || in.q.size(3) < 1)
    refuse("queries [batch, heads, tokens, width] with a token at least", in.q);
  if (in.k.sizes() != in.q.sizes()) refuse("keys of the queries' shape", in.k);
  if (in.v.dim() != 4 || in.v.sizes().slice(0, 3) != in.q.sizes().slice(0, 3))
    refuse("values [batch, heads, tokens, width]", in.v);
  for (const at::Tensor& gate : {in.inputGate, in.forgetGate}) {
    if (gate.sizes() != in.q.sizes().slice(0, 3)) refuse("gates [batch, heads, tokens]", gate);
  }
  for (const at::Tensor& other : {in.k, in.v}) {
    if (other.device() != in.q.device() || other.scalar_type() != in.q.scalar_type())
      throw ShapeError("an mLSTM needs queries, keys and values of one type on one device");
  }
  if (in.start.memory.defined()) {
    const std::int64_t batch = in.q.size(0), heads = in.q.size(1);
    if (in.start.memory.sizes() != at::IntArrayRef({batch, heads, in.q.size(3), in.v.size(3)}))
      refuse("a start memory [batch, heads, key width, value width]", in.start.memory);
    if (!in.start.sum.defined() ||
        in.start.sum.sizes() != at::IntArrayRef({batch, heads, in.q.size(3)}) ||
        !in.start.stabiliser.defined() ||
        in.start.stabiliser.sizes() != at::IntArrayRef({batch, heads}))
      refuse("with a start memory its sum [batch, heads, key width] and stabiliser [batch, heads]",
             in.start.memory);
  }
  if (options.chunk < 0)
    throw ShapeError("an mLSTM's chunk has " + std::to_string(options.chunk) +
                     " tokens; give it 1 or more, or 0 for a choice by length");
  if (options.form != MlstmForm::Chunkwise && !in.q.is_cpu())
    throw Error("an mLSTM's recurrent and parallel forms are for the CPU; on " +
                in.q.device().str() + " use the chunkwise one");
}

/// What the autograd node is given; tensors in the order of its inputs.
enum : std::size_t { kQ, kK, kV, kLogInput, kLogForget, kMemory, kSum, kStart, kInputs };
using Inputs = std::array<at::Tensor, kInputs>;

bool takesOwnLoops(const Inputs& in, const MlstmOptions& options) {
  return options.form == MlstmForm::Chunkwise && in[kQ].is_cpu() &&
         in[kQ].scalar_type() == at::kFloat && cpu::hasOwnLoops();
}

at::Tensor denseWidth(const at::Tensor& rows) {
  return rows.stride(3) == 1 || rows.size(3) == 1 ? rows : rows.contiguous();
}

cpu::MlstmCellCall fastCall(const Inputs& in, const MlstmOptions& options) {
  cpu::MlstmCellCall call{denseWidth(in[kQ]),
                          denseWidth(in[kK]),
                          denseWidth(in[kV]),
                          in[kLogInput],
                          in[kLogForget],
                          {},
                          options};
  if (in[kMemory].defined()) call.start = {in[kMemory], in[kSum], in[kStart]};
  return call;
}

MlstmCall plainCall(const Inputs& in, const MlstmOptions& options) {
  const std::int64_t tokens = in[kQ].size(2);
  const auto flat = [](const at::Tensor& tensor) { return tensor.flatten(0, 1).contiguous(); };
  MlstmCall call;
  call.q = flat(in[kQ]), call.k = flat(in[kK]), call.v = flat(in[kV]);
  call.logInput = flat(in[kLogInput]), call.logForget = flat(in[kLogForget]);
  call.scale = 1 / std::sqrt(static_cast<double>(in[kQ].size(3)));
  call.tile = in[kQ].is_cuda() ? kCudaTile : std::min({options.chunk, tokens, kPlainTile});
  if (in[kMemory].defined()) {
    call.memory = flat(in[kMemory]), call.sum = flat(in[kSum]), call.start = flat(in[kStart]);
  } else {
    call.start =
        at::full({call.units()}, -std::numeric_limits<double>::infinity(), call.logInput.options());
  }
  scanGatesOf(call);
  return call;
}

/// exp(-m) and the divisor, of the type of `sum`.
struct Divisor {
  at::Tensor bound, value;
};
Divisor divisorOf(const MlstmCall& call, const at::Tensor& sum, const MlstmOptions& options) {
  Divisor divisor{call.stabiliser.neg().exp().to(sum.scalar_type()), {}};
  divisor.value = options.normaliser == Normaliser::Bounded ? at::maximum(sum.abs(), divisor.bound)
                                                            : divisor.bound;
  divisor.value = divisor.value + options.eps;
  return divisor;
}

MlstmOutput plainForward(const Inputs& in, const MlstmOptions& options) {
  const MlstmCall call = plainCall(in, options);
  const MlstmSums sums = mlstmForward(options.form, call);
  const auto shaped = [&](const at::Tensor& tensor) {
    return tensor.unflatten(0, {in[kQ].size(0), in[kQ].size(1)});
  };
  MlstmOutput out;
  const std::int64_t heads = in[kQ].size(1), tokens = call.tokens(), width = call.valueWidth();
  // In memory as projections need it.
  out.h = at::empty_strided({in[kQ].size(0), heads, tokens, width},
                            {heads * tokens * width, width, heads * width, 1}, call.v.options());
  out.h.copy_(shaped(sums.numerator / divisorOf(call, sums.sum, options).value.unsqueeze(2)));
  const at::Tensor stabiliser = call.stabiliser.to(in[kQ].scalar_type());
  out.stabiliser = shaped(stabiliser);
  out.signedSum = shaped(sums.sum).contiguous();
  if (options.lastState == LastState::Keep) {
    out.last = {shaped(sums.memory).contiguous(), shaped(sums.last).contiguous(),
                shaped(stabiliser.select(1, call.tokens() - 1)).contiguous()};
  }
  return out;
}

Inputs plainBackward(const Inputs& in, const at::Tensor& h, const at::Tensor& signedSum,
                     const at::Tensor& slope, const MlstmOptions& options) {
  const MlstmCall call = plainCall(in, options);
  const at::Tensor sum = signedSum.flatten(0, 1);
  const Divisor divisor = divisorOf(call, sum, options);
  const at::Tensor g = slope.flatten(0, 1);
  const at::Tensor along = (g * h.flatten(0, 1)).sum(2) / divisor.value;
  at::Tensor sums = at::zeros_like(sum), stabilisers;
  if (options.normaliserGradient == NormaliserGradient::Exact) {
    if (options.normaliser == Normaliser::Bounded)
      sums = at::where(sum.abs() > divisor.bound, -along * sum.sign(), sums);
    if (options.eps > 0) stabilisers = along.to(at::kDouble).mul(-options.eps).contiguous();
  }
  const MlstmGradients slopes = mlstmBackward(
      options.form, call, (g / divisor.value.unsqueeze(2)).contiguous(), sums.contiguous());
  const auto dots = [](const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kDouble) * b.to(at::kDouble)).sum(2).contiguous();
  };
  const MlstmGateGradients gates =
      mlstmGateGradients(call, dots(call.q, slopes.q), dots(call.k, slopes.k), stabilisers);
  const auto shaped = [&](const at::Tensor& tensor) {
    return tensor.unflatten(0, {in[kQ].size(0), in[kQ].size(1)});
  };
  Inputs out;
  out[kQ] = shaped(slopes.q), out[kK] = shaped(slopes.k), out[kV] = shaped(slopes.v);
  out[kLogInput] = shaped(gates.logInput), out[kLogForget] = shaped(gates.logForget);
  if (in[kMemory].defined()) {
    // The state stands for its product with exp(m_0).
    const at::Tensor throughMemory = (slopes.memory * call.memory).to(at::kDouble).sum({1, 2});
    const at::Tensor throughSum = (slopes.sum * call.sum).to(at::kDouble).sum(1);
    out[kMemory] = shaped(slopes.memory), out[kSum] = shaped(slopes.sum);
    out[kStart] = shaped(gates.start + throughMemory + throughSum);
  }
  return out;
}

class MlstmNode : public torch::autograd::Function<MlstmNode> {
 public:
  static torch::autograd::variable_list forward(
      torch::autograd::AutogradContext* context, const at::Tensor& q, const at::Tensor& k,
      const at::Tensor& v, const at::Tensor& logInput, const at::Tensor& logForget,
      const std::optional<at::Tensor>& memory, const std::optional<at::Tensor>& sum,
      const std::optional<at::Tensor>& start, const MlstmOptions& options, bool isTrained) {
    const Inputs in{q,
                    k,
                    v,
                    logInput.contiguous(),
                    logForget.contiguous(),
                    memory ? memory->contiguous() : at::Tensor(),
                    sum ? sum->contiguous() : at::Tensor(),
                    start ? start->contiguous() : at::Tensor()};
    at::Tensor scores;
    const MlstmOutput out =
        takesOwnLoops(in, options)
            ? cpu::mlstmForward(fastCall(in, options), isTrained ? &scores : nullptr)
            : plainForward(in, options);
    torch::autograd::variable_list saved(in.begin(), in.end());
    saved.insert(saved.end(), {out.h, out.signedSum, scores});
    context->save_for_backward(saved);
    auto& kept = context->saved_data;
    kept["form"] = static_cast<std::int64_t>(options.form);
    kept["normaliser"] = static_cast<std::int64_t>(options.normaliser);
    kept["gradient"] = static_cast<std::int64_t>(options.normaliserGradient);
    kept["eps"] = options.eps;
    kept["chunk"] = options.chunk;
    torch::autograd::variable_list results{out.h, out.stabiliser, out.signedSum};
    if (options.lastState == LastState::Keep)
      results.insert(results.end(), {out.last.memory, out.last.sum, out.last.stabiliser});
    context->mark_non_differentiable(
        torch::autograd::variable_list(results.begin() + 1, results.end()));
    return results;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    refuseSecondDerivative("an mLSTM");
    torch::autograd::variable_list out(kInputs + 2);
    if (!gradients[0].defined()) return out;
    const auto saved = context->get_saved_variables();
    Inputs in;
    std::copy(saved.begin(), saved.begin() + kInputs, in.begin());
    auto& kept = context->saved_data;
    MlstmOptions options;
    options.form = static_cast<MlstmForm>(kept["form"].toInt());
    options.normaliser = static_cast<Normaliser>(kept["normaliser"].toInt());
    options.normaliserGradient = static_cast<NormaliserGradient>(kept["gradient"].toInt());
    options.eps = kept["eps"].toDouble();
    options.chunk = kept["chunk"].toInt();
    const at::Tensor &h = saved[kInputs], &signedSum = saved[kInputs + 1];
    const at::Tensor slope = gradients[0].to(h.scalar_type());
    Inputs slopes;
    if (takesOwnLoops(in, options)) {
      cpu::MlstmCellGradients fast =
          cpu::mlstmBackward(fastCall(in, options), {h, signedSum, saved[kInputs + 2]}, slope);
      slopes = {fast.q,         fast.k,
                fast.v,         fast.logInput,
                fast.logForget, fast.start.memory,
                fast.start.sum, fast.start.stabiliser};
    } else {
      slopes = plainBackward(in, h, signedSum, slope, options);
    }
    std::copy(slopes.begin(), slopes.end(), out.begin());
    return out;
  }
};

MlstmOptions completed(MlstmOptions options, const MlstmInput& in) {
  if (options.chunk == 0) options.chunk = mlstmChunk(in.q.size(2), in.q.size(3));
  if (options.normaliser == Normaliser::None) options.eps = 0;
  return options;
}

at::Tensor widened(const at::Tensor& tensor) {
  const bool isHalf = tensor.defined() && at::isReducedFloatingType(tensor.scalar_type());
  return isHalf ? tensor.to(at::kFloat) : tensor;
}

}  // namespace

std::int64_t mlstmChunk(std::int64_t tokens, std::int64_t width) {
  constexpr std::int64_t kChunk = 64;
  return tokens <= kChunk + 2 * width ? tokens : kChunk;
}

at::Tensor logGate(GateKind kind, const at::Tensor& gate) {
  const at::Tensor wide = gate.to(at::kDouble);
  return kind == GateKind::Sigmoid ? at::log_sigmoid(wide) : wide;
}

MlstmOutput mlstm(const MlstmInput& in, const MlstmOptions& wanted) {
  checkMlstm(in, wanted);
  const MlstmOptions options = completed(wanted, in);
  std::optional<at::Tensor> memory, sum, start;
  if (in.start.memory.defined()) {
    const auto type = widened(in.q).scalar_type();
    memory = in.start.memory.to(type), sum = in.start.sum.to(type);
    start = in.start.stabiliser.to(at::kDouble);
  }
  const at::Tensor q = widened(in.q), k = widened(in.k), v = widened(in.v),
                   logInput = logGate(options.inputGate, in.inputGate),
                   logForget = logGate(options.forgetGate, in.forgetGate);
  const bool isTrained = isDifferentiated(
      {q, k, v, logInput, logForget, in.start.memory, in.start.sum, in.start.stabiliser});
  const auto made =
      MlstmNode::apply(q, k, v, logInput, logForget, memory, sum, start, options, isTrained);
  MlstmOutput out{made[0], made[1], made[2], {}};
  if (options.lastState == LastState::Keep) out.last = {made[3], made[4], made[5]};
  return out;
}

MlstmWeights mlstmWeights(const MlstmInput& in, const MlstmOptions& options) {
  checkMlstm(in, options);
  if (in.start.memory.defined())
    throw Error("the weights of an mLSTM's pairs of tokens are shown without a start state");
  const c10::NoGradGuard noGradient;
  const std::int64_t tokens = in.q.size(2);
  const at::Tensor logInput = logGate(options.inputGate, in.inputGate);
  const at::Tensor sums = logGate(options.forgetGate, in.forgetGate).cumsum(2);
  const at::Tensor later = at::ones({tokens, tokens}, at::kBool).triu(1).to(in.q.device());
  const at::Tensor logs = (sums.unsqueeze(3) - sums.unsqueeze(2) + logInput.unsqueeze(2))
                              .masked_fill(later, -std::numeric_limits<double>::infinity());
  MlstmWeights out{.decay = (logs - logs.amax(3, true)).exp().to(widened(in.q).scalar_type())};
  out.scores = at::matmul(widened(in.q), widened(in.k).transpose(2, 3)) * out.decay /
               std::sqrt(static_cast<double>(in.q.size(3)));
  return out;
}

}  // namespace vitrine::kernels
