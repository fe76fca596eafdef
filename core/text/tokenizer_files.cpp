// Vocabulary files of other programs: tokenizer.json, lines of base64 and rank, SentencePiece
// models.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/text/bpe_tokenizer.h"
#include "core/text/sentence_pieces.h"
#include "core/text/unicode.h"
#include "core/text/word_split.h"

namespace vitrine::text {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 256ULL << 20U;
constexpr std::int64_t kMostSpare = 65536;  ///< numbers above that of the tokens

std::string contentOf(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    throw NotFoundError("there is no tokenizer file " + file.string() +
                        "; give a tokenizer.json, a tokenizer.model, or \"bytes\"");
  }
  if (fs::file_size(file) > kLargestFile) {
    throw FileError(file.string() + " is larger than " +
                    formatBytes(kLargestFile) + ", the most that a tokenizer file may have");
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream || stream.bad()) throw FileError("cannot read " + file.string());
  return std::move(content).str();
}

/// Bytes by the printable character that stands for each in byte-level vocabularies: printable
/// Latin-1 for itself, the other bytes by U+0100 and what follows.
std::unordered_map<char32_t, char> byteCharacters() {
  std::unordered_map<char32_t, char> bytes;
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool isPrintable =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    bytes[isPrintable ? static_cast<char32_t>(byte) : next++] = static_cast<char>(byte);
  }
  return bytes;
}

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw FileError(file.string() + ": " + what);
}

const Json& member(const Json& of, const char* name) {
  static const Json none;
  return of.is_object() && of.contains(name) ? of.at(name) : none;
}

std::string typeOf(const Json& part) {
  const Json& type = member(part, "type");
  return type.is_string() ? type.get<std::string>() : part.is_null() ? "none" : "unknown";
}

/// The parts of a Sequence, or the part itself.
std::vector<Json> partsOf(const Json& part, const char* list) {
  if (part.is_null()) return {};
  if (typeOf(part) != "Sequence") return {part};
  return member(part, list).get<std::vector<Json>>();
}

/// What each token's text is in bytes.
using Spelling = std::function<std::string(const std::string&)>;

void readSpecials(const Json& root, Vocabulary& vocabulary) {
  for (const Json& added : member(root, "added_tokens")) {
    vocabulary.specials.emplace_back(added.at("content").get<std::string>(),
                                     added.at("id").get<std::int64_t>());
  }
  for (const Json& processor : partsOf(member(root, "post_processor"), "processors")) {
    if (typeOf(processor) != "TemplateProcessing" || processor.at("single").empty()) continue;
    const Json& first = processor.at("single").front();
    if (first.contains("SpecialToken"))
      vocabulary.begin = first.at("SpecialToken").at("id").get<std::string>();
  }
  for (const auto& [name, token] : vocabulary.specials) {
    for (const char* known : {"<|end_of_text|>", "</s>", "<|endoftext|>", "<eos>"}) {
      if (name == known) vocabulary.end = name;
    }
    for (const char* known : {"<|begin_of_text|>", "<s>", "<bos>"}) {
      if (name == known && vocabulary.begin.empty()) vocabulary.begin = name;
    }
  }
}

