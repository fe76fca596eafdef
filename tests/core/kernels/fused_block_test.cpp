// The fused block against the layers, in single and double precision.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/GradMode.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/nn/module.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/gemm.h"
#include "core/kernels/cpu/taken_paths.h"
#include "core/model/weights.h"
#include "core/nn/block.h"
#include "core/nn/layers.h"
#include "core/nn/vision_transformer.h"
#include "core/train/device.h"
#include "tests/core/nn/small_encoder.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"
#include "tests/support/refusal.h"

namespace vitrine::nn {
namespace {

using namespace cpu;

using testing::onEveryCpuPath;

/// 13 tokens of 24 channels; 32 images are enough to be fused.
VisionTransformerConfig encoder() {
  VisionTransformerConfig c = smallEncoder();
  c.mlpWidth = 36;
  return c;
}

VisionTransformerConfig decoder(MaskMode mode) {
  VisionTransformerConfig c = encoder();
  c.classToken = ClassToken::Last;
  c.mask = std::make_shared<TestMask>(mode, mode == MaskMode::Additive ? 0 : 0.3);
  c.norm = NormKind::Rms;
  c.mlp = MlpKind::SwiGlu;
  c.mlpBias = Bias::None;
  c.qkvBias = Bias::None;
  c.ropeTheta = 1e2;
  return c;
}

struct Case {
  const char* name;
  VisionTransformerConfig config;
};

std::vector<Case> cases() {
  VisionTransformerConfig tanh = encoder(), average = encoder(), after = encoder(),
                          biased = decoder(MaskMode::Multiplicative), dropping = encoder(),
                          scaled = encoder(), scaledWithout = decoder(MaskMode::Additive),
                          all = decoder(MaskMode::Multiplicative), relative = encoder(),
                          relativeCausal = decoder(MaskMode::Additive);
  tanh.mlp = MlpKind::GeluTanh;
  average.pool = Pool::Average;
  average.classToken = ClassToken::None;
  after.finalNorm = FinalNorm::AfterPool;
  biased.mlpBias = biased.qkvBias = Bias::Present;
  dropping.dropPath = 0.4;
  scaled.layerScale = scaledWithout.layerScale = all.layerScale = 0.5;
  all.dropPath = all.dropout = 0.3;
  relative.relativeBias = relativeCausal.relativeBias = all.relativeBias = true;
  return {{"erf", encoder()},
          {"tanh", tanh},
          {"average of patches", average},
          {"norm after pooling", after},
          {"additive causal, RoPE, SwiGLU, RMS", decoder(MaskMode::Additive)},
          {"soft mask", decoder(MaskMode::Multiplicative)},
          {"soft mask with biases", biased},
          {"drop path", dropping},
          {"layer scale", scaled},
          {"layer scale without biases", scaledWithout},
          {"relative positions", relative},
          {"relative positions of a causal mask", relativeCausal},
          {"relative positions, dropout, drop path and layer scale", all}};
}

/// Weights far enough from their start that every part of the block matters.
std::unique_ptr<VisionTransformer> made(const VisionTransformerConfig& config,
                                        at::ScalarType type) {
  auto model = std::make_unique<VisionTransformer>(config, 1);
  const c10::NoGradGuard noGrad;
  std::uint64_t seed = 10;
  for (const auto& [name, tensor] : namedTensors(*model))
    tensor.add_(randomFloats(tensor.sizes(), seed++), 0.15);
  model->module().to(type);
  model->setGenerator(at::detail::createCPUGenerator(7));
  return model;
}

struct Result {
  at::Tensor logits;
  std::vector<std::pair<std::string, at::Tensor>> gradients;
};

Result run(VisionTransformer& model, at::ScalarType type) {
  const at::Tensor batch = randomFloats({32, 2, 12, 16}, 3).to(type);
  Result result{model.classify(batch), {}};
  (result.logits.to(at::kDouble) * randomFloats({32, 5}, 4)).sum().backward();
  for (const auto& item : model.module().named_parameters())
    result.gradients.emplace_back(item.key(), item.value().grad());
  return result;
}

void expectNear(const Result& a, const Result& b, double tolerance) {
  const auto scaleOf = [](const at::Tensor& t) { return t.abs().max().item<double>(); };
  EXPECT_LT(largestDifference(a.logits, b.logits), tolerance * scaleOf(b.logits));
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    EXPECT_LT(largestDifference(a.gradients[i].second, b.gradients[i].second),
              tolerance * scaleOf(b.gradients[i].second))
        << a.gradients[i].first;
  }
}

std::string lastOperation(VisionTransformer& model, std::int64_t images) {
  return model.encode(model.embed(randomFloats({images, 2, 12, 16}, 3)), {}).grad_fn()->name();
}

TEST(FusedBlock, ServesBatchesAndLeavesSingleImagesToTheLayers) {
  VisionTransformerConfig config = encoder();
  config.finalNorm = FinalNorm::AfterPool;  // so that the block is the last operation
  const auto model = made(config, at::kFloat);
  EXPECT_EQ(lastOperation(*model, 32).find("FusedBlock") == std::string::npos,
            !takesBlock({32, 13, 24, 3}));
  EXPECT_EQ(lastOperation(*model, 1).find("FusedBlock"), std::string::npos);
}

TEST(FusedBlock, RefusesAnglesOfAnotherNumberOfTokens) {
  BlockOptions options;
  options.width = 24, options.heads = 3, options.hidden = 36;
  const Block block(options);
  onEveryCpuPath([&] {
    BlockCall call;
    for (const std::int64_t tokens : {12, 14}) {
      call.angles = at::zeros({tokens, 4});
      EXPECT_THROW((void)block.forward({at::zeros({32, 13, 24}), {}}, call), ShapeError);
    }
  });
}

/// What a condition asks of a block, and what comes of it: the sum and all gradients.
struct Conditioned {
  std::shared_ptr<Block> block;
  at::Tensor x, condition;  ///< condition: [batch, 6 * width]

