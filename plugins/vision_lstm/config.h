// Configuration of a Vision-LSTM: sizes, and one switch for each row of the paper's ablations.
#pragma once

#include <array>
#include <cstdint>

#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/kernels/mlstm.h"
#include "core/nn/bias.h"
#include "plugins/vision_lstm/traversal.h"

namespace vitrine::vision_lstm {

enum class Convolution {
  None,
  Causal1d,  ///< over the scan, of tokens before
  Line,      ///< over the scan, centred
  Grid,      ///< over the grid as the scan sees it
};

enum class Concurrency {
  Sequential,
  Parallel,  ///< two blocks at a time read the same stream (Equation 15)
};

enum class Pooling {
  BilateralConcat,  ///< first and last token, side by side
  BilateralMean,    ///< their mean
  Average,          ///< over all patches
  CentreAverage,    ///< over a square in the middle of the grid
  ClassMiddle,      ///< a class token in the middle of the sequence
  ClassBilateral,   ///< class tokens at both ends, side by side
  ClassAll,         ///< both
  Tokens,           ///< no pooling: [batch, tokens, width]
  Image,            ///< no pooling: [batch, width, rows, columns]
};

enum class Start { Original, Fixed };  ///< deviation of proj_down: 2 / sqrt(D), or that by depth

struct VisionLstmConfig {
  std::array<std::int64_t, 2> imageSize{224, 224}, patch{16, 16}, stride{16, 16};
  std::int64_t inChannels = 3, classes = 1000;
  std::int64_t width = 192, depth = 24, heads = 4, qkvBlock = 4;
  Convolution convolution = Convolution::Grid;
  std::int64_t kernel = 3;
  Directions directions = Directions::Bi;
  Concurrency concurrency = Concurrency::Sequential;
  Pooling pooling = Pooling::BilateralConcat;
  std::int64_t centre = 2;
  bool hasPositions = true, hasHeadNorm = true;
  nn::Bias bias = nn::Bias::Present;
  double normEps = 1e-6, headNormEps = 1e-5, blockNormEps = 1e-5, outNormEps = 1e-5;
  double dropPath = 0;
  bool dropPathGrows = false;  ///< linear from 0 in the first block
  Start start = Start::Original;
  kernels::MlstmOptions cell;
  bool countsAsPaper = false;

  [[nodiscard]] std::int64_t inner() const { return 2 * width; }
  [[nodiscard]] Grid grid() const;        ///< of tokens
  [[nodiscard]] Grid storedGrid() const;  ///< of the position table
  [[nodiscard]] std::int64_t classTokens() const;
  [[nodiscard]] std::int64_t tokens() const;  ///< with class tokens
  [[nodiscard]] std::int64_t pooledWidth() const;
  /// Blocks carry the published package's names for pairs: two scans, one after the other.
  [[nodiscard]] bool hasPairNames() const;
};

[[nodiscard]] Schema makeSchema();
/// \throws ConfigError  values that do not fit together
[[nodiscard]] VisionLstmConfig readConfig(const Config& config);

}  // namespace vitrine::vision_lstm
