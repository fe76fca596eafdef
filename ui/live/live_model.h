// The state of the Live page, without a pixel. It is the newest frame, frames kept while watching,
// the schedule over the whole run, and what the user chose.
#pragma once

#include <QCoreApplication>
#include <QStringList>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/live/channel.h"
#include "core/live/frame.h"
#include "ui/live/attention_cells.h"

namespace vitrine::ui {

/// A curve over steps, ascending.
using LiveCurve = std::vector<std::pair<double, double>>;

/// Factors that a mask multiplied the attention with; NaN where it cannot be told.
[[nodiscard]] std::vector<float> maskOf(const live::Matrices& matrices);

/// Parts of a step in the order of a step, as the flame strip shows them.
enum class StepPart { Data, Forward, Backward, Optimizer, Observe, Store, Watch };
inline constexpr int kStepParts = 7;
[[nodiscard]] float partOf(const live::StepTime& time, StepPart part);

class LiveModel {
  Q_DECLARE_TR_FUNCTIONS(LiveModel)

 public:
  static constexpr std::size_t kMostBytes = std::size_t{48} << 20;  ///< of the frames kept
  static constexpr std::size_t kMostSteps = 200;                    ///< whose times are kept

  using FramePointer = std::shared_ptr<const live::Frame>;

  /// Another run is watched: forgets what was seen, keeps what was chosen.
  void begin(std::int64_t totalSteps);
  void add(live::Frame frame);
  /// What the database has of the run: values of the schedule by metric, and the loss.
  void setStored(std::map<std::string, LiveCurve> schedule, LiveCurve loss);

  // The view.
  [[nodiscard]] bool hasFrame() const { return newest_ != nullptr; }
  [[nodiscard]] const live::Frame& newest() const { return *newest_; }
  /// The newest frame; the one where it was frozen; or the one kept nearest to the scrubbed step.
  [[nodiscard]] FramePointer shown() const;
  [[nodiscard]] const std::deque<FramePointer>& kept() const { return kept_; }
  /// At most `count` of the kept frames that have this image, evenly, with the newest.
  [[nodiscard]] std::vector<FramePointer> history(int count) const;
  /// Of the image film: kept apart, since few frames bring a new one.
  [[nodiscard]] const std::optional<live::Film>& film() const { return film_; }
  /// What an image of the film is drawn from: its caption, the name of its class, or its number.
  [[nodiscard]] QString filmName(int row) const;
  [[nodiscard]] const std::deque<live::StepTime>& steps() const { return steps_; }
  /// Median seconds of each part over the kept steps, and of the whole step in the last place.
  [[nodiscard]] std::vector<double> medians() const;
  /// Median of the throughput that the frames with these steps brought; 0 before the first.
  [[nodiscard]] double throughput() const;
  /// Frames that came in the last second, by the clock of the caller.
  [[nodiscard]] double framesPerSecond(double now) const;
  void noteArrival(double now);

  // The schedule.
  /// Names of scheduled values, as the run records them: "model/mask_alpha".
  [[nodiscard]] std::vector<std::string> scheduleNames() const;
  [[nodiscard]] const LiveCurve* schedule(const std::string& name) const;
  [[nodiscard]] const LiveCurve& loss() const { return loss_; }
  struct GapPoint {
    double step = 0, gap = 0;  ///< loss with the schedule at its end, minus the loss now
  };
  [[nodiscard]] const std::vector<GapPoint>& gaps() const { return gaps_; }
  [[nodiscard]] std::int64_t totalSteps() const { return totalSteps_; }
  /// The value of a curve at the last point not behind `step`; nothing before the first.
  [[nodiscard]] static std::optional<double> at(const LiveCurve& curve, double step);
  [[nodiscard]] std::optional<double> gapAt(double step) const;

  // What the database says of the run's data.
  std::string unit = "samples";  ///< of the throughput
  QStringList classNames;        ///< empty where they are not known
  /// Of the probe image of a frame, "sneaker"; "" where it has none.
  [[nodiscard]] QString classOf(const live::Frame& frame) const;

  // What the user chose.
  int layer = 0, head = 0, image = 0;  ///< a head above the last one: the last
  LiveQuery query;
  bool isSameScale = true;
  double overlay = 0.7;
  double rate = 10;
  /// Stops the picture, not the watching.
  void freeze(bool isOn);
  [[nodiscard]] bool isFrozen() const { return frozen_ != nullptr; }
  /// Goes to a step that was trained already; none: the newest.
  void scrub(std::optional<double> step);
  [[nodiscard]] std::optional<double> scrubbed() const { return scrubbed_; }
  /// The step that is shown: the scrubbed one, else that of shown(); 0 without frames.
  [[nodiscard]] double moment() const;
  /// As scrub(); a step that is not trained yet is gone to once it is.
  void seek(std::optional<double> step);
  [[nodiscard]] std::optional<double> sought() const { return sought_; }  ///< and not reached
  [[nodiscard]] live::Wishes wishes() const;
  void moveLayer(int by);
  void moveHead(int by);
  void moveImage(int by);
  /// By patches of the layer shown.
  void moveQuery(int rows, int columns);
  /// Without a class token a patch is the query in its place, the one in the middle at first.
  [[nodiscard]] LiveQuery::Kind queryKind() const;
  /// Of the frame shown, or nullptr.
  [[nodiscard]] const live::AttentionLayer* layerShown() const;

 private:
  void keep(FramePointer frame);
  FramePointer newest_, frozen_;
  std::deque<FramePointer> kept_;
  std::size_t keptBytes_ = 0;
  std::optional<live::Film> film_;
  std::deque<live::StepTime> steps_;
  std::deque<std::pair<std::int64_t, double>> throughput_;  ///< by step
  std::deque<double> arrivals_;
  std::map<std::string, LiveCurve> schedule_;
  LiveCurve loss_;
  std::vector<GapPoint> gaps_;
  std::int64_t totalSteps_ = 0;
  std::optional<double> scrubbed_, sought_;
};

}  // namespace vitrine::ui
