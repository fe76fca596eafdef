// Views for people: their columns, and that plain SQL decodes artifacts exactly.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using testing::RawDatabase;

class Views : public testing::StoreTest {
 protected:
  static Artifact artifact(const char* analysis, const char* kind, std::int64_t step,
                           const Json& meta) {
    return {.analysis = analysis, .name = kind, .kind = kind, .step = step, .meta = meta};
  }
  template <typename T>
  static void setData(Artifact& result, const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    result.data.assign(bytes.begin(), bytes.end());
  }
  static void append(RunStore& store, std::int64_t run, std::int64_t segment,
                     const Artifact& artifact) {
    store.append(run, segment, {.artifacts = {artifact}});
  }
};

TEST_F(Views, HaveExactlyTheColumnsThatAreDocumented) {
  RunStore store(file());
  const std::vector<std::pair<std::string, std::string>> views{
      {"runs",
       "id uuid experiment variant name seed state created_at started_at finished_at device "
       "commit_hash config"},
      {"metrics", "run_id segment name step epoch time value"},
      {"metric_summaries",
       "run_id name count first_step last_step last minimum maximum minimum_step maximum_step"},
      {"parameters", "run_id key value"},
      {"curve_notes", "run_id metric step text"},
      {"image_tags", "run_id step sha256 tag"},
      {"run_marks", "run_id field value"},
      {"spectra", "run_id step analysis layer head image attention position value cumulative"},
      {"attention_maps", "run_id step layer head image split kind rows columns data"},
      {"calibration_bins",
       "run_id step analysis split binning bin lower upper count confidence accuracy"},
      {"generated_images", "id run_id step recipe seed width height sha256 png"},
      {"generated_texts", "id run_id step recipe seed prompt text"},
      {"artifacts", "id run_id step analysis name kind meta data"},
      {"queue",
       "place run_id name state priority device time_limit depends_on enqueued_at attempts held"}};
  for (const auto& [view, columns] : views) {
    std::string actual;
    for (const std::string& column : store.query("SELECT * FROM " + view).columns)
      actual += (actual.empty() ? "" : " ") + column;
    EXPECT_EQ(actual, columns) << view;
  }
  EXPECT_EQ(store.query("SELECT name FROM sqlite_schema WHERE type = 'view'").rows.size(),
            views.size());
}

TEST_F(Views, ShowARunWithNullsForWhatIsNotYet) {
  RunStore store(file());
  addRun(store);
  const auto row = store.query(
      "SELECT experiment, state, started_at, device, config ->> '$.model.width' FROM runs");
  EXPECT_EQ(Json(row.rows).dump(), R"([["an experiment","queued",null,null,64]])");
}

TEST_F(Views, DecodeASpectrumExactly) {
  auto [store, run] = openWithRunning();
  const std::size_t layers = 2, heads = 3, size = 1203;  // longer than the table of numbers
  std::vector<double> values(layers * heads * size);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 1.0 / static_cast<double>(i % size + 1 + i / size);
  values[5] = std::numeric_limits<double>::denorm_min();
  Artifact spectrum = artifact("attention_rank", artifact_kind::kSpectrum, 200,
                               Json{{"dtype", "float64"},
                                    {"shape", {layers, heads, size}},
                                    {"layers", {0, 11}},
                                    {"image", 4},
                                    {"attention", "softmax"}});
  setData(spectrum, values);
  append(store, run, 1, spectrum);

  RawDatabase raw(file());
  std::size_t i = 0;
  double sum = 0, total = 0;
  raw.each(
      "SELECT layer, head, position, value, cumulative, image, attention FROM spectra WHERE run_id "
      "= 1 "
      "ORDER BY layer, head, position",
      [&](sqlite3_stmt* row) {
        ASSERT_LT(i, values.size());
        if (i % size == 0) {
          sum = total = 0;
          for (std::size_t k = 0; k < size; ++k) total += values[i + k];
        }
        sum += values[i];
        EXPECT_EQ(sqlite3_column_int64(row, 0), i / size / heads == 0 ? 0 : 11);
        EXPECT_EQ(static_cast<std::size_t>(sqlite3_column_int64(row, 1)), i / size % heads);
        EXPECT_EQ(static_cast<std::size_t>(sqlite3_column_int64(row, 2)), i % size);
        EXPECT_EQ(sqlite3_column_double(row, 3), values[i]);
        EXPECT_NEAR(sqlite3_column_double(row, 4), sum / total, 1e-12);  // sums in another order
        EXPECT_EQ(sqlite3_column_int64(row, 5), 4);
        ++i;
      });
  EXPECT_EQ(i, values.size());
}

