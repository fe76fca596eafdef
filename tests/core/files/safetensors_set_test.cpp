#include "core/files/safetensors_set.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <vector>

#include "core/base/error.h"
#include "tests/core/files/made_files.h"
#include "tests/support/has_texts.h"

namespace vitrine {
namespace {

using test::Names;

void putShard(const std::filesystem::path& file,
              const std::vector<std::pair<std::string, std::vector<float>>>& tensors) {
  std::vector<SafetensorsTensor> out;
  for (const auto& [name, values] : tensors) {
    out.push_back({name,
                   "F32",
                   {static_cast<std::int64_t>(values.size())},
                   std::as_bytes(std::span(values))});
  }
  writeSafetensors(file, out);
}

/// Two shards with a, b and c; c lies in the first as well, where the list does not look for it.
void putSet(const TemporaryFolder& folder) {
  putShard(folder / "model-1.safetensors", {{"a", {1, 2}}, {"c", {9}}});
  putShard(folder / "model-2.safetensors", {{"b", {3}}, {"c", {4, 5, 6}}});
  putFile(folder / "model.safetensors.index.json",
          R"({"metadata":{"total_size":24,"x":[{"weight_map":1}]},"weight_map":{)"
          R"("a":"model-1.safetensors","b":"model-2.safetensors","c":"model-2.safetensors"}})");
}

std::vector<float> values(const SafetensorsSet& set, const std::string& name) {
  const SafetensorsEntry* entry = set.find(name);
  if (entry == nullptr) return {};
  std::vector<float> out((entry->end - entry->begin) / sizeof(float));
  set.read(*entry, std::as_writable_bytes(std::span(out)));
  return out;
}

std::string refusal(const std::filesystem::path& path) {
  return test::refusal<FileError>([&] { const SafetensorsSet set(path); });
}

TEST(SafetensorsSet, ReadsEveryTensorFromTheShardThatTheListNames) {
  const TemporaryFolder folder;
  putSet(folder);
  for (const std::filesystem::path& path :
       {folder / "model.safetensors.index.json", folder.path(), folder / "model.safetensors"}) {
    const SafetensorsSet set(path);
    ASSERT_EQ(set.entries().size(), 3u);
    EXPECT_EQ(values(set, "a"), (std::vector<float>{1, 2}));
    EXPECT_EQ(values(set, "b"), (std::vector<float>{3}));
    EXPECT_EQ(values(set, "c"), (std::vector<float>{4, 5, 6}));
    EXPECT_EQ(set.find("d"), nullptr);
  }
}

TEST(SafetensorsSet, TheFilesOfAPathAreThoseThatItReads) {
  const TemporaryFolder folder;
  putSet(folder);
  const std::vector<std::filesystem::path> set{folder / "model.safetensors.index.json",
                                               folder / "model-1.safetensors",
                                               folder / "model-2.safetensors"};
  EXPECT_EQ(weightFiles(folder.path()), set);
  EXPECT_EQ(weightFiles(folder / "model.safetensors"), set);
  putShard(folder / "model.safetensors", {{"a", {7}}});
  const std::vector<std::filesystem::path> one{folder / "model.safetensors"};
  EXPECT_EQ(weightFiles(folder.path()), one);
  EXPECT_EQ(weightFiles(folder / "model.safetensors"), one);
}

TEST(SafetensorsSet, OneFileIsASetOfOne) {
  const TemporaryFolder folder;
  putShard(folder / "model.safetensors", {{"a", {7}}});
  EXPECT_EQ(values(SafetensorsSet(folder / "model.safetensors"), "a"), (std::vector<float>{7}));
  EXPECT_EQ(values(SafetensorsSet(folder.path()), "a"), (std::vector<float>{7}));
}

TEST(SafetensorsSet, MissingShardsAreNamedAllAtOnce) {
  const TemporaryFolder folder;
  putSet(folder);
  std::filesystem::remove(folder / "model-1.safetensors");
  std::filesystem::remove(folder / "model-2.safetensors");
  EXPECT_THAT(refusal(folder.path()), Names("model-1.safetensors", "model-2.safetensors"));
}

TEST(SafetensorsSet, AShardOfAnotherModelIsToldByTheTensorItLacks) {
  const TemporaryFolder folder;
  putSet(folder);
  putShard(folder / "model-2.safetensors", {{"c", {1}}});
  EXPECT_THAT(refusal(folder.path()), Names("model-2.safetensors", "b"));
}

TEST(SafetensorsSet, AFolderWithoutWeightsSaysWhatItLooksFor) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.path()), Names("model.safetensors"));
  EXPECT_THAT(refusal(folder / "absent.safetensors"), Names("absent.safetensors"));
}

