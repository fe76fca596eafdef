#include "core/kernels/linear.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/cpu_path.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/gemm.h"
#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/path_rule.h"

namespace vitrine::kernels {

namespace {

using cpu::MatrixView;

constexpr cpu::Factor kFloat = cpu::Factor::Float32;
/// Depth and columns of a right factor that are packed together. Rows of the left one that a thread
/// takes at once, at most and at least.
constexpr std::int64_t kDepth = 512, kColumns = 256, kMostRows = 96, kLeastRows = 12;
/// Fewer rows are not worth packing the map; so few are worth reading it once for all of them.
constexpr std::int64_t kPackedRows = 32, kThinRows = 4;
/// Fewer products go to one thread. A map that is read once costs its way from memory, eight times
/// as long as products of packed factors.
constexpr std::int64_t kSerialDots = cpu::kSerial / 8;
/// Products of a map that are summed in float64.
constexpr std::int64_t kSmall = 1 << 17;

struct ProductShape {
  std::int64_t rows, columns, depth;
};

/// Where a product goes, rows `stride` apart, and what it is added to.
struct Target {
  float* out;
  std::int64_t stride;
  cpu::Start start;
};

/// out = start + left right, by all threads.
void multiplySlice(const ProductShape& s, const MatrixView& left, const MatrixView& right,
                   const Target& target) {
  static thread_local cpu::AlignedFloats room;
  const std::int64_t panel = cpu::kernels().panel;
  const std::int64_t width = (s.columns + panel - 1) / panel * panel;
  const std::int64_t groups = (s.columns + kColumns - 1) / kColumns;
  const std::int64_t depths = (s.depth + kDepth - 1) / kDepth;
  if (room.size() < static_cast<std::size_t>(width * s.depth))
    room.resize(static_cast<std::size_t>(width * s.depth));
  float* packed = room.data();
  const bool isSerial = s.rows * s.columns * s.depth < cpu::kSerial;
  const auto forEachOf = [&](std::int64_t count, const auto& body) {
    at::parallel_for(0, count, isSerial ? count : 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) body(i);
    });
  };
  const auto columnsOf = [&](std::int64_t group) {
    return std::min(kColumns, s.columns - group * kColumns);
  };
  const auto depthOf = [&](std::int64_t block) {
    return std::min(kDepth, s.depth - block * kDepth);
  };
  const auto place = [&](std::int64_t block, std::int64_t group) {
    return packed + block * kDepth * width + group * kColumns * depthOf(block);
  };
  forEachOf(depths * groups, [&](std::int64_t i) {
    const std::int64_t block = i / groups, group = i % groups;
    const float* from =
        right.values + block * kDepth * right.rowStride + group * kColumns * right.columnStride;
    cpu::packRight(kFloat, depthOf(block), columnsOf(group),
                   {from, right.rowStride, right.columnStride}, place(block, group));
  });
  const std::int64_t each = std::clamp(s.rows / (4 * at::get_num_threads()), kLeastRows, kMostRows);
  const std::int64_t parts = (s.rows + each - 1) / each;
  forEachOf(parts * groups, [&](std::int64_t i) {
    const std::int64_t row = i / groups * each, group = i % groups, column = group * kColumns;
    float* to = target.out + row * target.stride + column;
    for (std::int64_t block = 0; block < depths; ++block) {
      cpu::Start start{to, target.stride};
      if (block == 0) {
        start = target.start;
        if (start.values != nullptr) start.values += row * start.stride + column;
      }
      const float* from = left.values + row * left.rowStride + block * kDepth * left.columnStride;
      cpu::gemm(kFloat, std::min(each, s.rows - row), columnsOf(group), depthOf(block),
                {from, left.rowStride, left.columnStride}, place(block, group), start, to,
                target.stride);
    }
  });
}

/// out = left right + bias, dense, in slices of a right factor of which a packed copy is small.
/// \param bias  of each column, or null
void multiplyByAll(const ProductShape& s, const MatrixView& left, const MatrixView& right,
                   const float* bias, float* out) {
  constexpr std::int64_t kMostDepth = 8 * kDepth, kMostFloats = 1 << 23;
  const std::int64_t depth = std::min(s.depth, kMostDepth);
  const std::int64_t columns = kMostFloats / kMostDepth / kColumns * kColumns;
  for (std::int64_t c = 0; c < s.columns; c += columns) {
    for (std::int64_t d = 0; d < s.depth; d += depth) {
      float* to = out + c;
      cpu::Start start{to, s.columns};
      if (d == 0) start = {bias == nullptr ? nullptr : bias + c, 0};
      multiplySlice({s.rows, std::min(columns, s.columns - c), std::min(depth, s.depth - d)},
                    {left.values + d * left.columnStride, left.rowStride, left.columnStride},
                    {right.values + d * right.rowStride + c * right.columnStride, right.rowStride,
                     right.columnStride},
                    {to, s.columns, start});
    }
  }
}

std::int64_t rowsOf(const at::Tensor& x) { return x.numel() / x.size(-1); }

std::vector<std::int64_t> shapeWith(const at::Tensor& x, std::int64_t channels) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = channels;
  return shape;
}

const float* floatsOf(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr;
}

