#include "core/files/checkpoint_folder.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/base/error.h"
#include "core/files/checkpoint_use.h"
#include "core/files/safetensors.h"
#include "tests/core/files/made_files.h"
#include "tests/support/child.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;
using test::Names;

void writeSome(const fs::path& folder) {
  putFile(folder / "model.safetensors", std::string(1000, 'm'));
  putFile(folder / "state.json", "{}");
}

std::vector<std::string> namesIn(const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder))
    out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

TEST(CheckpointFolder, IsThereWholeWithAManifestOfEveryFile) {
  const TemporaryFolder folder;
  const std::uint64_t bytes =
      writeCheckpointFolder(folder / "run", 500, {{"configuration", "abc"}}, writeSome);
  EXPECT_EQ(namesIn(folder / "run"), std::vector<std::string>{"step-000000500"});
  const fs::path made = folder / "run" / "step-000000500";
  EXPECT_EQ(verifyCheckpointFolder(made), "");
  const Json manifest = Json::parse(getFile(made / "manifest.json"));
  EXPECT_EQ(manifest["step"], 500);
  EXPECT_EQ(manifest["configuration"], "abc");
  ASSERT_EQ(manifest["files"].size(), 2u);
  EXPECT_EQ(manifest["files"][1]["name"], "state.json");
  // SHA-256 of "{}", from sha256sum.
  EXPECT_EQ(manifest["files"][1]["sha256"],
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  EXPECT_EQ(bytes, 1002 + getFile(made / "manifest.json").size());
}

TEST(CheckpointFolder, FailureLeavesNothingBehindAndOlderOnesAlone) {
  const TemporaryFolder folder;
  (void)writeCheckpointFolder(folder.path(), 1, {}, writeSome);
  EXPECT_THROW((void)writeCheckpointFolder(folder.path(), 2, {},
                                           [](const fs::path& into) {
                                             writeSome(into);
                                             throw FileError("disk full");
                                           }),
               FileError);
  EXPECT_EQ(namesIn(folder.path()), std::vector<std::string>{"step-000000001"});
  EXPECT_EQ(verifyCheckpointFolder(folder / "step-000000001"), "");
}

TEST(CheckpointFolder, AFailureNamesTheCheckpointAndNotItsTemporaryFolder) {
  const TemporaryFolder folder;
  const std::string sentence = test::refusal<FileError>([&] {
    (void)writeCheckpointFolder(folder.path(), 2, {}, [](const fs::path& into) {
      fs::create_directory(into / "model.safetensors");
      writeSafetensors(into / "model.safetensors", {}, {});
    });
  });
  EXPECT_THAT(sentence, Names((folder / "step-000000002" / "model.safetensors").string()));
}

TEST(CheckpointFolder, AFullDiskInTheManifestIsAFailureToo) {
  const TemporaryFolder folder;
  (void)writeCheckpointFolder(folder.path(), 1, {}, writeSome);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit tight = before;
  tight.rlim_cur = 100;
  const std::string sentence = test::refusal<FileError>([&] {
    (void)writeCheckpointFolder(folder.path(), 2, {}, [&](const fs::path& into) {
      writeSome(into);
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
    });
  });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(sentence, Names("manifest.json"));
  EXPECT_EQ(namesIn(folder.path()), std::vector<std::string>{"step-000000001"});
}

TEST(CheckpointFolder, RefusesToStartWithoutRoomForAnotherOne) {
  const TemporaryFolder folder;
  (void)writeCheckpointFolder(folder.path(), 1, {}, writeSome);
  // A sparse file: as large as no disk is, and not a byte on it.
  putFile(folder / "step-000000001" / "sparse", "");
  ASSERT_EQ(::truncate((folder / "step-000000001" / "sparse").c_str(), off_t{1} << 43), 0);
  bool called = false;
  const std::string sentence = test::refusal<FileError>([&] {
    (void)writeCheckpointFolder(folder.path(), 2, {}, [&](const fs::path&) { called = true; });
  });
  EXPECT_THAT(sentence, Names("step-000000002"));
  EXPECT_FALSE(called);
}

TEST(CheckpointFolder, TheSameStepIsReplacedByTheNewOne) {
  const TemporaryFolder folder;
  (void)writeCheckpointFolder(folder.path(), 7, {{"turn", 1}}, writeSome);
  (void)writeCheckpointFolder(folder.path(), 7, {{"turn", 2}}, writeSome);
  EXPECT_EQ(namesIn(folder.path()), std::vector<std::string>{"step-000000007"});
  EXPECT_EQ(verifyCheckpointFolder(folder / "step-000000007"), "");
  EXPECT_EQ(Json::parse(getFile(folder / "step-000000007" / "manifest.json"))["turn"], 2);
}

TEST(CheckpointFolder, EveryKindOfDamageIsFound) {
  const TemporaryFolder folder;
  const fs::path made = folder / "step-000000003";
  const auto after = [&](const std::function<void()>& damage) {
    fs::remove_all(made);
    (void)writeCheckpointFolder(folder.path(), 3, {}, writeSome);
    damage();
    return verifyCheckpointFolder(made);
  };
  const auto manifest = [&](const std::function<void(Json&)>& change) {
    Json json = Json::parse(getFile(made / "manifest.json"));
    change(json);
    putFile(made / "manifest.json", json.dump());
  };
  EXPECT_EQ(after([] {}), "");
  EXPECT_THAT(after([&] { fs::remove(made / "manifest.json"); }), Names("manifest.json"));
  for (const char* text : {"{\"files\":", ""})
    EXPECT_THAT(after([&] { putFile(made / "manifest.json", text); }), Names("manifest")) << text;
  EXPECT_THAT(after([&] { fs::remove(made / "state.json"); }), Names("state.json"));
  for (const char* text : {"{} ", "[]"})
    EXPECT_THAT(after([&] { putFile(made / "state.json", text); }), Names("state.json")) << text;
  EXPECT_THAT(after([&] { putFile(made / "extra.safetensors", "x"); }), Names("extra.safetensors"));
  EXPECT_THAT(after([&] { fs::create_symlink("/etc/passwd", made / "link"); }), Names("link"));
  const std::vector<std::pair<const char*, Json>> changes{{"/manifest_version", 2},
                                                          {"/step", 4},
                                                          {"/files/0/name", "../outside"},
                                                          {"/files", 1},
                                                          {"/files/0", nullptr}};
  for (const auto& change : changes) {
    const auto apply = [&](Json& json) { json[Json::json_pointer(change.first)] = change.second; };
    EXPECT_THAT(after([&] { manifest(apply); }), Names("manifest")) << change.first;
  }
}

TEST(CheckpointFolder, ACutManifestOrFileNeverVerifies) {
  const TemporaryFolder folder;
  (void)writeCheckpointFolder(folder.path(), 3, {}, writeSome);
  for (const char* name : {"manifest.json", "model.safetensors"}) {
    const fs::path file = folder / "step-000000003" / name;
    const std::string whole = getFile(file);
    for (std::size_t length = 0; length < whole.size(); length += 64) {
      putFile(file, whole.substr(0, length));
      EXPECT_NE(verifyCheckpointFolder(folder / "step-000000003"), "") << name << " " << length;
    }
    putFile(file, whole);
    ASSERT_EQ(verifyCheckpointFolder(folder / "step-000000003"), "");
  }
}

TEST(Checkpoints, TheNewestWholeOneIsFoundAndTheOthersAreTold) {
  const TemporaryFolder folder;
  for (const int step : {10, 20, 100})
    (void)writeCheckpointFolder(folder.path(), step, {}, writeSome);
  putFile(folder / "step-000000100" / "state.json", "[]");
  fs::create_directory(folder / "step-7");  // not a name we give
  fs::create_directory(folder / "step-00000abc9");
  std::vector<std::string> told;
  const auto newest =
      newestCheckpoint(folder.path(), [&](const std::string& text) { told.push_back(text); });
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->step, 20);
  EXPECT_EQ(told, std::vector{"checkpoint " + (folder / "step-000000100").string() +
                              " is left out: state.json differs from its checksum"});
  EXPECT_EQ(listCheckpoints(folder.path()).size(), 3u);
  EXPECT_FALSE(newestCheckpoint(folder / "nowhere").has_value());
}

