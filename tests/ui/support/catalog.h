// A catalog with every type of field, as JSON would bring it.
#pragma once

#include "core/config/train_schema.h"
#include "tests/ui/support/item_card.h"

namespace vitrine::ui {

inline Catalog testCatalog() {
  Catalog catalog;
  ItemCard picture =
      cardWith(ItemKind::Architecture, "picture", {"image_classifier", "attention_source"});
  picture.title = "Picture transformer";
  picture.paper = "Nobody et al. 2026";
  picture.doc = "splits a picture into patches";
  picture.schema.fields = {
      sizeField("image_size", 28, "side of the input").range(1, 1024).withUnit("px"),
      sizeField("patch_size", 7, "side of a patch").range(1, 256).withUnit("px"),
      integerField("width", 64, "embedding channels").range(1, 65536),
      integerField("heads", 4, "attention heads").range(1, 64),
      integerField("mlp_width", nullptr, "channels inside the MLP").atLeast(1).orNone(),
      realField("drop_path", 0.0, "probability of skipping a block").range(0, 1),
      flagField("qkv_bias", true, "bias of the three projections"),
      textField("note", "", "free text"),
      choiceField("pool", "first", {"first", "last", "mean"}, "what the head reads")
          .withChoiceDocs({"class token before the patches", "class token after the patches",
                           "mean of the patches"}),
      listField("rates", FieldType::Real, Json::array({0.5, 1.0}), "per-block rates"),
      tableField(
          "mask",
          {choiceField("kind", "none", {"none", "causal", "soft"}, "which keys a query may read"),
           integerField("epochs", 2, "epochs until the mask is closed")
               .atLeast(0)
               .withUnit("epochs")},
          "attention mask"),
  };
  Rule divides{.kind = Rule::Kind::Divides,
               .arguments = {"patch_size", "image_size"},
               .sentence = "each patch must lie wholly inside the image"};
  picture.schema.rules = {divides};
  picture.schema.presets = {
      {"picture/demo", "small", Json{{"width", 96}, {"mask", {{"kind", "causal"}}}}},
      {"picture/tiny", "smaller", Json{{"width", 32}}}};
  catalog.items.push_back(picture);

  ItemCard blind = picture;
  blind.id = "blind";
  blind.title = "Without attention";
  blind.offers = {"image_classifier"};
  blind.schema.presets.clear();
  catalog.items.push_back(blind);

  ItemCard task = cardWith(ItemKind::Task, "sorting", {}, {"image_classifier"});
  task.title = "Sorting";
  task.schema.fields = {
      realField("label_smoothing", 0.0, "share of the other classes").range(0, 1)};
  catalog.items.push_back(task);

  ItemCard data = cardWith(ItemKind::Dataset, "squares", {"image", "label"});
  data.title = "Squares";
  data.schema.fields = {textField("folder", "/tmp", "where the files are")};
  catalog.items.push_back(data);

  ItemCard attention = cardWith(ItemKind::Analysis, "attention_rank", {}, {"attention_source"});
  attention.title = "Attention rank";
  attention.doc = "singular values of every head";
  attention.schema.fields = {integerField("images", 4, "images it looks at").range(1, 64)};
  catalog.items.push_back(attention);
  ItemCard calibration = cardWith(ItemKind::Analysis, "calibration", {}, {"image_classifier"});
  calibration.title = "Calibration";
  calibration.doc = "reliability bins";
  catalog.items.push_back(calibration);
  for (const ItemCard& card : trainingCards()) catalog.items.push_back(card);
  return catalog;
}

}  // namespace vitrine::ui
