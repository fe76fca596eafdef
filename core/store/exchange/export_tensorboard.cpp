// The TensorBoard form of an export: a folder per run with one event file.
#include <algorithm>
#include <map>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/files/event_file.h"
#include "core/files/png.h"
#include "core/store/exchange/export_forms.h"
#include "core/store/metrics/metrics.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

/// What every file system and TensorBoard's own list of runs take.
std::string plainName(const std::string& text) {
  constexpr std::size_t kLongest = 80;
  std::string name;
  for (const char c : text.substr(0, kLongest)) {
    const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    name += isPlain ? c : '_';
  }
  return name;
}

/// Running time becomes time of day: a segment starts when it was started.
class WallClock {
 public:
  WallClock(Database& database, const RunRow& run) {
    database.each(
        "SELECT number, started_at FROM segment WHERE run_id = ? ORDER BY number",
        [&](const Statement& row) {
          starts_[row.integer(0)] = {secondsOfUtc(row.text(1)), -1};
        },
        run.id);
    fallback_ = secondsOfUtc(run.createdAt);
  }
  /// Running time at which a segment began, as far as its points tell. Told in any order.
  void learn(const MetricPoint& point) {
    const auto found = starts_.find(point.segment);
    if (found == starts_.end()) return;
    double& first = found->second.runningTime;
    if (first < 0 || point.time < first) first = point.time;
  }
  void completeStarts() {
    // The first segment starts at zero; a later one about where its first point is.
    if (!starts_.empty()) starts_.begin()->second.runningTime = 0;
  }
  [[nodiscard]] double at(std::int64_t segment, double time) const {
    const auto found = starts_.find(segment);
    if (found == starts_.end()) return fallback_ + time;
    return found->second.wallTime + time - std::max(0.0, found->second.runningTime);
  }
  [[nodiscard]] double start() const {
    return starts_.empty() ? fallback_ : starts_.begin()->second.wallTime;
  }

 private:
  struct Start {
    double wallTime, runningTime;
  };
  std::map<std::int64_t, Start> starts_;
  double fallback_ = 0;
};

/// Width and height from the header of a PNG; nothing when it is none.
std::optional<SummaryImage> pngImage(std::span<const std::byte> png) {
  if (png.size() < 26 || !isPng(png)) return std::nullopt;
  const auto big = [&](std::size_t at) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8 | std::to_integer<std::int64_t>(png[at + i]);
    return value;
  };
  SummaryImage image;
  image.width = big(16);
  image.height = big(20);
  image.channels = pngChannels(png);
  image.encoded.assign(png.begin(), png.end());
  return image;
}

/// The images an artifact shows: itself, or each of a grid.
std::vector<SummaryImage> imagesOf(const std::string& kind, const Json& meta,
                                   std::span<const std::byte> data) {
  std::vector<SummaryImage> images;
  if (kind == artifact_kind::kImage) {
    if (auto image = pngImage(data)) images.push_back(std::move(*image));
    return images;
  }
  const ArrayView view = arrayOf(meta, data);
  if (view.dtype != "uint8" || view.shape.size() != 4) return images;
  const std::int64_t height = view.shape[1], width = view.shape[2], channels = view.shape[3];
  if (view.count() == 0 || (channels != 1 && channels != 3 && channels != 4)) return images;
  const auto size = static_cast<std::size_t>(height * width * channels);
  for (std::int64_t i = 0; i < view.shape[0]; ++i) {
    const auto pixels = view.bytes.subspan(static_cast<std::size_t>(i) * size, size);
    SummaryImage image;
    image.height = height;
    image.width = width;
    image.channels = channels;
    image.encoded =
        encodePng({reinterpret_cast<const std::uint8_t*>(pixels.data()), pixels.size()},
                  static_cast<int>(height), static_cast<int>(width), static_cast<int>(channels));
    images.push_back(std::move(image));
  }
  return images;
}

