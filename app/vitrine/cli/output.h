// Results on stdout: tables for people, JSON and CSV for programs.
#pragma once

#include <string>
#include <vector>

#include "app/vitrine/cli/command_line.h"
#include "core/base/json.h"

namespace vitrine::app {

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> rows;  ///< numbers, text, null, flags
};

enum class Format { Text, Json, Csv };
[[nodiscard]] Format formatOf(const CommandLine& line) noexcept;

/// Text: columns aligned, numbers to the right; JSON: an array of objects; CSV: RFC 4180 with a
/// header line.
void print(const Table& table, Format format);
/// The table as text, for a part of a larger output.
[[nodiscard]] std::string toText(const Table& table);
/// Indented, NaN and infinities as null, a newline at the end.
void print(const Json& value);
void print(const std::string& text);
/// \throws Error  what was printed cannot be written to standard output
void flushPrinted();
/// Whether there was any output.
[[nodiscard]] bool hasPrinted() noexcept;

/// A number, or null when it is not finite.
[[nodiscard]] Json finite(double value);

}  // namespace vitrine::app
