// The loops of every path against their definitions in double precision. Sizes straddle the vectors
// of 4, 8 and 16 floats; everything lies one float past an aligned address.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/kernels.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::cpu {
namespace {

using testing::onEveryCpuPath;

constexpr std::int64_t kSizes[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50};
constexpr float kFence = 1234.5F;

/// Floats that begin one past an aligned address, between fences.
class Floats {
 public:
  explicit Floats(std::int64_t count, float value = 0)
      : all_(static_cast<std::size_t>(count) + 17, kFence), count_(count) {
    std::fill_n(data(), count, value);
  }
  static Floats random(std::int64_t count, unsigned seed, float scale = 1) {
    Floats floats(count);
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < count; ++i) floats.data()[i] = scale * normal(generator);
    return floats;
  }
  float* data() { return all_.data() + 1; }
  float operator[](std::int64_t i) const { return all_[static_cast<std::size_t>(i + 1)]; }
  [[nodiscard]] bool isFenced() const {
    return all_[0] == kFence && std::all_of(all_.begin() + 1 + count_, all_.end(),
                                            [](float value) { return value == kFence; });
  }

 private:
  std::vector<float> all_;
  std::int64_t count_;
};

void expectNear(const Floats& actual, std::int64_t count,
                const std::function<double(std::int64_t)>& wanted, double tolerance,
                const char* what) {
  EXPECT_TRUE(actual.isFenced()) << what << " was written past its end";
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = wanted(i);
    EXPECT_NEAR(actual[i], value, tolerance * std::max(1.0, std::abs(value))) << what << " " << i;
  }
}

TEST(CpuKernels, AreThoseOfThePathThatIsForced) {
  onEveryCpuPath([] {
    const bool isReference = cpuPath() == CpuPath::Reference;
    EXPECT_STREQ(kernels().name, nameOf(isReference ? CpuPath::Baseline : cpuPath()));
    EXPECT_EQ(takesBlock({128, 17, 64, 4}), !isReference);
    EXPECT_EQ(takesBlock({16, 197, 192, 3}), cpuPath() >= CpuPath::Avx2);
    EXPECT_EQ(takesAttention({17, 17, 4, 16}), !isReference);
    EXPECT_FALSE(takesBlock({128, 17, 4096, 32}));
    EXPECT_FALSE(takesBlock({8, 197, 768, 12}));
    EXPECT_EQ(takesBlock({8, 197, 768, 12, false}), cpuPath() >= CpuPath::Avx2);
    EXPECT_FALSE(takesBlock({1, 17, 64, 4}));
    EXPECT_TRUE(kernels().pairs == nullptr || cpuPath() == CpuPath::Avx512);
  });
}

