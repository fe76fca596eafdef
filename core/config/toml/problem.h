// A problem of a configuration, as data: a code, an item and a place, and a sentence.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// Kind of a problem. toString() gives the name that `--json` prints; names stay.
enum class ProblemCode {
  BadSyntax,          ///< the text, or a value of the command line, is not TOML
  TooLarge,           ///< bytes, levels, values or runs are beyond a bound
  TooMany,            ///< there are more problems than are listed
  UnknownKey,         ///< there is no such key here
  UnknownItem,        ///< no plugin brings the item
  DisabledItem,       ///< its plugin is disabled
  UnknownName,        ///< a preset, variant, stage, value or source that there is not
  Missing,            ///< must be given
  Empty,              ///< names nothing
  WrongType,          ///< another type of value is wanted
  OutOfRange,         ///< of the right type, outside of the field's range
  UnknownChoice,      ///< none of the words that the field offers
  RefusedValue,       ///< known and not offered
  BadName,            ///< cannot be a name
  BrokenRule,         ///< a rule of the item, which compares fields, does not hold
  MissingCapability,  ///< an item needs what no other here offers
  Conflict,           ///< two keys exclude each other
  Duplicate,          ///< said twice
  Misplaced,          ///< cannot be said here
  WrongOrder,         ///< must come before or after another
  NoRuns,             ///< every run is left out
  ItemRefused,        ///< the item itself refused, which only its code can judge
};
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string toString(ProblemCode code);  ///< "unknown_key"

/// Something wrong with a configuration. All of a file's problems are reported at once, never only
/// the first.
struct VITRINE_FOUNDATION_EXPORT Problem {
  ProblemCode code = ProblemCode::BadSyntax;
  std::string item;  ///< whose key it is or which is asked for: "task/classification"; "" of none
  std::string file;  ///< path as given; "command line" for overrides; "" for a form
  int line = 0;      ///< 1-based; 0 where there is none
  int column = 0;
  std::string key;      ///< dotted: "model.patch_size"
  std::string message;  ///< "5 does not divide image size 28; use 1, 2, 4, 7, 14 or 28"
  std::string nearest;  ///< nearest legal key or value of a misspelt one, or ""

  /// "FILE:LINE:COLUMN: KEY: MESSAGE (did you mean 'NEAREST'?)"
  [[nodiscard]] std::string sentence() const;
};
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json toJson(const Problem& problem);
/// The list of them, as `check --json` prints it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json problemsJson(const std::vector<Problem>& problems);

}  // namespace vitrine
