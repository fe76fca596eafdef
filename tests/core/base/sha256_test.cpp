#include "core/base/sha256.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

// FIPS 180-4 examples.
TEST(Sha256, EqualsThePublishedDigests) {
  EXPECT_EQ(sha256OfText(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256OfText("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256OfText("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256OfText(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesArrive) {
  const std::string text(300, 'x');
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  for (std::size_t cut = 0; cut <= text.size(); cut += 7) {
    Sha256 hash;
    hash.update(bytes.first(cut));
    hash.update(bytes.subspan(cut));
    EXPECT_EQ(hash.finish(), sha256OfText(text)) << "cut at " << cut;
  }
}

TEST(Sha256, IsTheSameWithAndWithoutInstructionsForIt) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    Sha256 portable(Sha256::Loop::Portable), fastest;
    portable.update(bytes);
    fastest.update(bytes);
    EXPECT_EQ(portable.finish(), fastest.finish()) << i << " bytes";
    text += static_cast<char>(i * 37);
  }
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const auto file =
      std::filesystem::temp_directory_path() / ("vitrine_sha_" + std::to_string(::getpid()));
  std::ofstream(file, std::ios::binary) << "abc";
  EXPECT_EQ(sha256OfFile(file), sha256OfText("abc"));
  std::ofstream(file, std::ios::binary | std::ios::trunc);
  EXPECT_EQ(sha256OfFile(file), sha256OfText(""));
  std::filesystem::remove(file);
}

TEST(Sha256, NamesTheFileItCannotRead) {
  EXPECT_THAT([&] { (void)sha256OfFile("/nowhere/at/all"); },
              test::Fails<FileError>("/nowhere/at/all"));
  EXPECT_THROW((void)sha256OfFile(std::filesystem::temp_directory_path()), FileError);
}

}  // namespace
}  // namespace vitrine