TEST(CpuKernels, ActivationsAndSumsAreTheirDefinitions) {
  onEveryCpuPath([] {
    for (const std::int64_t n : kSizes) {
      SCOPED_TRACE(n);
      Floats x = Floats::random(n, 1, 3), y = Floats::random(n, 2), g = Floats::random(n, 3),
             out(n), slopes(n);
      const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
      kernels().geluErf(n, x.data(), out.data(), slopes.data());
      const auto normal = [&](std::int64_t i) { return 0.5 * std::erfc(-x[i] / std::sqrt(2.0)); };
      expectNear(
          out, n, [&](std::int64_t i) { return x[i] * normal(i); }, 1e-6, "gelu");
      expectNear(
          slopes, n,
          [&](std::int64_t i) {
            return normal(i) + x[i] * std::exp(-0.5 * x[i] * x[i]) / std::sqrt(2 * M_PI);
          },
          1e-6, "slope of gelu");
      kernels().geluTanh(n, x.data(), out.data(), slopes.data());
      expectNear(
          out, n,
          [&](std::int64_t i) {
            const double v = x[i];
            return v * sigmoid(2 * std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v));
          },
          1e-6, "gelu with tanh");
      kernels().swiGlu(n, x.data(), y.data(), out.data());
      expectNear(
          out, n, [&](std::int64_t i) { return x[i] * sigmoid(x[i]) * y[i]; }, 1e-6, "swiglu");
      kernels().swiGluBackward(n, x.data(), y.data(), g.data(), out.data(), slopes.data());
      expectNear(
          out, n,
          [&](std::int64_t i) {
            const double s = sigmoid(x[i]);
            return g[i] * y[i] * (s + x[i] * s * (1 - s));
          },
          2e-6, "gradient of the gate");
      expectNear(
          slopes, n, [&](std::int64_t i) { return g[i] * x[i] * sigmoid(x[i]); }, 1e-6,
          "gradient of swiglu's other factor");
      kernels().multiplyRows(n, x.data(), y.data(), out.data());
      expectNear(
          out, n, [&](std::int64_t i) { return double(x[i]) * y[i]; }, 1e-6, "product");
      double dot = 0;
      for (std::int64_t i = 0; i < n; ++i) dot += double(x[i]) * y[i];
      EXPECT_NEAR(kernels().dotInDouble(n, x.data(), y.data()), dot, 1e-13 * double(n));
      kernels().addScaledRows(n, x.data(), y.data(), 0.3F, out.data());
      expectNear(
          out, n, [&](std::int64_t i) { return x[i] + double(0.3F) * y[i]; }, 1e-6, "sum");
      // Five rows, three floats of another owner between each and the next.
      Floats rows = Floats::random(5 * (n + 3), 4), sums(n, 2);
      kernels().addRows(5, n, rows.data(), n + 3, sums.data());
      expectNear(
          sums, n,
          [&](std::int64_t i) {
            double sum = 2;
            for (std::int64_t r = 0; r < 5; ++r) sum += rows[r * (n + 3) + i];
            return sum;
          },
          2e-6, "sum of rows");
    }
  });
}

TEST(CpuKernels, GatesMultiplyBranchesAndGetTheirGradients) {
  onEveryCpuPath([] {
    constexpr std::int64_t kRows = 3;
    for (const std::int64_t n : kSizes) {
      SCOPED_TRACE(n);
      Floats a = Floats::random(kRows * n, 1), b = Floats::random(kRows * n, 2),
             gate = Floats::random(n, 3), out(kRows * n), sums(n, 2);
      kernels().addGatedRows(kRows, n, a.data(), b.data(), gate.data(), 0.5F, out.data());
      expectNear(
          out, kRows * n, [&](std::int64_t i) { return a[i] + 0.5 * double(gate[i % n]) * b[i]; },
          1e-6, "sum");
      kernels().gateBackward(kRows, n, a.data(), b.data(), gate.data(), 0.5F, out.data(),
                             sums.data());
      expectNear(
          out, kRows * n, [&](std::int64_t i) { return 0.5 * double(gate[i % n]) * a[i]; }, 1e-6,
          "gradient of the branch");
      expectNear(
          sums, n,
          [&](std::int64_t c) {
            double sum = 2;
            for (std::int64_t r = 0; r < kRows; ++r)
              sum += 0.5 * double(a[r * n + c]) * b[r * n + c];
            return sum;
          },
          2e-6, "gradient of the gate");
    }
  });
}

