// Texts of the window that do not go through tr(), quote in another way than the rest or are too
// long, and the reader of sources that finds them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::structure {

struct WindowText {
  std::string file;  ///< relative to the root
  int line = 0;
  std::string text;  ///< as the source spells it
};

/// Sentences of a source that become a QString, or go to a widget, without tr(): two words or more,
/// one of them in lower case behind another. Style sheets, markup, SQL, CSV and texts that are only
/// compared do not count.
[[nodiscard]] std::vector<WindowText> untranslatedTexts(const std::string& file,
                                                        std::string_view source);

/// Texts of tr() with a value between straight quotes, "%1" or '%1'; attributes of markup do not
/// count.
[[nodiscard]] std::vector<WindowText> straightlyQuoted(const std::string& file,
                                                       std::string_view source);

/// Sentences of tr() with more than kMostWords words. A sentence ends at a full stop, an
/// exclamation or a question mark before a space, and at a line break.
[[nodiscard]] std::vector<WindowText> longSentences(const std::string& file,
                                                    std::string_view source);
inline constexpr int kMostWords = 25;

using TextReader = std::vector<WindowText>(const std::string& file, std::string_view source);
/// What `read` finds in every source of the window below `root`.
[[nodiscard]] std::vector<WindowText> textsOfWindow(const std::filesystem::path& root,
                                                    TextReader& read);

}  // namespace vitrine::structure