void writeImages(const ExportTask& task, const RunRow& run, EventFileWriter& out,
                 std::map<std::string, std::int64_t>& left) {
  const auto write = [&](const std::string& tag, std::int64_t step, const std::string& at,
                         SummaryImage image) {
    SummaryEvent event{.wallTime = secondsOfUtc(at), .step = step};
    event.values.push_back({tag, 0, std::move(image)});
    out.write(event);
    ++task.report.images;
  };
  Statement row = task.database.prepare(
      "SELECT v.analysis, v.name, v.kind, v.step, a.created_at, v.meta, v.data FROM artifacts v "
      "JOIN artifact a ON a.id = v.id WHERE v.run_id = ? ORDER BY v.step, v.id");
  row.with(run.id);
  while (row.step()) {
    const std::string kind = row.text(2);
    if (kind != artifact_kind::kImage && kind != artifact_kind::kImageGrid) {
      ++left[cleanUtf8(kind)];
      continue;
    }
    const Json meta = parseJson(row.text(5), "the description of an artifact");
    std::vector<SummaryImage> images = imagesOf(kind, meta, row.blob(6));
    const std::string tag = cleanUtf8(row.text(0)) + "/" + cleanUtf8(row.text(1));
    if (images.empty()) ++left[cleanUtf8(kind) + " that is not a PNG"];
    for (std::size_t i = 0; i < images.size(); ++i) {
      write(images.size() == 1 ? tag : tag + "/" + std::to_string(i), row.integer(3), row.text(4),
            std::move(images[i]));
    }
    ++task.report.artifacts;
  }
  Statement made = task.database.prepare(
      "SELECT v.id, v.step, g.created_at, v.png FROM generated_images v JOIN generated_image g ON "
      "g.id = v.id WHERE v.run_id = ? ORDER BY v.step, v.id");
  made.with(run.id);
  for (std::int64_t number = 0; made.step(); ++number) {
    if (auto image = pngImage(made.blob(3))) {
      write("generated/" + std::to_string(number), made.integer(1), made.text(2),
            std::move(*image));
    } else {
      ++left["generated image that is not a PNG"];
    }
  }
  const std::int64_t texts =
      task.database.integer("SELECT count(*) FROM generated_texts WHERE run_id = ?", run.id);
  if (texts > 0) left["generated text"] += texts;
}

/// \param named  the folder in messages
void makeFolder(const std::filesystem::path& folder, const std::filesystem::path& named) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error)
    throw FileError("the folder '" + named.string() + "' cannot be made: " + error.message());
}

}  // namespace

void exportTensorBoard(const ExportTask& task) {
  makeFolder(task.target, task.file);
  std::map<std::string, std::int64_t> left;
  for (std::size_t i = 0; i < task.runs.size(); ++i) {
    task.tell(i);
    task.database.read([&] {
      const RunRow run = readRun(task.database, task.runs[i].id);
      const std::string folder = std::to_string(run.id) + "-" + plainName(run.name);
      makeFolder(task.target / folder, task.file / folder);
      WallClock clock(task.database, run);
      const std::vector<MetricSummary> metrics = readSummaries(task.database, run.id);
      for (const MetricSummary& metric : metrics) {
        for (const MetricPoint& point : readPoints(task.database, run.id, metric.name, 0))
          clock.learn(point);
      }
      clock.completeStarts();
      const auto second = static_cast<std::int64_t>(clock.start());
      const std::string file =
          folder + "/events.out.tfevents." + std::to_string(second) + ".vitrine." + run.uuid;
      EventFileWriter out(task.target / file, clock.start(), task.file / file);
      for (const MetricSummary& metric : metrics) {
        SummaryEvent event;
        event.values.resize(1);
        event.values[0].tag = metric.name;
        for (const MetricPoint& point : readPoints(task.database, run.id, metric.name, 0)) {
          event.wallTime = clock.at(point.segment, point.time);
          event.step = point.step;
          event.values[0].scalar = point.value;
          out.write(event);
          ++task.report.points;
        }
      }
      writeImages(task, run, out, left);
      out.close();
    });
  }
  const std::string kinds =
      joined(left, [](const auto& each) { return std::to_string(each.second) + " " + each.first; });
  if (!kinds.empty()) {
    task.report.notes.push_back("TensorBoard shows scalars and images; left out of its files: " +
                                kinds);
  }
  task.report.notes.push_back(
      "TensorBoard keeps values as float32; .csv, .jsonl and .vitrine keep all digits");
}

}  // namespace vitrine::store