TEST(CpuKernels, NormsKeepToTheirRows) {
  onEveryCpuPath([] {
    constexpr std::int64_t kRows = 3;
    for (const std::int64_t n : kSizes) {
      for (const bool isRms : {false, true}) {
        SCOPED_TRACE(std::to_string(n) + (isRms ? " rms" : " layer"));
        Floats x = Floats::random(kRows * n, 1), branch = Floats::random(kRows * n, 2),
               weight = Floats::random(n, 3), bias = Floats::random(n, 4), sum(kRows * n),
               out(kRows * n), means(kRows), scales(kRows);
        kernels().normRows(isRms, 1e-3F, kRows, n,
                           {x.data(), branch.data(), weight.data(), bias.data(), sum.data(),
                            out.data(), means.data(), scales.data()});
        const auto total = [&](std::int64_t i) { return double(x[i]) + branch[i]; };
        const auto mean = [&](std::int64_t r) {
          double s = 0;
          for (std::int64_t c = 0; c < n; ++c) s += total(r * n + c);
          return isRms ? 0 : s / double(n);
        };
        const auto scale = [&](std::int64_t r) {
          double s = 0;
          const double m = mean(r);
          for (std::int64_t c = 0; c < n; ++c) s += std::pow(total(r * n + c) - m, 2);
          return 1 / std::sqrt(s / double(n) + 1e-3F);
        };
        expectNear(sum, kRows * n, total, 1e-6, "sum");
        // The smallest variance is eps: rounding is magnified by up to 1 / sqrt(eps).
        expectNear(means, kRows, mean, 2e-6, "mean");
        expectNear(scales, kRows, scale, 2e-5, "scale");
        expectNear(
            out, kRows * n,
            [&](std::int64_t i) {
              return (total(i) - mean(i / n)) * scale(i / n) * weight[i % n] + bias[i % n];
            },
            3e-5, "norm");
        kernels().normRows(isRms, 1e-3F, kRows, n,
                           {sum.data(), nullptr, weight.data(), nullptr, nullptr, out.data(),
                            means.data(), scales.data()});
        expectNear(
            out, kRows * n,
            [&](std::int64_t i) { return (total(i) - mean(i / n)) * scale(i / n) * weight[i % n]; },
            3e-5, "norm without an offset");
        EXPECT_TRUE(means.isFenced() && scales.isFenced());
      }
    }
  });
}

TEST(CpuKernels, SoftmaxAndItsSlopesServeEveryLengthWithAndWithoutMasks) {
  onEveryCpuPath([] {
    constexpr std::int64_t kQueries = 2;
    for (const std::int64_t n : kSizes) {
      for (const int masks : {0, 1, 2}) {
        SCOPED_TRACE(std::to_string(n) + " keys, mask " + std::to_string(masks));
        const std::int64_t stride = (n + kScoreStep - 1) / kScoreStep * kScoreStep;
        const Floats plain = Floats::random(kQueries * stride, 1, 4);
        Floats logits = plain, mask = Floats::random(kQueries * n, 2), out(kQueries * n);
        if (masks == 1 && n > 1) mask.data()[1] = -INFINITY;
        const ScoreRows rows{kQueries,
                             n,
                             stride,
                             0.5F,
                             masks == 1 ? mask.data() : nullptr,
                             masks == 2 ? mask.data() : nullptr};
        kernels().softmaxRows(rows, logits.data(), out.data());
        const auto weight = [&](std::int64_t i) {
          return std::exp(0.5 * plain[i / n * stride + i % n] + (masks == 1 ? mask[i] : 0.0F));
        };
        const auto probability = [&](std::int64_t i) {
          double sum = 0;
          for (std::int64_t j = 0; j < n; ++j) sum += weight(i / n * n + j);
          return weight(i) / sum;
        };
        expectNear(out, kQueries * n, probability, 2e-6, "softmax");
        Floats slopes = plain, weights(kQueries * n);
        kernels().slopeRows(rows, out.data(), slopes.data(), weights.data());
        const auto given = [&](std::int64_t i) {
          return plain[i / n * stride + i % n] * (masks == 2 ? double(mask[i]) : 1.0);
        };
        for (std::int64_t i = 0; i < kQueries * n; ++i) {
          double along = 0;
          for (std::int64_t j = 0; j < n; ++j)
            along += probability(i / n * n + j) * given(i / n * n + j);
          EXPECT_NEAR(slopes[i / n * stride + i % n], probability(i) * (given(i) - along) * 0.5,
                      1e-5);
        }
        EXPECT_TRUE(logits.isFenced() && slopes.isFenced() && weights.isFenced());
      }
    }
  });
}

TEST(CpuKernels, NaNStaysNaN) {
  onEveryCpuPath([] {
    Floats x(9, NAN), out(9), slopes(9);
    kernels().geluErf(9, x.data(), out.data(), slopes.data());
    for (std::int64_t i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(out[i]) && std::isnan(slopes[i]));
    Floats logits(16, NAN), probabilities(9);
    kernels().softmaxRows({1, 9, 16, 1, nullptr, nullptr}, logits.data(), probabilities.data());
    for (std::int64_t i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(probabilities[i]));
  });
}

}  // namespace
}  // namespace vitrine::cpu