/// \throws FileError, Json::exception
Vocabulary readVocabulary(const fs::path& file, const Json& root, const Spelling& spell) {
  const Json& model = root.at("model");
  Vocabulary vocabulary;
  const Json& tokens = model.at("vocab");
  const auto size = static_cast<std::int64_t>(tokens.size());
  std::int64_t last = -1;
  for (const auto& [text, token] : tokens.items()) last = std::max(last, token.get<std::int64_t>());
  if (last >= size + kMostSpare) refuse(file, "the vocabulary has far larger numbers than tokens");
  vocabulary.bytes.resize(static_cast<std::size_t>(last + 1));
  std::unordered_map<std::string, std::int64_t> byText;
  for (const auto& [text, token] : tokens.items()) {
    const auto id = token.get<std::int64_t>();
    if (id < 0) refuse(file, "token '" + text + "' has the number " + std::to_string(id));
    std::string bytes = spell(text);
    vocabulary.tokenOf.emplace(bytes, id);
    vocabulary.bytes[static_cast<std::size_t>(id)] = std::move(bytes);
    byText.emplace(text, id);
  }
  const auto idOf = [&](const std::string& text) {
    const auto found = byText.find(text);
    if (found == byText.end()) refuse(file, "a merge names '" + text + "', which is not a token");
    return found->second;
  };
  std::int64_t rank = 0;
  for (const Json& merge : model.at("merges")) {
    std::string left, right;
    if (merge.is_string()) {
      const std::string pair = merge.get<std::string>();
      const std::size_t space = pair.find(' ');
      if (space == std::string::npos) refuse(file, "the merge '" + pair + "' is not a pair");
      left = pair.substr(0, space);
      right = pair.substr(space + 1);
    } else {
      left = merge.at(0).get<std::string>();
      right = merge.at(1).get<std::string>();
    }
    vocabulary.merges.emplace(pairKey(idOf(left), idOf(right)), Merge{rank++, idOf(left + right)});
  }
  const Json& ignores = member(model, "ignore_merges");
  vocabulary.ignoresMerges = ignores.is_boolean() && ignores.get<bool>();
  readSpecials(root, vocabulary);
  for (const auto& [name, token] : vocabulary.specials) {
    if (token < 0 || token >= size + kMostSpare)
      refuse(file, "the special token '" + name + "' has the number " + std::to_string(token) +
                       ", and there are " + std::to_string(size) + " tokens");
  }
  return vocabulary;
}

bool isByteLevel(const fs::path& file, const Json& root) {
  bool isFound = false, isCut = false;
  for (const Json& part : partsOf(member(root, "pre_tokenizer"), "pretokenizers")) {
    if (typeOf(part) == "ByteLevel") {
      isFound = true;
      if (part.value("use_regex", true) || part.value("add_prefix_space", true)) {
        refuse(file,
               "the ByteLevel part cuts words or adds a space by itself, which is not offered");
      }
    } else if (typeOf(part) == "Split") {
      const Json& pattern = member(part.at("pattern"), "Regex");
      if (!pattern.is_string() || pattern.get<std::string>() != kWordPattern)
        refuse(file, "it cuts words by a pattern that is not offered: " + pattern.dump());
      isCut = true;
    } else {
      refuse(file, "the pre-tokenizer '" + typeOf(part) +
                       "' is not offered; Split with ByteLevel is, or none");
    }
  }
  if (isFound != isCut)
    refuse(file, "one of the pre-tokenizers Split and ByteLevel without the other is not offered");
  return isFound;
}

/// Of a vocabulary of characters: spaces become U+2581, and one stands before the text.
void requireSpaceMarks(const fs::path& file, const Json& root) {
  std::string parts;
  for (const Json& part : partsOf(member(root, "normalizer"), "normalizers"))
    parts += typeOf(part) + " ";
  if (parts != "Prepend Replace ") {
    refuse(file,
           "the normalizer '" + parts + "' is not offered; Prepend and Replace of U+2581 are");
  }
}

std::shared_ptr<const Tokenizer> readJsonTokenizer(const fs::path& file) {
  const Json root = readJson(contentOf(file));
  if (!root.is_object()) refuse(file, "it is not JSON");
  try {
    if (typeOf(root.at("model")) != "BPE")
      refuse(file, "a tokenizer of type '" + typeOf(root.at("model")) + "' is not offered; BPE is");
    if (isByteLevel(file, root)) {
      if (!member(root, "normalizer").is_null())
        refuse(file, "a byte-level tokenizer with a normalizer is not offered");
      const auto spelling = [bytes = byteCharacters()](const std::string& text) {
        std::string spelled;
        for (const CodePoint& point : codePoints(text, "a token")) {
          const auto byte = bytes.find(point.value);
          if (byte == bytes.end()) return text;  // a special token in the list of the others
          spelled.push_back(byte->second);
        }
        return spelled;
      };
      return std::make_shared<ByteLevelTokenizer>(readVocabulary(file, root, spelling),
                                                  file.string());
    }
    requireSpaceMarks(file, root);
    return std::make_shared<CharacterTokenizer>(
        readVocabulary(file, root, [](const std::string& text) { return text; }), file.string());
  } catch (const Json::exception& error) {
    refuse(file, std::string("it is not laid out as a tokenizer: ") + error.what());
  }
}

