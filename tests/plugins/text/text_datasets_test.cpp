#include "plugins/datasets/text/text_datasets.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"

namespace vitrine::text {
namespace {

using test::Names;
using ::testing::ElementsAre;

Sample sampleOf(const Dataset& set, Split split, std::int64_t id) {
  Sample sample;
  sample.begin(id);
  set.read(split, id, sample);
  return sample;
}

TEST(TextDocuments, AreBytesOrText) {
  const TemporaryFolder folder;
  putFile(folder / "train.txt", "One\nline.\n\nTwo \xc3\xa9.\n");
  putFile(folder / "test.txt", "Three.");
  Json values = DocumentsSource().card().schema.defaults();
  values["folder"] = folder.path().string();
  const auto bytes = DocumentsSource().open(Config(values));
  EXPECT_EQ(bytes->size(Split::Train), 2);
  EXPECT_EQ(bytes->size(Split::Validation), 0);
  EXPECT_THAT(sampleOf(*bytes, Split::Train, 1).at("tokens").get<std::int64_t>(),
              ElementsAre('T', 'w', 'o', ' ', 0xc3, 0xa9, '.'));
  EXPECT_THROW((void)sampleOf(*bytes, Split::Train, 2), ShapeError);
  EXPECT_GT(bytes->memoryBytes(), 24);
  values["as"] = "text";
  values["divide"] = "line";
  const auto lines = DocumentsSource().open(Config(values));
  EXPECT_EQ(lines->size(Split::Train), 3);
  EXPECT_THAT(sampleOf(*lines, Split::Train, 0).at("text").texts(), ElementsAre("One"));
}

TEST(TextDocuments, WithoutAFileOrWithoutTextAreRefused) {
  const TemporaryFolder folder;
  const auto refusal = [&] {
    return test::refusal<FileError>(
        [&] { TextDocuments(folder.path(), Documents::Line, TextForm::Text); });
  };
  EXPECT_THAT(refusal(), Names("train.txt", "validation.txt", "test.txt"));
  putFile(folder / "train.txt", " \n\n");
  EXPECT_THAT(refusal(), Names("train.txt"));
  putFile(folder / "train.txt", "\xff");
  EXPECT_THAT(refusal(), Names("train.txt"));
}

TEST(TextChoice, GivesContextChoicesAndTheRightOne) {
  const TemporaryFolder folder;
  putFile(folder / "test.jsonl",
          "{\"context\": \"It was\", \"choices\": [\"he\", \"she\"], \"answer\": 1}\n");
  Json values = ChoiceSource().card().schema.defaults();
  values["folder"] = folder.path().string();
  const auto set = ChoiceSource().open(Config(values));
  EXPECT_EQ(set->size(Split::Train), 0);
  const Sample sample = sampleOf(*set, Split::Test, 0);
  EXPECT_THAT(sample.at("context").texts(), ElementsAre("It was"));
  EXPECT_THAT(sample.at("choices").texts(), ElementsAre("he", "she"));
  EXPECT_EQ(sample.at("label").get<std::int64_t>()[0], 1);
  EXPECT_EQ(set->label(Split::Test, 0), 1);
}

}  // namespace
}  // namespace vitrine::text
