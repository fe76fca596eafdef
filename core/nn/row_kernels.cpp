#include "core/nn/row_kernels.h"

namespace vitrine::nn {

void normRows(NormKind kind, float eps, std::int64_t rows, std::int64_t width, const NormRows& at) {
  cpu::kernels().normRows(kind == NormKind::Rms, eps, rows, width, at);
}
void normRowsBackward(NormKind kind, std::int64_t rows, std::int64_t width,
                      const NormGradients& at) {
  cpu::kernels().normRowsBackward(kind == NormKind::Rms, rows, width, at);
}
void geluRows(Gelu form, std::int64_t count, const float* x, float* out, float* slopes) {
  const cpu::Kernels& kernels = cpu::kernels();
  (form == Gelu::Tanh ? kernels.geluTanh : kernels.geluErf)(count, x, out, slopes);
}
void swiGluRows(std::int64_t count, const float* gate, const float* up, float* out) {
  cpu::kernels().swiGlu(count, gate, up, out);
}
void swiGluRowsBackward(std::int64_t count, const float* gate, const float* up,
                        const float* gradient, float* gateGradient, float* upGradient) {
  cpu::kernels().swiGluBackward(count, gate, up, gradient, gateGradient, upGradient);
}
void multiplyRows(std::int64_t count, const float* a, const float* b, float* out) {
  cpu::kernels().multiplyRows(count, a, b, out);
}
void addRows(std::int64_t rows, std::int64_t width, const float* x, std::int64_t stride,
             float* sums) {
  cpu::kernels().addRows(rows, width, x, stride, sums);
}
void addScaledRows(std::int64_t count, const float* a, const float* b, float factor, float* out) {
  cpu::kernels().addScaledRows(count, a, b, factor, out);
}

}  // namespace vitrine::nn
