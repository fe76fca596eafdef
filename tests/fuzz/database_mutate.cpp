#include "tests/fuzz/database_mutate.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace vitrine::fuzz {

namespace {

// Where what lies is SQLite's "Database File Format" (sqlite.org/fileformat2.html).

constexpr std::array<std::uint64_t, 18> kNumbers{
    0,      1,      2,      3,          7,          127,        128,        255,        256,
    0x3fff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 40, 1ull << 63, ~0ull};

/// What a column gets that it should never have, as SQL.
constexpr std::array<std::string_view, 51> kValues{
    "NULL",
    "''",
    "0",
    "1",
    "-1",
    "2",
    "1000",
    "1001",
    "-9223372036854775808",
    "9223372036854775807",
    "4294967296",
    "2147483648",
    "0.5",
    "-0.0",
    "1e308",
    "9e999",
    "-9e999",
    "x''",
    "x'00'",
    "x'ff'",
    "x'0001020304050607'",
    "zeroblob(24)",
    "replace(hex(zeroblob(30000)), '0', '[') || replace(hex(zeroblob(30000)), '0', ']')",
    "'{\"version\": 1, \"dtype\": \"float32\", \"shape\": [2000000000, 0, 0], \"axes\": []}'",
    "zeroblob(4096)",
    "zeroblob(70000)",
    "'x'",
    "'queued'",
    "'running'",
    "'pausing'",
    "'done'",
    "'evil'",
    "CAST(x'fffe00c3' AS TEXT)",
    "CAST(x'00' AS TEXT)",
    "'../../escaped'",
    "'/etc/passwd'",
    "'{}'",
    "'[]'",
    "'null'",
    "'{'",
    "'1e999'",
    "'{\"a\":\"\\ud800\"}'",
    "'{\"shape\":[-1,2],\"dtype\":\"float64\"}'",
    "'{\"shape\":[1000000000,1000000000,8],\"dtype\":\"float64\",\"version\":1}'",
    "'{\"shape\":[1.5],\"dtype\":7}'",
    "'{\"shape\":\"x\",\"layers\":{},\"image\":[]}'",
    "printf('%.*c', 5000, '[')",
    "printf('%.*c', 300, 'x')",
    "char(10) || 'x' || char(27) || '[2J'",
    "char(127)",
    "'train/' || char(10)"};

constexpr std::array<std::string_view, 14> kTokens{"TEXT", "BLOB", "REAL",  "NULL",  "view",
                                                   "VIEW", "run ", "meta",  "note",  "ANY,",
                                                   "WHEN", "CASE", "(((((", "SELECT"};

std::uint32_t be(const std::string& bytes, std::size_t at, int size) {
  std::uint32_t value = 0;
  for (int i = 0; i < size && at + static_cast<std::size_t>(i) < bytes.size(); ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) {
    const std::size_t where = at + static_cast<std::size_t>(i);
    if (where < bytes.size()) bytes[where] = static_cast<char>(value >> (8 * (size - 1 - i)));
  }
}

void append(std::string& bytes, std::uint64_t value, int size) {
  bytes.resize(bytes.size() + static_cast<std::size_t>(size));
  put(bytes, bytes.size() - static_cast<std::size_t>(size), value, size);
}

std::string varint(std::uint64_t value) {
  std::string out;
  if (value >> 56 != 0) {
    out.push_back(static_cast<char>(value));
    value >>= 8;
    for (int i = 0; i < 8; ++i, value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  } else {
    do {
      out.push_back(static_cast<char>(out.empty() ? value & 0x7f : value | 0x80));
      value >>= 7;
    } while (value != 0);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

/// Length of the varint at `at`.
std::size_t varintLength(const std::string& bytes, std::size_t at) {
  std::size_t length = 1;
  while (length < 9 && at + length < bytes.size() && (bytes[at + length - 1] & 0x80) != 0) ++length;
  return length;
}

std::uint64_t number(Dice& dice) {
  return dice.below(3) == 0 ? dice.next() >> dice.below(64) : kNumbers[dice.below(kNumbers.size())];
}

/// The pages of a file, and where their parts are.
class Pages {
 public:
  explicit Pages(std::string& bytes) : bytes_(bytes), size_(be(bytes, 16, 2)) {
    if (size_ == 1) size_ = 65536;
    if (size_ < 512 || (size_ & (size_ - 1)) != 0) size_ = 512;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t count() const { return bytes_.size() / size_; }
  [[nodiscard]] std::size_t any(Dice& dice) const { return count() == 0 ? 0 : dice.below(count()); }
  /// Where the header of b-tree page `page` (from 0) begins.
  [[nodiscard]] std::size_t header(std::size_t page) const {
    return page * size_ + (page == 0 ? 100 : 0);
  }
  /// Where a cell of some b-tree page begins; 0 where it has none.
  [[nodiscard]] std::size_t cell(std::size_t page, Dice& dice) const {
    const std::size_t at = header(page);
    const std::size_t cells = be(bytes_, at + 3, 2);
    if (cells == 0 || cells > size_ / 4) return 0;
    const bool isInterior = at < bytes_.size() && (bytes_[at] == 2 || bytes_[at] == 5);
    const std::size_t pointer = at + (isInterior ? 12 : 8) + 2 * dice.below(cells);
    const std::size_t where = page * size_ + be(bytes_, pointer, 2);
    return where < bytes_.size() ? where : 0;
  }

 private:
  std::string& bytes_;
  std::size_t size_;
};

void changeFileHeader(std::string& bytes, Dice& dice) {
  // Offset and size of each field.
  static constexpr std::array<std::pair<int, int>, 22> kFields{
      {{0, 4},  {16, 2}, {18, 1}, {19, 1}, {20, 1}, {21, 1}, {22, 1}, {23, 1},
       {24, 4}, {28, 4}, {32, 4}, {36, 4}, {40, 4}, {44, 4}, {48, 4}, {52, 4},
       {56, 4}, {60, 4}, {64, 4}, {68, 4}, {92, 4}, {96, 4}}};
  const auto [at, size] = kFields[dice.below(kFields.size())];
  put(bytes, static_cast<std::size_t>(at), number(dice), size);
}

void changePageHeader(std::string& bytes, Dice& dice) {
  static constexpr std::array<std::pair<int, int>, 6> kFields{
      {{0, 1}, {1, 2}, {3, 2}, {5, 2}, {7, 1}, {8, 4}}};
  static constexpr std::array<std::uint64_t, 6> kTypes{0, 1, 2, 5, 10, 13};
  const Pages pages(bytes);
  const std::size_t at = pages.header(pages.any(dice));
  const std::size_t field = dice.below(kFields.size());
  put(bytes, at + static_cast<std::size_t>(kFields[field].first),
      field == 0 ? kTypes[dice.below(kTypes.size())] : number(dice), kFields[field].second);
}

void changeCellPointer(std::string& bytes, Dice& dice) {
  const Pages pages(bytes);
  const std::size_t at = pages.header(pages.any(dice));
  const std::size_t cells = std::max<std::size_t>(1, be(bytes, at + 3, 2) % 512);
  const std::size_t first = at + 8 + 2 * dice.below(cells), second = at + 8 + 2 * dice.below(cells);
  if (dice.below(2) == 0) {
    const std::uint32_t one = be(bytes, first, 2), other = be(bytes, second, 2);
    put(bytes, first, other, 2);
    put(bytes, second, one, 2);
  } else {
    put(bytes, first, dice.below(pages.size() + 16), 2);
  }
}

/// Sizes, row ids, serial types and bytes of a record: all of them lie at the start of a cell.
void changeCell(std::string& bytes, Dice& dice) {
  const Pages pages(bytes);
  std::size_t at = pages.cell(pages.any(dice), dice);
  if (at == 0) return;
  for (std::size_t skip = dice.below(8); skip > 0; --skip) at += varintLength(bytes, at);
  if (at >= bytes.size()) return;
  switch (dice.below(4)) {
    case 0:
    case 1: {
      const std::string put = varint(number(dice));
      for (std::size_t i = 0; i < put.size() && at + i < bytes.size(); ++i) bytes[at + i] = put[i];
      break;
    }
    case 2:  // another serial type, of one byte
      bytes[at] = static_cast<char>(dice.below(32));
      break;
    default:
      put(bytes, at, number(dice), 4);  // a child or an overflow page
  }
}

void changeFreeList(std::string& bytes, Dice& dice) {
  const Pages pages(bytes);
  const std::size_t trunk = be(bytes, 32, 4);
  if (trunk == 0 || trunk > pages.count()) {
    put(bytes, 32, 1 + dice.below(pages.count() + 2), 4);
    put(bytes, 36, number(dice), 4);
    return;
  }
  put(bytes, (trunk - 1) * pages.size() + 4 * dice.below(6),
      dice.below(2) == 0 ? number(dice) : dice.below(pages.count() + 2), 4);
}

void changePages(std::string& bytes, Dice& dice) {
  const Pages pages(bytes);
  if (pages.count() < 2) return;
  const std::size_t one = pages.any(dice) * pages.size(), other = pages.any(dice) * pages.size();
  switch (dice.below(4)) {
    case 0:
      bytes.replace(one, pages.size(), bytes.substr(other, pages.size()));
      break;
    case 1: {
      const std::string first = bytes.substr(one, pages.size());
      bytes.replace(one, pages.size(), bytes.substr(other, pages.size()));
      bytes.replace(other, pages.size(), first);
      break;
    }
    case 2:
      bytes.replace(one, pages.size(), pages.size(), '\0');
      break;
    default:
      for (std::size_t i = 0; i < pages.size(); ++i)
        bytes[one + i] = static_cast<char>(dice.next());
  }
}

void changeEnd(std::string& bytes, Dice& dice) {
  const Pages pages(bytes);
  switch (dice.below(4)) {
    case 0:
      bytes.resize(dice.below(bytes.size() + 1));
      break;
    case 1:
      bytes.resize(dice.below(pages.count() + 1) * pages.size());
      break;
    case 2:
      bytes.resize(bytes.size() -
                   std::min<std::size_t>(bytes.size(), 1 + dice.below(pages.size())));
      break;
    default:
      bytes.append(1 + dice.below(2 * pages.size()), static_cast<char>(dice.next()));
  }
}

/// A word of the schema or of a value becomes another one of the same length or less.
void changeText(std::string& bytes, Dice& dice) {
  static constexpr std::array<std::string_view, 12> kWords{
      "CREATE",  "TABLE",     "STRICT",    "TEXT", "VIEW",  "INDEX",
      "sqlite_", "\"shape\"", "\"dtype\"", "run-", "step-", "float64"};
  const std::string_view word = kWords[dice.below(kWords.size())];
  std::size_t at = bytes.find(word, bytes.empty() ? 0 : dice.below(bytes.size()));
  if (at == std::string::npos) at = bytes.find(word);
  if (at == std::string::npos) return;
  const std::string_view token = kTokens[dice.below(kTokens.size())];
  for (std::size_t i = 0; i < token.size() && at + i < bytes.size(); ++i) bytes[at + i] = token[i];
}

void changeBits(std::string& bytes, Dice& dice) {
  if (bytes.empty()) return;
  for (std::size_t left = 1 + dice.below(12); left > 0; --left)
    bytes[dice.below(bytes.size())] ^= static_cast<char>(1 << dice.below(8));
}

void changeBytes(std::string& bytes, Dice& dice) {
  switch (dice.below(12)) {
    case 0:
      return changeFileHeader(bytes, dice);
    case 1:
    case 2:
      return changePageHeader(bytes, dice);
    case 3:
      return changeCellPointer(bytes, dice);
    case 4:
    case 5:
    case 6:
      return changeCell(bytes, dice);
    case 7:
      return changeFreeList(bytes, dice);
    case 8:
      return changePages(bytes, dice);
    case 9:
      return changeEnd(bytes, dice);
    case 10:
      return changeText(bytes, dice);
    default:
      return changeBits(bytes, dice);
  }
}

/// Hostile values in a file that is well-formed otherwise: only these get past SQLite's own checks.
std::string withOtherValues(const DatabaseSeed& seed, Dice& dice) {
  MemoryDatabase database(seed.loose);
  const std::vector<std::string>& columns = seed.columns;
  for (std::size_t left = 1 + dice.below(3) / 2; left > 0; --left) {
    const std::string& column = columns[dice.below(columns.size())];
    const std::size_t bar = column.find('|');
    const std::string table = column.substr(0, bar), name = column.substr(bar + 1);
    std::string value(kValues[dice.below(kValues.size())]);
    switch (dice.below(6)) {
      case 0: {  // a value of another column of its table
        const std::string& other = columns[dice.below(columns.size())];
        if (other.substr(0, bar) == table) value = other.substr(other.find('|') + 1);
        break;
      }
      case 1:
        value = "\"" + name + "\" + " + std::to_string(static_cast<std::int64_t>(number(dice)));
        break;
      case 2:
        value = "substr(\"" + name + "\", 1, " + std::to_string(dice.below(40)) + ")";
        break;
      default:
        break;
    }
    const std::string change = "UPDATE OR IGNORE " + table + " SET \"" + name + "\" = " + value;
    switch (dice.below(8)) {
      case 0:
        database.run("DELETE FROM " + table);
        break;
      case 1:
        database.run("DELETE FROM " + table + " WHERE abs(random()) % 2 = 0");
        break;
      case 2:
        database.run(change);
        break;
      default:
        // One row: a uniform choice would need a count, the first or the last one serves as well.
        database.run(change + " WHERE \"" + name + "\" IN (SELECT \"" + name + "\" FROM " + table +
                     (dice.below(2) == 0 ? " LIMIT 1)" : " ORDER BY 1 DESC LIMIT 1)"));
    }
  }
  database.run(seed.restore);
  std::string bytes = database.bytes();
  if (bytes.size() > 19) bytes[18] = bytes[19] = seed.main[18];
  return bytes;
}

/// The running checksum of a write-ahead log, over `bytes` from `at`, big-endian words.
void sumLog(const std::string& bytes, std::size_t at, std::size_t size, std::uint32_t sum[2]) {
  for (std::size_t i = 0; i + 8 <= size; i += 8) {
    sum[0] += be(bytes, at + i, 4) + sum[1];
    sum[1] += be(bytes, at + i + 4, 4) + sum[0];
  }
}

/// Pages of `after` that are other than in `before`, from 0; the first one if there is none.
std::vector<std::size_t> changedPages(const std::string& before, const std::string& after,
                                      std::size_t size) {
  std::vector<std::size_t> changed;
  for (std::size_t page = 0; (page + 1) * size <= after.size(); ++page) {
    if (before.compare(std::min(page * size, before.size()), size, after, page * size, size) != 0)
      changed.push_back(page);
  }
  if (changed.empty()) changed.push_back(0);
  return changed;
}

std::string logOf(const std::string& before, const std::string& after, Dice& dice) {
  std::string whole = before;
  const std::size_t size = Pages(whole).size();
  std::string log;
  append(log, 0x377f0683, 4);
  append(log, 3007000, 4);
  append(log, size, 4);
  append(log, dice.below(4), 4);  // checkpoints
  append(log, dice.next(), 8);    // salt
  std::uint32_t sum[2] = {0, 0};
  sumLog(log, 0, 24, sum);
  append(log, sum[0], 4);
  append(log, sum[1], 4);
  const std::vector<std::size_t> changed = changedPages(before, after, size);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const std::size_t frame = log.size();
    append(log, changed[i] + 1, 4);
    append(log, i + 1 == changed.size() ? after.size() / size : 0, 4);  // the last one commits
    sumLog(log, frame, 8, sum);
    std::string page = after.substr(std::min(changed[i] * size, after.size()), size);
    page.resize(size);
    sumLog(page, 0, size, sum);
    log += log.substr(16, 8);
    append(log, sum[0], 4);
    append(log, sum[1], 4);
    log += page;
  }
  return log;
}

/// A hot journal that brings `after` back when it is rolled back.
std::string journalOf(const std::string& before, const std::string& after, Dice& dice) {
  std::string whole = before;
  const std::size_t size = Pages(whole).size();
  const std::vector<std::size_t> changed = changedPages(before, after, size);
  const auto nonce = static_cast<std::uint32_t>(dice.next());
  std::string journal("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  append(journal, changed.size(), 4);
  append(journal, nonce, 4);
  append(journal, after.size() / size, 4);
  append(journal, 512, 4);
  append(journal, size, 4);
  journal.resize(512);
  for (const std::size_t page : changed) {
    std::string content = after.substr(std::min(page * size, after.size()), size);
    content.resize(size);
    append(journal, page + 1, 4);
    journal += content;
    std::uint32_t sum = nonce;
    for (std::size_t at = size - 200; at > 0 && at < size; at -= 200)
      sum += static_cast<unsigned char>(content[at]);
    append(journal, sum, 4);
  }
  return journal;
}

}  // namespace

DatabaseFiles mutateDatabase(const DatabaseSeed& seed, Dice& dice) {
  DatabaseFiles files{.main = seed.main};
  // Most bytes that are broken are noticed at once; values are what reaches the code behind.
  const bool hasValues = dice.below(2) == 0;
  if (hasValues) files.main = withOtherValues(seed, dice);
  if (!hasValues || dice.below(4) == 0) {
    for (std::size_t left = 1 + dice.below(3); left > 0; --left) changeBytes(files.main, dice);
  }
  const std::size_t beside = dice.below(8);
  if (beside > 1) return files;
  std::string& other = beside == 0 ? files.log : files.journal;
  other = beside == 0 ? logOf(seed.main, files.main, dice) : journalOf(seed.main, files.main, dice);
  if (dice.below(4) == 0) other = mutate(std::move(other), dice, 1 << 20);
  files.main = seed.main;
  return files;
}

}  // namespace vitrine::fuzz
