#include "app/vitrine/cli/output.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::app {

namespace {

bool isAnythingPrinted = false;

std::string cellText(const Json& cell, int digits) {
  if (cell.is_null()) return "";
  if (cell.is_number_float() && digits > 0) return formatReal(cell.get<double>(), digits);
  return plainText(cell);
}

/// In one line and without commands for a terminal: line breaks and tabs become spaces, other
/// control characters "\x1b".
/// \param text  UTF-8
std::string shownText(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byteAt = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[at])) : 0U;
    };
    // U+0080 to U+009F take two bytes.
    const bool isTwoBytes = byteAt(i) == 0xC2 && byteAt(i + 1) < 0xA0;
    const unsigned point = isTwoBytes ? byteAt(++i) : byteAt(i);
    if (point == '\n' || point == '\t') {
      shown += ' ';
    } else if (point < 0x20 || point == 0x7F || isTwoBytes) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", point);
      shown += escape.data();
    } else {
      shown += text[i];
    }
  }
  return shown;
}

/// Columns a terminal needs for UTF-8 text, counting code points.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string toCsv(const Table& table) {
  std::string text;
  const auto line = [&text](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i > 0 ? "," : "") + csvCell(cells[i]);
    text += "\r\n";
  };
  line(table.columns);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const Json& cell : row) cells.push_back(cellText(cell, 0));
    line(cells);
  }
  return text;
}

Json toObjects(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i) object[table.columns[i]] = row[i];
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace

Format formatOf(const CommandLine& line) noexcept {
  return line.wantsJson() ? Format::Json : line.wantsCsv() ? Format::Csv : Format::Text;
}

std::string toText(const Table& table) {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  std::vector<bool> isNumber(table.columns.size(), true);
  for (const std::string& column : table.columns) widths.push_back(width(column));
  for (const auto& row : table.rows) {
    auto& line = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(shownText(cellText(row[i], 5)));
      widths[i] = std::max(widths[i], width(line.back()));
      if (!row[i].is_number() && !row[i].is_null()) isNumber[i] = false;
    }
  }
  std::string text;
  const auto put = [&](const std::vector<std::string>& line) {
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - width(line[i]), ' ');
      if (i > 0) out += "  ";
      out += isNumber[i] ? padding + line[i] : line[i] + padding;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  put(table.columns);
  for (const auto& line : cells) put(line);
  return text;
}

void print(const Table& table, Format format) {
  if (format == Format::Json) {
    print(toObjects(table));
  } else {
    print(format == Format::Csv ? toCsv(table) : toText(table));
  }
}

void print(const Json& value) {
  print(dumpJson(value, 2) + "\n");
}
void print(const std::string& text) {
  isAnythingPrinted = true;
  std::fwrite(text.data(), 1, text.size(), stdout);
}
void flushPrinted() {
  // Of a write that did not wait for the end only the mark is left.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error("the result could not be written to standard output");
}
bool hasPrinted() noexcept { return isAnythingPrinted; }

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace vitrine::app
