// Lists of samples written by people: splits of a folder, captions, questions with choices,
// documents. Knows no images and no torch.
//
// All are UTF-8, one entry a line, LF or CR LF; empty lines are passed over. A path is below the
// data set's folder, with '/', and never leads out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

struct SampleListLimits {
  std::uint64_t bytes = std::uint64_t{2} << 30;  ///< of a file
  std::size_t line = std::size_t{1} << 20;       ///< bytes
  std::size_t entries = 10'000'000;
};

/// "" where `path` is a path below a folder, with '/'; else why not, for a message.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string whyNotBelow(std::string_view path);

/// One line of a split list: `path`, or `path TAB class`.
struct ListedPath {
  std::string path;
  std::string className;  ///< "": the first folder of the path
};
/// \throws FileError  not UTF-8, above a limit, a path that is not one: names file and line
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<ListedPath> readSplitList(
    const std::filesystem::path& file, const SampleListLimits& limits = {});

/// One line {"image": "a/1.png", "caption": "..."} or {"image": ..., "captions": ["...", ...]}.
struct CaptionedPath {
  std::string path;
  std::vector<std::string> captions;  ///< 1 to 64
};
/// \throws FileError  as readSplitList, or a line is not such an object
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<CaptionedPath> readCaptions(
    const std::filesystem::path& file, const SampleListLimits& limits = {});

/// One line {"context": "...", "choices": ["...", ...], "answer": 0}.
struct ChoiceQuestion {
  std::string context;
  std::vector<std::string> choices;  ///< 2 to 64
  std::int64_t answer = 0;           ///< index of the right one
};
/// \throws FileError  as readSplitList, or a line is not such an object
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<ChoiceQuestion> readChoices(
    const std::filesystem::path& file, const SampleListLimits& limits = {});

/// Unit of a document in a text file.
enum class Documents { File, Paragraph, Line };
/// The documents of a text as ranges of its bytes, none empty. Paragraphs lie between empty lines;
/// white space around a document is left out.
struct TextRange {
  std::size_t begin = 0, end = 0;  ///< bytes
};
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<TextRange> divideText(std::string_view text,
                                                                          Documents by);
/// A whole text file without a byte order mark. \throws FileError  not UTF-8, or larger than the
/// limit
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string readCorpus(const std::filesystem::path& file,
                                                               const SampleListLimits& limits = {});

}  // namespace vitrine
