// An experiment file as the form edits it: chosen values only, no defaults.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/config/catalog.h"
#include "core/config/experiment.h"

namespace vitrine {

/// Dotted keys address `tables`: "model.mask.kind".
class VITRINE_FOUNDATION_EXPORT Document {
 public:
  struct Axis {
    std::string key;
    std::vector<Json> values;
  };
  struct Variant {
    std::string name;
    std::vector<std::pair<std::string, Json>> set;  ///< dotted keys in order
  };

  /// Condition of runs that are left out: "variant" and swept keys, with their values.
  using Exclude = std::vector<std::pair<std::string, Json>>;

  std::string title;
  Json tables = Json::object();  ///< every table but the sweep, as far as said
  std::vector<Axis> sweep;
  std::vector<Variant> variants;
  std::vector<Exclude> excludes;
  Json rest = Json::object();  ///< other top-level keys (stage ...): kept; only rename() edits them

  /// nullptr where nothing is said.
  [[nodiscard]] const Json* find(const std::string& dottedKey) const;
  [[nodiscard]] std::string text(const std::string& dottedKey) const;  ///< "" where nothing is said
  void set(const std::string& dottedKey, Json value);
  /// Takes tables that became empty away too, apart from those that mean something as they are: an
  /// analysis that is on, a named table, [select].
  void erase(const std::string& dottedKey);

  /// Names of the tables below "aux" or "train.groups"; those with a dot are the TOML's alone.
  [[nodiscard]] std::vector<std::string> namesBelow(const std::string& dottedKey) const;
  /// Gives the table PLACE.FROM another name, in sweep, grid, variants, stages and excludes too;
  /// its place stays.
  void rename(const std::string& place, const std::string& from, const std::string& to);

  /// The axis of `key`, or nullptr.
  [[nodiscard]] const Axis* axis(const std::string& key) const;
};

/// Whether an [[exclude]] means a run of that variant and point.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool isExcludedBy(const Document::Exclude& exclude,
                                                          const std::string& variant,
                                                          const SweepPoint& point);
/// The shortest [[exclude]] that names one run of `document` alone.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Document::Exclude excludeOf(const Document& document,
                                                                    const std::string& variant,
                                                                    const SweepPoint& point);
/// Takes a run back in. What left others out with it continues doing so.
/// \param excluded  of the plan
VITRINE_FOUNDATION_EXPORT void include(Document& document, const std::vector<ExcludedRun>& excluded,
                                       std::size_t place);

/// \param problem  receives the first syntax error, with its line
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<Document> parseDocument(
    const std::string& text, Problem& problem);
/// TOML that means the document; reading it back gives the same document.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toText(const Document& document);

/// A new experiment: the first items that need nothing more and fit each other, and the
/// architecture's demo preset where there is one.
/// \param architecture  its id; "": one that classifies images, where there is one
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Document
freshDocument(const Catalog& catalog, const std::string& architecture = {});

/// One TOML value as it is typed in a list of overrides: `soft`, "soft", 3, 1e-3, [1, 2], { a = 1
/// }, none. A bare word is text.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json parseValue(const std::string& text);

/// "key = value" per line. Lines of another form end up in `bad`.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::pair<std::string, Json>> parseOverrides(
    const std::string& lines, std::vector<std::string>& bad);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string overridesText(
    const std::vector<std::pair<std::string, Json>>& overrides);

/// `over` laid over `base`, tables key by key.
VITRINE_FOUNDATION_EXPORT void mergeInto(Json& base, const Json& over);

}  // namespace vitrine