at::Tensor manyRows(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const std::int64_t out = weight.size(0), in = weight.size(1);
  const at::Tensor y = at::empty(shapeWith(x, out), x.options());
  multiplyByAll({rowsOf(x), out, in}, {floatsOf(x), in, 1}, {floatsOf(weight), 1, in},
                floatsOf(bias), y.data_ptr<float>());
  return y;
}

/// For so few rows that all of them meet a part of the map while it is in the cache.
/// \param fill  (row of x, first of the map's rows, how many, where their products go)
template <class Fill>
at::Tensor byDots(const at::Tensor& x, const at::Tensor& weight, const Fill& fill) {
  constexpr std::int64_t kTogether = 16;
  const std::int64_t rows = rowsOf(x), out = weight.size(0), in = weight.size(1);
  const at::Tensor y = at::empty(shapeWith(x, out), x.options());
  const float* from = floatsOf(x);
  float* to = y.data_ptr<float>();
  at::parallel_for(0, out, std::max<std::int64_t>(1, kSerialDots / (rows * in)),
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t o = first; o < last; o += kTogether) {
                       for (std::int64_t r = 0; r < rows; ++r)
                         fill(from + r * in, o, std::min(kTogether, last - o), to + r * out + o);
                     }
                   });
  return y;
}

at::Tensor fewRows(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const std::int64_t in = weight.size(1);
  const float *map = floatsOf(weight), *offset = floatsOf(bias);
  return byDots(x, weight, [&](const float* row, std::int64_t o, std::int64_t count, float* sums) {
    cpu::kernels().dotRows(in, row, count, map + o * in, in, sums);
    for (std::int64_t i = 0; offset != nullptr && i < count; ++i) sums[i] += offset[o + i];
  });
}

/// Small products are summed in float64: the libraries round them differently on each processor,
/// and what follows may magnify that a thousandfold.
bool isSmall(const at::Tensor& x, const at::Tensor& weight) {
  return rowsOf(x) < kPackedRows && rowsOf(x) * weight.numel() <= kSmall;
}

at::Tensor product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (!isSmall(x, weight)) return manyRows(x, weight, bias);
  const std::int64_t in = weight.size(1);
  const float *map = floatsOf(weight), *offset = floatsOf(bias);
  return byDots(x, weight, [&](const float* row, std::int64_t o, std::int64_t count, float* sums) {
    for (std::int64_t i = 0; i < count; ++i)
      sums[i] = static_cast<float>(cpu::kernels().dotInDouble(in, row, map + (o + i) * in) +
                                   (offset == nullptr ? 0.0F : offset[o + i]));
  });
}

class OwnLinear : public torch::autograd::Function<OwnLinear> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
    const at::Tensor rows = x.contiguous();
    context->save_for_backward({rows, weight});
    context->saved_data["has_bias"] = bias.has_value();
    return product(rows, weight, bias.value_or(at::Tensor()));
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    refuseSecondDerivative("a linear map");
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor slope = gradients[0].contiguous();
    const std::int64_t rows = rowsOf(x), out = weight.size(0), in = weight.size(1);
    torch::autograd::variable_list results(3);
    if (context->needs_input_grad(0)) {
      results[0] = at::empty_like(x);
      multiplyByAll({rows, in, out}, {floatsOf(slope), out, 1}, {floatsOf(weight), in, 1}, nullptr,
                    results[0].data_ptr<float>());
    }
    if (context->needs_input_grad(1)) {
      results[1] = at::empty_like(weight);
      multiplyByAll({out, in, rows}, {floatsOf(slope), 1, out}, {floatsOf(x), in, 1}, nullptr,
                    results[1].data_ptr<float>());
    }
    if (context->saved_data["has_bias"].toBool() && context->needs_input_grad(2)) {
      results[2] = at::zeros({out}, x.options());
      float* sums = results[2].data_ptr<float>();
      constexpr std::int64_t kTogether = 64;
      const std::int64_t groups = (out + kTogether - 1) / kTogether;
      at::parallel_for(0, groups, std::max<std::int64_t>(1, cpu::kSerial / (rows * kTogether)),
                       [&](std::int64_t first, std::int64_t last) {
                         const std::int64_t column = first * kTogether;
                         cpu::kernels().addRows(rows, std::min(out, last * kTogether) - column,
                                                floatsOf(slope) + column, out, sums + column);
                       });
    }
    return results;
  }
};

bool isOwn(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto isPlain = [](const at::Tensor& t) {
    return t.is_cpu() && t.scalar_type() == at::kFloat && t.numel() > 0;
  };
  const CpuPath path = cpuPath();
  return (path == CpuPath::Avx2 || path == CpuPath::Avx512) && isPlain(x) && isPlain(weight) &&
         (!bias.defined() || (isPlain(bias) && bias.is_contiguous())) && x.dim() > 0 &&
         weight.dim() == 2 && weight.is_contiguous() && x.size(-1) == weight.size(1) &&
         !at::autocast::is_autocast_enabled(at::kCPU);
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (!isOwn(x, weight, bias)) return at::linear(x, weight, bias);
  const bool hasGradient = isDifferentiated({x, weight, bias});
  const std::int64_t rows = rowsOf(x);
  if (!hasGradient && rows <= kThinRows) return fewRows(x.contiguous(), weight, bias);
  if (rows < kPackedRows && !isSmall(x, weight)) return at::linear(x, weight, bias);
  if (!hasGradient) return product(x.contiguous(), weight, bias);
  return OwnLinear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace vitrine::kernels
