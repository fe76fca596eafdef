// Fields of requests to `vitrine serve` and to the process of it that computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace vitrine::app {

/// A request that is not understood: unknown operation, missing or wrong field.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// \throws BadRequest  it is not there, or of another type
[[nodiscard]] std::string textOf(const Json& request, const char* key);
[[nodiscard]] std::int64_t integerOf(const Json& request, const char* key,
                                     std::optional<std::int64_t> otherwise);
[[nodiscard]] bool flagOf(const Json& request, const char* key);

/// A list of texts; empty where there is none.
[[nodiscard]] std::vector<std::string> textsOf(const Json& request, const char* key);
/// An id as the key of a table: no two are alike, whatever bytes a text holds.
[[nodiscard]] std::string keyOf(const Json& id);

/// About the bytes that `value` takes in a frame, never fewer.
[[nodiscard]] std::size_t frameBytes(const Json& value);

}  // namespace vitrine::app
