#include "core/config/catalog.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine {

namespace {

struct CapabilityWords {
  const char* id;
  const char* text;
};
constexpr CapabilityWords kCapabilityWords[] = {
    {"image_classifier", "scores of classes"},
    {"token_encoder", "tokens of an image"},
    {"feature_pyramid", "maps of features"},
    {"denoiser", "predictions of noise"},
    {"guided_denoiser", "guidance by a class"},
    {"latent_codec", "latents of an image"},
    {"language_model", "predictions of the next token"},
    {"packed_language_model", "several texts in a row"},
    {"text_image_model", "texts with images"},
    {"attention_source", "attention probabilities"},
    {"captioner", "captions"},
    {"measured_scale", ""},
    {"scheduled", ""},
    {"tensor_program", ""}};

/// In the order of the kinds.
constexpr std::array kKinds = {"architecture", "task",    "dataset",   "transform",
                               "analysis",     "sampler", "optimizer", "schedule"};

ItemKind kindFrom(const std::string& text) {
  const auto found = std::find(kKinds.begin(), kKinds.end(), text);
  if (found != kKinds.end()) return static_cast<ItemKind>(found - kKinds.begin());
  throw ConfigError("'" + text +
                    "' is not a kind of item; the catalogue was written by another version");
}

Json toJson(const MetricCard& card) {
  Json declared = Json::array();
  for (const MetricDeclaration& each : card.declared) {
    declared.push_back({{"pattern", each.pattern},
                        {"title", each.title},
                        {"unit", each.unit},
                        {"direction", each.direction},
                        {"definition", each.definition}});
  }
  return {{"headline", card.headline},
          {"plots", card.plots},
          {"unit", card.unit},
          {"declared", std::move(declared)}};
}

MetricCard metricCardFromJson(const Json& json) {
  MetricCard card;
  json.at("headline").get_to(card.headline);
  json.at("plots").get_to(card.plots);
  json.at("unit").get_to(card.unit);
  // Other machines' programs may be older.
  for (const Json& each : json.value("declared", Json::array())) {
    card.declared.push_back(
        {each.at("pattern").get<std::string>(), each.at("title").get<std::string>(),
         each.at("unit").get<std::string>(), each.at("direction").get<std::string>(),
         each.at("definition").get<std::string>()});
  }
  return card;
}

}  // namespace

std::string toString(ItemKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::string capabilityText(const std::string& id) {
  for (const CapabilityWords& each : kCapabilityWords) {
    if (id == each.id) return each.text;
  }
  std::string text = id;  // of a plugin, or a field of samples
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string capabilitiesText(const std::vector<std::string>& ids) {
  std::vector<std::string> texts;
  for (const std::string& id : ids) {
    if (std::string text = capabilityText(id); !text.empty()) texts.push_back(std::move(text));
  }
  return texts.empty() ? "nothing" : joined(texts);
}

bool offersEvery(const std::vector<std::string>& offered, const std::vector<std::string>& needed) {
  return std::all_of(needed.begin(), needed.end(), [&](const std::string& need) {
    return std::find(offered.begin(), offered.end(), need) != offered.end();
  });
}

const ItemCard* Catalog::find(ItemKind kind, const std::string& id) const {
  for (const ItemCard& item : items) {
    if (item.kind == kind && item.id == id) return &item;
  }
  return nullptr;
}

std::vector<std::string> Catalog::ids(ItemKind kind) const {
  std::vector<std::string> ids;
  for (const ItemCard& item : items) {
    if (item.kind == kind) ids.push_back(item.id);
  }
  return ids;
}

Json toJson(const Catalog& catalog) {
  Json list = Json::array();
  for (const ItemCard& item : catalog.items) {
    Json entry = Json::object();
    entry["kind"] = toString(item.kind);
    entry["id"] = item.id;
    entry["title"] = item.title;
    entry["paper"] = item.paper;
    entry["doc"] = item.doc;
    entry["plugin"] = item.plugin;
    entry["offers"] = item.offers;
    entry["needs"] = item.needs;
    entry["schema"] = toJson(item.schema);
    if (item.kind == ItemKind::Task) entry["metrics"] = toJson(item.metrics);
    list.push_back(std::move(entry));
  }
  Json json = Json::object();
  json["version"] = 2;
  json["items"] = std::move(list);
  return json;
}

Catalog catalogFromJson(const Json& json) {
  try {
    if (json.at("version").get<int>() != 2) {
      throw ConfigError("a catalogue has version " + json.at("version").dump() +
                        ", this program reads version 2");
    }
    Catalog catalog;
    for (const Json& entry : json.at("items")) {
      ItemCard item;
      item.kind = kindFrom(entry.at("kind").get<std::string>());
      item.id = entry.at("id").get<std::string>();
      item.title = entry.at("title").get<std::string>();
      item.paper = entry.at("paper").get<std::string>();
      item.doc = entry.at("doc").get<std::string>();
      item.plugin = entry.at("plugin").get<std::string>();
      item.offers = entry.at("offers").get<std::vector<std::string>>();
      item.needs = entry.at("needs").get<std::vector<std::string>>();
      item.schema = schemaFromJson(entry.at("schema"));
      if (item.kind == ItemKind::Task) item.metrics = metricCardFromJson(entry.at("metrics"));
      catalog.items.push_back(std::move(item));
    }
    return catalog;
  } catch (const Json::exception& error) {
    throw ConfigError(std::string("this is not a catalogue written by Vitrine: ") + error.what());
  }
}

}  // namespace vitrine