  Conditioned(const BlockOptions& options, at::ScalarType type)
      : block(std::make_shared<Block>(options)) {
    const c10::NoGradGuard noGrad;
    std::uint64_t seed = 10;
    for (auto& item : block->named_parameters())
      item.value().add_(randomFloats(item.value().sizes(), seed++), 0.2);
    block->to(type);
    x = randomFloats({32, 13, options.width}, 1).to(type);
    condition = randomFloats({32, 6 * options.width}, 2).mul(0.5).to(type);
  }
  std::vector<std::pair<std::string, at::Tensor>> run(std::int64_t row) {
    x.requires_grad_();
    condition.requires_grad_();
    const auto parts = condition.chunk(6, 1);
    BlockCall call{.generator = at::detail::createCPUGenerator(7),
                   .row = row,
                   .modulation = {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]}};
    const at::Tensor sum = block->forward({x, {}}, call).sum();
    (sum.to(at::kDouble) * randomFloats(sum.sizes(), 3)).sum().backward();
    std::vector<std::pair<std::string, at::Tensor>> all{
        {"sum", sum}, {"x", x.grad()}, {"condition", condition.grad()}};
    for (const auto& item : block->named_parameters())
      all.emplace_back(item.key(), item.value().grad());
    return all;
  }
};

BlockOptions conditionedOptions(NormKind norm, Affine affine, double drop) {
  BlockOptions options{.width = 24, .heads = 3, .hidden = 36, .norm = norm, .affine = affine};
  options.dropPath = options.dropout = drop;
  if (drop > 0) options.layerScale = 0.5;
  return options;
}

void expectConditionedAgrees(const BlockOptions& options, std::int64_t row) {
  const auto wanted = Conditioned(options, at::kDouble).run(row);
  onEveryCpuPath([&] {
    clearTakenPaths();
    const auto got = Conditioned(options, at::kFloat).run(row);
    EXPECT_EQ(takenPaths()[0].second, cpuPath() == CpuPath::Reference ? "layers" : "fused");
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_LT(largestDifference(got[i].second, wanted[i].second),
                2e-5 * wanted[i].second.abs().max().item<double>())
          << wanted[i].first;
    }
  });
}

