#include "plugins/datasets/text/sequences.h"

#include <algorithm>

#include "core/config/item_card.h"

namespace vitrine::text {

namespace {

constexpr std::int64_t kFiller = 0, kMark = 1, kFirst = 2;  // tokens
// Of listops: digits 2 to 11, then the operators with their opening bracket, then the closing one.
constexpr std::int64_t kOperators = 4, kMaximum = 12, kClose = 16;

constexpr std::array<std::pair<const char*, SequenceKind>, 7> kKinds = {
    {{"copy", SequenceKind::Copy},
     {"reverse", SequenceKind::Reverse},
     {"recall", SequenceKind::Recall},
     {"induction", SequenceKind::Induction},
     {"listops", SequenceKind::Listops},
     {"dyck", SequenceKind::Dyck},
     {"sums", SequenceKind::Sums}}};

/// Writes tokens one after another into a row of `length`.
class Row {
 public:
  Row(std::span<std::int64_t> tokens, std::span<std::int64_t> targets)
      : tokens_(tokens), targets_(targets) {
    std::fill(tokens_.begin(), tokens_.end(), kFiller);
    std::fill(targets_.begin(), targets_.end(), kNoTarget);
  }
  void add(std::int64_t token) { tokens_[count_++] = token; }
  /// The last token written determines the next one. It need not have a place any more.
  void expect(std::int64_t token) { targets_[count_ - 1] = token; }
  [[nodiscard]] std::int64_t room() const { return std::ssize(tokens_) - count(); }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(count_); }
  [[nodiscard]] std::int64_t at(std::int64_t i) const {
    return tokens_[static_cast<std::size_t>(i)];
  }

 private:
  std::span<std::int64_t> tokens_, targets_;
  std::size_t count_ = 0;
};

void drawCopy(const SequenceRules& rules, bool isReversed, SampleNumbers& numbers, Row& row) {
  const std::int64_t count = rules.length / 2;
  for (std::int64_t i = 0; i < count; ++i) row.add(kFirst + numbers.below(rules.symbols));
  row.add(kMark);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t next = row.at(isReversed ? count - 1 - i : i);
    row.expect(next);
    if (row.room() > 0) row.add(next);
  }
}

/// Keys are the first half of the symbols, values the second.
void drawRecall(const SequenceRules& rules, SampleNumbers& numbers, Row& row) {
  const std::int64_t half = rules.symbols / 2;
  const std::int64_t pairs = std::min(half, (rules.length - 1) / 4);
  std::vector<std::int64_t> keys(static_cast<std::size_t>(half));
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = keys.size(); i > 1; --i)
    std::swap(keys[i - 1],
              keys[static_cast<std::size_t>(numbers.below(static_cast<std::int64_t>(i)))]);
  for (std::int64_t i = 0; i < pairs; ++i) {
    row.add(kFirst + keys[static_cast<std::size_t>(i)]);
    row.add(kFirst + half + numbers.below(half));
  }
  row.add(kMark);
  while (row.room() > 0) {
    const std::int64_t asked = numbers.below(pairs);
    row.add(row.at(2 * asked));
    row.expect(row.at(2 * asked + 1));
    if (row.room() > 0) row.add(row.at(2 * asked + 1));
  }
}

void drawInduction(const SequenceRules& rules, SampleNumbers& numbers, Row& row) {
  const std::int64_t place = numbers.below(rules.length - 2);
  while (row.room() > 1)
    row.add(row.count() == place ? kMark : kFirst + numbers.below(rules.symbols));
  row.add(kMark);
  row.expect(row.at(place + 1));
}

void drawSums(const SequenceRules& rules, SampleNumbers& numbers, Row& row) {
  std::int64_t sum = 0;
  while (row.room() > 1) {
    const std::int64_t term = numbers.below(rules.symbols);
    row.add(kFirst + term);
    sum = (sum + term) % rules.symbols;
  }
  row.add(kMark);
  row.expect(kFirst + sum);
}

/// Opening brackets are even offsets from kFirst, each one's closing bracket follows it.
void drawDyck(const SequenceRules& rules, SampleNumbers& numbers, Row& row) {
  struct Open {
    std::int64_t kind, place;
  };
  std::vector<Open> open;
  constexpr std::int64_t kLeastDistance = 4;
  while (row.room() > 0) {
    const bool mustOpen = open.empty();
    if (!mustOpen && numbers.below(2) == 0) {
      const std::int64_t closing = kFirst + 2 * open.back().kind + 1;
      if (row.count() - open.back().place >= kLeastDistance) row.expect(closing);
      row.add(closing);
      open.pop_back();
    } else {
      open.push_back({numbers.below(rules.symbols / 2), row.count()});
      row.add(kFirst + 2 * open.back().kind);
    }
  }
}

std::int64_t valueOf(std::int64_t operation, std::vector<std::int64_t>& terms) {
  std::sort(terms.begin(), terms.end());
  if (operation == 0) return terms.back();
  if (operation == 1) return terms.front();
  if (operation == 2) return terms[(terms.size() - 1) / 2];
  std::int64_t sum = 0;
  for (const std::int64_t term : terms) sum += term;
  return sum % 10;
}

