#include "core/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <locale>
#include <regex>
#include <set>

#include "core/base/parse_number.h"
#include "core/base/random.h"

namespace vitrine {
namespace {

TEST(FormatReal, ReadsBackAsTheSameNumber) {
  const RandomStream stream(5, "reals");
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto words = stream.bits(0, i);
    std::uint64_t pattern = (static_cast<std::uint64_t>(words[0]) << 32) | words[1];
    double value;
    static_assert(sizeof value == sizeof pattern);
    std::memcpy(&value, &pattern, sizeof value);
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(std::strtod(formatReal(value).c_str(), nullptr), value) << formatReal(value);
  }
  EXPECT_EQ(formatReal(0.1), "0.1");
  EXPECT_EQ(formatReal(1e-3), "0.001");
  EXPECT_EQ(formatReal(3), "3");
}

TEST(ParseNumber, TakesTheWholeText) {
  EXPECT_EQ(parseNumber<std::int64_t>("-42"), -42);
  EXPECT_EQ(parseNumber<double>("2.5e1"), 25);
  for (const char* text : {"", " 42", "42 ", "+42", "42x", "4.2", "9223372036854775808"})
    EXPECT_EQ(parseNumber<std::int64_t>(text), std::nullopt) << text;
  EXPECT_EQ(parseNumber<std::uint64_t>("-1"), std::nullopt);
}

TEST(FormatReal, NamesWhatIsNoNumber) {
  EXPECT_EQ(formatReal(std::nan("")), "nan");
  EXPECT_EQ(formatReal(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(formatReal(-std::numeric_limits<double>::infinity(), 3), "-inf");
}

TEST(FormatReal, RoundsToDigitsWithoutTrailingZeros) {
  EXPECT_EQ(formatReal(0.861234, 3), "0.861");
  EXPECT_EQ(formatReal(0.5, 6), "0.5");
  EXPECT_EQ(formatReal(123456, 2), "1.2e5");
  EXPECT_EQ(formatReal(1e-4), "1e-4");
  EXPECT_EQ(formatReal(1e100), "1e100");
}

struct CommaFacet : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(FormatReal, WritesADotInEveryLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new CommaFacet));
  const std::string text = formatReal(1234567.5) + " " + formatReal(0.25, 2) + " " +
                           formatCount(1234567) + " " + formatBytes(1.5e6);
  std::locale::global(before);
  EXPECT_EQ(text, "1234567.5 0.25 1,234,567 1.5 MB");
}

TEST(FormatCount, GroupsThousands) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(1000), "1,000");
  EXPECT_EQ(formatCount(12345678), "12,345,678");
  EXPECT_EQ(formatCount(-1000), "-1,000");
  EXPECT_EQ(formatCount(-100), "-100");
}

TEST(FormatBytes, CountsInThousands) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(999), "999 B");
  EXPECT_EQ(formatBytes(1000), "1.0 kB");
  EXPECT_EQ(formatBytes(1.7e6), "1.7 MB");
  EXPECT_EQ(formatBytes(999999), "1.0 MB");
}

TEST(FormatDuration, IsAClock) {
  EXPECT_EQ(formatDuration(0), "00:00:00");
  EXPECT_EQ(formatDuration(4360), "01:12:40");
  EXPECT_EQ(formatDuration(59.6), "00:01:00");
  EXPECT_EQ(formatDuration(360000), "100:00:00");
  EXPECT_EQ(formatDuration(std::nan("")), "--:--:--");
}

TEST(UtcNow, IsIso8601) {
  EXPECT_TRUE(std::regex_match(
      utcNow(), std::regex("20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]"
                           "\\.[0-9]{3}Z")));
}

TEST(Nearest, FindsTypingSlips) {
  const std::vector<std::string> keys = {"width", "depth", "heads", "learning_rate", "patch_size"};
  EXPECT_EQ(nearest("widht", keys), "width");
  EXPECT_EQ(nearest("lerning_rate", keys), "learning_rate");
  EXPECT_EQ(nearest("patchsize", keys), "patch_size");
  EXPECT_EQ(nearest("WIDTH", keys), "width");
}