TEST(FusedBlock, TakesAdaptiveNormsAndGatesOfEachImageInValuesAndGradients) {
  for (const NormKind norm : {NormKind::Layer, NormKind::Rms}) {
    for (const Affine affine : {Affine::None, Affine::Present, Affine::OffsetFromOne}) {
      for (const double drop : {0.0, 0.3}) {
        SCOPED_TRACE(c10::str("norm ", static_cast<int>(norm), ", affine ",
                              static_cast<int>(affine), ", drop ", drop));
        expectConditionedAgrees(conditionedOptions(norm, affine, drop), -1);
        expectConditionedAgrees(conditionedOptions(norm, affine, drop), 12);
      }
    }
  }
}

TEST(FusedBlock, GivesAConditionedBlockTheSameValuesWithoutGradients) {
  const BlockOptions options = conditionedOptions(NormKind::Layer, Affine::None, 0);
  Conditioned subject(options, at::kFloat);
  const at::Tensor wanted = subject.run(-1)[0].second;
  const c10::NoGradGuard noGrad;
  const auto parts = subject.condition.chunk(6, 1);
  BlockCall call{.modulation = {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]}};
  EXPECT_TRUE(subject.block->forward({subject.x, {}}, call).sum().equal(wanted));
}

TEST(FusedBlock, IsCountedWhereItIsTakenAndWhereItIsNot) {
  using Taken = std::vector<std::pair<std::string, std::string>>;
  onEveryCpuPath([] {
    const bool isReference = cpuPath() == CpuPath::Reference;
    const auto model = made(encoder(), at::kFloat);
    clearTakenPaths();
    EXPECT_EQ(takenPaths(), Taken());
    static_cast<void>(model->classify(randomFloats({32, 2, 12, 16}, 3)));
    EXPECT_EQ(takenPaths(), isReference ? Taken({{"block", "layers"}, {"attention", "library"}})
                                        : Taken({{"block", "fused"}}));
    static_cast<void>(model->classify(randomFloats({1, 2, 12, 16}, 3)));
    EXPECT_EQ(takenPaths(), isReference
                                ? Taken({{"block", "layers"}, {"attention", "library"}})
                                : Taken({{"block", "fused 3, layers 3"}, {"attention", "short"}}));
  });
}

TEST(FusedBlock, LeavesEverythingToTheLayersOnTheReferencePath) {
  VisionTransformerConfig config = encoder();
  config.finalNorm = FinalNorm::AfterPool;
  onEveryCpuPath([&] {
    const std::string last = lastOperation(*made(config, at::kFloat), 32);
    EXPECT_EQ(last.find("FusedBlock") == std::string::npos, cpuPath() == CpuPath::Reference)
        << last;
  });
}

TEST(FusedBlock, AgreesWithTheLayersInDoublePrecisionInValuesAndGradientsOnEveryPath) {
  for (const auto& [name, config] : cases()) {
    SCOPED_TRACE(name);
    const Result wanted = run(*made(config, at::kDouble), at::kDouble);
    onEveryCpuPath([&, &config = config] {
      expectNear(run(*made(config, at::kFloat), at::kFloat), wanted, 2e-5);
    });
  }
}

TEST(FusedBlock, WithoutGradientsGivesTheSameValues) {
  for (const auto& [name, config] : cases()) {
    SCOPED_TRACE(name);
    const auto model = made(config, at::kFloat);
    const at::Tensor wanted = run(*model, at::kFloat).logits;
    model->setGenerator(at::detail::createCPUGenerator(7));
    const c10::NoGradGuard noGrad;
    EXPECT_TRUE(model->classify(randomFloats({32, 2, 12, 16}, 3)).equal(wanted));
  }
}

/// Of the blocks alone: the other products are a library's.
Result runBlocks(VisionTransformer& model) {
  const Tokens embedded = model.embed(randomFloats({32, 2, 12, 16}, 3));
  const at::Tensor stream = randomFloats(embedded.values.sizes(), 5).requires_grad_();
  Result result{model.encode({stream, embedded.positions}, {}), {}};
  (result.logits * randomFloats(result.logits.sizes(), 6)).sum().backward();
  result.gradients.emplace_back("stream", stream.grad());
  for (const auto& item : model.module().named_parameters()) {
    if (item.key().rfind("blocks.", 0) == 0)
      result.gradients.emplace_back(item.key(), item.value().grad());
  }
  return result;
}

