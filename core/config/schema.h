// The configuration keys of an item. One schema per item drives the form, the command line,
// validation, `describe`, the docs page and the diff between runs. It is data: reading it runs no
// code of a plugin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

enum class FieldType {
  Bool,
  Integer,
  Real,
  Text,
  Choice,  ///< one of `choices`
  List,    ///< of `elements`
  Table,   ///< of `fields`
  Size,    ///< n or [height, width]; resolves to the pair
};

/// Whether a field changes the model that is built or only how it is run.
enum class Affects { Model, Run };

struct VITRINE_FOUNDATION_EXPORT Field {
  std::string name;  ///< within its table: "width"
  FieldType type = FieldType::Text;
  Json defaultValue;                 ///< of the type; null means absent ("none" in a file)
  bool required = false;             ///< no default: the file must say it
  bool nullable = false;             ///< accepts "none" / null, meaning absent
  std::optional<double> minimum;     ///< inclusive; for Size of each side, for List of each number
  std::optional<double> maximum;     ///< inclusive
  std::optional<double> above;       ///< exclusive lower bound
  std::optional<double> below;       ///< exclusive upper bound
  std::vector<std::string> choices;  ///< of a Choice
  std::vector<std::string> choiceDocs;  ///< one line per choice, or empty
  std::optional<FieldType> elements;    ///< of a List: Integer, Real, Text or Bool
  std::vector<Field> fields;            ///< of a Table
  std::string unit;                     ///< "px", "patches", "epochs", "1/step" ...
  std::string doc;                      ///< one line, no full stop
  Affects affects = Affects::Model;
  std::string refusal;  ///< for values in `refusedValues`: the sentence
  std::vector<Json>
      refusedValues;  ///< known to the papers, not offered yet: refused with `refusal`
  std::string title;  ///< what a form calls it: "MLP width"; "" of a plugin that gives none

  /// Whether this is a Choice and `word` is one of its choices.
  [[nodiscard]] bool offers(const std::string& word) const;

  // Fluent setters, so that a schema reads as a table.
  Field& range(double low, double high);
  Field& atLeast(double low);
  Field& moreThan(double low);
  Field& lessThan(double high);
  Field& withUnit(std::string text);
  Field& titled(std::string text);
  Field& orNone();
  Field& runOnly();
  Field& withChoiceDocs(std::vector<std::string> docs);
  Field& refuse(std::vector<Json> values, std::string sentence);
};

[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field flagField(std::string name, bool value,
                                                        std::string doc);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field integerField(std::string name, Json value,
                                                           std::string doc);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field realField(std::string name, Json value,
                                                        std::string doc);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field textField(std::string name, Json value,
                                                        std::string doc);
/// The folder that a data set reads: `folder`, required, of the run alone.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field folderField(std::string doc);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field choiceField(std::string name, Json value,
                                                          std::vector<std::string> choices,
                                                          std::string doc);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field sizeField(std::string name, Json value,
                                                        std::string doc);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field listField(std::string name, FieldType elements,
                                                        Json value, std::string doc);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field tableField(std::string name,
                                                         std::vector<Field> fields,
                                                         std::string doc);

/// `fields`, each of the run alone.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<Field> runOnly(std::vector<Field> fields);

/// A relation between fields, as data: Studio checks it without the plugin.
///
/// Arguments are dotted keys within the item ("mask.kind") or literal values. Size fields are
/// compared side by side.
struct VITRINE_FOUNDATION_EXPORT Rule {
  enum class Kind {
    Divides,     ///< (a, b): a divides b, on each side: patch_size divides image_size
    MultipleOf,  ///< (a, b): a is a multiple of b (a field or a number): width, heads
    Equal,       ///< (a, b)
    AtMost,      ///< (a, b): a <= b
    Requires,    ///< (a, v, b, w...): a = v needs b to be one of w...; with no w, b to be present
    OneOf,       ///< (a, v...): a is one of v...
  };
  Kind kind = Kind::Divides;
  std::vector<Json> arguments;
  std::string sentence;  ///< why, for people: "each patch must lie wholly inside the image"
};

/// Values for some keys of the item, under a name: `model.preset = "mlp/small"`.
struct VITRINE_FOUNDATION_EXPORT Preset {
  std::string name;  ///< "mlp/small"
  std::string doc;
  Json values;  ///< object of (nested) keys
};

struct VITRINE_FOUNDATION_EXPORT Schema {
  std::vector<Field> fields;
  std::vector<Rule> rules;
  std::vector<Preset> presets;

  /// The field at a dotted key, or nullptr.
  [[nodiscard]] const Field* find(const std::string& dottedKey) const;
  /// Every leaf key, dotted, in order.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The object of all defaults.
  [[nodiscard]] Json defaults() const;
  [[nodiscard]] const Preset* preset(const std::string& name) const;
};

/// Schemas cross the process boundary as JSON (`vitrine describe --json`) and come back unchanged.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json toJson(const Schema& schema);
/// \throws ConfigError  `json` was not made by toJson
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Schema schemaFromJson(const Json& json);
/// JSON Schema (draft 2020-12) of the item's table.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json jsonSchema(const Schema& schema,
                                                        const std::string& title);

}  // namespace vitrine
