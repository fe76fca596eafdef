// The queue with the real worker: enqueue, work, pause, resume, refuse.
#include "core/jobs/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/child.h"
#include "tests/support/refusal.h"
#include "tests/support/wait_until.h"

namespace vitrine::test {
namespace {

using ::testing::ElementsAre;

class QueueVerbs : public ::testing::Test {
 protected:
  /// Runs outlive those who started them, a test that failed included.
  ~QueueVerbs() override {
    if (!std::filesystem::exists(database)) return;
    for (const store::RunRow& run : store::RunStore(database).runs()) {
      // A run that a test took from the queue itself has this process.
      if (isAlive(run.state) && isWorkerAlive(run.worker) && run.worker.pid != ::getpid())
        signalProcess(static_cast<pid_t>(run.worker.pid), SIGKILL);
    }
  }
  Ended call(std::vector<std::string> words, const std::string& input = "") const {
    words.insert(words.end(), {"--db", database});
    return vitrine(words, input);
  }
  [[nodiscard]] Json json(std::vector<std::string> words, const std::string& input = "") const {
    words.push_back("--json");
    const Ended ended = call(std::move(words), input);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.json();
  }

  Scratch scratch;
  const std::string database = scratch.path("x.sqlite");
};

TEST_F(QueueVerbs, WorkRunsInTheOrderOfTheQueueAndTakeNoneThatIsDone) {
  const Json queued = json(
      {"enqueue", sharedExperiment(), "train.steps=4", "--time-limit", "1h", "--device", "cpu"});
  EXPECT_EQ(queued.at("ids"), Json({1, 2, 3, 4}));
  EXPECT_EQ(json({"move", "4", "--front"}).at("order"), Json({4, 1, 2, 3}));
  EXPECT_EQ(json({"move", "3", "--before", "1"}).at("order"), Json({4, 3, 1, 2}));
  const Json entry = json({"queue"}).at("entries").at(0);
  EXPECT_EQ(entry.at("id"), 4);
  EXPECT_EQ(entry.at("time_limit"), 3600);
  EXPECT_GT(entry.at("needed_memory").get<double>(), 1e6);
  EXPECT_GT(entry.at("needed_disk").get<double>(), 1e4);

  const Json once = json({"work", "--once"});
  EXPECT_EQ(once.at("runs").at(0).at("id"), 4);
  EXPECT_EQ(once.at("runs").at(0).at("state"), "done");
  EXPECT_EQ(json({"work", "--drain"}).at("started"), 3);
  store::RunStore store(database);
  std::vector<std::int64_t> order;
  for (const auto& row :
       store.query("SELECT id FROM run WHERE state = 'done' ORDER BY finished_at").rows)
    order.push_back(row[0].get<std::int64_t>());
  EXPECT_THAT(order, ElementsAre(4, 3, 1, 2));
  EXPECT_TRUE(json({"queue"}).at("entries").empty());
  EXPECT_THAT(readText(store::filesFolder(database) / store.run(1).logFile), Names("step 4/4"));

  const Json needed = json({"enqueue", sharedExperiment(), "train.steps=4", "--needed"});
  EXPECT_TRUE(needed.at("ids").empty());
  EXPECT_EQ(needed.at("skipped").size(), 4u);
  EXPECT_EQ(store.runs().size(), 4u);
}

TEST_F(QueueVerbs, EnqueueStoresAllRunsWithTheirPlacesAtOnce) {
  std::string seeds = "0";
  for (int seed = 1; seed < 40; ++seed) seeds += ", " + std::to_string(seed);
  const std::string file = scratch.path("seeds.toml");
  writeText(file, readText(sharedSingle()) + "[sweep]\n\"train.seed\" = [" + seeds + "]\n");
  store::RunStore store(database);
  Program enqueue({"enqueue", file, "--no-dry-step", "--db", database});
  std::int64_t runs = 0;
  EXPECT_TRUE(waitUntil([&] {
    // Faster than one commit after the other.
    for (int look = 0; look < 100 && runs < 40; ++look) {
      const auto counts =
          store.query("SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM queue)").rows[0];
      EXPECT_EQ(counts[0], counts[1]);
      runs = counts[0].get<std::int64_t>();
    }
    return runs == 40 || ::testing::Test::HasFailure();
  }));
  EXPECT_EQ(enqueue.wait().code, 0);
}

TEST_F(QueueVerbs, EnqueueOfWhatIsNeededTakesARunAgainWhoseBeginningHasChanged) {
  const std::string file = scratch.path("stages.toml");
  const auto write = [&](const std::string& firstSteps) {
    writeText(file, readText(sharedSingle()) +
                        "[[stage]]\nname = \"first\"\nset = { \"train.steps\" = " + firstSteps +
                        " }\n[[stage]]\nname = \"second\"\nset = { \"train.steps\" = 4 }\n"
                        "init = \"previous\"\n");
  };
  const auto needed = [&] { return json({"enqueue", file, "--needed", "--no-dry-step"}); };
  write("4");
  ASSERT_EQ(call({"train", file}).code, 0);
  EXPECT_EQ(needed().at("skipped").size(), 2u);
  write("5");
  const Json changed = needed();
  EXPECT_TRUE(changed.at("skipped").empty()) << "the second is done, but from another first stage";
  EXPECT_EQ(changed.at("ids").size(), 2u);
}

TEST_F(QueueVerbs, WorkChoosesTheBestOfAGridOnceAllOfItHasEnded) {
  const std::string file = scratch.path("select.toml");
  // The middle one diverges, which is an answer; with the last one nothing is learned.
  writeText(file, readText(sharedSingle()) +
                      "[select]\ngrid = { 'train.optimizer.learning_rate' = [1e-2, 1e30, 1e-9] }\n"
                      "holdout = 0.25\nrefit_seeds = [0, 1]\n");
  const Json check = json({"check", file});
  EXPECT_EQ(check.at("totals").at("runs"), 5);
  EXPECT_EQ(check.at("runs").at(3).at("selected_from"), Json({0, 1, 2}));
  EXPECT_THAT(vitrine({"check", file}).out,
              Names("3 runs", "25 %", "validation/top1", "2 runs"));
  ASSERT_EQ(call({"enqueue", file, "--device", "cpu", "--no-dry-step"}).code, 0);
  store::RunStore store(database);
  EXPECT_EQ(json({"move", "5", "--front"}).at("order").at(0), 5);
  EXPECT_EQ(json({"queue"}).at("entries").at(0).at("waits"), "needs run 1, which is queued");
  EXPECT_EQ(call({"run", "--id", "4"}).code, 4) << "its grid is not done";
  EXPECT_EQ(call({"delete", "2"}).code, 4) << "it is one of those to choose from";
  static_cast<void>(json({"work", "--drain"}));

  EXPECT_EQ(store.run(2).state, store::RunState::Failed);
  for (const std::int64_t run : {4, 5}) {
    EXPECT_EQ(store.run(run).state, store::RunState::Done) << store.run(run).reason;
    EXPECT_EQ(store.config(run).at("train").at("optimizer").at("learning_rate"), 1e-2);
    EXPECT_EQ(store.selection(run).at("chosen"), 0);
    const auto events = store.events(run);
    const auto selected =
        std::find_if(events.begin(), events.end(),
                     [](const store::EventRow& event) { return event.kind == "selected"; });
    ASSERT_NE(selected, events.end());
    const Json& candidates = selected->data.at("candidates");
    EXPECT_TRUE(candidates.at(1).at("score").is_null());
    EXPECT_EQ(candidates.at(1).at("runs").at(0).at("state"), "failed");
    EXPECT_GT(candidates.at(0).at("score").get<double>(), 0.6);
  }
  const auto readers = store.query(
      "SELECT DISTINCT run_id FROM metric_summaries WHERE name = 'test/top1' ORDER BY 1");
  EXPECT_EQ(Json(readers.rows).dump(), "[[4],[5]]") << "runs of the grid saw the test split";
  EXPECT_EQ(store
                .query("SELECT count(*) FROM metric_summaries WHERE name = 'validation/top1' AND "
                       "run_id > 3")
                .rows[0][0],
            0);
  // What is done is known, with its choice; then its grid is not needed, either.
  EXPECT_EQ(
      json({"enqueue", file, "--device", "cpu", "--needed", "--no-dry-step"}).at("skipped").size(),
      5u);
}

TEST_F(QueueVerbs, PauseEndsTheProcessAndResumeContinuesFromThere) {
  ASSERT_EQ(
      call({"enqueue", sharedSingle(), "train.steps=100000", "train.evaluate.every_epochs=none",
            "train.checkpoint.every_epochs=none", "train.schedule.name=constant"})
          .code,
      0);
  Program work({"work", "--db", database});
  ASSERT_TRUE(work.waitForError("run 1 "));
  store::RunStore store(database);
  ASSERT_TRUE(waitUntil([&] { return store.run(1).step > 0; }));
  const store::Worker worker = store.run(1).worker;
  ASSERT_EQ(call({"pause", "1"}).code, 0);
  ASSERT_TRUE(waitUntil([&] { return store.run(1).state == store::RunState::Paused; }))
      << store.run(1).reason;
  EXPECT_TRUE(waitUntil([&] { return !isWorkerAlive(worker); })) << "its memory is not free";
  const std::int64_t step = store.run(1).latestCheckpoint;
  ASSERT_GT(step, 0);
  ASSERT_EQ(call({"resume", "1", "--queue"}).code, 0);
  ASSERT_TRUE(waitUntil([&] { return store.run(1).step > step; }));
  EXPECT_EQ(store.segments(1).back().firstStep, step);

  // Killed, it is started again from where it was.
  signalProcess(static_cast<pid_t>(store.run(1).worker.pid), SIGKILL);
  ASSERT_TRUE(waitUntil([&] { return store.segments(1).size() == 3 && store.run(1).step > step; }));
  EXPECT_EQ(store.segments(1).back().firstStep, step);

  // The window and `work` are gone; the run is not.
  work.signal(SIGKILL);
  static_cast<void>(work.wait());
  EXPECT_TRUE(isWorkerAlive(store.run(1).worker));
  ASSERT_EQ(call({"stop", "1"}).code, 0);
  ASSERT_TRUE(waitUntil([&] { return store.run(1).state == store::RunState::Stopped; }));
  EXPECT_EQ(store.run(1).reason, "stopped on request");
  EXPECT_EQ(call({"retry", "1"}).code, 0);
  EXPECT_EQ(json({"queue"}).at("entries").at(0).at("id"), 1);
}

TEST_F(QueueVerbs, EnqueueStoresAPlanAsItWasChecked) {
  const Ended checked = vitrine({"check", sharedExperiment(), "train.steps=4", "--json"});
  ASSERT_EQ(checked.code, 0) << checked.err;
  const std::string file = scratch.path("plan.json");
  const auto told = [&](const Json& plan) {
    writeText(file, plan.dump());
    return call({"enqueue", "--plan", file, "--no-dry-step"});
  };
  const Json plan = checked.json();
  Json other = plan;
  other["made_by"]["plugins"].begin().value() = std::string(64, '0');
  EXPECT_EQ(told(other).code, 4) << "another plugin";
  EXPECT_THAT(told(other).err, Names("plugins"));
  other = plan;
  other["made_by"]["vitrine"] = "0.0.1";
  EXPECT_EQ(told(other).code, 4) << "another version";
  other = plan;
  other["runs"][2]["config"]["train"]["steps"] = -4;
  EXPECT_EQ(told(other).code, 2) << "a value that no item takes";
  other = plan;
  other["runs"][2]["totals"]["memory_bytes"] = -4;
  EXPECT_EQ(told(other).code, 2) << "a size that is none";
  writeText(file, checked.out.substr(0, checked.out.size() / 2));
  EXPECT_EQ(call({"enqueue", "--plan", file}).code, 2) << "cut";
  EXPECT_EQ(call({"enqueue", "--plan", scratch.path("none.json")}).code, 3);
  EXPECT_EQ(call({"enqueue"}).code, 2) << "neither";
  EXPECT_EQ(call({"enqueue", "--plan", file, sharedExperiment()}).code, 2) << "both";
  EXPECT_FALSE(std::filesystem::exists(database));

  const Ended stored = vitrine({"enqueue", "--plan", "-", "--json", "--db", database}, checked.out);
  ASSERT_EQ(stored.code, 0) << stored.err;
  EXPECT_EQ(stored.json().at("ids"), Json({1, 2, 3, 4}));
  store::RunStore store(database);
  for (std::int64_t i = 0; i < 4; ++i) {
    const Json& run = plan.at("runs").at(static_cast<std::size_t>(i));
    EXPECT_EQ(store.config(i + 1), run.at("config"));
    EXPECT_EQ(store.origins(i + 1), run.at("origins"));
    EXPECT_EQ(store.run(i + 1).name, run.at("name"));
  }
  EXPECT_GT(json({"queue"}).at("entries").at(0).at("needed_memory").get<double>(), 1e6);
  EXPECT_EQ(json({"work", "--once"}).at("runs").at(0).at("state"), "done");
  EXPECT_EQ(json({"enqueue", "--plan", "-", "--needed"}, checked.out).at("skipped").size(), 1u);
}

TEST_F(QueueVerbs, EnqueueTakesWhatCheckOnlyWarnsOfAndRefusesDataThatAreNotHere) {
  const std::vector<std::string> warned{"train.epochs=none", "train.steps=24",
                                        "train.ema.decay=0.9999"};
  std::vector<std::string> arguments{"check", sharedSingle(), "--json"};
  arguments.insert(arguments.end(), warned.begin(), warned.end());
  const Json plan = vitrine(arguments).json();
  ASSERT_EQ(plan.at("warnings").size(), 1u);
  const std::string file = scratch.path("warned.json");
  writeText(file, plan.dump());
  const Ended taken = call({"enqueue", "--plan", file, "--no-dry-step"});
  EXPECT_EQ(taken.code, 0) << taken.err;
  Json elsewhere = plan;
  elsewhere["runs"][0]["data_problem"] = "the images are on another machine";
  writeText(file, elsewhere.dump());
  const Ended refused = call({"enqueue", "--plan", file, "--no-dry-step"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, Names("the images are on another machine"));
}

TEST_F(QueueVerbs, EnqueueRefusesWhatDoesNotFitWithTheNumbersAndStoresNothing) {
  const Ended large =
      call({"enqueue", sharedSingle(), "model.width=65536", "model.heads=2", "model.depth=64"});
  EXPECT_EQ(large.code, 4) << large.err;
  EXPECT_THAT(large.err, Names("memory"));
  const Ended nowhere = call({"enqueue", sharedSingle(), "data.folder=/nowhere"});
  EXPECT_EQ(nowhere.code, 1) << nowhere.err;
  EXPECT_THAT(nowhere.err, Names("/nowhere"));
  for (const char* device : {"abacus", "cudax", "cuda:", "cuda:01", "cuda:0,1"}) {
    const Ended unknown =
        call({"enqueue", sharedSingle(), "train.device=auto", "--device", device});
    EXPECT_EQ(unknown.code, 2) << device;
    EXPECT_THAT(unknown.err, Names(device, "is not a device"));
  }
  EXPECT_EQ(call({"enqueue", sharedSingle(), "--time-limit", "soon"}).code, 2);
  for (const char* option : {"--time-limit", "--grace"}) {
    for (const char* time : {"1e30h", "1e308d", "36501d"}) {
      const Ended endless = call({"enqueue", sharedSingle(), option, time});
      EXPECT_EQ(endless.code, 2) << option << " " << time;
      EXPECT_THAT(endless.err, Names(option, time, "at most 36500d"));
    }
  }
  for (const char* limit : {"--time-limit", "--memory-limit"}) {
    const Ended none = call({"enqueue", sharedSingle(), limit, "0"});
    EXPECT_EQ(none.code, 2) << "0 is not the word for no limit";
    EXPECT_THAT(none.err, Names(std::string(limit) + " 0", "none"));
  }
  const Ended both = call({"work", "--once", "--drain"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, Names("--once", "--drain"));
  EXPECT_TRUE(json({"runs"}).empty());
}

TEST_F(QueueVerbs, StopHoldsBackTheRestOfTheExperimentUnlessTheNextIsWanted) {
  ASSERT_EQ(call({"enqueue", sharedExperiment(), "train.steps=4", "--no-dry-step"}).code, 0);
  store::RunStore store(database);
  jobs::JobQueue queue(store);
  const jobs::Device cpu{"cpu", "", "", 0, 0};
  ASSERT_EQ(queue.next(cpu, {})->run, 1);
  const Ended stopped = call({"stop", "1", "--json"});
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_EQ(stopped.json().at("waiting"), Json({2, 3, 4}));
  EXPECT_THAT(stopped.err, Names("vitrine resume --queue"));
  EXPECT_EQ(queue.mode(), store::QueueMode::Paused);
  ASSERT_EQ(call({"resume", "--queue"}).code, 0);
  ASSERT_EQ(queue.next(cpu, {})->run, 2);
  ASSERT_EQ(call({"stop", "2", "--next"}).code, 0);
  EXPECT_EQ(queue.mode(), store::QueueMode::Running);
}

TEST_F(QueueVerbs, AWorkerSaysThatItsQueueIsPaused) {
  ASSERT_EQ(call({"enqueue", sharedSingle(), "train.steps=2", "--no-dry-step"}).code, 0);
  Program work({"work", "--db", database});
  ASSERT_TRUE(work.waitForError(" is done"));
  ASSERT_EQ(call({"pause", "--queue"}).code, 0);
  EXPECT_TRUE(work.waitForError("vitrine resume --queue"));
  work.signal(SIGTERM);
  EXPECT_EQ(work.wait().code, 0);
}

TEST_F(QueueVerbs, AreRefusedOrNotFoundWithASentence) {
  ASSERT_EQ(call({"enqueue", sharedSingle(), "--no-dry-step"}).code, 0);
  EXPECT_EQ(call({"pause", "1"}).code, 4) << "it is not in progress";
  EXPECT_EQ(call({"pause"}).code, 2);
  EXPECT_EQ(call({"pause", "9"}).code, 3);
  EXPECT_EQ(call({"move", "1"}).code, 2);
  EXPECT_EQ(call({"move", "9", "--front"}).code, 3);
  EXPECT_EQ(call({"resume"}).code, 2);
  EXPECT_THAT(call({"work", "--devices", "cuda:77"}).err, Names("cuda:77"));
  EXPECT_EQ(json({"pause", "--after-current"}).at("mode"), "paused") << "nothing was in progress";
  EXPECT_EQ(json({"work", "--drain"}).at("started"), 0);
  EXPECT_EQ(json({"resume", "--queue"}).at("mode"), "running");
  ASSERT_EQ(call({"stop", "1"}).code, 0);
  EXPECT_TRUE(json({"queue"}).at("entries").empty());
}

}  // namespace
}  // namespace vitrine::test
