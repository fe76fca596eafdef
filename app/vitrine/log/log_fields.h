// Fields of the lines of `vitrine log`, checked: a wrong one is a sentence with its name and value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/vitrine/log/log_lines.h"

namespace vitrine::app {

/// A value as an error shows it: JSON, cut to 60 bytes.
[[nodiscard]] std::string shownValue(const Json& value);

// A field that is absent or null has the value of `otherwise`; without that it is an error.
// \throws BadLine  it is missing, or of another type
[[nodiscard]] std::string textField(const Json& line, const char* key,
                                    const std::optional<std::string>& otherwise = {});
[[nodiscard]] std::int64_t countField(const Json& line, const char* key,
                                      std::optional<std::int64_t> otherwise = {});
[[nodiscard]] std::uint64_t seedField(const Json& line, const char* key);
/// Empty where it is absent.
[[nodiscard]] std::vector<std::string> textsField(const Json& line, const char* key);
/// An empty object where it is absent.
[[nodiscard]] Json objectField(const Json& line, const char* key);
/// A number, null, "nan", "inf" or "-inf". \param name  of the value, for the error
[[nodiscard]] double numberOf(const Json& value, const std::string& name);
/// The bytes of a text in base64 (RFC 4648, with padding).
[[nodiscard]] std::vector<std::byte> bytesField(const Json& line, const char* key);

}  // namespace vitrine::app
