#include "plugins/datasets/text/continuations.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/config/item_card.h"

namespace vitrine::text {

namespace {

constexpr std::uint32_t kSentenceLanes = 32;  // that a generated sentence may take
constexpr std::size_t kLeastWords = 8, kMostWords = 40;

bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  bool isInWord = false;
  for (const char c : text) {
    if (isSpace(c)) {
      isInWord = false;
      continue;
    }
    if (!isInWord) words.emplace_back();
    isInWord = true;
    words.back() += c;
  }
  return words;
}

/// "the old sailor carried a heavy basket to the harbour because the wind was strong"
std::string generatedSentence(const RandomStream& stream, std::int64_t id) {
  constexpr std::array who = {"sailor", "farmer", "teacher", "painter", "child",
                              "doctor", "baker",  "singer",  "soldier", "gardener"};
  constexpr std::array how = {"old", "young", "tall", "quiet", "clever", "tired", "kind", "proud"};
  constexpr std::array did = {"carried", "sold", "found", "repaired", "painted", "lost", "brought"};
  constexpr std::array what = {"basket", "lamp",  "boat",  "letter",
                               "clock",  "chair", "flute", "map"};
  constexpr std::array kind = {"heavy", "small", "broken", "golden", "wooden", "strange", "blue"};
  constexpr std::array where = {"to the harbour",  "in the garden",    "near the bridge",
                                "at the market",   "behind the house", "on the hill",
                                "beside the river"};
  constexpr std::array link = {"because", "while", "before", "after", "although"};
  constexpr std::array thing = {"wind", "sun", "rain", "road", "evening", "music", "water"};
  constexpr std::array state = {"strong", "warm", "long", "dark", "cold", "calm", "bright"};
  std::uint32_t lane = 0;
  const auto pick = [&](const auto& words) {
    return std::string(
        words[stream.below(words.size(), 0, static_cast<std::uint64_t>(id), lane++)]);
  };
  std::string text = "the " + pick(how) + " ";
  text += pick(who) + " ";
  text += pick(did) + " a ";
  text += pick(kind) + " ";
  text += pick(what) + " ";
  text += pick(where) + " ";
  text += pick(link) + " the ";
  text += pick(thing) + " was ";
  return text + pick(state);
}

class Continuations final : public Dataset {
 public:
  /// \param folder  of texts; "": sentences of the grammar, as many as `sizes` say
  Continuations(const std::filesystem::path& folder, std::uint64_t seed,
                std::array<std::int64_t, 3> sizes)
      : isGenerated_(folder.empty()), sizes_(sizes) {
    for (const Split split : {Split::Train, Split::Validation, Split::Test})
      streams_.emplace_back(seed, "text_continuations/1/" + toString(split));
    info_.fields = {
        {"context", FieldKind::Text, at::kByte, {}, "first half of a sentence"},
        {"choices", FieldKind::Text, at::kByte, {-1}, "4: the other half, three times shuffled"},
        {"label", FieldKind::Label, at::kLong, {}, "index of the half as it was written"}};
    if (!isGenerated_) readTexts(folder);
  }

  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override {
    return sizes_[static_cast<std::size_t>(split)];
  }
  void read(Split split, std::int64_t id, Sample& sample) const override {
    requireSample(split, id);
    const auto at = static_cast<std::size_t>(split);
    const ChoiceQuestion question =
        *continuationQuestion(isGenerated_ ? generatedSentence(streams_[at], id)
                                           : sentences_[at][static_cast<std::size_t>(id)],
                              streams_[at], id, kSentenceLanes);
    sample["context"].resizeTexts(1)[0] = question.context;
    const auto choices = sample["choices"].resizeTexts(question.choices.size());
    std::copy(question.choices.begin(), question.choices.end(), choices.begin());
    sample["label"].resize<std::int64_t>({})[0] = question.answer;
  }
  [[nodiscard]] double memoryBytes() const override {
    double bytes = 0;
    for (const auto& part : sentences_) {
      for (const std::string& sentence : part)
        bytes += static_cast<double>(sizeof(sentence) + sentence.size());
    }
    return bytes;
  }

