// What people ask of the queue, as a value.
#include "core/jobs/command.h"

#include <gmock/gmock.h>

#include "core/remote/place.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/refusal.h"

namespace vitrine::jobs {
namespace {

using test::Fails, test::Names;
using ::testing::ElementsAre;
using What = Command::What;

class Orders : public testing::StoreTest {
 protected:
  std::vector<std::int64_t> waiting(int number) {
    std::vector<std::int64_t> runs;
    for (int i = 0; i < number; ++i) runs.push_back(addRun(store));
    queue.enqueue(runs, {});
    return runs;
  }
  std::vector<std::int64_t> command() {
    std::vector<std::int64_t> runs;
    for (const QueueEntry& entry : queue.list()) runs.push_back(entry.run);
    return runs;
  }
  CommandResult give(What what, std::vector<std::int64_t> runs, std::int64_t before = 0) {
    Command command{.what = what, .runs = std::move(runs), .before = before};
    return execute(command, store, queue);
  }

  store::RunStore store{file()};
  JobQueue queue{store};
};

TEST_F(Orders, MoveKeepsTheOrderOfThoseThatMove) {
  const auto runs = waiting(5);
  give(What::Move, {runs[3], runs[4]}, runs[1]);
  EXPECT_THAT(command(), ElementsAre(runs[0], runs[3], runs[4], runs[1], runs[2]));
  give(What::Move, {runs[0], runs[3]});
  EXPECT_THAT(command(), ElementsAre(runs[4], runs[1], runs[2], runs[0], runs[3]));
  // Before one that moves itself: before the next one that stays.
  give(What::Move, {runs[1], runs[2]}, runs[1]);
  EXPECT_THAT(command(), ElementsAre(runs[4], runs[1], runs[2], runs[0], runs[3]));
  give(What::Move, {runs[1], runs[3]}, runs[3]);
  EXPECT_THAT(command(), ElementsAre(runs[4], runs[2], runs[0], runs[1], runs[3]));
  give(What::Move, runs);
  EXPECT_EQ(command(), runs);
  EXPECT_THAT([&] { give(What::Move, {runs[0]}, 99); }, Fails<NotFoundError>(99));
}

TEST_F(Orders, DoWhatCanBeDoneAndSayWhyTheRestWasNot) {
  const std::int64_t alive = addRunning(store), ended = addRun(store);
  const CommandResult result = give(What::Delete, {alive, ended});
  EXPECT_THAT(result.runs, ElementsAre(ended));
  EXPECT_THAT(result.error, Names(alive));
  EXPECT_THAT([&] { give(What::Delete, {alive}); }, Fails<RefusedError>(alive));
}

TEST_F(Orders, StartLeavesAWaitingRunInItsPlaceAndEnqueueTakesOnlyWhatCanWait) {
  const auto runs = waiting(2);
  EXPECT_TRUE(give(What::Start, {runs[0]}).runs.empty());
  EXPECT_THAT(command(), ElementsAre(runs[0], runs[1]));
  const std::int64_t alive = addRunning(store);
  EXPECT_TRUE(give(What::Enqueue, {alive}).runs.empty());
  EXPECT_EQ(give(What::Start, {addRun(store)}).entries, 3);
}

TEST_F(Orders, StopPausesTheQueueWhenTheExperimentOfARunInProgressHasMoreInIt) {
  const auto runs = waiting(3);
  ASSERT_EQ(queue.next({"cpu", "", "", 0, 0}, {})->run, runs[0]);
  const CommandResult result = give(What::Stop, {runs[0], runs[1]});
  EXPECT_THAT(result.runs, ElementsAre(runs[1], runs[0])) << "what waits first: it never starts";
  EXPECT_THAT(result.waiting, ElementsAre(runs[2]));
  EXPECT_EQ(result.mode, store::QueueMode::Paused);
  EXPECT_EQ(store.request(runs[0]), "stop");
  EXPECT_EQ(store.run(runs[1]).state, store::RunState::Stopped);
  EXPECT_EQ(store.run(runs[2]).state, store::RunState::Queued);
  EXPECT_EQ(resultFromJson(toJson(result)).waiting, result.waiting);
}

TEST_F(Orders, StopLeavesTheQueueToOtherExperiments) {
  const auto runs = waiting(1);
  const std::int64_t other =
      store.addRuns(store.experiment("another one", ""), {newRun("other")}).front();
  queue.enqueue(std::vector{other}, {});
  ASSERT_EQ(queue.next({"cpu", "", "", 0, 0}, {})->run, runs[0]);
  EXPECT_EQ(give(What::Stop, {runs[0]}).mode, store::QueueMode::Running);
  const auto more = waiting(1);
  EXPECT_EQ(give(What::Stop, {more[0]}).mode, store::QueueMode::Running)
      << "nothing in progress ends";
}

TEST_F(Orders, StopOfARunThatEndsMeanwhileLeavesTheQueueRunning) {
  const auto runs = waiting(3);
  ASSERT_EQ(queue.next({"cpu", "", "", 0, 0}, {})->run, runs[0]);
  // The same runs after the queue was read: the first one has ended.
  store::RunStore later(folder_ / "later.sqlite");
  ASSERT_EQ(addRunning(later), runs[0]);
  ASSERT_EQ(addRun(later), runs[1]);
  ASSERT_EQ(addRun(later), runs[2]);
  later.setState(runs[0], store::RunState::Done);
  Command stop{.what = What::Stop, .runs = {runs[0]}};
  EXPECT_THAT([&] { static_cast<void>(execute(stop, later, queue)); },
              Fails<RefusedError>(runs[0]));
  EXPECT_EQ(queue.mode(), store::QueueMode::Running);
  stop.runs = {runs[0], runs[2]};
  const CommandResult result = execute(stop, later, queue);
  EXPECT_THAT(result.runs, ElementsAre(runs[2]));
  EXPECT_TRUE(result.waiting.empty());
  EXPECT_EQ(result.mode, store::QueueMode::Running);
}

TEST_F(Orders, PauseThatHoldsTheQueueStartsNothingInItsPlaceUntilItIsStartedAgain) {
  const auto runs = waiting(2);
  const jobs::Device device{"cpu", "", "", 0, 0};
  ASSERT_EQ(queue.next(device, {})->run, runs[0]);
  store.openSegment(runs[0], 0, store::thisWorker(), Json{{"device", "cpu"}, {"commit", ""}});
  Command pause{.what = What::Pause, .runs = {runs[0]}, .queue = Command::Queue::Holds};
  const CommandResult result = execute(commandFromJson(toJson(pause)), store, queue);
  EXPECT_TRUE(resultFromJson(toJson(result)).isHeld);
  EXPECT_EQ(result.mode, store::QueueMode::Paused);
  EXPECT_FALSE(queue.next(device, {})) << "the run that waits would start in its place";
  EXPECT_THROW(static_cast<void>(execute(pause, store, queue)), Error) << "it is paused already";
  EXPECT_EQ(queue.mode(), store::QueueMode::Paused);

  store.setState(runs[0], store::RunState::Paused);
  Command start;
  start.what = What::Start;
  start.runs = {runs[0]};
  start.end = QueueEnd::Front;
  start.queue = Command::Queue::Resumes;
  EXPECT_EQ(execute(commandFromJson(toJson(start)), store, queue).mode, store::QueueMode::Running);
  EXPECT_EQ(queue.next(device, {})->run, runs[0]);
}

TEST_F(Orders, APauseThatIsRefusedLeavesTheQueueRunning) {
  const auto runs = waiting(1);
  Command pause{.what = What::Pause, .runs = runs, .queue = Command::Queue::Holds};
  EXPECT_THROW(static_cast<void>(execute(pause, store, queue)), RefusedError);
  EXPECT_EQ(queue.mode(), store::QueueMode::Running);
}

TEST_F(Orders, ARunThatIsTakenOutOfTheQueueIsNotQueuedUntilItIsRequeuedAsItWas) {
  store::QueueOptions urgent{.priority = 3, .timeLimitSeconds = 60, .neededMemoryBytes = 1'000'000};
  const auto runs = waiting(3);
  const std::int64_t first = addRun(store);
  queue.enqueue(std::vector{first}, urgent);
  give(What::Remove, {first, runs[0], runs[1]});
  EXPECT_THAT(command(), ElementsAre(runs[2]));
  EXPECT_EQ(store.run(runs[0]).state, store::RunState::Stopped);
  EXPECT_EQ(store.run(runs[0]).reason, "taken out of the queue");
  Command back;
  back.what = What::Requeue;
  back.places = {{first, runs[0], urgent}, {runs[0], runs[1], {}}, {runs[1], runs[2], {}}};
  static_cast<void>(execute(commandFromJson(toJson(back)), store, queue));
  EXPECT_THAT(command(), ElementsAre(first, runs[0], runs[1], runs[2]));
  EXPECT_EQ(store.run(runs[0]).state, store::RunState::Queued);
  EXPECT_EQ(queue.find(first)->options.priority, 3);
  EXPECT_EQ(queue.find(first)->options.timeLimitSeconds, 60);
  EXPECT_EQ(queue.find(first)->options.neededMemoryBytes, 1'000'000);
}

TEST_F(Orders, AreUndoneForTheRunsForWhichTheyCanBe) {
  const auto runs = waiting(2);
  give(What::Remove, runs);
  const std::int64_t alive = addRunning(store);
  Command back{.what = What::Requeue,
               .places = {{runs[0], runs[1], {}}, {alive, runs[1], {}}, {runs[1], 0, {}}}};
  const CommandResult put = execute(back, store, queue);
  EXPECT_THAT(put.runs, ElementsAre(runs[1], runs[0]));
  EXPECT_THAT(put.error, Names(alive));
  EXPECT_THAT(command(), ElementsAre(runs[0], runs[1]));

  const std::int64_t deleted = addRun(store);
  give(What::Delete, {deleted});
  const CommandResult restored = give(What::Restore, {alive, deleted});
  EXPECT_THAT(restored.runs, ElementsAre(deleted));
  EXPECT_THAT(restored.error, Names(alive));
}

TEST_F(Orders, ComeBackFromJsonAsTheyWere) {
  for (const What what :
       {What::Enqueue, What::Start, What::Remove, What::Move, What::Limit, What::Device,
        What::Pause, What::Stop, What::Delete, What::Mode, What::PauseAll}) {
    Command command;
    command.what = what;
    command.runs = {3, 1};
    command.before = what == What::Move ? 7 : 0;
    command.seconds = what == What::Limit ? 0.5 : 0;
    command.device = what == What::Device ? "cuda:1" : "";
    command.mode = what == What::Mode ? store::QueueMode::AfterCurrent : store::QueueMode::Running;
    command.end = QueueEnd::Front;
    const Json json = toJson(command);
    EXPECT_EQ(toJson(commandFromJson(json)), json);
    EXPECT_EQ(commandFromJson(json).before, command.before);
    EXPECT_EQ(commandFromJson(json).mode, command.mode);
  }
}

TEST_F(Orders, FromElsewhereAreRefusedWithTheFieldThatIsWrong) {
  const auto refusal = [](const char* json) {
    return test::refusal<ConfigError>(
        [&] { static_cast<void>(commandFromJson(Json::parse(json))); });
  };
  EXPECT_EQ(refusal("[]"), "the command is not understood: it is not a map");
  EXPECT_THAT(refusal(R"({"what": "stop"})"), Names("runs"));
  EXPECT_THAT(refusal(R"({"what": "stop", "runs": ["x"]})"), Names("runs"));
  EXPECT_THAT(refusal(R"({"what": "mode", "mode": "off"})"), Names("off"));
}

TEST(RemotePlaces, AreReadAndWrittenAsPeopleWriteThem) {
  for (const char* text :
       {"ssh://lab/data/lab.sqlite", "ssh://me@lab.example.org:2222/~/runs/lab.sqlite",
        "ssh://lab/a b/it's.sqlite?program=/opt/vitrine/bin/vitrine"})
    EXPECT_EQ(remote::remotePlace(text).url(), text);
  const remote::RemotePlace place = remote::remotePlace("ssh://me@lab:2222/~/it's.sqlite");
  EXPECT_EQ(place.file, "~/it's.sqlite");
  const auto words = place.command();
  EXPECT_EQ(words.back(), "exec vitrine serve --db ~/'it'\\''s.sqlite'");
  EXPECT_EQ(words[words.size() - 2], "me@lab");
  EXPECT_THAT(words, ::testing::IsSupersetOf({"-p", "2222", "BatchMode=yes", "--"}));
  EXPECT_EQ(place.login(), "ssh -p 2222 me@lab");
  EXPECT_EQ(remote::remotePlace("ssh://lab/x").login(), "ssh lab");
  EXPECT_NE(place.copy(), remote::remotePlace("ssh://me@lab/~/it's.sqlite").copy());
}

TEST(RemotePlaces, ThatCouldBeTakenForSomethingElseAreRefused) {
  for (const char* text : {"lab:/data", "ssh://", "ssh://lab", "ssh://lab/", "ssh:///data/x",
                           "ssh://-oProxyCommand=x/y", "ssh://a b/x", "ssh://lab;x/y",
                           "ssh://lab:0/x", "ssh://lab:99999/x", "ssh://lab:x/y", "ssh://lab/x\ny",
                           "ssh://lab/x?program=", "ssh://lab/x?program=-x"})
    EXPECT_THAT([&] { static_cast<void>(remote::remotePlace(text)); },
                Fails<ConfigError>("ssh://host/data/lab.sqlite"))
        << text;
}

}  // namespace
}  // namespace vitrine::jobs