TEST(Checkpoints, OfDamagedOnesAloneNoneIsHeldAndEachIsToldOnce) {
  const TemporaryFolder folder;
  for (const int step : {10, 20}) {
    (void)writeCheckpointFolder(folder.path(), step, {}, writeSome);
    putFile(folder / checkpointName(step) / "state.json", "[]");
  }
  std::vector<std::string> told;
  const auto held =
      holdNewestCheckpoint(folder.path(), [&](const std::string& text) { told.push_back(text); });
  EXPECT_FALSE(held.has_value());
  EXPECT_EQ(told.size(), 2u);
  EXPECT_FALSE(holdNewestCheckpoint(folder / "nowhere").has_value());
  (void)writeCheckpointFolder(folder.path(), 5, {}, writeSome);
  EXPECT_EQ(holdNewestCheckpoint(folder.path())->checkpoint.step, 5);
  EXPECT_EQ(newestCheckpoint(listCheckpoints(folder.path()))->step, 5);
}

TEST(Checkpoints, LeftoversOfDeadProcessesAreSweptAndThoseOfLiveOnesStay) {
  const TemporaryFolder folder;
  const pid_t dead = forkChild();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  fs::create_directory(folder / ("step-000000001.tmp-" + std::to_string(dead)));
  putFile(folder / ("notes.json.tmp-" + std::to_string(dead) + "-3"), "x");
  const std::string mine = "step-000000002.tmp-" + std::to_string(::getpid());
  fs::create_directory(folder / mine);
  EXPECT_TRUE(listCheckpoints(folder.path()).empty());
  EXPECT_EQ(namesIn(folder.path()), std::vector<std::string>{mine});
}