/// \throws FileError
std::string fromBase64(std::string_view text, const std::string& where) {
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char letter : text.substr(0, text.find('='))) {
    const unsigned value =
        letter >= 'A' && letter <= 'Z'   ? static_cast<unsigned>(letter - 'A')
        : letter >= 'a' && letter <= 'z' ? static_cast<unsigned>(letter - 'a' + 26)
        : letter >= '0' && letter <= '9' ? static_cast<unsigned>(letter - '0' + 52)
        : letter == '+'                  ? 62U
        : letter == '/'                  ? 63U
                                         : 64U;
    if (value > 63) throw FileError(where + " has the character '" + letter + "' in base64");
    bits = (bits << 6U) | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>((bits >> count) & 0xFFU));
    }
  }
  return bytes;
}

/// Not lines of text: the first field of a SentencePiece model, and its length.
bool isProtobuf(std::string_view content) {
  const auto isControl = [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 && letter != '\n' && letter != '\r';
  };
  return content.starts_with('\n') &&
         std::any_of(content.begin(),
                     content.begin() + std::min<std::ptrdiff_t>(256, std::ssize(content)),
                     isControl);
}

/// The 256 special tokens of public files in lines of base64 and rank.
std::vector<std::string> publicSpecials() {
  const auto reserved = [](int i) {
    return "<|reserved_special_token_" + std::to_string(i) + "|>";
  };
  std::vector<std::string> names{"<|begin_of_text|>", "<|end_of_text|>"};
  for (int i = 0; i < 4; ++i) names.push_back(reserved(i));
  names.insert(names.end(),
               {"<|start_header_id|>", "<|end_header_id|>", reserved(4), "<|eot_id|>"});
  for (int i = 5; i <= 250; ++i) names.push_back(reserved(i));
  return names;
}

}  // namespace

std::shared_ptr<const Tokenizer> readRankedTokenizer(const fs::path& file,
                                                     const std::vector<std::string>& specials) {
  const std::string content = contentOf(file);
  Vocabulary vocabulary;
  std::int64_t number = 0;
  for (const std::string& line : split(content, '\n')) {
    const std::string where = file.string() + " line " + std::to_string(++number);
    if (line.empty() || line == "\r") continue;
    const std::size_t space = line.find(' ');
    std::int64_t rank = -1;
    if (space != std::string::npos) {
      const char* end = line.data() + line.size();
      (void)std::from_chars(line.data() + space + 1, end, rank);
    }
    if (rank != std::ssize(vocabulary.bytes)) {
      throw FileError(where + " is not base64 and the rank " +
                      std::to_string(vocabulary.bytes.size()) +
                      "; a tokenizer.model is such lines, or a SentencePiece model");
    }
    vocabulary.bytes.push_back(fromBase64(std::string_view(line).substr(0, space), where));
    vocabulary.tokenOf.emplace(vocabulary.bytes.back(), rank);
  }
  for (const std::string& name : specials) {
    vocabulary.specials.emplace_back(
        name, std::ssize(vocabulary.bytes) + std::ssize(vocabulary.specials));
  }
  vocabulary.begin = "<|begin_of_text|>";
  vocabulary.end = "<|end_of_text|>";
  vocabulary.ignoresMerges = true;  // as the programs that write such files do
  return std::make_shared<ByteLevelTokenizer>(std::move(vocabulary), file.string());
}

std::shared_ptr<const Tokenizer> openTokenizer(const std::string& name,
                                               const std::vector<std::string>& words) {
  if (name == "bytes") return std::make_shared<ByteTokenizer>(words);
  if (!words.empty()) {
    throw ConfigError("the tokenizer " + name + " has the tokens of its file, and words are for " +
                      "\"bytes\" alone; leave words out");
  }
  const fs::path file = name;
  if (file.extension() == ".json") return readJsonTokenizer(file);
  if (const std::string content = contentOf(file); isProtobuf(content)) {
    return std::make_shared<CharacterTokenizer>(readSentencePieces(content, file.string()),
                                                file.string());
  }
  return readRankedTokenizer(file, publicSpecials());
}

}  // namespace vitrine::text