void expectTheSameBits() {
  const int before = at::get_num_threads();
  for (auto [name, config] : cases()) {
    SCOPED_TRACE(name);
    config.finalNorm = FinalNorm::AfterPool;
    at::set_num_threads(1);
    const Result alone = runBlocks(*made(config, at::kFloat));
    at::set_num_threads(3);
    const Result together = runBlocks(*made(config, at::kFloat));
    EXPECT_TRUE(alone.logits.equal(together.logits));
    for (std::size_t i = 0; i < alone.gradients.size(); ++i) {
      EXPECT_TRUE(alone.gradients[i].second.equal(together.gradients[i].second))
          << alone.gradients[i].first;
    }
  }
  at::set_num_threads(before);
}

/// Counts what tensors take while it lives.
class TakenBytes {
 public:
  [[nodiscard]] std::int64_t count() const { return counter_->bytes; }

 private:
  struct Counter final : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t,
                           c10::Device) override {
      if (size > 0) bytes += size;
    }
    [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
    std::atomic<std::int64_t> bytes{0};
  };
  std::shared_ptr<Counter> counter_ = std::make_shared<Counter>();
  c10::DebugInfoGuard guard_{c10::DebugInfoKind::PROFILER_STATE, counter_};
};

TEST(FusedBlock, ComputesAndKeepsNoGradientOfFrozenParameters) {
  if (!takesBlock({32, 13, 24, 3})) GTEST_SKIP() << "this machine has no vectors worth it";
  for (const auto& [name, config] : cases()) {
    SCOPED_TRACE(name);
    const auto all = made(config, at::kFloat), some = made(config, at::kFloat);
    std::int64_t frozen = 0;
    for (auto& item : some->module().named_parameters()) {
      const bool isTrained = item.key().find("blocks.") != 0 ||
                             item.key().find("proj") != std::string::npos ||
                             item.key().find("norm1.bias") != std::string::npos ||
                             item.key().find("fc1.bias") != std::string::npos;
      item.value().requires_grad_(isTrained);
      if (!isTrained) frozen += item.value().numel();
    }
    const auto backwardOf = [](VisionTransformer& model) {
      std::int64_t bytes = 0;
      // A thread of its own: it keeps the shares of gradients from step to step.
      std::thread([&] {
        const at::Tensor logits = model.classify(randomFloats({32, 2, 12, 16}, 3));
        const at::Tensor loss = (logits * randomFloats({32, 5}, 4)).sum();
        const TakenBytes taken;
        loss.backward();
        bytes = taken.count();
      }).join();
      return bytes;
    };
    const std::int64_t ofAll = backwardOf(*all), ofSome = backwardOf(*some);
    // Every share holds a gradient of each trained parameter of a block; there are four of them or
    // more, for one block after another.
    EXPECT_LE(ofSome, ofAll - 4 * 4 * frozen / config.depth);
    const auto wanted = all->module().named_parameters();
    for (const auto& item : some->module().named_parameters()) {
      EXPECT_EQ(item.value().grad().defined(), item.value().requires_grad()) << item.key();
      if (!item.value().requires_grad()) continue;
      EXPECT_TRUE(item.value().grad().equal(wanted[item.key()].grad())) << item.key();
    }
  }
}

TEST(FusedBlock, TakesTheRoomForSharesOfGradientsOnce) {
  if (!takesBlock({32, 13, 24, 3})) GTEST_SKIP() << "this machine has no vectors worth it";
  std::thread([] {
    const auto model = made(encoder(), at::kFloat);
    const auto takenByBackward = [&] {
      const at::Tensor loss = model->classify(randomFloats({32, 2, 12, 16}, 3)).square().sum();
      const TakenBytes taken;
      loss.backward();
      return taken.count();
    };
    // Gradients of a block's maps in four shares or more, once for all three blocks.
    const std::int64_t ofMaps = 24 * (4 * 24 + 2 * 36);
    const std::int64_t first = takenByBackward(), second = takenByBackward();
    EXPECT_LE(second, first - 4 * 4 * ofMaps);
  }).join();
}

