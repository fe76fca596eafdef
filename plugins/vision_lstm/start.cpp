// First values of every weight, by the authors' code.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "core/nn/init.h"
#include "plugins/vision_lstm/block.h"

namespace vitrine::vision_lstm {

namespace {

nn::InitRule ruleOf(const VisionLstmConfig& c) {
  return [c](const std::string& name, const at::Tensor& value) -> std::optional<nn::Init> {
    const auto ends = [&](const char* word) { return name.ends_with(word); };
    const double width = static_cast<double>(c.width);
    if (name == "patch_embed.proj.weight") {
      const std::int64_t inputs = value[0].numel();
      return nn::xavierUniformInit(inputs, value.size(0));
    }
    if (name == "pos_embed.embed" || name == "cls_tokens.tokens")
      return nn::truncatedNormalInit(0.02, 2 / 0.02);  // the authors cut at +-2
    if (ends("proj_up.weight") || ends("q_proj.weight") || ends("k_proj.weight") ||
        ends("v_proj.weight"))
      return nn::normalInit(std::sqrt(2 / (5 * width)));
    if (ends("proj_down.weight")) {
      const double blocks = c.start == Start::Original ? 1 : static_cast<double>(c.depth);
      return nn::normalInit(2 / (blocks * std::sqrt(width)));
    }
    if (name.find(".conv.") != std::string::npos)
      return nn::torchDefaultInit(c.convolution == Convolution::Grid ? c.kernel * c.kernel
                                                                     : c.kernel);
    if (ends("igate.bias")) return nn::normalInit(0.1);
    if (name == "head.weight") return nn::truncatedNormalInit(2e-5, 2 / 2e-5);
    return std::nullopt;  // gates' weights and biases zero, skips one, norms the identity
  };
}

}  // namespace

void initialiseNetwork(Network& network, const VisionLstmConfig& config, std::uint64_t seed) {
  nn::initialise(network, ruleOf(config), seed);
  const c10::NoGradGuard noGradient;
  for (const std::shared_ptr<Block>& block : network.blocks) {
    const at::Tensor& bias = block->layer->memory->forgetGate->bias;
    // Heads with memories of about 21, 55, 149 and 404 tokens.
    if (!bias.is_meta()) bias.copy_(at::linspace(3, 6, bias.numel()));
  }
}

}  // namespace vitrine::vision_lstm
