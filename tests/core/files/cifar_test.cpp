#include "core/files/cifar.h"

#include <gmock/gmock.h>

#include <vector>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"

namespace vitrine {
namespace {

using test::Names;

std::string record(const std::string& labels, char red, char green, char blue) {
  return labels + std::string(1024, red) + std::string(1024, green) + std::string(1024, blue);
}

std::string refusal(const std::filesystem::path& file, std::int64_t records, std::int64_t labels) {
  return test::refusal<FileError>([&] { (void)readCifar(file, records, labels); });
}

TEST(Cifar, LabelsAndPlanesComeOutInTheOrderOfTheFile) {
  const TemporaryFolder folder;
  putFile(folder / "ten", record("\x03", 'r', 'g', 'b') + record("\x09", 'x', 'y', 'z'));
  const CifarBatch ten = readCifar(folder / "ten", 2, 1);
  EXPECT_EQ(ten.labels, (std::vector<std::uint8_t>{3, 9}));
  ASSERT_EQ(ten.pixels.size(), 2u * 3072);
  EXPECT_EQ(ten.pixels[0], 'r');
  EXPECT_EQ(ten.pixels[1024], 'g');
  EXPECT_EQ(ten.pixels[3071], 'b');
  EXPECT_EQ(ten.pixels[3072], 'x');

  putFile(folder / "hundred", record("\x07\x42", 'r', 'g', 'b'));
  const CifarBatch hundred = readCifar(folder / "hundred", 1, 2);
  EXPECT_EQ(hundred.labels, (std::vector<std::uint8_t>{7, 66}));
  EXPECT_EQ(hundred.pixels.back(), 'b');
}

TEST(Cifar, MoreRecordsThanAreReadAtOnceKeepTheirPlaces) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 300; ++i)
    bytes += record(std::string(1, static_cast<char>(i % 10)), static_cast<char>(i), 0, 1);
  putFile(folder / "f", bytes);
  const CifarBatch batch = readCifar(folder / "f", 300, 1);
  EXPECT_EQ(batch.labels[299], 9);
  EXPECT_EQ(batch.pixels[299 * 3072], static_cast<std::uint8_t>(299));
}

TEST(Cifar, TheSizeMustBeExact) {
  const TemporaryFolder folder;
  const std::string one = record("\x01", 'r', 'g', 'b');
  putFile(folder / "f", one.substr(1));
  EXPECT_THAT(refusal(folder / "f", 1, 1), Names("3,072", 1, "3,073"));
  putFile(folder / "f", one + "x");
  EXPECT_THAT(refusal(folder / "f", 1, 1), Names("3,074", "3,073"));
  putFile(folder / "f", "");
  EXPECT_THAT(refusal(folder / "f", 1, 1), Names(0, "3,073"));
  putFile(folder / "f", one);
  EXPECT_EQ(refusal(folder / "f", 1, 1), "");
  EXPECT_THAT(refusal(folder / "f", 1, 2), Names("3,073", "3,074"));
}

TEST(Cifar, ThePythonVersionAndTheArchiveAreToldApart) {
  const TemporaryFolder folder;
  putFile(folder / "f",
          "\x80\x02}q\x01(U\x0b"
          "batch_label");
  EXPECT_EQ(refusal(folder / "f", 2, 1),
            (folder / "f").string() +
                " is a Python pickle, which can run code when it is opened; take the binary "
                "version of the data set instead (cifar-10-binary.tar.gz, "
                "cifar-100-binary.tar.gz)");
  putFile(folder / "f", "\x1f\x8b\x08" + std::string(100, 'x'));
  EXPECT_THAT(refusal(folder / "f", 2, 1), Names("gzip"));
}

TEST(CifarNames, AreOneALineAndAsManyAsThereAreClasses) {
  const TemporaryFolder folder;
  const auto names = [&](const std::string& text) {
    putFile(folder / "n", text);
    return test::refusal<FileError>([&] { (void)readCifarNames(folder / "n", 2); });
  };
  putFile(folder / "n", "cat\r\nmaple_tree\n\n");
  EXPECT_EQ(readCifarNames(folder / "n", 2), (std::vector<std::string>{"cat", "maple_tree"}));
  EXPECT_THAT(names("cat\n"), Names(1, 2));
  EXPECT_THAT(names("cat\ndog\nfrog\n"), Names(3, 2));
  EXPECT_THAT(names("cat\ncat\n"), Names("cat"));
  for (const std::string& bad : {std::string("\xff"), std::string("d\x1bg"), std::string(129, 'd')})
    EXPECT_THAT(names("cat\n" + bad + "\n"), Names("n")) << bad.size();
  EXPECT_THAT(names(std::string((64 << 10) + 1, '\n')), Names("65,537", "65,536"));
}

}  // namespace
}  // namespace vitrine
