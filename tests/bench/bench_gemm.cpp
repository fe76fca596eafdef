// Times our products, LIBXSMM's and LibTorch's on one thread, in turns: `run.sh gemm`.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <memory>

#include "core/kernels/cpu/gemm.h"
#include "tests/bench/gemm_products.h"
#ifdef VITRINE_HAS_XSMM
#include <libxsmm.h>
#endif

using namespace vitrine;
using bench::GemmProblem;

namespace {

/// A weight is packed once for the whole batch; a weight's gradient packs its right factor.
std::function<void()> ours(const GemmProblem& p) {
  const auto packed = std::make_shared<cpu::AlignedFloats>(
      static_cast<std::size_t>(cpu::packedRightSize(cpu::Factor::Float32, p.depth, p.columns)));
  const auto pack = [p, packed] {
    cpu::packRight(cpu::Factor::Float32, p.depth, p.columns, {p.right, p.columns, 1},
                   packed->data());
  };
  pack();
  return [p, packed, pack] {
    if (p.isLeftTransposed) pack();
    const cpu::MatrixView left = p.isLeftTransposed ? cpu::MatrixView{p.left, 1, p.rows}
                                                    : cpu::MatrixView{p.left, p.depth, 1};
    const cpu::Start start = p.isLeftTransposed ? cpu::Start{p.out, p.columns} : cpu::Start{};
    cpu::gemm(cpu::Factor::Float32, p.rows, p.columns, p.depth, left, packed->data(), start, p.out,
              p.columns);
  };
}

/// at::mm, which is MKL's.
std::function<void()> aten(const GemmProblem& p) {
  const at::Tensor plain = p.isLeftTransposed
                               ? at::from_blob(const_cast<float*>(p.left), {p.depth, p.rows}).t()
                               : at::from_blob(const_cast<float*>(p.left), {p.rows, p.depth});
  const at::Tensor right = at::from_blob(const_cast<float*>(p.right), {p.depth, p.columns});
  at::Tensor out = at::from_blob(p.out, {p.rows, p.columns});
  return [=]() mutable {
    if (p.isLeftTransposed) {
      out.addmm_(plain, right);
    } else {
      at::mm_out(out, plain, right);
    }
  };
}

#ifdef VITRINE_HAS_XSMM
/// LIBXSMM is column-major: its factors change places. It makes one kernel for a block of
/// `columns` by `depth`, and the caller walks over blocks.
std::function<void()> xsmmBlocked(const GemmProblem& p, std::int64_t columns, std::int64_t depth) {
  const float one = 1, zero = 0;
  const int flags = p.isLeftTransposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const auto kernel = [&](std::int64_t m, std::int64_t k, const float& beta) {
    const libxsmm_blasint lda = p.columns, ldb = p.isLeftTransposed ? p.rows : p.depth,
                          ldc = p.columns;
    return libxsmm_smmdispatch(m, p.rows, k, &lda, &ldb, &ldc, &one, &beta, &flags, nullptr);
  };
  struct Step {
    libxsmm_smmfunction function;
    const float *a, *b;
    float* c;
  };
  std::vector<Step> steps;
  for (std::int64_t k = 0; k < p.depth; k += depth) {
    for (std::int64_t m = 0; m < p.columns; m += columns) {
      const auto function = kernel(std::min(columns, p.columns - m), std::min(depth, p.depth - k),
                                   p.isLeftTransposed || k > 0 ? one : zero);
      if (function == nullptr) return {};
      steps.push_back({function, p.right + k * p.columns + m,
                       p.left + (p.isLeftTransposed ? k * p.rows : k), p.out + m});
    }
  }
  return [steps] {
    for (const Step& step : steps) step.function(step.a, step.b, step.c);
  };
}

/// The fastest of several blocks.
std::function<void()> xsmm(const GemmProblem& p) {
  libxsmm_init();
  std::function<void()> best;
  double fastest = 1e30;
  for (const std::int64_t columns : {std::int64_t{32}, std::int64_t{64}, p.columns}) {
    for (const std::int64_t depth : {std::int64_t{192}, std::int64_t{512}, p.depth}) {
      const std::function<void()> product = xsmmBlocked(p, columns, depth);
      if (!product) continue;
      product();
      double least = 1e30;
      for (int i = 0; i < 5; ++i) least = std::min(least, bench::timed(product));
      if (least < fastest) fastest = least, best = product;
    }
  }
  if (!best) {
    std::cout << "skipped: LIBXSMM makes no kernel here" << std::endl;
    std::exit(0);
  }
  return best;
}
#endif

}  // namespace

int main(int count, char** words) {
  bench::becomeComputeProcess(words);
  at::set_num_threads(1);
  const c10::InferenceMode inference;
  std::map<std::string, bench::GemmLibrary> all{{"ours", ours}, {"aten", aten}};
#ifdef VITRINE_HAS_XSMM
  all["libxsmm"] = xsmm;
#endif
  return bench::timeProducts(count, words, all);
}