TEST(Nearest, DoesNotGuessWildly) {
  const std::vector<std::string> keys = {"width", "depth", "lr"};
  EXPECT_EQ(nearest("optimizer", keys), "");
  EXPECT_EQ(nearest("", keys), "");
  EXPECT_EQ(nearest("x", keys), "");
  EXPECT_EQ(nearest(std::string(100000, 'w'), keys), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a.b..c", '.'), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", '.'), std::vector<std::string>{""});
}

TEST(Glob, StarStandsForAnyRun) {
  EXPECT_TRUE(matchesGlob("head.*", "head.weight"));
  EXPECT_TRUE(matchesGlob("*.bias", "blocks.0.norm.bias"));
  EXPECT_TRUE(matchesGlob("a*b*c", "aXbYbZc"));
  EXPECT_TRUE(matchesGlob("*", ""));
  EXPECT_TRUE(matchesGlob("exact", "exact"));
}

TEST(Glob, MatchesTheWholeTextOnly) {
  EXPECT_FALSE(matchesGlob("head", "head.weight"));
  EXPECT_FALSE(matchesGlob("*.bias", "bias.weight"));
  EXPECT_FALSE(matchesGlob("a*b*c", "aXbYbZ"));
  EXPECT_FALSE(matchesGlob("", "x"));
  EXPECT_FALSE(matchesGlob("a.c", "abc"));
}

TEST(Glob, EndsSoonOnHostilePatterns) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(matchesGlob(pattern + "b", std::string(5000, 'a')));
}

TEST(Uuid, IsVersionFour) {
  const std::regex shape("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = newUuid();
    EXPECT_TRUE(std::regex_match(uuid, shape)) << uuid;
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Shorten, NeverCutsACharacter) {
  EXPECT_EQ(shorten("short", 10), "short");
  EXPECT_EQ(shorten("0123456789", 7), "0123...");
  for (std::size_t bytes = 0; bytes < 12; ++bytes) {
    const std::string cut = shorten("\u00e4\u4e16\U0001F600\u00e4\u4e16", bytes);
    EXPECT_TRUE(isUtf8(cut)) << bytes;
    EXPECT_LE(cut.size(), bytes);
  }
}

TEST(Utf8, TellsTextFromOtherBytes) {
  EXPECT_TRUE(isUtf8("plain, \u00e4, \u4e16, \U0001F600"));
  EXPECT_FALSE(isUtf8("\xC0\xAF"));          // overlong
  EXPECT_FALSE(isUtf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(isUtf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(isUtf8("\xE4\xB8"));          // cut off
  EXPECT_EQ(whyNotUtf8("\u00e4"), "");
  EXPECT_EQ(whyNotUtf8("\u00e4b\xe9"), "byte 3 is 0xE9; convert the text to UTF-8");
}

TEST(Utf8, IsCleanedByteForByte) {
  EXPECT_EQ(cleanUtf8("a\xFF"
                      "b"),
            "a\uFFFDb");
  EXPECT_EQ(cleanUtf8("\u00e4"), "\u00e4");
  EXPECT_TRUE(isUtf8(cleanUtf8("\xE4\xB8\xF0\x80")));
}

TEST(Lines, AreTakenFromBothEnds) {
  EXPECT_EQ(firstLine("what\nand where"), "what");
  EXPECT_EQ(firstLine("what\r\nand where"), "what");
  EXPECT_EQ(firstLine(""), "");
  EXPECT_EQ(lastLine("one\ntwo\n\n  \r\n"), "two");
  EXPECT_EQ(lastLine("  alone  "), "  alone");
  EXPECT_EQ(lastLine(" \n\t\n"), "");
}

}  // namespace
}  // namespace vitrine
