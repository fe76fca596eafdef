// A database on another machine: the copy in the window's process, over a stand-in for ssh and over
// a real sshd on the loopback address.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <vector>

#include "core/base/error.h"
#include "core/jobs/command.h"
#include "core/remote/mirror.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/app/ssh_server.h"
#include "tests/support/child.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"
#include "tests/support/wait_until.h"

namespace vitrine::test {
namespace {

using ::testing::IsEmpty;
using Link = remote::RemoteState::Link;

void writeProgram(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
  ::chmod(file.c_str(), 0755);
}

class RemoteDatabase : public ::testing::Test {
 protected:
  RemoteDatabase()
      : data("XDG_DATA_HOME", scratch.path("data")),
        cache("XDG_CACHE_HOME", scratch.path("cache")),
        locks("VITRINE_DEVICE_LOCKS", scratch.path("")),
        ssh("VITRINE_SSH", scratch.path("ssh")) {
    // Runs the last word as a shell there would, and says which process it is.
    writeProgram(scratch.path("ssh"), "#!/bin/sh\nfor last; do :; done\necho $$ > '" +
                                          scratch.path("pid") + "'\nexec sh -c \"$last\"\n");
    std::filesystem::copy_file(sharedDatabase(), database);
    if (std::filesystem::exists(store::filesFolder(sharedDatabase()))) {
      std::filesystem::copy(store::filesFolder(sharedDatabase()), store::filesFolder(database),
                            std::filesystem::copy_options::recursive);
    }
  }
  [[nodiscard]] remote::RemotePlace place() const {
    return remote::remotePlace("ssh://lab" + database + "?program=" VITRINE_PROGRAM);
  }
  void open() {
    mirror =
        std::make_unique<remote::RemoteMirror>(place(), [this](const remote::RemoteState& state) {
          const std::lock_guard lock(mutex);
          states.push_back(state);
        });
  }
  [[nodiscard]] bool isNow(Link link) {
    return waitUntil([&] {
      const std::lock_guard lock(mutex);
      return !states.empty() && states.back().link == link;
    });
  }
  [[nodiscard]] remote::RemoteState state() {
    const std::lock_guard lock(mutex);
    return states.back();
  }
  [[nodiscard]] Json ask(Json request) {
    auto promise = std::make_shared<std::promise<Json>>();
    auto answer = promise->get_future();
    mirror->send(std::move(request), [promise](const Json& last) { promise->set_value(last); });
    return answer.wait_for(std::chrono::seconds(60)) == std::future_status::ready ? answer.get()
                                                                                  : Json("none");
  }
  [[nodiscard]] store::RunStore copy() const {
    return store::RunStore(mirror->file(), store::OpenMode::ReadOnly);
  }
  /// A run in progress over there whose process is gone.
  [[nodiscard]] std::int64_t addLost() const {
    store::RunStore there(database);
    const std::int64_t run =
        there.addRuns(there.experiment("Lost", ""), {{.name = "lost"}}).front();
    store::Worker gone = store::thisWorker();
    gone.startTime = "1";
    there.openSegment(run, 0, gone, Json::object());
    return run;
  }
  void dropLink() const {
    int pid = 0;
    std::ifstream(scratch.path("pid")) >> pid;
    ASSERT_GT(pid, 1);
    signalProcess(pid, SIGKILL);
  }

