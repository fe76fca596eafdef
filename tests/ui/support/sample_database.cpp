#include "tests/ui/support/sample_database.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/store/sqlite/database.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/support/sample_artifacts.h"
#include "tests/ui/support/sample_drawing.h"

namespace vitrine::ui {
namespace {

// A cheap, fixed noise in [-1, 1].
double noise(std::uint64_t n) {
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
  n ^= n >> 31;
  return static_cast<double>(n >> 11) / static_cast<double>(1ULL << 52) - 1;
}

constexpr std::int64_t kStepsPerPoint = 2;
constexpr double kStepsPerEpoch = 469;

Json configOf(const std::string& architecture, int width, const std::string& mask,
              std::uint64_t seed) {
  Json config;
  config["model"] = {{"architecture", architecture},
                     {"image_size", {28, 28}},
                     {"patch_size", {7, 7}},
                     {"in_channels", 1},
                     {"num_classes", 10},
                     {"width", width},
                     {"depth", 4},
                     {"heads", 4},
                     {"mask", {{"kind", mask}, {"schedule", "linear"}, {"epochs", 2}}}};
  config["task"] = {{"name", "classification"}, {"label_smoothing", 0.0}};
  config["data"] = {{"dataset", "fashion_mnist"}};
  config["train"] = {
      {"epochs", 10},
      {"batch_size", 128},
      {"optimizer", {{"name", "adamw"}, {"learning_rate", 1e-3}, {"weight_decay", 0.05}}},
      {"precision", "fp32"},
      {"device", "auto"},
      {"seed", seed}};
  return config;
}

Json originsOf(const Json& config) {
  Json origins = Json::object();
  for (const char* key : {"model.architecture", "model.width", "model.mask.kind",
                          "model.mask.epochs", "data.dataset", "train.epochs", "train.seed"}) {
    origins[key] = {{"layer", "file"}, {"line", 3}};
  }
  origins["task.label_smoothing"] = {{"layer", "default"}, {"line", 0}};
  (void)config;
  return origins;
}

struct Sample {
  const char* name;
  const char* architecture;
  const char* mask;
  int width;
  std::uint64_t seed;
  store::RunState state;
  double done;  // share of the run that is stored
};

// Two threads on one machine: what describeEnvironment would say.
Json environment() {
  Json out;
  out["commit"] = "0123456789abcdef0123456789abcdef01234567";
  out["dirty"] = false;
  out["device"] = "cpu";
  out["threads"] = 2;
  out["host"] = "workstation";
  out["versions"] = {
      {"vitrine", "0.1.0"}, {"libtorch", "2.11.0"}, {"compiler", "GNU 12.2"}, {"qt", "6.4.2"}};
  return out;
}

}  // namespace

void appendSamplePoints(store::RunStore& store, std::int64_t run, std::int64_t segment, int index,
                        int from, int to, int total) {
  store::RunStore::Batch batch;
  const double difficulty = 1 + 0.12 * index;
  const double warmup = total * 0.08;
  for (int i = from; i < to; ++i) {
    MetricRecord record{.step = kStepsPerPoint * (i + 1)};
    record.epoch = static_cast<double>(record.step) / kStepsPerEpoch;
    record.time = static_cast<double>(record.step) * 0.021;
    const double progress = static_cast<double>(i) / total;
    const double wobble =
        noise(static_cast<std::uint64_t>(i) * 977 + static_cast<std::uint64_t>(index));
    double loss = 0.34 + 0.03 * index + 2.0 * std::exp(-progress * 9 / difficulty) +
                  0.09 * wobble * (0.4 + std::exp(-3 * progress));
    record.values.emplace_back("train/loss", loss);
    const double rate = i < warmup
                            ? 1e-3 * i / warmup
                            : 0.5e-3 * (1 + std::cos(3.14159265 * (i - warmup) / (total - warmup)));
    record.values.emplace_back("optimizer/learning_rate", rate);
    record.values.emplace_back("system/images_per_second", 3400 + 60 * wobble);
    if ((i + 1) % std::max(total / 20, 1) == 0) {
      const double accuracy =
          0.868 - 0.006 * index - 0.62 * std::exp(-progress * 8 / difficulty) + 0.004 * wobble;
      record.values.emplace_back("test/top1", accuracy);
      record.values.emplace_back("test/loss", loss * 1.05);
      record.values.emplace_back("test/ece",
                                 0.023 + 0.004 * index + 0.05 * std::exp(-progress * 5));
    }
    if (i % std::max(total / 40, 1) == 0) {
      for (int layer = 0; layer < 4; ++layer) {
        for (int head = 0; head < 4; ++head) {
          const double rank =
              (index % 3 == 2 ? 2 + progress : 8 + 5 * (1 - std::exp(-4 * progress))) +
              layer * 0.3 + 0.2 * noise(static_cast<std::uint64_t>(i * 16 + layer * 4 + head));
          record.values.emplace_back("analysis/attention_rank/rank80/layer" +
                                         std::to_string(layer) + "/head" + std::to_string(head),
                                     rank);
        }
      }
    }
    batch.metrics.push_back(std::move(record));
  }
  if (batch.metrics.empty()) return;
  ProgressRecord progress;
  progress.step = batch.metrics.back().step;
  progress.totalSteps = kStepsPerPoint * total;
  progress.epoch = batch.metrics.back().epoch;
  progress.totalEpochs = kStepsPerPoint * total / kStepsPerEpoch;
  progress.loss = batch.metrics.back().values.front().second;
  progress.imagesPerSecond = 3410;
  progress.memoryBytes = 612'000'000;
  progress.remainingSeconds = static_cast<double>(progress.totalSteps - progress.step) * 0.021;
  batch.progress = progress;
  store.append(run, segment, batch);
}

std::vector<std::int64_t> fillSampleDatabase(store::RunStore& store, const SampleOptions& options) {
  const std::vector<std::pair<std::string, std::vector<Sample>>> experiments{
      {"Position embeddings, Table 8",
       {{"no position embedding", "vit", "none", 64, 0, store::RunState::Done, 1},
        {"learned 1-D", "vit", "none", 64, 0, store::RunState::Done, 1},
        {"learned 2-D, resized with bicubic interpolation and antialiasing, seed 0", "vit", "none",
         64, 0, store::RunState::Failed, 0.3},
        {"relative", "vit", "none", 64, 0, store::RunState::Stopped, 0.5}}},
      {"Demo",
       {{"ViT, demo", "vit", "none", 64, 0, store::RunState::Done, 1},
        {"iLLaMA, demo", "illama", "soft", 64, 0, store::RunState::Interrupted, 0.42}}},
      {"iLLaMA roadmap, laptop size",
       {{"ViT, width 64", "vit", "none", 64, 0, store::RunState::Done, 1},
        {"iLLaMA, causal mask", "illama", "causal", 64, 0, store::RunState::Done, 1},
        {"iLLaMA, soft mask linear", "illama", "soft", 64, 0, store::RunState::Running, 0.47},
        {"iLLaMA, soft mask linear", "illama", "soft", 64, 1, store::RunState::Queued, 0},
        {"iLLaMA, soft mask constant", "illama", "soft", 64, 0, store::RunState::Queued, 0},
        {"iLLaMA, soft mask linear, width 128", "illama", "soft", 128, 0, store::RunState::Queued,
         0}}},
  };
  std::vector<std::int64_t> ids;
  int index = 0;
  for (const auto& [title, samples] : experiments) {
    const std::int64_t experiment = store.experiment(title, "title = \"" + title + "\"\n");
    for (const Sample& sample : samples) {
      store::NewRun fresh;
      fresh.name = sample.name;
      fresh.seed = sample.seed;
      fresh.config = configOf(sample.architecture, sample.width, sample.mask, sample.seed);
      fresh.origins = originsOf(fresh.config);
      fresh.state = store::RunState::Queued;
      const std::int64_t id = store.addRuns(experiment, {fresh}).front();
      ids.push_back(id);
      if (sample.done > 0) {
        const std::int64_t segment = store.openSegment(id, 0, store::thisWorker(), environment());
        const int last = static_cast<int>(options.points * sample.done);
        appendSamplePoints(store, id, segment, index, 0, last, options.points);
        const std::string folder = "run-" + store.run(id).uuid;
        std::filesystem::create_directories(store::filesFolder(store.file()) / folder);
        std::ofstream log(store::filesFolder(store.file()) / folder / "run.log");
        for (int i = std::max(last - 40, 0); i < last; ++i) {
          log << "step " << kStepsPerPoint * i << " loss 0.4" << i % 90 + 10 << " 3" << i % 90 + 400
              << " images/s\n";
        }
        log << "checkpoint step " << kStepsPerPoint * last << ", 1.7 MB, 41 ms\n";
        store.setLogFile(id, folder + "/run.log");
        if (options.hasArtifacts && sample.state == store::RunState::Done)
          addSampleArtifacts(store, id, segment, index, std::int64_t{kStepsPerPoint} * last);
      }
      switch (sample.state) {
        case store::RunState::Failed: {
          store::RunStore::Batch broken;
          MetricRecord record;
          record.step = kStepsPerPoint * static_cast<int>(options.points * sample.done) + 2;
          record.values.emplace_back("train/loss", std::numeric_limits<double>::quiet_NaN());
          broken.metrics.push_back(record);
          store.append(id, 1, broken);
          store.setState(id, store::RunState::Failed,
                         "the loss is not finite at step " + std::to_string(record.step) +
                             ", batch 601; lower train.optimizer.learning_rate or raise warm-up");
          break;
        }
        case store::RunState::Interrupted:
          store.setState(id, store::RunState::Interrupted,
                         "the process is gone: the machine was restarted");
          break;
        case store::RunState::Stopped:
          store.setState(id, store::RunState::Stopping);
          store.setState(id, store::RunState::Stopped);
          break;
        case store::RunState::Done:
          store.setState(id, store::RunState::Done);
          break;
        default:
          break;
      }
      ++index;
    }
  }
  store.setNote(ids[8], "Second attempt with the schedule of the paper.");
  store.setTags(ids[8], {"paper", "soft mask"});
  if (options.hasArtifacts) ids.push_back(addSampleDrawing(store, environment()));
  if (options.extraRuns > 0) {
    const std::int64_t experiment = store.experiment("Many seeds", "");
    std::vector<store::NewRun> fresh;
    for (int i = 0; i < options.extraRuns; ++i) {
      store::NewRun run{.name = "seed " + std::to_string(i), .seed = static_cast<std::uint64_t>(i)};
      run.config = configOf("vit", 64, "none", run.seed);
      fresh.push_back(run);
    }
    for (const std::int64_t id : store.addRuns(experiment, fresh)) ids.push_back(id);
  }
  return ids;
}

std::vector<std::int64_t> makeSampleDatabase(const std::filesystem::path& file,
                                             const SampleOptions& options) {
  struct Sample {
    std::filesystem::path file;
    std::vector<std::int64_t> runs;
  };
  static const TemporaryFolder folder;
  static std::map<SampleOptions, Sample> samples;
  auto sample = samples.find(options);
  if (sample == samples.end()) {
    Sample made{folder / (std::to_string(samples.size()) + ".sqlite"), {}};
    store::RunStore store(made.file);
    if (options.points > 0) made.runs = fillSampleDatabase(store, options);
    sample = samples.emplace(options, std::move(made)).first;
  }
  const auto& [from, runs] = sample->second;
  std::filesystem::copy_file(from, file);
  if (!runs.empty()) {
    std::filesystem::copy(store::filesFolder(from), store::filesFolder(file),
                          std::filesystem::copy_options::recursive);
  }
  store::Database copy(file, store::Database::Access::Write);
  copy.write([&] { copy.run("UPDATE meta SET value = ? WHERE key = 'uuid'", newUuid()); });
  return runs;
}

}  // namespace vitrine::ui