TEST_F(Views, DecodeReliabilityBinsExactly) {
  auto [store, run] = openWithRunning();
  std::vector<double> bins;
  for (int bin = 0; bin < 15; ++bin) {
    bins.insert(bins.end(), {bin / 15.0, (bin + 1) / 15.0, 100.0 * bin, (bin + 0.4) / 15.0,
                             (bin + 0.3) / 15.0});
  }
  bins[3] = std::numeric_limits<double>::quiet_NaN();  // an empty bin has no mean confidence
  Artifact reliability =
      artifact("calibration", artifact_kind::kReliability, 469,
               Json{{"dtype", "float64"}, {"shape", {15, 5}}, {"split", "test"}});
  setData(reliability, bins);
  append(store, run, 1, reliability);
  int bin = 0;
  RawDatabase(file()).each(
      "SELECT bin, lower, upper, count, confidence, accuracy, split, binning FROM calibration_bins "
      "ORDER BY bin",
      [&](sqlite3_stmt* row) {
        EXPECT_EQ(sqlite3_column_int(row, 0), bin);
        for (int column = 0; column < 5; ++column) {
          const double expected = bins[static_cast<std::size_t>(5 * bin + column)];
          if (std::isnan(expected)) {
            EXPECT_EQ(sqlite3_column_type(row, 1 + column), SQLITE_NULL);
          } else {
            EXPECT_EQ(sqlite3_column_double(row, 1 + column), expected);
          }
        }
        EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(row, 6)), "test");
        ++bin;
      });
  EXPECT_EQ(bin, 15);
}

TEST_F(Views, HandOutOneAttentionMapPerLayerAndHead) {
  auto [store, run] = openWithRunning();
  const std::size_t layers = 2, heads = 2, rows = 3, columns = 5;
  std::vector<float> values(layers * heads * rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 7.0f;
  Artifact attention = artifact("attention_map", artifact_kind::kAttention, 10,
                                Json{{"dtype", "float32"},
                                     {"shape", {layers, heads, rows, columns}},
                                     {"image", 17},
                                     {"split", "test"},
                                     {"attention", "effective"}});
  setData(attention, values);
  append(store, run, 1, attention);
  std::size_t map = 0;
  RawDatabase(file()).each(
      "SELECT layer, head, rows, columns, data, image, split, kind FROM attention_maps ORDER BY "
      "layer, head",
      [&](sqlite3_stmt* row) {
        EXPECT_EQ(static_cast<std::size_t>(sqlite3_column_int(row, 0)), map / heads);
        EXPECT_EQ(static_cast<std::size_t>(sqlite3_column_int(row, 1)), map % heads);
        ASSERT_EQ(static_cast<std::size_t>(sqlite3_column_bytes(row, 4)),
                  rows * columns * sizeof(float));
        EXPECT_EQ(std::memcmp(sqlite3_column_blob(row, 4), values.data() + map * rows * columns,
                              rows * columns * sizeof(float)),
                  0);
        EXPECT_EQ(sqlite3_column_int(row, 5), 17);
        EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(row, 7)), "effective");
        ++map;
      });
  EXPECT_EQ(map, layers * heads);
}

TEST_F(Views, LeaveOutArtifactsThatDoNotFitTheirDescription) {
  auto [store, run] = openWithRunning();
  Artifact wrong = artifact("attention_rank", artifact_kind::kSpectrum, 1,
                            Json{{"dtype", "float64"}, {"shape", {1, 1, 4}}});
  setData(wrong, std::vector<double>{1, 2, 3});
  append(store, run, 1, wrong);
  EXPECT_EQ(store.query("SELECT count(*) FROM spectra").rows[0][0], 0);
  EXPECT_EQ(store.query("SELECT count(*) FROM artifacts").rows[0][0], 1);
}

TEST_F(Views, HideArtifactsOfSupersededStepsButNotThoseOfAnalyse) {
  auto [store, run] = openWithRunning();
  for (const std::int64_t step : {0, 500, 700})
    append(store, run, 1, artifact("calibration", "table", step, Json::object()));
  store.setState(run, RunState::Interrupted, "a test");
  store.openSegment(run, 500, thisWorker(), Json::object());
  append(store, run, 2, artifact("calibration", "table", 700, Json::object()));
  store.addArtifact(run, artifact("attention_rollout", "image", 700, Json::object()));
  std::vector<std::string> shown;
  for (const ArtifactRow& row : store.artifacts(run))
    shown.push_back(row.analysis + " " + std::to_string(row.step));
  EXPECT_THAT(shown, ::testing::ElementsAre("calibration 0", "calibration 500",
                                            "attention_rollout 700", "calibration 700"));
  EXPECT_EQ(store.query("SELECT count(*) FROM artifact").rows[0][0], 5);
}

TEST_F(Views, FindTheKindOfAMetricByItsName) {
  RunStore store(file());
  const auto kindOf = [&](const std::string& name) {
    return store
        .query("SELECT direction FROM metric_kind WHERE '" + name +
               "' GLOB pattern ORDER BY id LIMIT 1")
        .rows.at(0)
        .at(0)
        .get<std::string>();
  };
  EXPECT_EQ(kindOf("train/loss"), "lower");
  EXPECT_EQ(kindOf("test/top1"), "higher");
  EXPECT_EQ(kindOf("analysis/attention_rank/rank80/layer3/head1"), "none");
}

}  // namespace
}  // namespace vitrine::store
