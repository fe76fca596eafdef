#include "core/files/safetensors.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"
#include "tests/support/has_texts.h"

namespace vitrine {
namespace {

using test::Names;

std::string le64(std::uint64_t value) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
  return out;
}
std::string file(const std::string& header, const std::string& data) {
  return le64(header.size()) + header + data;
}
std::string zeros(std::size_t bytes) { return std::string(bytes, '\0'); }

/// Opens and reads everything, as a loader would.
std::string readAll(const std::filesystem::path& path) {
  return test::refusal<FileError>([&] {
    const SafetensorsFile opened(path);
    for (const SafetensorsEntry& entry : opened.entries()) {
      std::vector<std::byte> bytes(entry.end - entry.begin);
      opened.read(entry, bytes);
    }
  });
}

struct Hostile {
  std::string name, bytes, fragment;
};

std::vector<Hostile> hostileFiles() {
  const std::string a = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string nested = "1";
  for (int i = 0; i < 9; ++i) nested = "[" + nested + "]";
  std::string rank = "1";
  for (int i = 0; i < 16; ++i) rank += ",1";
  const auto entry = [](const std::string& body) {
    return file("{\"a\":{" + body + "}}", zeros(8));
  };
  return {
      {"empty", "", "too short"},
      {"seven bytes", "1234567", "too short"},
      {"header longer than file", le64(100) + "{}", "a header of 100 bytes is promised"},
      {"header length all ones", le64(~0ull) + "{}", "is cut or no safetensors file"},
      {"header above our limit", le64((16u << 20) + 1) + "{" + std::string((16u << 20) + 1, ' '),
       "above the limit"},
      {"header of no bytes", le64(0) + "{}", "does not end with '}' and spaces"},
      {"header not an object", file("[1]", ""), "does not begin with '{'"},
      {"header begins with a space", file(" {}", ""), "does not begin with '{'"},
      {"header ends in text", file("{}x", ""), "does not end with '}' and spaces"},
      {"header ends in a newline", file("{}\n", ""), "does not end with '}' and spaces"},
      {"second object behind the first", file("{}{}", ""), "not JSON"},
      {"zero byte hides a second object", file(std::string("{}\0{}", 5), ""), "zero byte"},
      {"not UTF-8", file("{\"\xff\":{}}", ""), "not JSON"},
      {"cut JSON", file("{\"a\":{\"dtype\":\"F32\",\"shape\":[}", ""), "not JSON"},
      {"duplicate tensor",
       file(
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           zeros(8)),
       "the name 'a' is there twice"},
      {"duplicate key", entry(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"),
       "tensor 'a': the key 'dtype' is there twice"},
      {"duplicate metadata", file(R"({"__metadata__":{"x":"1","x":"2"}})", ""),
       "the key 'x' is there twice"},
      {"metadata not text", file(R"({"__metadata__":{"x":1}})", ""), "metadata 'x' is a number"},
      {"metadata not an object", file(R"({"__metadata__":["x"]})", ""), "is a list, not an object"},
      {"nested too deep",
       entry(R"("x":)" + nested + R"(,"dtype":"F32","shape":[2],"data_offsets":[0,8])"),
       "nested deeper than 8"},
      {"rank above 16", entry(R"("dtype":"F32","shape":[)" + rank + R"(],"data_offsets":[0,8])"),
       "rank is above 16"},
      {"name above 1 KiB", file("{\"" + std::string(1025, 'n') + "\":{}}", ""),
       "longer than 1,024 bytes"},
      {"unknown dtype", entry(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])"),
       "dtype 'F8_E4M3' is not known; known are F64"},
      {"no dtype", entry(R"("shape":[2],"data_offsets":[0,8])"), "tensor 'a': it has no dtype"},
      {"no shape", entry(R"("dtype":"F32","data_offsets":[0,8])"), "it has no shape"},
      {"no offsets", entry(R"("dtype":"F32","shape":[2])"), "data_offsets are not two numbers"},
      {"one offset", entry(R"("dtype":"F32","shape":[2],"data_offsets":[0])"),
       "data_offsets are not two numbers"},
      {"three offsets", entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"),
       "data_offsets are not two numbers"},
      {"negative side", entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
       "the negative number -2"},
      {"fractional side", entry(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"),
       "the number '2.0'"},
      {"side above 63 bits",
       entry(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8])"),
       "is too large"},
      {"side as text", entry(R"("dtype":"F32","shape":["2"],"data_offsets":[0,8])"),
       "its shape has a text"},
      {"product overflows",
       entry(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"),
       "overflows 64 bits"},
      {"product overflows beside a zero",
       entry(R"("dtype":"F32","shape":[4294967296,4294967296,0],"data_offsets":[0,0])"),
       "overflows 64 bits"},
      {"bytes overflow",
       entry(R"("dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0])"),
       "overflows 64 bits"},
      {"offsets backwards", entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"),
       "run backwards"},
      {"span is not the shape", entry(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])"),
       "span 8 bytes, its shape and dtype need 4"},
      {"hole at the start", entry(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"),
       "a hole before its data"},
      {"hole between",
       file(
           R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
           zeros(3)),
       "tensor 'b': there is a hole"},
      {"overlap",
       file(
           R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
           zeros(3)),
       "tensor 'b': its data overlaps"},
      {"two names for the same bytes",
       file(
           R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
           zeros(2)),
       "overlaps"},
      {"tail", file(a, zeros(9)), "1 bytes follow the last tensor"},
      {"tail without tensors", file("{}", "PK"), "2 bytes follow"},
      {"data cut", file(a, zeros(7)), "the file is cut"},
      {"pickle", std::string("\x80\x02}q\0.", 6) + zeros(16), "is a Python pickle"},
      {"pickle protocol 5", std::string("\x80\x05\x95\x10\0\0\0\0\0\0\0}\x94.", 14),
       "torch.load('weights', map_location='cpu', weights_only=True)"},
      {"old pickle", "ccollections\nOrderedDict\np0\n(tRp1\n.",
       "a Python pickle of an old protocol"},
      {"pickle that wants a program", "cposix\nsystem\n(S'touch /tmp/canary'\ntR.",
       "can run code when it is opened"},
      {"zip", "PK\x03\x04" + zeros(26) + "archive/data.pkl" + zeros(64), "is a ZIP archive"},
      {"TorchScript", "PK\x03\x04" + zeros(26) + "model/code/__torch__.py" + zeros(64),
       "is a TorchScript archive"},
      {"npz", "PK\x03\x04" + zeros(26) + "Transformer/encoder_norm/bias.npy" + zeros(64),
       "safetensors.numpy.save_file(dict(numpy.load('weights', allow_pickle=False)), "},
      {"npz of objects", "PK\x03\x04" + zeros(26) + "a.npy" + zeros(20) + "data.pkl" + zeros(64),
       "is a ZIP archive"},
      {"npy", "\x93NUMPY\x01" + zeros(32), "numpy.load('weights', allow_pickle=False)"},
      {"HDF5", "\x89HDF\r\n\x1a\n" + zeros(32), "h5py.File('weights')"},
      {"bzip2", "BZh9" + zeros(32), "is compressed; unpack it first"},
      {"tar", zeros(257) + "ustar" + zeros(250), "is a tar archive"},
      {"web page", "<!DOCTYPE html><title>Not found</title>", "is a web page"},
      {"GGUF", "GGUF\x03" + zeros(32), "is a GGUF file"},
      {"Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
  };
}

struct Safetensors : ::testing::Test {
  const TemporaryFolder folder;
};

TEST_F(Safetensors, HostileFilesAreRefusedWithTheRuleTheyBreak) {
  for (const Hostile& hostile : hostileFiles()) {
    putFile(folder / "weights", hostile.bytes);
    const std::string sentence = readAll(folder / "weights");
    EXPECT_THAT(sentence, test::HasTexts((folder / "weights").string(), hostile.fragment))
        << hostile.name;
  }
}

TEST_F(Safetensors, AFileOfNothingKnownIsToldByItsName) {
  for (const auto& [name, fragment] :
       {std::pair{"w.pt", "torch.load('w.pt'"}, std::pair{"w.pth", "is a pickle of PyTorch"},
        std::pair{"w.ckpt", "weights_only=True"}, std::pair{"w.onnx", "is an ONNX model"},
        std::pair{"w.msgpack", "is a Flax checkpoint"},
        std::pair{"it's.pt", "torch.load('it\\'s.pt'"}}) {
    putFile(folder / name, "nothing in particular, but long enough to be looked at");
    EXPECT_THAT(readAll(folder / name), test::HasTexts((folder / name).string(), fragment));
  }
}

TEST_F(Safetensors, WhatCannotBeReadIsASentenceAndNeverWaits) {
  EXPECT_THAT(readAll(folder / "absent"), Names("absent"));
  EXPECT_THAT(readAll(folder.path()), Names(folder.path().string()));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(readAll(folder / "pipe"), Names("pipe"));
}

TEST_F(Safetensors, WhatTheReferenceAllowsIsRead) {
  // Offsets out of name order, an empty tensor, a scalar, a field to come, padding, escaped names.
  const std::string header =
      R"({"b\u00e9":{"data_offsets":[2,10],"dtype":"F64","shape":[],"new":{"x":[1,{"y":null}]}},)"
      R"("a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]},"e":{"dtype":"I32","shape":[0,3],"data_offsets":[2,2]},)"
      R"("__metadata__":{"format":"pt"}}   )";
  putFile(folder / "w", file(header, "\x80\x3f" + std::string("\0\0\0\0\0\0\xf0\x3f", 8)));
  const SafetensorsFile opened(folder / "w");
  ASSERT_EQ(opened.entries().size(), 3u);
  EXPECT_EQ(opened.entries()[0].name, "a");
  EXPECT_EQ(opened.entries()[1].shape, (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(opened.metadata().at("format"), "pt");
  EXPECT_EQ(opened.find("z"), nullptr);
  double value = 0;
  opened.read(*opened.find("b\u00e9"), std::as_writable_bytes(std::span(&value, 1)));
  EXPECT_EQ(value, 1.0);
}

TEST_F(Safetensors, AHeaderThatBeginsLikeAPickleIsStillRead) {
  std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  header.resize(640, ' ');  // 640 = 0x0280: the file begins with the bytes 80 02
  putFile(folder / "w", file(header, "x"));
  EXPECT_EQ(readAll(folder / "w"), "");
}

TEST_F(Safetensors, WhatIsWrittenReadsBackAlignedAndWithItsMetadata) {
  const std::vector<std::uint8_t> odd{1, 2, 3};
  const std::vector<double> wide{0.5, -2};
  const std::vector<float> middle{7};
  writeSafetensors(folder / "w",
                   {{"odd", "U8", {3}, std::as_bytes(std::span(odd))},
                    {"middle", "F32", {}, std::as_bytes(std::span(middle))},
                    {"wide", "F64", {2, 1}, std::as_bytes(std::span(wide))},
                    {"none", "F16", {0}, {}}},
                   {{"step", "12"}, {"quote", "\"\n"}});
  EXPECT_EQ(getFile(folder / "w").at(8), '{');
  EXPECT_EQ(static_cast<unsigned char>(getFile(folder / "w")[0]) % 8, 0);
  const SafetensorsFile opened(folder / "w");
  EXPECT_EQ(opened.metadata().at("quote"), "\"\n");
  for (const SafetensorsEntry& entry : opened.entries())
    EXPECT_EQ(entry.begin % safetensorsElementSize(entry.dtype), 0u) << entry.name;
  std::vector<double> back(2);
  opened.read(*opened.find("wide"), std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, wide);
  std::vector<std::uint8_t> oddBack(3);
  opened.read(*opened.find("odd"), std::as_writable_bytes(std::span(oddBack)));
  EXPECT_EQ(oddBack, odd);
}

TEST_F(Safetensors, AFileCutAnywhereIsRefused) {
  const std::vector<float> values(300, 1.5f);
  const auto bytes = std::as_bytes(std::span(values));
  writeSafetensors(folder / "whole", {{"a", "F32", {100, 3}, bytes}, {"b", "F32", {300}, bytes}},
                   {{"k", "v"}});
  const std::string whole = getFile(folder / "whole");
  ASSERT_EQ(readAll(folder / "whole"), "");
  for (std::size_t length = 0; length < whole.size(); length += 64) {
    putFile(folder / "cut", whole.substr(0, length));
    EXPECT_NE(readAll(folder / "cut"), "") << length << " of " << whole.size() << " bytes";
  }
  putFile(folder / "cut", whole.substr(0, whole.size() - 1));
  EXPECT_NE(readAll(folder / "cut"), "");
}

TEST_F(Safetensors, AFlippedHeaderByteNeverBreaksTheLayoutRules) {
  const std::vector<float> values(6, 1.0f);
  const auto bytes = std::as_bytes(std::span(values));
  writeSafetensors(folder / "whole", {{"a", "F32", {2, 3}, bytes}, {"b", "F32", {6}, bytes}});
  const std::string whole = getFile(folder / "whole");
  int refused = 0;
  for (std::size_t at = 0; at < whole.size() - 48; ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      putFile(folder / "w", changed);
      std::uint64_t covered = 0;
      const std::string sentence = test::refusal<FileError>([&] {
        const SafetensorsFile opened(folder / "w");
        for (const SafetensorsEntry& entry : opened.entries()) covered += entry.end - entry.begin;
      });
      // Either refused, or a file in which the tensors still cover the whole buffer (a letter of a
      // name changed).
      if (sentence.empty()) {
        EXPECT_EQ(covered, 48u) << "byte " << at << " bit " << bit;
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(Safetensors, AFileCutWhileOpenIsAnErrorAndNotACrash) {
  const std::vector<float> values(1000);
  writeSafetensors(folder / "w", {{"a", "F32", {1000}, std::as_bytes(std::span(values))}});
  const SafetensorsFile opened(folder / "w");
  ASSERT_EQ(::truncate((folder / "w").c_str(), 100), 0);
  std::vector<std::byte> out(4000);
  EXPECT_THAT([&] { opened.read(opened.entries()[0], out); }, test::Fails<FileError>("'a'"));
}

TEST(SafetensorsWriter, RefusesWhatItsReaderWouldRefuse) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes(8);
  const auto write = [&](std::vector<SafetensorsTensor> tensors,
                         std::map<std::string, std::string> metadata = {}) {
    const std::string sentence =
        test::refusal<FileError>([&] { writeSafetensors(folder / "w", tensors, metadata); });
    EXPECT_FALSE(std::filesystem::exists(folder / "w"));
    return sentence;
  };
  EXPECT_THAT(write({{"a", "F32", {2}, bytes}, {"a", "F32", {2}, bytes}}), Names("'a'"));
  EXPECT_THAT(write({{"a", "F32", {3}, bytes}}), Names("'a'", 8));
  EXPECT_THAT(write({{"a", "F32", {-2}, bytes}}), Names("'a'", 8));
  EXPECT_THAT(write({{"a", "float", {2}, bytes}}), Names("'a'", "float", "F64"));
  EXPECT_THAT(write({{"__metadata__", "F32", {2}, bytes}}), Names("__metadata__"));
  EXPECT_THAT(write({{std::string(1025, 'x'), "F32", {2}, bytes}}), Names("1 KiB"));
  EXPECT_THAT(write({{"\xff", "F32", {2}, bytes}}), Names("w"));
  EXPECT_THAT(write({}, {{"k", "\xff"}}), Names("w"));
}

TEST(SafetensorsWriter, LeavesNoTornFileWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes(1 << 20);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit tight = before;
  tight.rlim_cur = 1 << 16;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const std::string sentence = test::refusal<FileError>([&] {
    writeSafetensors(folder / "w", {{"a", "U8", {1 << 20}, bytes}});
  });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(sentence, Names("w"));
  EXPECT_FALSE(std::filesystem::exists(folder / "w"));
}

}  // namespace
}  // namespace vitrine
