#include "core/files/sample_lists.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"

namespace vitrine {

namespace {

constexpr std::size_t kMostTexts = 64;

[[noreturn]] void refuseLine(const std::filesystem::path& file, std::size_t line,
                             const std::string& why) {
  throw FileError(file.string() + ", line " + formatCount(line) + ": " + why);
}

/// Calls `take(line, number)` for each line that is not empty.
template <class Take>
void eachLine(const std::filesystem::path& file, const SampleListLimits& limits, const Take& take) {
  const std::string text = readCorpus(file, limits);
  std::size_t number = 0, entries = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.size() > limits.line)
      refuseLine(file, number, "is longer than " + formatBytes(limits.line));
    if (++entries > limits.entries) {
      refuseLine(file, number,
                 "is more than the " + formatCount(limits.entries) +
                     " entries that a list may have");
    }
    take(line, number);
  }
  if (entries == 0) throw FileError(file.string() + " has no entries");
}

/// The object of one line with no other keys than `keys`.
Json objectOf(std::string_view line, std::initializer_list<std::string_view> keys,
              const std::filesystem::path& file, std::size_t number) {
  Json object = readJson(line);
  if (!object.is_object()) refuseLine(file, number, "is not a JSON object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    refuseLine(file, number, "has the unknown key '" + shorten(cleanUtf8(key), 60) + "'");
  }
  return object;
}

std::string textOf(const Json& object, const char* key, const std::filesystem::path& file,
                   std::size_t number) {
  if (!object.contains(key) || !object.at(key).is_string())
    refuseLine(file, number, std::string("needs a text '") + key + "'");
  return object.at(key).get<std::string>();
}

std::vector<std::string> textsOf(const Json& object, const char* key, std::size_t least,
                                 const std::filesystem::path& file, std::size_t number) {
  const bool isList = object.contains(key) && object.at(key).is_array();
  const std::size_t count = isList ? object.at(key).size() : 0;
  if (count < least || count > kMostTexts) {
    refuseLine(file, number,
               std::string("needs a list '") + key + "' of " + std::to_string(least) + " to " +
                   std::to_string(kMostTexts) + " texts");
  }
  std::vector<std::string> texts;
  for (const Json& text : object.at(key)) {
    if (!text.is_string())
      refuseLine(file, number, std::string("has something else than a text in '") + key + "'");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::string whyNotBelow(std::string_view path) {
  if (path.empty()) return "has no path";
  if (path.front() == '/' || path.find('\\') != std::string_view::npos)
    return "'" + shorten(path, 80) + "' is not a path below the data set's folder, with '/'";
  const bool isPlain = std::none_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!isPlain) return "has a path with a control character";
  for (const std::string& part : split(path, '/')) {
    if (part.empty() || part == "." || part == "..")
      return "'" + shorten(path, 80) + "' must not contain '" + part + "' between slashes";
  }
  return "";
}

std::string readCorpus(const std::filesystem::path& file, const SampleListLimits& limits) {
  std::string text = readTextFile(file, limits.bytes);
  if (const std::string why = whyNotUtf8(text); !why.empty())
    throw FileError(file.string() + " is not UTF-8: " + why);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // not part of the first entry
  return text;
}

std::vector<ListedPath> readSplitList(const std::filesystem::path& file,
                                      const SampleListLimits& limits) {
  std::vector<ListedPath> entries;
  eachLine(file, limits, [&](std::string_view line, std::size_t number) {
    const std::size_t tab = line.find('\t');
    ListedPath entry{.path = std::string(line.substr(0, tab))};
    if (tab != std::string_view::npos) entry.className = line.substr(tab + 1);
    const bool isClassed = tab == std::string_view::npos ||
                           (!entry.className.empty() && entry.className.size() <= 128 &&
                            entry.className.find('\t') == std::string::npos);
    if (!isClassed) refuseLine(file, number, "needs a class of 1 to 128 bytes behind the tab");
    if (const std::string why = whyNotBelow(entry.path); !why.empty())
      refuseLine(file, number, why);
    if (entry.className.empty() && entry.path.find('/') == std::string::npos)
      refuseLine(file, number, "needs a class: 'class/image', or a tab and the class");
    entries.push_back(std::move(entry));
  });
  return entries;
}

std::vector<CaptionedPath> readCaptions(const std::filesystem::path& file,
                                        const SampleListLimits& limits) {
  std::vector<CaptionedPath> entries;
  eachLine(file, limits, [&](std::string_view line, std::size_t number) {
    const Json object = objectOf(line, {"image", "caption", "captions"}, file, number);
    CaptionedPath entry{.path = textOf(object, "image", file, number)};
    if (const std::string why = whyNotBelow(entry.path); !why.empty())
      refuseLine(file, number, why);
    if (object.contains("caption") == object.contains("captions"))
      refuseLine(file, number, "needs either 'caption' or 'captions'");
    if (object.contains("caption")) {
      entry.captions = {textOf(object, "caption", file, number)};
    } else {
      entry.captions = textsOf(object, "captions", 1, file, number);
    }
    entries.push_back(std::move(entry));
  });
  return entries;
}

std::vector<ChoiceQuestion> readChoices(const std::filesystem::path& file,
                                        const SampleListLimits& limits) {
  std::vector<ChoiceQuestion> entries;
  eachLine(file, limits, [&](std::string_view line, std::size_t number) {
    const Json object = objectOf(line, {"context", "choices", "answer"}, file, number);
    ChoiceQuestion entry{.context = textOf(object, "context", file, number),
                         .choices = textsOf(object, "choices", 2, file, number)};
    const auto count = static_cast<std::int64_t>(entry.choices.size());
    const Json answer = object.contains("answer") ? object.at("answer") : Json();
    const bool isIndex = answer.is_number_integer() && answer >= 0 && answer < count;
    if (!isIndex) {
      refuseLine(file, number,
                 "needs an 'answer' from 0 to " + std::to_string(count - 1) +
                     ", the index of the right choice");
    }
    entry.answer = answer.get<std::int64_t>();
    entries.push_back(std::move(entry));
  });
  return entries;
}

std::vector<TextRange> divideText(std::string_view text, Documents by) {
  std::vector<TextRange> ranges;
  const auto add = [&](std::size_t begin, std::size_t end) {
    while (begin < end && isSpace(text[begin])) ++begin;
    while (end > begin && isSpace(text[end - 1])) --end;
    if (begin < end) ranges.push_back({begin, end});
  };
  if (by == Documents::File) {
    add(0, text.size());
    return ranges;
  }
  std::size_t start = 0;  // of the document in work
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const bool isEmpty = std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                     text.begin() + static_cast<std::ptrdiff_t>(end), isSpace);
    if (by == Documents::Line || isEmpty) {
      add(start, end);
      start = end;
    }
    begin = end + 1;
  }
  add(start, text.size());
  return ranges;
}

}  // namespace vitrine