 private:
  void readTexts(const std::filesystem::path& folder) {
    sizes_ = {};
    for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
      const std::filesystem::path file = folder / (toString(split) + ".txt");
      std::error_code ignored;  // a file that cannot be read is not there
      if (!std::filesystem::exists(file, ignored)) continue;
      const auto at = static_cast<std::size_t>(split);
      for (std::string& sentence : sentencesOf(readCorpus(file))) {
        if (continuationQuestion(sentence, streams_[at], 0))
          sentences_[at].push_back(std::move(sentence));
      }
      sizes_[at] = std::ssize(sentences_[at]);
    }
    if (sizes_ != std::array<std::int64_t, 3>{}) return;
    throw FileError(
        folder.string() +
        " has no sentence of 8 to 40 words in train.txt, validation.txt or test.txt; set "
        "data.folder to a folder with such a text");
  }

  bool isGenerated_;
  std::array<std::int64_t, 3> sizes_;
  std::vector<RandomStream> streams_;                    // by Split
  std::array<std::vector<std::string>, 3> sentences_{};  // by Split; of texts
  DatasetInfo info_;
};

}  // namespace

std::vector<std::string> sentencesOf(std::string_view text) {
  std::vector<std::string> sentences;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(".!?", begin), text.size());
    const std::vector<std::string> words = wordsOf(text.substr(begin, end - begin));
    if (words.size() >= kLeastWords && words.size() <= kMostWords)
      sentences.push_back(joined(words, " "));
    begin = end + 1;
  }
  return sentences;
}

std::optional<ChoiceQuestion> continuationQuestion(const std::string& sentence,
                                                   const RandomStream& stream, std::int64_t id,
                                                   std::uint32_t lane) {
  const std::vector<std::string> words = wordsOf(sentence);
  const std::size_t half = words.size() / 2;
  std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(half), words.end());
  // Three different words have six orders: enough for one real and three others.
  if (std::set<std::string>(rest.begin(), rest.end()).size() < 3) return std::nullopt;
  const auto below = [&](std::size_t bound) {
    return static_cast<std::size_t>(stream.below(bound, 0, static_cast<std::uint64_t>(id), lane++));
  };
  ChoiceQuestion question{.context = joined(std::span(words).first(half), " "),
                          .choices = {joined(rest, " ")}};
  while (question.choices.size() < kContinuations) {
    for (std::size_t i = rest.size(); i > 1; --i) std::swap(rest[i - 1], rest[below(i)]);
    const std::string shuffled = joined(rest, " ");
    if (std::find(question.choices.begin(), question.choices.end(), shuffled) ==
        question.choices.end())
      question.choices.push_back(shuffled);
  }
  const std::size_t answer = below(kContinuations);
  std::swap(question.choices[0], question.choices[answer]);
  question.answer = static_cast<std::int64_t>(answer);
  return question;
}

ItemCard ContinuationsSource::card() const {
  ItemCard card = itemCard(ItemKind::Dataset, "text_continuations", "Continued sentences",
                           "The second half of a sentence among three shuffles of its words");
  card.offers = {"context", "choices", "label"};
  const auto count = [](const char* name, std::int64_t value, const char* title) {
    return integerField(name, value, "sentences of the grammar; not used with a folder")
        .titled(title)
        .range(0, 100'000'000);
  };
  card.schema.fields = runOnly(
      {textField("folder", nullptr,
                 "folder with train.txt, validation.txt or test.txt, whose sentences of 8 to 40 "
                 "words are asked; none: sentences of a small grammar")
           .titled("Folder")
           .orNone(),
       count("train_size", 20'000, "Training samples made"),
       count("validation_size", 1'000, "Validation samples made"),
       count("test_size", 2'000, "Test samples made"),
       integerField("seed", 0, "seed of sentences and orders").titled("Seed of the set").atLeast(0),
       integerField("version", 1, "of the generator: what it draws does not change within one")
           .titled("Version of the set")
           .range(1, 1)});
  return card;
}

std::shared_ptr<const Dataset> ContinuationsSource::open(const Config& config) const {
  return std::make_shared<Continuations>(
      config.has("folder") ? std::filesystem::path(config.text("folder")) : "",
      static_cast<std::uint64_t>(config.integer("seed")),
      std::array{config.integer("train_size"), config.integer("validation_size"),
                 config.integer("test_size")});
}

}  // namespace vitrine::text
