// Auxiliary networks of a run: what is recorded of them, and what keeps them from going or
// changing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "core/base/sha256.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/checkpoint_use.h"
#include "core/files/safetensors_set.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;

/// The model of the shared run.
std::string modelToml(const Copy& copy) {
  const Json values =
      store::RunStore(copy.database(), store::OpenMode::ReadOnly).config(1).at("model");
  std::string text;
  for (const auto& [key, value] : values.items()) {
    if (!value.is_null()) text += (text.empty() ? "{ " : ", ") + key + " = " + value.dump();
  }
  return text + " }";
}

TEST(Aux, OfAnotherRunIsRecordedWithItsHashAndKept) {
  const Copy copy;
  const std::string uuid = store::RunStore(copy.database(), store::OpenMode::ReadOnly).run(1).uuid;
  const Ended ended = copy.run({"train", sharedSingle(), "train.steps=2", "--json",
                                "aux.codec={ run = \"" + uuid + "\", checkpoint = 24 }"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::int64_t id = ended.json().at(0).at("id").get<std::int64_t>();
  {
    store::RunStore store(copy.database(), store::OpenMode::ReadOnly);
    const Json codec = store.environment(id).at("aux").at("codec");
    EXPECT_EQ(codec.at("run"), uuid);
    EXPECT_EQ(codec.at("step"), 24);
    EXPECT_EQ(codec.at("use"), "model");
    EXPECT_EQ(codec.at("sha256"),
              sha256OfFile(store::filesFolder(copy.database()) / ("run-" + uuid) /
                           checkpointName(24) / "model.safetensors"));
    EXPECT_EQ(store.dependencies(id).at(0), (store::RunDependency{"aux", "codec", uuid, "24"}));
    EXPECT_EQ(store.config(id).at("aux").at("codec").at("run"), uuid);
  }
  const Ended kept = copy.run({"delete", "1"});
  EXPECT_EQ(kept.code, 4);
  EXPECT_THAT(kept.err, Names("run 1", "codec", "run 5"));
  EXPECT_THAT(copy.run({"show", "5"}).out, Names("codec"));
}

TEST(Aux, OfADamagedCheckpointNamesItsFileAndItsRun) {
  const Copy copy;
  const std::string uuid = store::RunStore(copy.database(), store::OpenMode::ReadOnly).run(1).uuid;
  const Ended ended = copy.run({"train", sharedSingle(), "train.steps=2", "--json",
                                "aux.codec={ run = \"" + uuid + "\" }"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  for (const CheckpointFolder& each :
       listCheckpoints(store::filesFolder(copy.database()) / ("run-" + uuid))) {
    const fs::path file = each.folder / "model.safetensors";
    std::string bytes = readText(file);
    bytes.back() ^= 1;
    writeText(file, bytes);
  }
  const Ended refused = copy.run({"evaluate", "5"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, Names("run 5", "codec", "run 1", "step 24", "run-" + uuid,
                                 "model.safetensors", "backup"));
}

TEST(Init, LetsGoOfTheCheckpointOnceItIsInMemory) {
  const Copy copy;
  const std::string uuid = store::RunStore(copy.database(), store::OpenMode::ReadOnly).run(1).uuid;
  Program program({"train", sharedSingle(), "--db", copy.database(), "train.steps=100000",
                   "train.checkpoint.every_epochs=none", "train.evaluate.every_epochs=none",
                   "init={ run = \"" + uuid + "\", checkpoint = 24 }"});
  ASSERT_TRUE(program.waitForError("\nstep ")) << "no progress was seen";
  EXPECT_TRUE(
      removeCheckpoint(store::filesFolder(copy.database()) / ("run-" + uuid) / checkpointName(24)))
      << "it is held while the run trains";
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 75);
}

TEST(Init, TakesTheAveragedWeightsOfAFolderAndRefusesThemOfOneFile) {
  const Copy copy;
  fs::path folder;
  {
    store::RunStore store(copy.database(), store::OpenMode::ReadOnly);
    folder =
        store::filesFolder(copy.database()) / ("run-" + store.run(1).uuid) / checkpointName(24);
  }
  const auto started = [&](const fs::path& weights) {
    return copy.run({"train", sharedSingle(), "train.steps=2",
                     "init={ weights = \"" + weights.string() + "\", use = \"ema\" }"});
  };
  const Ended none = started(folder);
  EXPECT_NE(none.code, 0) << "that run has no averaged weights";
  EXPECT_THAT(none.err, Names("ema.safetensors"));
  const Ended one = started(folder / "model.safetensors");
  EXPECT_EQ(one.code, 2) << one.err;
  EXPECT_THAT(one.err, Names("model.safetensors", "init.use", "folder"));
}

TEST(Init, FromWeightsOfAnotherSizeStoresNoRun) {
  const Copy copy;
  const std::string uuid = store::RunStore(copy.database(), store::OpenMode::ReadOnly).run(1).uuid;
  const Ended refused = copy.run({"train", sharedSingle(), "train.steps=2", "model.width=24",
                                  "init={ run = \"" + uuid + "\" }"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, Names("model.safetensors", "16", "24", "skip"));
  EXPECT_EQ(copy.run({"runs", "--json"}).json().size(), 4u);
}

TEST(Aux, OfOneFileHasNoAveragedWeights) {
  const Copy copy;
  const Scratch scratch;
  const std::string file = scratch.path("t.safetensors");
  writeText(file, "not read");
  const Ended refused =
      copy.run({"train", sharedSingle(),
                "aux.teacher={ weights = \"" + file + "\", use = \"ema\", model = " +
                    modelToml(copy) + " }"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, Names("t.safetensors", "teacher", "folder", "ema"));
}

TEST(Aux, OfWhichAShardIsAnotherByThenIsRefusedWhenARunResumes) {
  const Copy copy;
  const Scratch scratch;
  const std::string database = scratch.path("x.sqlite"), shard = scratch.path("t.safetensors"),
                    list = scratch.path("t.safetensors.index.json");
  const std::string model = modelToml(copy);
  {
    store::RunStore store(copy.database(), store::OpenMode::ReadOnly);
    std::filesystem::copy_file(store::filesFolder(copy.database()) / ("run-" + store.run(1).uuid) /
                                   checkpointName(24) / "model.safetensors",
                               shard);
    Json shards = Json::object();
    const SafetensorsSet set(shard);
    for (const SafetensorsEntry& entry : set.entries()) shards[entry.name] = "t.safetensors";
    writeText(list, Json{{"weight_map", shards}}.dump());
  }
  Program program({"train", sharedSingle(), "--db", database, "train.steps=100000",
                   "train.checkpoint.every_epochs=none", "train.evaluate.every_epochs=none",
                   "aux.teacher={ weights = \"" + list + "\", model = " + model + " }"});
  ASSERT_TRUE(program.waitForError("\nstep ")) << "no progress was seen";
  program.signal(SIGINT);
  ASSERT_EQ(program.wait().code, 75);
  const Json teacher =
      store::RunStore(database, store::OpenMode::ReadOnly).environment(1).at("aux").at("teacher");
  EXPECT_EQ(teacher.at("sha256"), sha256OfText(sha256OfFile(list) + sha256OfFile(shard)));
  EXPECT_TRUE(teacher.at("run").is_null());
  writeText(shard, "two");
  const Ended changed = vitrine({"resume", "1", "--db", database});
  EXPECT_EQ(changed.code, 4);
  EXPECT_THAT(changed.err, Names("run 1", "teacher"));
  fs::remove(list);
  EXPECT_EQ(vitrine({"resume", "1", "--db", database}).code, 3);
}

}  // namespace
}  // namespace vitrine::test