TEST(FusedBlock, RefusesASecondDerivativeInsteadOfLosingTerms) {
  if (!takesBlock({32, 13, 24, 3})) GTEST_SKIP() << "this machine has no vectors worth it";
  const auto model = made(encoder(), at::kFloat);
  const Tokens embedded = model->embed(randomFloats({32, 2, 12, 16}, 3));
  const at::Tensor stream = randomFloats(embedded.values.sizes(), 5).requires_grad_();
  const at::Tensor sum = model->encode({stream, embedded.positions}, {}).square().sum();
  EXPECT_EQ(test::refusal<Error>([&] {
              (void)torch::autograd::grad({sum}, {stream}, {}, true, true);
            }),
            "the gradient of a fused block cannot be differentiated again; call backward() or "
            "grad() without create_graph");
  EXPECT_EQ(torch::autograd::grad({sum}, {stream}, {}, true).size(), 1u);
}

TEST(FusedBlock, IsTheSameToTheLastBitWithAnyNumberOfThreadsOnEveryPath) {
  onEveryCpuPath([] {
    // Layer by layer, LibTorch's products of one thread may round other sums than those of three.
    if (cpuPath() != CpuPath::Reference) expectTheSameBits();
  });
}

TEST(FusedBlock, OfOneImageIsTheSameToTheLastBitWhenThreadsShareItsRows) {
  onEveryCpuPath([] {
    if (cpuPath() == CpuPath::Reference) return;
    const c10::NoGradGuard noGrad;
    const int before = at::get_num_threads();
    for (auto [name, config] : cases()) {
      config.imageSize = {48, 52};  // 156 patches: three parts
      config.finalNorm = FinalNorm::AfterPool;
      const auto model = made(config, at::kFloat);
      for (const std::int64_t batch : {1, 2}) {
        SCOPED_TRACE(c10::str(name, ", ", batch));
        const auto encoded = [&, model = model.get()](int threads) {
          at::set_num_threads(threads);
          model->setGenerator(at::detail::createCPUGenerator(7));
          const Tokens embedded = model->embed(randomFloats({batch, 2, 48, 52}, 3));
          return model->encode({randomFloats(embedded.values.sizes(), 5), embedded.positions}, {});
        };
        const at::Tensor alone = encoded(1);
        for (const int threads : {2, 3, 7}) EXPECT_TRUE(alone.equal(encoded(threads))) << threads;
      }
    }
    at::set_num_threads(before);
  });
}

TEST(FusedBlockBFloat16, UnderBFloat16RoundsTheFactorsAndNothingElse) {
  if (!hasBFloat16Products()) GTEST_SKIP() << "this machine multiplies no bfloat16";
  for (const auto& [name, config] : cases()) {
    SCOPED_TRACE(name);
    const auto model = made(config, at::kFloat), reference = made(config, at::kDouble);
    const Result exact = run(*reference, at::kDouble);
    Result half;
    {
      const train::AutocastScope autocast(train::Precision::BFloat16, at::kCPU);
      half = run(*model, at::kFloat);
    }
    // A relative 2^-9 for each of the factors of a chain of twenty products, partly cancelling,
    // most of all in the gradient of a bias of positions, which sums that of all scores.
    expectNear(half, exact, 0.06);
    EXPECT_GT(largestDifference(half.logits, exact.logits), 1e-4);
  }
}

TEST(FusedBlock, ShowsItsStreamToATapOfBlocks) {
  const auto model = made(encoder(), at::kFloat), reference = made(encoder(), at::kDouble);
  std::vector<at::Tensor> seen, wanted;
  model->setBlockTap([&](std::int64_t, const at::Tensor& x) { seen.push_back(x.detach()); });
  reference->setBlockTap([&](std::int64_t, const at::Tensor& x) { wanted.push_back(x.detach()); });
  const at::Tensor batch = randomFloats({32, 2, 12, 16}, 3);
  static_cast<void>(model->classify(batch));
  static_cast<void>(reference->classify(batch.to(at::kDouble)));
  ASSERT_EQ(seen.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(largestDifference(seen[i], wanted[i]), 1e-4);
}

}  // namespace
}  // namespace vitrine::nn
