// Names of papers and of their models in files that serve all of them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/structure/words.h"

namespace vitrine::structure {

/// Whole words of `text` that name a paper. Words are split at underscores and at changes of case:
/// "IllamaPage", "kVisionLlama" and "vit_page.h" name papers, "activity", "sites" and "LlamaNames"
/// do not.
[[nodiscard]] std::vector<FoundWord> paperNames(const std::string& file, std::string_view text);
/// Of the sources below `folders` of `root`.
[[nodiscard]] std::vector<FoundWord> paperNamesBelow(const std::filesystem::path& root,
                                                     const std::vector<std::string>& folders);

/// One sentence for each name outside `allowed`, and for each entry that is not needed any more.
[[nodiscard]] std::vector<std::string> paperViolations(const std::vector<FoundWord>& found,
                                                       const std::vector<AllowedWord>& allowed);

/// The exceptions of this tree.
[[nodiscard]] const std::vector<AllowedWord>& namedPapers();

}  // namespace vitrine::structure
