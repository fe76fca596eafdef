// Files from outside are told by their name, and a database is looked at by a process that may
// crash over it.
#include "core/store/exchange/file_probe.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <stop_token>
#include <thread>

#include "tests/core/store/temp_database.h"
#include "tests/support/wait_until.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using test::Names;
using ::testing::IsEmpty;
using testing::RawDatabase;

class FileProbe : public testing::StoreTest {
 protected:
  /// A program that does what `text`, a shell script, says.
  [[nodiscard]] fs::path program(const std::string& text) const {
    const fs::path path = folder_ / "program";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }
};

TEST_F(FileProbe, TellsKindsByTheNameAlone) {
  const std::vector<std::pair<const char*, FileKind>> names{
      {"a.sqlite", FileKind::Database},
      {"B.DB", FileKind::Database},
      {"run.vitrine", FileKind::Export},
      {"events.out.tfevents.1700000000.host.1.0", FileKind::TensorBoard},
      {"x.toml", FileKind::Experiment},
      {"model.safetensors", FileKind::Weights},
      {"model.safetensors.index.json", FileKind::Weights},
      {"model.pt", FileKind::Foreign},
      {"notes.txt", FileKind::Unknown},
      {".db", FileKind::Unknown},
      {"", FileKind::Unknown}};
  for (const auto& [name, kind] : names) EXPECT_EQ(kindByName(name), kind) << name;
  EXPECT_EQ(kindByName(folder_), FileKind::Folder);
  EXPECT_EQ(toString(FileKind::TensorBoard), "tensorboard");
}

TEST_F(FileProbe, LooksAtADatabaseWithoutWritingAnything) {
  std::string uuid;
  {
    RunStore store(file());
    addRun(store);
    uuid = store.query("SELECT value FROM meta WHERE key = 'uuid'").rows.at(0).at(0);
    const ProbedFile inUse = probeHere(file());
    EXPECT_EQ(inUse.runs, 1) << inUse.refusal;
    fs::create_symlink(file(), folder_ / "link.sqlite");
    const ProbedFile link = probeHere(folder_ / "link.sqlite");
    EXPECT_EQ(link.runs, 1) << link.refusal;
  }
  const auto time = fs::last_write_time(file());
  const ProbedFile probed = probeHere(file());
  EXPECT_TRUE(probed.isUsable) << probed.refusal;
  EXPECT_EQ(probed.uuid, uuid);
  EXPECT_EQ(probed.runs, 1);
  EXPECT_EQ(fs::last_write_time(file()), time);
  fs::copy_file(fs::path(VITRINE_SOURCE_DIR) / "tests/core/store/released/version_1.sqlite",
                folder_ / "old.sqlite");
  const ProbedFile old = probeHere(folder_ / "old.sqlite");
  EXPECT_TRUE(old.isUsable) << old.refusal;
  EXPECT_EQ(old.version, 1);
  EXPECT_EQ(old.runs, 2);
}

TEST_F(FileProbe, RefusesWhatIsNotOursInASentence) {
  std::ofstream(folder_ / "text.db") << "no database at all, but long enough to look like one";
  EXPECT_THAT(probeHere(folder_ / "text.db").refusal, Names("text.db"));
  RawDatabase(folder_ / "other.sqlite").run("CREATE TABLE t(x)");
  EXPECT_THAT(probeHere(folder_ / "other.sqlite").refusal, Names("other.sqlite"));
  { RunStore store(file()); }
  RawDatabase(file()).run("CREATE VIEW evil AS SELECT 1");
  const ProbedFile evil = probeHere(file());
  EXPECT_FALSE(evil.isUsable);
  EXPECT_THAT(evil.refusal, Names("view", "evil"));
}

TEST_F(FileProbe, EndsTheProcessThatLooksWhenItIsToldTo) {
  { RunStore store(file()); }
  std::stop_source stop;
  const std::filesystem::path looks = folder_ / "looks";
  std::jthread teller([&] {
    EXPECT_TRUE(waitUntil([&] { return std::filesystem::exists(looks); }));
    stop.request_stop();
  });
  // It would take an hour.
  const ProbedFile probed =
      probeFile(file(), program("touch '" + looks.string() + "'; exec sleep 3600"),
                std::chrono::hours(1), stop.get_token());
  EXPECT_FALSE(probed.isUsable);
}

TEST_F(FileProbe, OutlivesTheProcessThatLooks) {
  { RunStore store(file()); }
  // What the process says is taken as it is, and what it does to itself stays there.
  const ProbedFile good = probeFile(
      file(),
      program("echo '{\"kind\":\"database\",\"usable\":true,\"refusal\":\"\",\"uuid\":\"u\","
              "\"version\":3,\"runs\":5}'"));
  EXPECT_TRUE(good.isUsable);
  EXPECT_EQ(good.runs, 5);
  const std::string quoted = "'" + file().string() + "'";
  EXPECT_EQ(probeFile(file(), program("kill -SEGV $$")).refusal,
            quoted + " crashed the process that inspected it; it is damaged or malicious: do not "
                     "open it");
  EXPECT_EQ(probeFile(file(), program("exec sleep 60"), std::chrono::milliseconds(100)).refusal,
            quoted + " could not be inspected within 0 s; it may be damaged or on a disk that "
                     "hangs");
  EXPECT_THAT(probeFile(file(), program("echo nonsense; echo why >&2; exit 1")).refusal,
              Names("why"));
  EXPECT_THAT(probeFile(file(), folder_ / "none").refusal, Names("none"));
  // No process for what is not a database.
  EXPECT_EQ(probeFile("model.safetensors", folder_ / "none").kind, FileKind::Weights);
  EXPECT_THAT(probeFile("model.safetensors", folder_ / "none").refusal, IsEmpty());
}

}  // namespace
}  // namespace vitrine::store
