// Every item that plugins brought, as data: what a form, a validator and `describe` need to know.
#pragma once

#include <string>
#include <vector>

#include "core/config/schema.h"

namespace vitrine {

enum class ItemKind { Architecture, Task, Dataset, Analysis };

[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toString(
    ItemKind kind);  ///< "architecture", ...

/// Names of capabilities, as items offer and need them (core/model/capability.h implements them).
namespace capability {
inline constexpr const char* kImageClassifier = "image_classifier";
inline constexpr const char* kTokenEncoder = "token_encoder";
inline constexpr const char* kAttentionSource = "attention_source";
inline constexpr const char* kScheduled = "scheduled";
}  // namespace capability

/// An item without its code.
struct VITRINE_FOUNDATION_EXPORT ItemCard {
  ItemKind kind = ItemKind::Architecture;
  std::string id;      ///< "plain_mlp", "classification", "fashion_mnist", "attention_rank"
  std::string title;   ///< "Plain MLP"
  std::string paper;   ///< "Authors 2021, arXiv:...", or ""
  std::string doc;     ///< one sentence
  std::string plugin;  ///< id of the plugin file that brought it; filled in by the loader
  std::vector<std::string>
      offers;  ///< capabilities: of an architecture, or sample fields of a dataset
  std::vector<std::string>
      needs;  ///< capabilities a task or analysis asks a model for, or fields of a dataset
  Schema schema;
};

struct VITRINE_FOUNDATION_EXPORT Catalog {
  std::vector<ItemCard> items;

  [[nodiscard]] const ItemCard* find(ItemKind kind, const std::string& id) const;
  [[nodiscard]] std::vector<std::string> ids(ItemKind kind) const;
};

[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json toJson(const Catalog& catalog);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Catalog catalogFromJson(const Json& json);

/// The schema of `[train]`: lengths, optimizer, schedule, precision, device, seeds, checkpoints,
/// evaluation. Core's own, the same for every task.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& trainSchema();

/// What `[data]` takes beside the dataset's own keys: subsets, augmentation, normalisation.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& dataSchema();

/// When an analysis under `[observe]` is due: every_steps, every_epochs, weights; added to each
/// analysis's own keys.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& observeSchema();

/// The schema of `[init]`: what a run starts from. `rename`, whose keys are names of parameters, is
/// read beside it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& initSchema();

}  // namespace vitrine
