// Every item that plugins brought, as data: what a form, a validator and `describe` need to know.
#pragma once

#include <string>
#include <vector>

#include "core/config/schema.h"

namespace vitrine {

enum class ItemKind {
  Architecture,
  Task,
  Dataset,
  Transform,
  Analysis,
  Sampler,
  Optimizer,
  Schedule,
};

[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toString(
    ItemKind kind);  ///< "architecture", ...

/// Meaning of the metrics of a name.
struct VITRINE_FOUNDATION_EXPORT MetricDeclaration {
  std::string pattern;  ///< of whole names, * stands for anything: "*/distance", "test/fid/*"
  std::string title;    ///< "distance of the moments"
  std::string unit;     ///< "fraction" is shown in percent; "" where there is none
  std::string direction = "none";  ///< which values are better: "lower", "higher" or "none"
  std::string definition;          ///< one sentence
};

/// Presentation of the runs of a task, for the window and tables.
struct VITRINE_FOUNDATION_EXPORT MetricCard {
  /// Quantities without their split that sum a run up, the most important first: "top1", "ece".
  std::vector<std::string> headline;
  /// Metrics that are worth a plot before the user chooses: "train/loss", "test/top1".
  std::vector<std::string> plots;
  /// Unit of throughput: "images" gives system/images_per_second.
  std::string unit = "images";
  /// What the task records and core does not know (resources/docs/database.md). A run writes them
  /// into its database; where a pattern is known there already, that one holds.
  std::vector<MetricDeclaration> declared{};
};

/// An item without its code.
struct VITRINE_FOUNDATION_EXPORT ItemCard {
  ItemKind kind = ItemKind::Architecture;
  std::string id;      ///< "plain_mlp", "classification", "fashion_mnist", "attention_rank"
  std::string title;   ///< "Plain MLP"
  std::string paper;   ///< "Authors 2021, arXiv:...", or ""
  std::string doc;     ///< one sentence
  std::string plugin;  ///< id of the plugin file that brought it; filled in by the loader
  /// Of an architecture its capabilities, of a data set or transform the fields it fills, of a task
  /// the outputs that listeners hear.
  std::vector<std::string> offers;
  /// Capabilities and fields that an item needs of others, by the same names.
  std::vector<std::string> needs;
  Schema schema;
  MetricCard metrics;  ///< of a task
};

/// What a capability gives, in words for messages: "attention probabilities"; "" of one that serves
/// the program alone.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string capabilityText(const std::string& id);
/// Those of several, separated by commas; "nothing" where there are none.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string capabilitiesText(
    const std::vector<std::string>& ids);

/// Whether `offered` has each of `needed`.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool offersEvery(const std::vector<std::string>& offered,
                                                         const std::vector<std::string>& needed);

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

/// Keys of `[data]` next to those of the data set: subsets, augmentation, normalisation.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& dataSchema();

/// When an analysis under `[observe]` is due: every_steps, every_epochs, weights; added to each
/// analysis's own keys.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& observeSchema();

/// The schema of `[init]`: what a run starts from. `rename`, whose keys are names of parameters, is
/// read next to it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& initSchema();

/// The schema of each `[aux.NAME]`: a trained model that the run uses and does not train.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& auxSchema();

/// Keys of every sampler next to its own: seed, count.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& sampleSchema();

}  // namespace vitrine
