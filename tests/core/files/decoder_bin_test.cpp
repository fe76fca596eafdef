#include "core/files/decoder_bin.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "core/base/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace vitrine {
namespace {

using test::Names;

/// Sizes of a tiny decoder: width 4, hidden 6, 2 layers, 2 heads, 1 key head, 5 tokens, context 3.
const std::vector<std::int32_t> kSizes{4, 6, 2, 2, 1, 5, 3};
constexpr std::size_t kShared = 5 * 4 + 2 * (4 + 4 + 16 + 8 + 8 + 16 + 3 * 24) + 4;

std::string integers(const std::vector<std::int32_t>& values) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
/// 0, 1, 2, ...
std::string floats(std::size_t count) {
  std::string bytes(count * 4, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(bytes.data() + 4 * i, &value, 4);
  }
  return bytes;
}
std::string marked(std::int32_t version, char isShared, std::vector<std::int32_t> sizes = kSizes) {
  sizes.insert(sizes.begin(), {0x616b3432, version});
  std::string head = integers(sizes) + isShared;
  head.resize(256, '\0');
  return head;
}

class DecoderBin : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& content) {
    const auto file = folder_.path() / "model.bin";
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
  std::string refusal(const std::string& content) {
    return test::refusal<FileError>([&] { (void)DecoderBinFile(write(content)); });
  }
  TemporaryFolder folder_;
};

float firstOf(const DecoderBinFile& file, const std::string& name) {
  for (const DecoderBinEntry& entry : file.entries()) {
    if (entry.name != name) continue;
    std::vector<std::byte> bytes(entry.bytes);
    file.read(entry, bytes);
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  ADD_FAILURE() << "no tensor " << name;
  return -1;
}

TEST_F(DecoderBin, VersionZeroHasNormsBeforeTheirMapsAndTablesAfterThem) {
  std::vector<std::int32_t> sizes = kSizes;
  sizes[5] = -5;  // a head of its own
  const auto path = write(integers(sizes) + floats(kShared + 3 * 2 + 20));
  EXPECT_TRUE(DecoderBinFile::isOne(path));
  const DecoderBinFile file(path);
  EXPECT_EQ(file.entries().size(), 3U + 9 * 2);
  EXPECT_EQ(firstOf(file, "tok_embeddings.weight"), 0);
  EXPECT_EQ(firstOf(file, "layers.1.attention_norm.weight"), 24);
  EXPECT_EQ(firstOf(file, "layers.0.attention.wq.weight"), 28);
  EXPECT_EQ(firstOf(file, "norm.weight"), kShared - 4);
  EXPECT_EQ(firstOf(file, "output.weight"), kShared + 6);
}

TEST_F(DecoderBin, VersionOneHasNormsFirst) {
  const auto path = write(marked(1, '\1') + floats(kShared));
  EXPECT_TRUE(DecoderBinFile::isOne(path));
  const DecoderBinFile file(path);
  EXPECT_EQ(file.entries().size(), 2U + 9 * 2);
  EXPECT_EQ(firstOf(file, "layers.0.ffn_norm.weight"), 8);
  EXPECT_EQ(firstOf(file, "norm.weight"), 16);
  EXPECT_EQ(firstOf(file, "tok_embeddings.weight"), 20);
  EXPECT_EQ(file.entries()[6].shape, (std::vector<std::int64_t>{4, 4}));
}

TEST_F(DecoderBin, RefusesOtherVersionsSizesThatCannotBeAndCutFiles) {
  EXPECT_EQ(refusal(marked(2, '\1')),
            (folder_.path() / "model.bin").string() +
                " is version 2 of its format, and versions 0 and 1 are read; 2 holds 8-bit "
                "numbers; write it again with --version 1");
  std::vector<std::int32_t> odd = kSizes;
  odd[3] = 3;
  EXPECT_THAT(refusal(marked(1, '\1', odd)), Names("model.bin", "width 4", "hidden 6"));
  EXPECT_THAT(refusal(marked(1, '\2')), Names("model.bin"));
  EXPECT_THAT(refusal(marked(1, '\1') + floats(kShared - 1)),
              Names("model.bin", 256 + 4 * kShared));
  EXPECT_THAT(refusal("short"), Names("model.bin"));
  EXPECT_FALSE(DecoderBinFile::isOne(write("PK\3\4 an archive of another program")));
}

}  // namespace
}  // namespace vitrine
