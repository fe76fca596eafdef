// Requests of the Playground to a sampler: one request, and a grid of requests over two settings.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/config/schema.h"
#include "ui/workbench/sampling/image_again.h"

namespace vitrine::ui {

/// Keys of a request that are not keys of a sampler, but may be an axis of a grid as those.
inline constexpr const char* kRunKey = "run";  ///< its number, as text
inline constexpr const char* kCheckpointKey = "checkpoint";
inline constexpr const char* kWeightsKey = "weights";
inline constexpr const char* kSamplerKey = "sampler";

/// One object with all that is chosen: run, checkpoint, weights, device, sampler and `values`.
[[nodiscard]] Json toJson(const SampleSettings& settings);
/// Missing values and those of another type stay at their defaults; never throws.
[[nodiscard]] SampleSettings settingsFromJson(const Json& json);

/// The image that is described instead of drawing one: a sample, "test/17", or a file; "" where one
/// is drawn.
[[nodiscard]] QString describedImage(const SampleSettings& settings);

/// `settings` with another value of one key, which may be one of the four above. Another run has
/// its newest checkpoint.
[[nodiscard]] SampleSettings withValue(SampleSettings settings, const std::string& key,
                                       const Json& value);

/// Values of one key along the rows or columns of a grid.
struct GridAxis {
  std::string key;
  QString title;  ///< "Guidance"
  std::vector<Json> values;
  QStringList labels;  ///< as many as values
  [[nodiscard]] bool operator==(const GridAxis&) const = default;
};

struct SampleGrid {
  static constexpr std::size_t kMostCells = 400;
  std::optional<GridAxis> rows, columns;

  [[nodiscard]] int rowCount() const;
  [[nodiscard]] int columnCount() const;
  [[nodiscard]] bool operator==(const SampleGrid&) const = default;
};

/// Row by row. Checkpoints of the grid are those of its runs. Where an image is described there is
/// no prompt, since a sampler takes one of the two.
[[nodiscard]] std::vector<SampleSettings> cellsOf(const SampleSettings& base,
                                                  const SampleGrid& grid);

/// Why a value is not one of the field, one sentence that names the field; "" where it is.
[[nodiscard]] QString valueProblem(const Field& field, const Json& value);

/// Values that a user typed for an axis.
struct AxisValues {
  std::vector<Json> values;
  QString error;  ///< one sentence; "" where all is well
};
/// Values between commas, of a text between bars: "1, 2, 4", "a coat | a bag". Numbers also as
/// "0..9" and "0..1..0.25", the last one the step.
[[nodiscard]] AxisValues axisValues(const Field& field, const QString& text);
/// The other way.
[[nodiscard]] QString axisText(const Field& field, const std::vector<Json>& values);
/// Whether a field can be an axis: lists and tables cannot.
[[nodiscard]] bool canBeAxis(const Field& field);

/// Keys in which two requests differ, in the order of `now`.
[[nodiscard]] std::vector<std::string> changedKeys(const SampleSettings& before,
                                                   const SampleSettings& now);

/// What drawing costs, as far as it is known.
struct SampleCost {
  std::int64_t images = 0;                  ///< or texts
  bool areTexts = false;                    ///< every cell describes an image
  std::optional<std::int64_t> steps;  ///< of each image, where all have the same and none is text
  std::optional<std::int64_t> evaluations;  ///< of the network for each image, the same
  std::optional<double> seconds;            ///< of all
};
/// "35 images, 39 evaluations each, about 4.5 s"; \param areTexts  of a sampler that draws nothing
[[nodiscard]] QString costText(const SampleCost& cost, bool areTexts = false);

/// Remembers durations of drawings: similar ones take as long for each image and step.
class SamplePace {
 public:
  /// \param evaluations  of the network for one image; none where the sampler does not report it
  void learn(const SampleSettings& settings, double seconds,
             std::optional<std::int64_t> evaluations);
  [[nodiscard]] SampleCost costOf(const std::vector<SampleSettings>& cells) const;

 private:
  struct Pace {
    double secondsPerStep = 0;  ///< of one image
    std::optional<double> evaluationsPerStep;
  };
  static std::string keyOf(const SampleSettings& settings);
  std::map<std::string, Pace> paces_;
};

}  // namespace vitrine::ui
