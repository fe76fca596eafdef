// A small catalogue with every kind of field, for the tests of core/config.
#pragma once

#include <string>

#include "core/config/catalog.h"
#include "core/config/experiment.h"
#include "core/config/item_card.h"
#include "core/config/train_schema.h"

namespace vitrine::testing_support {

inline Catalog sampleCatalog() {
  ItemCard vit = itemCard(ItemKind::Architecture, "vit", "Vision Transformer");
  vit.offers = {"image_classifier", "token_encoder", "attention_source"};
  Field classes = integerField("num_classes", nullptr, "number of classes").atLeast(1);
  classes.required = true;
  vit.schema.fields = {
      sizeField("image_size", 28, "side of an image").range(1, 4096).withUnit("px"),
      sizeField("patch_size", 7, "side of a patch").range(1, 512).withUnit("px"),
      integerField("in_channels", 1, "channels of an image").range(1, 4096),
      integerField("width", 64, "channels of a token").range(1, 65536),
      integerField("depth", 4, "number of blocks").range(1, 512),
      integerField("heads", 4, "attention heads").range(1, 256),
      classes,
      realField("drop_path", 0, "largest drop rate").atLeast(0).lessThan(1),
      realField("layer_scale", nullptr, "initial scale").moreThan(0).orNone(),
      choiceField("pool", "class_token", {"class_token", "mean"}, "what the head reads"),
      choiceField("pos_embed", "learned", {"learned", "sincos", "axial"}, "position embedding")
          .refuse({"axial"}, "axial positions are not offered yet; use learned or sincos"),
      flagField("qkv_bias", true, "bias of the projections"),
      listField("taps", FieldType::Integer, Json::array(), "blocks that are looked at").atLeast(0),
      tableField("mask",
                 {choiceField("kind", "none", {"none", "causal", "soft"}, "mask"),
                  realField("alpha", 1.0, "strength").range(0, 1),
                  choiceField("schedule", "constant", {"constant", "linear"}, "how alpha moves"),
                  integerField("epochs", nullptr, "length of the schedule").atLeast(1).orNone()},
                 "attention mask"),
  };
  vit.schema.rules = {
      {Rule::Kind::Divides, {"patch_size", "image_size"}, "patches tile the image"},
      {Rule::Kind::MultipleOf, {"width", "heads"}, "heads share the width"},
      {Rule::Kind::Requires, {"mask.kind", "soft", "mask.epochs"}, ""},
      {Rule::Kind::Requires, {"mask.kind", "causal", "pool", "class_token"}, ""},
  };
  vit.schema.presets = {
      {"vit/tiny", "small", {{"width", 192}, {"depth", 12}, {"heads", 3}}},
      {"vit/soft", "masked", {{"mask", {{"kind", "soft"}, {"alpha", 0.5}, {"epochs", 3}}}}}};

  ItemCard plain{.kind = ItemKind::Architecture,
                 .id = "plain",
                 .title = "No attention",
                 .offers = {"image_classifier"},
                 .schema = {.fields = {integerField("width", 8, "channels"),
                                       integerField("num_classes", 10, "classes")}}};

  ItemCard task{
      .kind = ItemKind::Task, .id = "classification", .needs = {"image_classifier", "label"}};
  task.metrics.headline = {"top1"};
  task.schema.fields = {
      realField("label_smoothing", 0, "smoothing").atLeast(0).lessThan(1).runOnly()};

  ItemCard dataset{.kind = ItemKind::Dataset, .id = "fashion_mnist", .offers = {"image", "label"}};
  dataset.schema.fields = {
      textField("folder", "/usr/share/datasets", "where the files are").runOnly()};

  ItemCard unlabelled{.kind = ItemKind::Dataset, .id = "pictures", .offers = {"image"}};

  ItemCard rank{.kind = ItemKind::Analysis, .id = "attention_rank", .needs = {"attention_source"}};
  rank.schema.fields = {integerField("images", 4, "images looked at").range(1, 64).runOnly()};

  ItemCard calibration{.kind = ItemKind::Analysis, .id = "calibration"};
  calibration.schema.fields = {integerField("bins", 15, "bins").range(1, 1000).runOnly()};

  Catalog catalog{{vit, plain, task, dataset, unlabelled, rank, calibration}};
  for (const ItemCard& card : trainingCards()) catalog.items.push_back(card);
  return catalog;
}

/// A file that is right, with room for more below it.
inline const char* const kGoodFile = R"(title = "sample"
[model]
architecture = "vit"
num_classes = 10
[task]
name = "classification"
[data]
dataset = "fashion_mnist"
)";

inline Plan planText(const std::string& text, const std::vector<std::string>& overrides = {}) {
  static const Catalog catalog = sampleCatalog();
  std::vector<Override> parsed;
  for (const std::string& each : overrides) parsed.push_back(parseOverride(each));
  return planExperiment(text, "sample.toml", catalog, parsed);
}

/// kGoodFile and what follows it.
inline Plan planMore(const std::string& more, const std::vector<std::string>& overrides = {}) {
  return planText(kGoodFile + more, overrides);
}

/// "train.epocs unknown_key -> epochs", with "; " between two problems.
inline std::string codes(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    text += (text.empty() ? "" : "; ") + (problem.key.empty() ? "" : problem.key + " ") +
            toString(problem.code) + (problem.nearest.empty() ? "" : " -> " + problem.nearest);
  }
  return text;
}
inline std::string codes(const Plan& plan) { return codes(plan.problems); }

inline std::string sentences(const Plan& plan) {
  std::string text;
  for (const Problem& problem : plan.problems) text += problem.sentence() + "\n";
  return text;
}

/// Of the runs; behind the sentences of the problems, where there are some.
inline std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> all;
  for (const Problem& problem : plan.problems) all.push_back(problem.sentence());
  for (const PlannedRun& run : plan.runs) all.push_back(run.name);
  return all;
}

inline Json value(const PlannedRun& run, const std::string& key) {
  return Config(run.config).at(key);
}

}  // namespace vitrine::testing_support