  Scratch scratch;
  const std::string database = scratch.path("lab.sqlite");
  const Variable data, cache, locks, ssh;
  std::mutex mutex;
  std::vector<remote::RemoteState> states;
  std::unique_ptr<remote::RemoteMirror> mirror;
};

TEST_F(RemoteDatabase, IsCopiedAndFollowsWhatHappensThere) {
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  store::RunStore there(database);
  ASSERT_EQ(copy().runs().size(), there.runs().size());
  const std::int64_t run = there.runs().front().id;
  EXPECT_EQ(copy().config(run), there.config(run));
  ASSERT_FALSE(there.metricNames(run).empty());
  for (const std::string& name : there.metricNames(run))
    EXPECT_EQ(copy().points(run, name).size(), there.points(run, name).size()) << name;
  there.setNote(run, "seen from afar");
  EXPECT_TRUE(waitUntil([&] { return copy().note(run) == "seen from afar"; }));
  there.deleteRun(run);
  EXPECT_TRUE(waitUntil([&] { return copy().runs().size() == there.runs().size(); }));
}

TEST_F(RemoteDatabase, ShowsThatTheProcessOfARunIsGone) {
  const std::int64_t run = addLost();
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  EXPECT_TRUE(waitUntil([&] { return copy().run(run).state == store::RunState::Interrupted; }));
}

TEST_F(RemoteDatabase, IsFollowedAndListedWhileItCannotBeWritten) {
  (void)addLost();
  const int gate = ::open((database + ".gate").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(gate, 0);
  ASSERT_EQ(::flock(gate, LOCK_EX), 0);
  open();
  Program compare({"compare", "Tiny", "--db", database}), queue({"queue", "--db", database});
  for (Program* each : {&compare, &queue}) {
    const Ended ended = each->wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, Names(database, "busy"));
  }
  EXPECT_TRUE(isNow(Link::Linked)) << state().error;
  ::close(gate);
}

TEST_F(RemoteDatabase, IsCopiedWithoutWhatIsTooLargeForAFrame) {
  std::int64_t run = 0;
  {
    store::RunStore there(database);
    run = there.runs().front().id;
    store::RunStore::Batch batch;
    for (const std::size_t bytes : {remote::kLargestFrame + 1, std::size_t{10}}) {
      Artifact artifact{
          .analysis = "rank", .name = std::to_string(bytes), .kind = artifact_kind::kMatrix};
      setUint8(artifact, std::vector<std::uint8_t>(bytes), {static_cast<std::int64_t>(bytes), 1},
               {"row", "column"});
      batch.artifacts.push_back(std::move(artifact));
    }
    there.append(run, 1, batch);
  }
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  auto artifacts = copy().artifacts(run);
  ASSERT_GE(artifacts.size(), 2u);
  std::sort(artifacts.begin(), artifacts.end(),
            [](const store::ArtifactRow& a, const store::ArtifactRow& b) { return a.id < b.id; });
  EXPECT_EQ(artifacts[artifacts.size() - 2].meta.value("left_out", std::size_t{0}),
            remote::kLargestFrame + 1);
  EXPECT_FALSE(artifacts.back().meta.contains("left_out"));
  // Nor does a request that is too large end the link.
  const Json answer = ask({{"op", "edit"},
                           {"run", run},
                           {"field", "note"},
                           {"text", std::string(remote::kLargestFrame, 'x')}});
  EXPECT_EQ(answer.at("error").at("kind"), "refused") << answer.dump().substr(0, 200);
  EXPECT_EQ(ask({{"op", "devices"}}).count("devices"), 1u);
  EXPECT_EQ(state().link, Link::Linked);
}

TEST_F(RemoteDatabase, IsReadOnAfterTheLinkDroppedAndCaughtUpWhenItIsBack) {
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  store::RunStore there(database);
  const std::size_t runs = there.runs().size();
  const std::int64_t run = there.runs().front().id;
  writeProgram(scratch.path("ssh"), "#!/bin/sh\necho 'lab: no route to host' >&2\nexit 255\n");
  dropLink();
  ASSERT_TRUE(waitUntil([&] { return state().error == "lab: no route to host"; }));
  EXPECT_EQ(state().link, Link::Lost);
  EXPECT_EQ(copy().runs().size(), runs);
  EXPECT_EQ(ask({{"op", "command"}}).at("error").at("kind"), "link");
  there.setNote(run, "while no window looked");
  writeProgram(scratch.path("ssh"), "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n");
  mirror->tryNow();
  ASSERT_TRUE(waitUntil([&] { return copy().note(run) == "while no window looked"; }));
  EXPECT_TRUE(isNow(Link::Linked));
}

TEST_F(RemoteDatabase, ASecondWindowBeginsWithWhatTheFirstHasRead) {
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  const std::size_t runs = copy().runs().size();
  mirror.reset();
  writeProgram(scratch.path("ssh"), "#!/bin/sh\nexit 255\n");
  open();
  EXPECT_EQ(copy().runs().size(), runs);
  ASSERT_TRUE(isNow(Link::Lost));
  EXPECT_EQ(state().error, "the connection ended without a word");
}

TEST_F(RemoteDatabase, CarriesOrdersAndEditsThere) {
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  store::RunStore there(database);
  const std::int64_t run = there.runs().front().id;
  Json edit{{"op", "edit"}, {"run", run}, {"field", "note"}, {"text", "typed here"}};
  edit["based_on"] = there.version(run, store::RunField::Note);
  const std::int64_t version = ask(edit).at("version").get<std::int64_t>();
  EXPECT_EQ(there.note(run), "typed here");
  EXPECT_EQ(version, there.version(run, store::RunField::Note));
  edit["text"] = "typed without having seen it";
  EXPECT_EQ(ask(edit).at("theirs"), "typed here");
  EXPECT_EQ(there.note(run), "typed here");

  jobs::Command command{.what = jobs::Command::What::Mode, .mode = store::QueueMode::Paused};
  EXPECT_EQ(jobs::resultFromJson(ask({{"op", "command"}, {"command", toJson(command)}})).mode,
            store::QueueMode::Paused);
  store::RunStore reader = copy();
  EXPECT_TRUE(waitUntil([&] { return jobs::JobQueue(reader).mode() == store::QueueMode::Paused; }));
  command.what = jobs::Command::What::Delete;
  command.runs = {run};
  EXPECT_EQ(jobs::resultFromJson(ask({{"op", "command"}, {"command", toJson(command)}})).runs,
            command.runs);
  EXPECT_TRUE(waitUntil([&] { return copy().runs().size() == there.runs().size(); }));
  const Json unknown = ask({{"op", "command"}, {"command", {{"what", "explode"}}}});
  EXPECT_EQ(unknown.at("error").at("kind"), "config") << unknown;
}

TEST_F(RemoteDatabase, CopiesTheLogsThatAreFollowedAndWhatIsAddedToThem) {
  store::RunStore there(database);
  const store::RunRow run = there.runs().front();
  const std::filesystem::path log = store::filesFolder(database) / ("run-" + run.uuid) / "run.log";
  std::filesystem::create_directories(log.parent_path());
  std::ofstream(log, std::ios::trunc) << "first line\n";
  there.setLogFile(run.id, "run-" + run.uuid + "/run.log");
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  const auto copied = [&] {
    std::ifstream stream(store::filesFolder(mirror->file()) / copy().run(run.id).logFile);
    return std::string((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  };
  EXPECT_THAT(copied(), IsEmpty());
  mirror->follow({run.id});
  EXPECT_TRUE(waitUntil([&] { return copied() == "first line\n"; }));
  std::ofstream(log, std::ios::app) << "second line\n";
  EXPECT_TRUE(waitUntil([&] { return copied() == "first line\nsecond line\n"; }));
  std::ofstream(log, std::ios::trunc) << "again\n";
  EXPECT_TRUE(waitUntil([&] { return copied() == "again\n"; }));
}

TEST_F(RemoteDatabase, IsFetchedAgainWhereItsCopyIsDamaged) {
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  const std::filesystem::path file = mirror->file();
  const std::size_t runs = copy().runs().size();
  mirror.reset();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 3);
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(200);
    stream << std::string(3000, 'x');
  }
  states.clear();
  open();
  ASSERT_TRUE(isNow(Link::Linked)) << state().error;
  EXPECT_EQ(copy().runs().size(), runs);
  EXPECT_THAT(copy().check(), IsEmpty());
}

TEST_F(RemoteDatabase, SaysInOneSentenceWhatIsMissingThere) {
  remote::RemotePlace other = place();
  other.program = "/nowhere/vitrine";
  remote::RemoteState last;
  {
    remote::RemoteMirror none(other, [&](const remote::RemoteState& now) {
      const std::lock_guard lock(mutex);
      states.push_back(now);
    });
    ASSERT_TRUE(isNow(Link::Lost));
    EXPECT_THAT(state().error,
                HasTexts("/nowhere/vitrine", "install Vitrine there, or name the program"));
  }
  states.clear();
  writeProgram(scratch.path("ssh"),
               "#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n");
  open();
  ASSERT_TRUE(isNow(Link::Lost));
  EXPECT_THAT(state().error, Names("ssh lab"));
  mirror.reset();
  const std::map<std::string, std::vector<std::string>> others{
      {"echo 'ssh: connect to host lab port 2222: Connection refused' >&2; exit 255",
       {"Connection refused", "ssh -p 2222 lab"}},
      {"echo 'Connection reset by 10.0.0.1 port 2222' >&2; exit 255", {"ssh -p 2222 lab"}},
      {"echo Welcome to the lab", {".bashrc"}},
      {"echo \"error: '/data' is a folder\" >&2; exit 1", {"'/data' is a folder"}}};
  for (const auto& [script, items] : others) {
    writeProgram(scratch.path("ssh"), "#!/bin/sh\n" + script + "\n");
    other.port = 2222;
    states.clear();
    remote::RemoteMirror none(other, [&](const remote::RemoteState& now) {
      const std::lock_guard lock(mutex);
      states.push_back(now);
    });
    ASSERT_TRUE(isNow(Link::Lost));
    EXPECT_THAT(state().error, NamesAll(items));
    EXPECT_FALSE(state().error.starts_with("error: ")) << state().error;
  }
  const Variable none("VITRINE_SSH", "/nowhere/ssh");
  states.clear();
  open();
  ASSERT_TRUE(isNow(Link::Lost));
  EXPECT_THAT(state().error, Names("/nowhere/ssh"));
}

TEST_F(RemoteDatabase, StartsRunsThereThroughARealSshServer) {
  SshServer server(scratch.path("sshd"));
  if (!server.trouble().empty()) GTEST_SKIP() << server.trouble();
  const Variable real("VITRINE_SSH", server.command());
  // Of a login there: what the server gives to a session.
  mirror = std::make_unique<remote::RemoteMirror>(
      remote::remotePlace(
          "ssh://127.0.0.1:" + std::to_string(server.port()) + database + "?program=" +
          server.program(VITRINE_PROGRAM,
                         {{"XDG_DATA_HOME", scratch.path("data")},
                          {"XDG_CACHE_HOME", (sharedFolder() / "cache").string()}})),
      [this](const remote::RemoteState& now) {
        const std::lock_guard lock(mutex);
        states.push_back(now);
      });
  ASSERT_TRUE(isNow(Link::Linked)) << state().error << "\n" << server.log();
  std::ifstream file(sharedSingle());
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Json queued =
      ask({{"op", "enqueue"}, {"experiment", text}, {"overrides", {"train.steps=3"}}});
  ASSERT_TRUE(queued.contains("ids")) << queued.dump();
  const std::int64_t run = queued.at("ids").at(0).get<std::int64_t>();
  // The link drops while it works: nothing is lost, and the copy catches up.
  server.dropSessions();
  EXPECT_TRUE(waitUntil([&] {
    store::RunStore reader = copy();
    for (const store::RunRow& row : reader.runs()) {
      if (row.id == run) return row.state == store::RunState::Done && row.step == 3;
    }
    return false;
  })) << state().error
      << "\n"
      << server.log();
  EXPECT_EQ(copy().points(run, "train/loss").size(),
            store::RunStore(database).points(run, "train/loss").size());
}

}  // namespace
}  // namespace vitrine::test
