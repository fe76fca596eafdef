#include "core/files/idx.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <zlib.h>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"
#include "tests/support/has_texts.h"

namespace vitrine {
namespace {

using test::Names;

std::string idx(const std::vector<std::uint32_t>& shape, const std::string& data) {
  std::string out{0, 0, 8, static_cast<char>(shape.size())};
  for (const std::uint32_t side : shape) out += be32(side);
  return out + data;
}

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zeros(std::size_t bytes) { return std::string(bytes, 0); }

/// Incompressible, so that a compressed file has many places to cut.
std::string noise(std::size_t bytes) {
  std::string out;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < bytes; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    out += static_cast<char>(state >> 56);
  }
  return out;
}

TEST(Idx, PlainAndCompressedFilesReadTheSame) {
  const TemporaryFolder folder;
  const std::string data = noise(2 * 3 * 4);
  putFile(folder / "plain", idx({2, 3, 4}, data));
  putFile(folder / "packed", gzip(idx({2, 3, 4}, data)));
  for (const char* name : {"plain", "packed"}) {
    const IdxArray array = readIdx(folder / name);
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_EQ(std::string(array.data.begin(), array.data.end()), data);
  }
}

TEST(Idx, AnEmptyArrayIsAnArray) {
  const TemporaryFolder folder;
  putFile(folder / "w", idx({0, 28, 28}, ""));
  EXPECT_TRUE(readIdx(folder / "w").data.empty());
}

struct Hostile {
  std::string name, bytes, fragment;
};

TEST(Idx, HostileFilesAreRefusedWithTheRuleTheyBreak) {
  const TemporaryFolder folder;
  const std::string good = idx({2, 2}, "abcd");
  std::string badMagic = good;
  badMagic[0] = 1;
  std::string badSum = gzip(good);
  badSum[badSum.size() - 6] ^= 1;
  std::string badLength = gzip(good);
  badLength[badLength.size() - 1] ^= 1;
  const std::vector<Hostile> files{
      {"empty", "", "too short"},
      {"three bytes", std::string("\0\0\x08", 3), "too short"},
      {"magic", badMagic, "first two bytes are not zero"},
      {"text", "P6 28 28", "not an IDX file"},
      {"float type", std::string("\0\0\x0d\x01", 4) + be32(1) + zeros(4), "holds IDX type 13"},
      {"rank 0", std::string("\0\0\x08\0", 4), "has rank 0"},
      {"rank 5", std::string("\0\0\x08\x05", 4) + zeros(20), "has rank 5"},
      {"rank 255", std::string("\0\0\x08\xff", 4) + zeros(20), "has rank 255"},
      {"sizes cut", std::string("\0\0\x08\x02", 4) + be32(2), "cut inside its list of sizes"},
      {"size cut", std::string("\0\0\x08\x01", 4) + "\x01", "cut inside its list of sizes"},
      {"data cut", idx({2, 2}, "abc"), "the data is cut"},
      {"no data", idx({2, 2}, ""), "the data is cut"},
      {"tail", idx({2, 2}, "abcde"), "trailing data"},
      {"product overflows", idx({0xffffffff, 0xffffffff, 0xffffffff}, ""), "declares more than"},
      {"above our limit", idx({0xffffffff, 3}, ""), "declares more than"},
      {"plain giant", idx({0xffffffff}, "x"), "the data is cut"},
      {"packed empty", gzip(""), "too short"},
      {"packed text", gzip("hello, world"), "not an IDX file"},
      {"packed sizes cut", gzip(std::string("\0\0\x08\x02", 4) + be32(2)),
       "cut inside its list of sizes"},
      {"packed data cut", gzip(idx({2, 2}, "abc")), "3 of 4 bytes"},
      {"packed tail", gzip(idx({2, 2}, "abcde")), "trailing data"},
      {"packed bomb", gzip(idx({2, 2}, "abcd" + zeros(1 << 22))), "trailing data"},
      {"packed giant", gzip(idx({0xffffffff}, "x")), "compressed bytes can hold"},
      {"bytes behind the stream", gzip(good) + "x", "trailing data"},
      {"second stream behind the first", gzip(good) + gzip(good), "trailing data"},
      {"wrong sum", badSum, "the gzip stream is damaged"},
      {"wrong length", badLength, "the gzip stream is damaged"},
      {"gzip head only", gzip(good).substr(0, 10), "the gzip stream is cut"},
      {"not deflate", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\xff\xff\xff\xff", 14),
       "the gzip stream is damaged"},
  };
  for (const Hostile& hostile : files) {
    putFile(folder / "set", hostile.bytes);
    const std::string sentence = test::refusal<FileError>([&] { (void)readIdx(folder / "set"); });
    EXPECT_THAT(sentence, test::HasTexts((folder / "set").string(), hostile.fragment))
        << hostile.name;
  }
}

TEST(Idx, AFileCutAnywhereIsRefused) {
  const TemporaryFolder folder;
  const std::string plain = idx({10, 64}, noise(640));
  for (const std::string& whole : {plain, gzip(plain)}) {
    for (std::size_t length = 0; length < whole.size(); length += 64) {
      putFile(folder / "cut", whole.substr(0, length));
      EXPECT_THROW((void)readIdx(folder / "cut"), FileError) << length;
    }
    putFile(folder / "cut", whole.substr(0, whole.size() - 1));
    EXPECT_THROW((void)readIdx(folder / "cut"), FileError);
  }
}

TEST(Idx, AGzipHeaderThatPromisesMuchTakesNoMemoryForIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer takes terabytes of addresses, which is what is limited here";
#endif
  const TemporaryFolder folder;
  // 4 MB of noise, so that 4 GB would be possible by the ratio alone; there are 8 MB in it.
  putFile(folder / "set", gzip(idx({0xf0000000}, noise(4 << 20) + zeros(4 << 20))));
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  struct rlimit tight = before;
  tight.rlim_cur = rlim_t{1} << 30;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  const std::string sentence = test::refusal<FileError>([&] { (void)readIdx(folder / "set"); });
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(sentence, Names("8,388,608", "4,026,531,840"));
}

TEST(Idx, AMissingFileIsNamed) {
  EXPECT_THAT([&] { return readIdx("/nowhere/set"); }, test::Fails<FileError>("/nowhere/set"));
}

}  // namespace
}  // namespace vitrine
