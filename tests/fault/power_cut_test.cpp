// The power is cut while trainers write: an image of the disk as it is at
// one moment, without anything that the system had not handed to it yet, is mounted and looked at.
//
// Rig (reliability.md, "Power cuts"): an XFS image, in which a copy of a file
// is made at one moment and takes no time, holds an ext4 image, in which the trainers write. Needs
// root and loop devices; its mounts are seen by this process alone and end with it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "core/files/checkpoint_folder.h"
#include "core/store/maintenance/maintenance.h"
#include "tests/fault/fault_test.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

/// Runs a command of the system. \returns  its exit code, 127 where there is no such command
int command(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = forkChild();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) ::dup2(nothing, stream);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  return exitCodeOf(child);
}

class PowerCut : public testing::FaultTest {
 protected:
  PowerCut() : FaultTest(folderOnDisk()) {}
  /// \returns  why there is no rig here, or ""
  std::string setUpRig() {
    if (::geteuid() != 0) return "it needs root, for loop mounts";
    if (freeRoom(folder_) < std::uintmax_t{4} << 30)
      return "its images may take 1 GB, and less than 4 GB are free in " + folder_.string();
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return "mounts of its own are not allowed here";
    for (const char* folder : {"host", "disk", "cut"}) fs::create_directory(folder_ / folder);
    if (!makeImage(folder_ / "host.img", std::uintmax_t{1} << 30,
                   {"mkfs.xfs", "-q", "-m", "reflink=1"}))
      return "mkfs.xfs failed or is not there (apt-get install xfsprogs)";
    if (!mountImage(folder_ / "host.img", folder_ / "host"))
      return "a loop mount of XFS is not possible here";
    if (!makeImage(image(), std::uintmax_t{256} << 20, {"mkfs.ext4", "-q", "-F"}) ||
        !mountImage(image(), folder_ / "disk"))
      return "a loop mount of ext4 is not possible here";
    return {};
  }
  ~PowerCut() override {
    killTrainers();
    for (const char* folder : {"cut", "disk", "host"})
      ::umount2((folder_ / folder).c_str(), MNT_DETACH);
  }

  [[nodiscard]] fs::path image() const { return folder_ / "host" / "disk.img"; }
  [[nodiscard]] fs::path disk() const { return folder_ / "disk"; }
  [[nodiscard]] fs::path cut() const { return folder_ / "cut"; }
  [[nodiscard]] fs::path acknowledgements() const { return folder_ / "acknowledged"; }

  /// Three trainers on a new database on the disk.
  void startTrainers(int round) {
    name_ = "lab" + std::to_string(round) + ".sqlite";
    fs::remove(acknowledgements());
    store::RunStore store(disk() / name_);
    std::vector<store::NewRun> runs(3, newRun("a run"));
    for (store::NewRun& run : runs)
      run.config["train"] = Json{{"steps", 1'000'000}, {"step_ms", 1}, {"checkpoint_every", 4}};
    ids_ = store.addRuns(store.experiment("faults", ""), runs);
    for (const std::int64_t id : ids_) {
      // As the process that starts a run does, for its log.
      fs::create_directories(store::filesFolder(disk() / name_) / ("run-" + store.run(id).uuid));
      trainers_.push_back(startProgram(
          FAULT_WORKER, {"run", "--db", (disk() / name_).string(), "--id", std::to_string(id)}));
    }
  }
  void killTrainers() {
    for (const pid_t trainer : trainers_) kill(trainer);
    trainers_.clear();
  }
  /// run -> the newest step that it was told is safe
  [[nodiscard]] std::map<std::int64_t, std::int64_t> acknowledged() const {
    std::map<std::int64_t, std::int64_t> steps;
    std::ifstream stream(acknowledgements());
    for (std::int64_t run = 0, segment = 0, step = 0; stream >> run >> segment >> step;)
      if (step > 0) steps[run] = std::max(steps[run], step);
    return steps;
  }

  /// The disk as it is now, without what it was not given yet, and mounted as after a restart.
  bool cutPower() {
    ::umount2(cut().c_str(), 0);
    return command({"cp", "--reflink=always", image().string(),
                    (folder_ / "host" / "cut.img").string()}) == 0 &&
           mountImage(folder_ / "host" / "cut.img", cut());
  }

  std::string name_;
  std::vector<std::int64_t> ids_;

 private:
  static bool makeImage(const fs::path& file, std::uintmax_t bytes, std::vector<std::string> make) {
    std::ofstream(file).flush();
    fs::resize_file(file, bytes);
    make.push_back(file.string());
    return command(std::move(make)) == 0;
  }
  static bool mountImage(const fs::path& file, const fs::path& folder) {
    return command({"mount", "-o", "loop", file.string(), folder.string()}) == 0;
  }

  std::vector<pid_t> trainers_;
};

TEST_F(PowerCut, LosesNothingThatWasAcknowledgedAndLeavesWholeCheckpoints) {
  const std::string reason = setUpRig();
  if (!reason.empty()) GTEST_SKIP() << "no power cut here: " << reason;
  ::setenv("VITRINE_FAULT_ACKNOWLEDGED", acknowledgements().c_str(), 1);
  const int cuts = isLong() ? 200 : 8, cutsPerDatabase = 8;
  std::mt19937 random(3);
  std::int64_t points = 0, checkpoints = 0;
  for (int i = 0; i < cuts; ++i) {
    if (i % cutsPerDatabase == 0) {
      killTrainers();
      for (const auto& entry : fs::directory_iterator(disk())) fs::remove_all(entry.path());
      startTrainers(i);
      ASSERT_TRUE(waitUntil([&] { return acknowledged().size() == ids_.size(); }));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 100));
    // Read before the cut: what is acknowledged meanwhile counts at the next one.
    const auto safe = acknowledged();
    ASSERT_TRUE(cutPower());
    store::RunStore store(cut() / name_);
    EXPECT_THAT(store.check(), IsEmpty());
    EXPECT_THAT(checkContents(cut() / name_, store::CheckpointFiles::Verified), IsEmpty());
    for (const std::int64_t id : ids_) {
      const std::int64_t step = safe.at(id);
      const auto curve = store.points(id, "train/loss");
      ASSERT_GE(static_cast<std::int64_t>(curve.size()), step) << "acknowledged points are lost";
      for (std::size_t k = 0; k < curve.size(); ++k)
        ASSERT_EQ(curve[k].step, static_cast<std::int64_t>(k) + 1);
      points += step;
      // Whatever has the name of a checkpoint is one.
      const auto folders =
          listCheckpoints(store::filesFolder(cut() / name_) / ("run-" + store.run(id).uuid));
      ASSERT_FALSE(folders.empty());
      for (const CheckpointFolder& folder : folders) {
        EXPECT_EQ(verifyCheckpointFolder(folder.folder), "");
        ++checkpoints;
      }
      EXPECT_GE(folders.back().step, step) << "an acknowledged checkpoint is lost";
    }
    if (HasFailure()) break;
  }
  killTrainers();
  ::unsetenv("VITRINE_FAULT_ACKNOWLEDGED");
  std::printf("%d power cuts: %lld acknowledged points there, %lld checkpoints verified\n", cuts,
              static_cast<long long>(points), static_cast<long long>(checkpoints));
}

}  // namespace
}  // namespace vitrine