/// An expression of at most `room` tokens, 4 or more. \returns  its value
std::int64_t drawExpression(std::int64_t room, int depth, SampleNumbers& numbers, Row& row) {
  const std::int64_t operation = numbers.below(kOperators);
  row.add(kMaximum + operation);
  room -= 2;  // the operator and the closing bracket
  std::vector<std::int64_t> terms;
  const std::int64_t wanted = 2 + numbers.below(4);
  for (std::int64_t i = 0; i < wanted && room > 0; ++i) {
    const std::int64_t share = room - std::max<std::int64_t>(0, 1 - i);  // the next needs a place
    if (share >= 4 && depth < 10 && numbers.below(3) > 0) {
      const std::int64_t before = row.count();
      terms.push_back(drawExpression(std::max<std::int64_t>(4, share * (1 + numbers.below(3)) / 4),
                                     depth + 1, numbers, row));
      room -= row.count() - before;
    } else {
      terms.push_back(numbers.below(10));
      row.add(kFirst + terms.back());
      --room;
    }
  }
  row.add(kClose);
  return valueOf(operation, terms);
}

class Sequences final : public Dataset {
 public:
  Sequences(const SequenceRules& rules, std::uint64_t seed, std::array<std::int64_t, 3> sizes)
      : rules_(rules),
        sizes_(sizes),
        streams_{RandomStream(seed, "sequences/1/train"),
                 RandomStream(seed, "sequences/1/validation"),
                 RandomStream(seed, "sequences/1/test")} {
    info_.fields = {{"tokens",
                     FieldKind::Tokens,
                     at::kLong,
                     {rules.length},
                     "0 to " + std::to_string(rules.vocabulary() - 1) + "; 0 fills the end"},
                    {"targets",
                     FieldKind::Tokens,
                     at::kLong,
                     {rules.length},
                     "the token that must follow; -1 where that is open"}};
  }
  [[nodiscard]] const DatasetInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::int64_t size(Split split) const override {
    return sizes_[static_cast<std::size_t>(split)];
  }
  void read(Split split, std::int64_t id, Sample& sample) const override {
    requireSample(split, id);
    SampleNumbers numbers(streams_[static_cast<std::size_t>(split)], id);
    const auto tokens = sample["tokens"].resize<std::int64_t>({rules_.length});
    const auto targets = sample["targets"].resize<std::int64_t>({rules_.length});
    drawSequence(rules_, numbers, tokens, targets);
  }

 private:
  SequenceRules rules_;
  std::array<std::int64_t, 3> sizes_;
  std::array<RandomStream, 3> streams_;  // by Split
  DatasetInfo info_;
};

}  // namespace

std::int64_t SequenceRules::vocabulary() const noexcept {
  return kind == SequenceKind::Listops ? kClose + 1 : kFirst + symbols;
}

void drawSequence(const SequenceRules& rules, SampleNumbers& numbers,
                  std::span<std::int64_t> tokens, std::span<std::int64_t> targets) {
  Row row(tokens, targets);
  switch (rules.kind) {
    case SequenceKind::Copy:
    case SequenceKind::Reverse:
      return drawCopy(rules, rules.kind == SequenceKind::Reverse, numbers, row);
    case SequenceKind::Recall:
      return drawRecall(rules, numbers, row);
    case SequenceKind::Induction:
      return drawInduction(rules, numbers, row);
    case SequenceKind::Dyck:
      return drawDyck(rules, numbers, row);
    case SequenceKind::Sums:
      return drawSums(rules, numbers, row);
    case SequenceKind::Listops: {
      const std::int64_t value = drawExpression(rules.length - 1, 0, numbers, row);
      row.add(kMark);
      row.expect(kFirst + value);
    }
  }
}

ItemCard SequencesSource::card() const {
  ItemCard card =
      itemCard(ItemKind::Dataset, "sequences", "Sequences",
               "Copying, recall, nested lists and brackets, sums: tokens with exact targets");
  card.offers = {"tokens", "targets"};
  std::vector<std::string> names;
  for (const auto& [name, kind] : kKinds) names.emplace_back(name);
  Field kind = choiceField("kind", "copy", names, "task of a sequence").titled("Kind");
  kind.withChoiceDocs({"the symbols again", "the symbols backwards",
                       "the value that came with a key",
                       "the token that followed the mark the first time",
                       "the value of nested MAX, MIN, MED and SM of digits",
                       "the bracket that closes, 4 or more tokens after it opened",
                       "the sum of all terms modulo `symbols`"});
  const auto count = [](const char* name, std::int64_t value, const char* title) {
    return integerField(name, value, "samples of the split")
        .titled(title)
        .range(value > 5000 ? 1 : 0, 100'000'000);
  };
  card.schema.fields = runOnly(
      {kind,
       integerField("length", 64, "of a row").titled("Length").range(16, 16'384).withUnit("tokens"),
       integerField("symbols", 16, "that differ; listops has its own")
           .titled("Symbols")
           .range(4, 4096),
       count("train_size", 20'000, "Training samples made"),
       count("validation_size", 1'000, "Validation samples made"),
       count("test_size", 2'000, "Test samples made"),
       integerField("seed", 0, "seed of the set").titled("Seed of the set").atLeast(0),
       integerField("version", 1,
                    "of the generator: what it draws does not change "
                    "within one")
           .titled("Version of the set")
           .range(1, 1)});
  return card;
}

std::shared_ptr<const Dataset> SequencesSource::open(const Config& config) const {
  SequenceRules rules;
  for (const auto& [name, kind] : kKinds) {
    if (config.text("kind") == name) rules.kind = kind;
  }
  rules.length = config.integer("length");
  rules.symbols = config.integer("symbols");
  return std::make_shared<Sequences>(
      rules, static_cast<std::uint64_t>(config.integer("seed")),
      std::array{config.integer("train_size"), config.integer("validation_size"),
                 config.integer("test_size")});
}

}  // namespace vitrine::text
