// Names of a block's parameters where a published model has others than usual.
#pragma once

#include <string>

namespace vitrine::nn {

struct MlpNames {
  std::string in = "fc1";   ///< the first map; of SwiGLU the one that goes through SiLU
  std::string out = "fc2";  ///< the last map
  std::string up = "fc3";   ///< SwiGLU's other first map
};

struct BlockNames {
  MlpNames mlp = {};
  /// Gains per channel as parameters of the block itself ("gamma_1"); "": ls1.gamma, ls2.gamma.
  std::string attentionGain = {}, mlpGain = {};
};

struct EncoderNames {
  BlockNames block = {};
  std::string pooledNorm = "fc_norm";  ///< the norm that follows the pooling
};

}  // namespace vitrine::nn
