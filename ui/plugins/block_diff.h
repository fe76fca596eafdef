// Two configurations block by block: which pieces belong together, what changed, and the experiment
// that tries one difference at a time. Plain data; nothing of Qt Widgets.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/config/edit/document.h"

namespace vitrine::ui {

/// A piece of a model, as `vitrine check --json` reports it.
struct ModelBlock {
  QString name;  ///< "blocks.3.attn"
  QString kind;  ///< part: "norm"
  QString what;  ///< operator: "RMSNorm"
  std::int64_t parameters = 0;
  double flops = 0;  ///< of one sample, forward; a multiply-add counts as two
  double bytes = 0;
  [[nodiscard]] int layer() const;      ///< of "blocks.3.attn" 3; -1 outside of layers
  [[nodiscard]] QString place() const;  ///< the name without its layer: "attn"
};
[[nodiscard]] std::vector<ModelBlock> blocksFromJson(const Json& report);

/// A piece of A next to the piece of B that takes its place; one of them may be missing.
struct BlockPair {
  std::optional<ModelBlock> a, b;
  [[nodiscard]] bool isChanged() const;
  [[nodiscard]] std::int64_t parameterDelta() const;
  [[nodiscard]] double flopDelta() const;
};

/// Layers that are alike, or a piece outside of layers.
struct BlockGroup {
  QString name;                  ///< "blocks 0\u201311", "patch_embed"
  int layers = 0;                ///< how many are alike; 0 for a piece outside of layers
  std::vector<BlockPair> pairs;  ///< of one layer
  [[nodiscard]] bool isChanged() const;
};

/// Aligned by kind and place in order: the longest sequence of pieces that fit.
[[nodiscard]] std::vector<BlockPair> alignBlocks(const std::vector<ModelBlock>& a,
                                                 const std::vector<ModelBlock>& b);
[[nodiscard]] std::vector<BlockGroup> groupBlocks(const std::vector<BlockPair>& pairs);

struct Ablation {
  std::string text;      ///< the experiment file
  QStringList variants;  ///< names, the baseline first
  int left = 0;          ///< differences that did not find room
};
/// Baseline A; A with one difference at a time where A's schema allows it; B whole; B without one
/// difference where only that is possible. \param base  A as a file says it
[[nodiscard]] Ablation ablationOf(Document base, const QString& nameA, const Json& modelA,
                                  const QString& nameB, const Json& modelB, const Catalog& catalog);

}  // namespace vitrine::ui
