// State of a built Vision-LSTM, and its forward pass. For source files only.
#pragma once

#include <functional>
#include <map>

#include "plugins/vision_lstm/block.h"
#include "plugins/vision_lstm/vision_lstm.h"

namespace vitrine::vision_lstm {

/// Hears a run: residual streams after blocks (after pairs where two run at once), activations
/// within them, and what goes into them.
struct Listener {
  std::function<void(std::int64_t block, const at::Tensor& stream)> after;
  std::function<void(std::int64_t block, const std::string& name, const at::Tensor& value)> within;
  std::function<void(std::int64_t block, const at::Tensor& stream, const Scan& scan)> before;
};

struct VisionLstm::State {
  VisionLstmConfig config;
  std::shared_ptr<Network> network;
  at::Generator generator;
  std::function<void(std::int64_t, const at::Tensor&)> blockTap;

  [[nodiscard]] at::Device device() const { return network->norm->weight.device(); }
  /// Of one traversal over a grid, made once for each device.
  [[nodiscard]] const Scan& scan(Grid grid, std::int64_t block);
  /// [1, rows, columns, width]
  [[nodiscard]] at::Tensor positionsOf(Grid grid) const;
  /// Row and column of each token, [tokens, 2] int64 on the CPU.
  [[nodiscard]] at::Tensor places(Grid grid) const;
  /// Images as maps of patches, without positions.
  [[nodiscard]] at::Tensor project(const at::Tensor& images) const;
  /// Images of any size that the strides divide, with class tokens: [batch, tokens, width].
  [[nodiscard]] at::Tensor embed(const at::Tensor& images, Grid& grid) const;
  /// [batch, patches, width] <-> [batch, tokens, width]
  [[nodiscard]] at::Tensor withClassTokens(const at::Tensor& patches) const;
  [[nodiscard]] at::Tensor withoutClassTokens(const at::Tensor& tokens, Grid grid) const;
  /// Through all blocks, or up to `last` of them.
  [[nodiscard]] at::Tensor run(at::Tensor x, Grid grid, const Listener& listener);
  /// Of the tokens after the last norm.
  [[nodiscard]] at::Tensor pool(const at::Tensor& tokens, Grid grid) const;

 private:
  struct ScanKey {
    std::int64_t rows, columns;
    int traversal;
    bool operator<(const ScanKey& other) const {
      return std::tie(rows, columns, traversal) <
             std::tie(other.rows, other.columns, other.traversal);
    }
  };
  std::map<ScanKey, Scan> scans_;
};

/// Costs of all parts for one image.
[[nodiscard]] std::vector<BlockCost> costOf(const Network& network, const VisionLstmConfig& config);

/// Sizes of one block's memory; `inner` is the width of all heads.
struct CellCount {
  std::int64_t tokens = 0, inner = 0, heads = 0, chunk = 64;
};
/// Multiply-adds of one block's memory.
/// \param way  "paper", "chunkwise_exact", "chunkwise_exact_plus_diagonal", "chunkwise_pairs",
///             "quadratic_pairs", "quadratic_causal", "quadratic_full" or "recurrent"
[[nodiscard]] double cellMacs(const std::string& way, const CellCount& count);

/// Gives the tensors of a file the model's names, whichever of the public ones they have.
void renamePublic(WeightSource& source, const std::vector<std::string>& own,
                  const VisionLstmConfig& config);

}  // namespace vitrine::vision_lstm
