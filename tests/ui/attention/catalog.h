// A catalog with models that offer attention in different ways.
#pragma once

#include "tests/ui/support/item_card.h"

namespace vitrine::ui {

inline Catalog attentionCatalog() {
  return {{cardWith(ItemKind::Architecture, "patches", {"image_classifier", "attention_source"}),
           cardWith(ItemKind::Architecture, "tokens",
                    {"image_classifier", "token_encoder", "attention_source"}),
           cardWith(ItemKind::Architecture, "memory",
                    {"image_classifier", "signed_memory_weights"}),
           cardWith(ItemKind::Architecture, "noise", {"guided_denoiser", "attention_source"}),
           cardWith(ItemKind::Architecture, "captions", {"text_image_model", "attention_source"}),
           cardWith(ItemKind::Architecture, "blind", {"image_classifier"}),
           cardWith(ItemKind::Analysis, "first_layer", {"attention_of_weights:similarity"},
                    {"token_encoder"}),
           cardWith(ItemKind::Analysis, "receptive_field", {"attention_of_weights:gradient"},
                    {"token_encoder"}),
           cardWith(ItemKind::Analysis, "attention_rank", {}, {"attention_source"}),
           withFields(cardWith(ItemKind::Analysis, "attention_map",
                               {"attention:effective", "attention:softmax"}, {"attention_source"}),
                      {textField("query", "class", "which queries are kept"),
                       textField("attention", "softmax", "which matrix")}),
           cardWith(ItemKind::Analysis, "memory_weights", {"attention:weights", "attention:decay"},
                    {"signed_memory_weights"})}};
}

inline Json configOf(const char* architecture) {
  return {{"model", {{"architecture", architecture}}}};
}

}  // namespace vitrine::ui
