// Names of papers and of their models in files that serve all of them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vitrine::structure {

/// A paper's name on one line of a file.
struct PaperName {
  std::string file;
  int line = 0;
  std::string name;  ///< as the line spells it
};

/// A place where a name stays, with the reason.
struct NamedPaper {
  std::string file;  ///< how the file's path begins
  std::string name;
  std::string reason;
};

/// Whole words of `text` that name a paper. Words are split at underscores and at changes of case:
/// "IllamaPage", "kVisionLlama" and "vit_page.h" name papers, "activity", "sites" and "LlamaNames"
/// do not.
[[nodiscard]] std::vector<PaperName> paperNames(const std::string& file, std::string_view text);
/// Of the sources below `folders` of `root`.
[[nodiscard]] std::vector<PaperName> paperNamesBelow(const std::filesystem::path& root,
                                                     const std::vector<std::string>& folders);

/// One sentence for each name outside `allowed`, and for each entry that is not needed any more.
[[nodiscard]] std::vector<std::string> violations(const std::vector<PaperName>& found,
                                                  const std::vector<NamedPaper>& allowed);

/// The exceptions of this tree.
[[nodiscard]] const std::vector<NamedPaper>& namedPapers();

}  // namespace vitrine::structure
