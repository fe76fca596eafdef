// [select] in the foreground: `train` works on the grid and then on the best of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

std::string fileWith(const Scratch& scratch, const std::string& select) {
  const std::string file = scratch.path("select.toml");
  writeText(file, readText(sharedSingle()) + "[select]\n" + select);
  return file;
}

TEST(Select, TrainWorksOnTheGridAndThenOnTheBestOfIt) {
  const Scratch scratch;
  const std::string file = fileWith(
      scratch, "grid = { 'train.optimizer.learning_rate' = [1e-9, 1e-2] }\nholdout = 0.25\n");
  const std::string database = scratch.path("x.sqlite");
  const Ended ended = vitrine({"train", file, "--db", database, "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json runs = ended.json();
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_TRUE(runs[0].at("scores").contains("validation/top1"));
  EXPECT_FALSE(runs[1].at("scores").contains("test/top1"));
  EXPECT_EQ(runs[2].at("name"), "refit");
  EXPECT_GT(runs[2].at("scores").at("test/top1").get<double>(), 0.6);
  EXPECT_THAT(ended.err, Names("learning_rate 0.01", "validation/top1"));
  store::RunStore store(database, store::OpenMode::ReadOnly);
  EXPECT_EQ(store.origins(3).at("train.optimizer.learning_rate").at("layer"), "select");
  EXPECT_EQ(store
                .query("SELECT value FROM parameters WHERE run_id = 3 AND key = "
                       "'train.optimizer.learning_rate'")
                .rows[0][0],
            1e-2);
  // What was chosen on the held-out part is not chosen on the test split by way of an analysis.
  EXPECT_EQ(store
                .query("SELECT count(*) FROM artifacts WHERE run_id < 3 AND "
                       "json_extract(meta, '$.split') = 'test'")
                .rows[0][0],
            0);
  EXPECT_EQ(vitrine({"evaluate", "1", "--split", "test", "--db", database}).code, 4)
      << "nor by asking for it";
}

TEST(Select, AScoreThatNoRunHasFailsTheFinalRunInASentence) {
  const Scratch scratch;
  const std::string file =
      fileWith(scratch, "grid = { 'model.depth' = [1, 2] }\nmetric = 'validation/nothing'\n");
  const std::string database = scratch.path("x.sqlite");
  const Ended ended = vitrine({"train", file, "train.steps=2", "--db", database, "--json"});
  EXPECT_EQ(ended.code, 3);
  const Json json = ended.json();
  EXPECT_EQ(json.at("error").at("code"), "not_found");
  const Json refit = json.at("runs").at(2);
  EXPECT_EQ(refit.at("state"), "failed");
  EXPECT_THAT(refit.at("reason").get<std::string>(), Names("run 3", "validation/nothing"));
  EXPECT_TRUE(
      store::RunStore(database, store::OpenMode::ReadOnly).selection(3).at("chosen").is_null());
}

}  // namespace
}  // namespace vitrine::test