TEST(Checkpoints, AProcessKilledWhileWritingLeavesTheOlderOneAsTheNewest) {
  const TemporaryFolder folder;
  (void)writeCheckpointFolder(folder.path(), 1, {}, writeSome);
  const pid_t writer = forkChild();
  if (writer == 0) {
    (void)writeCheckpointFolder(folder.path(), 2, {}, [](const fs::path& into) {
      writeSome(into);
      ::raise(SIGKILL);
    });
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(namesIn(folder.path()).size(), 2u);
  EXPECT_EQ(newestCheckpoint(folder.path())->step, 1);
  EXPECT_EQ(namesIn(folder.path()), std::vector<std::string>{"step-000000001"});
}

TEST(TextFiles, AreReplacedAtomicallyAndReadWithALimit) {
  const TemporaryFolder folder;
  writeFileAtomically(folder / "a.json", "one");
  writeFileAtomically(folder / "a.json", "two");
  EXPECT_EQ(readTextFile(folder / "a.json"), "two");
  EXPECT_EQ(namesIn(folder.path()), std::vector<std::string>{"a.json"});
  EXPECT_EQ(readTextFile(folder / "a.json", 3), "two");
  EXPECT_THAT([&] { return readTextFile(folder / "a.json", 2); }, test::Fails<FileError>("a.json"));
  EXPECT_THAT([&] { return readTextFile("/dev/zero"); }, test::Fails<FileError>("/dev/zero"));
  EXPECT_FALSE(readTextFile("/proc/self/status").empty());  // says size 0
  const auto elsewhere = folder / "no" / "a.json";
  EXPECT_EQ(test::refusal<FileError>([&] { writeFileAtomically(elsewhere, "x"); }),
            elsewhere.string() + " cannot be written: No such file or directory");
}

}  // namespace
}  // namespace vitrine
