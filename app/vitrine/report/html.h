// Markup of a page that needs nothing but itself: text is escaped by its type.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vitrine::app {

/// Markup that is made of escaped texts and elements alone, so that no text can leave its place.
class Html {
 public:
  using Attributes = std::vector<std::pair<const char*, std::string>>;

  Html() = default;
  /// Escapes; bytes that are not UTF-8 and control characters become U+FFFD.
  explicit Html(std::string_view text);
  /// \param name    of the element, as written in the source code: never from outside
  /// \param values  of attributes, which are escaped
  [[nodiscard]] static Html element(const char* name, const Attributes& values,
                                    const Html& content);
  [[nodiscard]] static Html element(const char* name, const Html& content) {
    return element(name, {}, content);
  }
  /// An element without content: `img`, `meta`.
  [[nodiscard]] static Html empty(const char* name, const Attributes& values);

  Html& operator+=(const Html& other);
  [[nodiscard]] bool isEmpty() const noexcept { return markup_.empty(); }
  [[nodiscard]] const std::string& markup() const noexcept { return markup_; }

 private:
  std::string markup_;
};

/// Cells of a table by row; a first row of headings. Numbers stand to the right.
struct HtmlTable {
  struct Cell {
    Html content;
    bool isNumber = false;
  };
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  ///< the first cell of each names its row
  std::string caption;                  ///< "" for none

  void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
};
[[nodiscard]] Html toHtml(const HtmlTable& table);
[[nodiscard]] HtmlTable::Cell textCell(std::string_view text);
[[nodiscard]] HtmlTable::Cell numberCell(std::string_view text);
[[nodiscard]] HtmlTable::Cell codeCell(std::string_view text);

/// "data:image/png;base64,..."
[[nodiscard]] std::string dataUri(std::string_view type, std::span<const std::byte> bytes);
/// A block of text as it is, with a summary that opens it.
[[nodiscard]] Html folded(std::string_view summary, std::string_view text);
/// The whole document. \param style  a style sheet of the program's own
[[nodiscard]] std::string documentOf(std::string_view title, std::string_view style,
                                     const Html& body);

}  // namespace vitrine::app