TEST(SafetensorsSet, AShardCutWhileOpenIsAnErrorAndNotACrash) {
  const TemporaryFolder folder;
  putSet(folder);
  const SafetensorsSet set(folder.path());
  ASSERT_EQ(::truncate((folder / "model-2.safetensors").c_str(), 100), 0);
  EXPECT_EQ(values(set, "a"), (std::vector<float>{1, 2}));
  EXPECT_THAT([&] { return values(set, "c"); }, test::Fails<FileError>("c"));
}

TEST(SafetensorsSet, AShardMayBeALinkAsInHuggingFacesCache) {
  const TemporaryFolder folder;
  putSet(folder);
  std::filesystem::rename(folder / "model-1.safetensors", folder / "blob");
  std::filesystem::create_symlink("blob", folder / "model-1.safetensors");
  EXPECT_EQ(values(SafetensorsSet(folder.path()), "a"), (std::vector<float>{1, 2}));
}

TEST(SafetensorsIndex, HostileListsAreRefusedWithTheRuleTheyBreak) {
  const auto shard = [](const std::string& name) {
    return R"({"weight_map":{"a":")" + name + R"("}})";
  };
  std::string many = R"({"weight_map":{)";
  for (int i = 0; i < 513; ++i) {
    many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"" + std::to_string(i) +
            ".safetensors\"";
  }
  many += "}}";
  const std::vector<std::pair<std::string, std::string>> lists{
      {"", "not JSON"},
      {"x", "not JSON"},
      {"{}", "has no weight_map"},
      {"[]", "has no weight_map"},
      {"[{\"weight_map\":{\"a\":\"a.safetensors\"}}]", "has no weight_map"},
      {"1", "is not an object"},
      {R"({"weight_map":{}})", "weight_map is empty"},
      {R"({"weight_map":[]})", "weight_map is a list"},
      {R"({"weight_map":"a"})", "weight_map is a text"},
      {R"({"weight_map":{"a":1}})", "the shard of tensor 'a' is a number"},
      {R"({"weight_map":{"a":null}})", "is null"},
      {R"({"weight_map":{"a":{"b":"c.safetensors"}}})", "is an object"},
      {R"({"weight_map":{"a":["c.safetensors"]}})", "is a list"},
      {R"({"weight_map":{"a":"a.safetensors","a":"b.safetensors"}})", "key 'a' is there twice"},
      {R"({"weight_map":{"a":"a.safetensors"},"weight_map":{}})", "'weight_map' is there twice"},
      {R"({"weight_map":{"a":"a.safetensors"}}{})", "not JSON"},
      {R"({"weight_map":{"a":"a.safetensors"}})" + std::string("\0{}", 3), "zero byte"},
      {"{\"weight_map\":{\"\xff\":\"a.safetensors\"}}", "not JSON"},
      {shard(""), "is empty"},
      {shard("../a.safetensors"), "leaves the folder"},
      {shard("/etc/a.safetensors"), "leaves the folder"},
      {shard("sub/a.safetensors"), "leaves the folder"},
      {shard("..\\\\a.safetensors"), "leaves the folder"},
      {shard(".."), "begins with a dot"},
      {shard(".a.safetensors"), "begins with a dot"},
      {shard("a\\u0000.safetensors"), "has a control character"},
      {shard("a\\n.safetensors"), "has a control character"},
      {shard("a.bin"), "does not end in .safetensors"},
      {shard("pytorch_model.pt"), "does not end in .safetensors"},
      {shard(std::string(256, 'a')), "longer than a file name"},
      {"{\"weight_map\":{\"" + std::string(1025, 'n') + "\":\"a.safetensors\"}}",
       "longer than 1,024 bytes"},
      {"{\"x\":" + std::string(9, '[') + "1" + std::string(9, ']') + "}", "nested deeper than 8"},
      {many, "more than 512 shards"},
  };
  for (const auto& [text, fragment] : lists) {
    const std::string sentence =
        test::refusal<FileError>([&] { (void)readSafetensorsIndex(text, "/x/list.json"); });
    EXPECT_THAT(sentence, test::HasTexts("/x/list.json", fragment)) << text.substr(0, 80);
  }
}

TEST(SafetensorsIndex, AListAboveTheLimitIsNotRead) {
  const TemporaryFolder folder;
  putFile(folder / "a.index.json", "{");
  ASSERT_EQ(::truncate((folder / "a.index.json").c_str(), (16 << 20) + 1), 0);
  EXPECT_THAT(refusal(folder / "a.index.json"), Names("a.index.json", "16 MiB"));
}

}  // namespace
}  // namespace vitrine
