// `[init]`: what a run starts from.
#include "core/base/parse_number.h"
#include "core/base/text.h"
#include "core/config/lookup.h"
#include "core/config/run_resolver.h"

namespace vitrine {

namespace {

Schema makeInitSchema() {
  Schema schema;
  schema.fields = {
      textField("weights", nullptr, "a safetensors file").titled("Weights file").orNone(),
      textField("run", nullptr, "a run's UUID, variant:NAME, stage:NAME or previous")
          .titled("Run")
          .orNone(),
      textField("checkpoint", "latest", "checkpoint of the run: best, latest or a step")
          .titled("Checkpoint"),
      choiceField("use", "model", {"model", "ema"}, "raw or averaged weights")
          .titled("Weights of the run"),
      listField("skip", FieldType::Text, Json::array(),
                "parameters that keep their own initialisation: [\"head.*\"]")
          .titled("Parameters left out"),
      listField("freeze", FieldType::Text, Json::array(), "parameters that are not trained")
          .titled("Frozen parameters"),
      choiceField("resize_positions", "bicubic",
                  {"bicubic", "bicubic_antialias", "linear_corners", "none"},
                  "resizing of a position table to another grid")
          .titled("Position resizing"),
      flagField("strict", true, "every parameter must be found, apart from skip")
          .titled("Strict loading"),
  };
  for (Field& field : schema.fields) field.runOnly();
  return schema;
}

/// Dotted names of parameters arrive as nested tables; this joins them again.
void collectNames(const Node& node, const std::string& prefix, Json& pairs, ProblemList& problems) {
  for (const auto& [name, child] : node.children) {
    const std::string full = prefix.empty() ? name : prefix + "." + name;
    if (child.isTable) {
      collectNames(child, full, pairs, problems);
    } else if (child.value.is_string()) {
      pairs.push_back(Json::array({full, child.value}));
    } else {
      problems.add(&child, kAtValue, Code::WrongType, "init.rename." + shorten(full, 80),
                   "must be the new name, a text");
    }
  }
}

}  // namespace

void normalizeCheckpoint(Node& table) {
  for (auto& [name, child] : table.children) {
    if (name == "checkpoint" && child.value.is_number_integer()) child.value = child.value.dump();
  }
}

void checkCheckpoint(const Node& table, const Json& values, const std::string& prefix,
                     ProblemList& problems) {
  const auto checkpoint = values.at("checkpoint").get<std::string>();
  const bool isStep = parseNumber<std::int64_t>(checkpoint).value_or(-1) >= 0;
  if (checkpoint == "best" || checkpoint == "latest" || isStep) return;
  problems.add(table.find("checkpoint"), kAtValue, Code::UnknownName, prefix + "checkpoint",
               "'" + shorten(checkpoint, 60) + "' is neither best, latest nor a step",
               nearest(checkpoint, std::vector<std::string>{"best", "latest"}));
}

const Schema& initSchema() {
  static const Schema schema = makeInitSchema();
  return schema;
}

Json readRename(const Node& node, ProblemList& problems) {
  Json pairs = Json::array();
  if (node.isTable) {
    collectNames(node, "", pairs, problems);
    return pairs;
  }
  if (node.value.is_null() || node.value == "none") return pairs;
  bool isGood = node.value.is_array();
  if (isGood) {
    for (const Json& pair : node.value) {
      isGood = isGood && pair.is_array() && pair.size() == 2 && pair[0].is_string() &&
               pair[1].is_string();
    }
  }
  if (!isGood) {
    problems.add(&node, kAtValue, Code::WrongType, "init.rename",
                 "must be a table { \"old name\" = \"new name\" } or a list of pairs");
    return pairs;
  }
  return node.value;
}

bool isUuid(const std::string& text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool isDash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool isHex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (isDash ? c != '-' : !isHex) return false;
  }
  return true;
}

InitSource initSourceFrom(const Json& init) {
  InitSource source;
  source.weights = textAt(init, "weights");
  source.run = textAt(init, "run");
  source.checkpoint = textAt(init, "checkpoint");
  source.use = textAt(init, "use");
  source.skip = init.at("skip").get<std::vector<std::string>>();
  source.freeze = init.at("freeze").get<std::vector<std::string>>();
  for (const Json& pair : init.at("rename"))
    source.rename.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  source.resizePositions = textAt(init, "resize_positions");
  source.strict = init.at("strict").get<bool>();
  return source;
}

}  // namespace vitrine
