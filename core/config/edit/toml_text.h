// A TOML text that is edited in place: lines and sections are put in and taken out, everything else
// stays as it was written.
#pragma once

#include <cstddef>
#include <string>

#include "core/config/edit/toml_outline.h"

namespace vitrine {

class TomlText {
 public:
  explicit TomlText(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::vector<TomlStatement> outline() const { return outlineToml(text_); }
  [[nodiscard]] char at(std::size_t place) const { return text_[place]; }
  /// As the file ends its lines.
  [[nodiscard]] const std::string& newLine() const { return newLine_; }

  void put(std::size_t begin, std::size_t end, const std::string& with) {
    text_.replace(begin, end - begin, with);
  }
  void insert(std::size_t place, const std::string& what) { text_.insert(place, what); }
  /// A line of its own at a line's beginning.
  void putLine(std::size_t place, const std::string& line);
  /// Leaves no two empty lines where there was one on each side, and none at the beginning.
  void removeLines(std::size_t begin, std::size_t end);
  /// The end of the last line with something on it before `place`.
  [[nodiscard]] std::size_t afterContent(std::size_t place) const;
  /// Above the comment that belongs to the line at `place`.
  [[nodiscard]] std::size_t aboveComment(std::size_t place) const;
  /// A section of its own, where files usually have it. \param body  without its last line break
  enum class Header { Table, Array };
  void openSection(const std::string& name, const std::string& body, Header header = Header::Table);
  /// `[train.groups.head]`: behind what the file says of that table already.
  void openSection(const TomlPath& path, const std::string& body, Header header = Header::Table);

 private:
  std::string text_;
  std::string newLine_ = "\n";
};

}  // namespace vitrine
