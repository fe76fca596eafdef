// A resolved configuration, read by dotted key.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// A table of checked values. Asking for a key or type the schema does not have is a programmer's
/// mistake and throws ConfigError naming the key.
class VITRINE_FOUNDATION_EXPORT Config {
 public:
  Config() = default;
  explicit Config(Json values) : values_(std::move(values)) {}

  [[nodiscard]] bool has(const std::string& key) const;  ///< present and not null
  [[nodiscard]] bool flag(const std::string& key) const;
  [[nodiscard]] std::int64_t integer(const std::string& key) const;
  [[nodiscard]] double real(const std::string& key) const;
  [[nodiscard]] std::string text(const std::string& key) const;  ///< "" when null
  [[nodiscard]] std::array<std::int64_t, 2> size(
      const std::string& key) const;  ///< [height, width]
  [[nodiscard]] std::vector<double> reals(const std::string& key) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) const;
  [[nodiscard]] Config table(const std::string& key) const;  ///< empty when absent
  [[nodiscard]] std::optional<std::int64_t> maybeInteger(const std::string& key) const;
  [[nodiscard]] std::optional<double> maybeReal(const std::string& key) const;

  [[nodiscard]] const Json& json() const noexcept { return values_; }
  /// The value at a dotted key; null when absent.
  [[nodiscard]] Json at(const std::string& key) const;

 private:
  Json values_ = Json::object();
};

/// Leaf keys and values in order: {"model.width", 64}, ... Lists and sizes are leaves.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::pair<std::string, Json>> flatten(
    const Json& values);

/// Keys whose values differ, with both (null where absent).
struct Difference {
  std::string key;
  Json before, after;
};
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<Difference> difference(const Json& before,
                                                                           const Json& after);

}  // namespace vitrine
