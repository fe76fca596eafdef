// Draws with a model in memory: cell after cell, one piece of work at a time.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "ui/kit/background.h"
#include "ui/playground/draw_recipe.h"
#include "ui/playground/drawing.h"
#include "ui/workbench/model_service.h"

namespace vitrine::ui {

/// An image of a drawing.
struct ImagePlace {
  int cell = 0, image = 0;
  [[nodiscard]] bool operator==(const ImagePlace&) const = default;
};

class DrawWorker final : public QObject {
  Q_OBJECT
 public:
  enum class Work { None, Draw, Replay, Verify, Keep };
  static constexpr std::size_t kMostReplayBytes = std::size_t{64} << 20;  ///< of replays kept
  /// Of the replays that a run has stored: past it they are drawn again at the next start.
  static constexpr std::int64_t kMostStoredBytes = std::int64_t{128} << 20;

  /// \param service  nullptr: nothing can be computed  \param database  that has stored replays
  DrawWorker(ModelService* service, const std::filesystem::path& database,
             QObject* parent = nullptr);
  ~DrawWorker() override;

  [[nodiscard]] bool canCompute() const { return service_ != nullptr; }
  [[nodiscard]] bool isBusy() const { return work_ != Work::None; }
  [[nodiscard]] Work work() const { return work_; }
  /// Of the cell that is drawn, 0 to 1.
  [[nodiscard]] double share() const { return share_; }

  // Each replaces the request in progress, and ends with ended().
  void draw(std::shared_ptr<Drawing> drawing);
  /// Draws an image again and reports the predicted image of each step, with `at` also where the
  /// patch there read. What was seen before, or is stored, is not drawn again. \param at  down and
  ///         right in the image, 0 to 1
  void replay(std::shared_ptr<Drawing> drawing, ImagePlace place, std::array<double, 2> at,
              int frames);
  void verify(std::shared_ptr<Drawing> drawing, ImagePlace place);
  /// Draws a cell again and keeps its images in the database.
  void keep(std::shared_ptr<Drawing> drawing, int cell);
  void cancel();

  /// Loads a model and draws a little with it, so that the first image does not wait.
  /// \param probe  settings that every sampler of `model` takes
  void warm(const ModelChoice& model, const Json& probe);
  [[nodiscard]] bool isWarming() const { return warming_ != 0; }

 Q_SIGNALS:
  void changed();  ///< something came, or the work is another
  /// Ended well, was cancelled or failed. \param error  one sentence; "" where it did not fail
  void ended(const QString& error);
  /// The model is in memory. \param loaded  the answer of `load` \param sampler  that fits it best;
  /// "" where that is not known
  void warmed(const vitrine::Json& loaded, const QString& sampler);
  void warmFailed(const QString& sentence);

 private:
  ModelService::Listener listener(std::function<void(const Json& part)> onPart,
                                  std::function<void(const Json& last)> onDone);
  void begin(Work work, std::shared_ptr<Drawing> drawing);
  void drawNext();
  void findStored(const SampleSettings& image);
  void askGrid(const SampleSettings& image);
  void askAttention(const SampleSettings& image);
  /// Of the same patch and frames, where it is still there.
  [[nodiscard]] const Replay* keptReplay(const std::array<int, 2>& patch);
  void keepReplay(const Replay& replay);
  [[nodiscard]] DrawnImage& replayed();
  void fail(const ModelError& error);
  void end(const QString& error);
  void stopWarming();

  ModelService* service_;
  Work work_ = Work::None;
  std::shared_ptr<Drawing> drawing_;
  std::size_t cell_ = 0;
  ImagePlace place_;
  std::array<double, 2> at_{};
  int frames_ = 0;
  std::int64_t room_ = 0;  ///< bytes that the replay may have to be stored
  double share_ = 0;
  ModelService::Ticket ticket_ = 0, warming_ = 0;
  QElapsedTimer clock_, cellClock_;
  /// Replays that were seen, the last used last, within kMostReplayBytes.
  struct KeptReplay {
    std::weak_ptr<Drawing> drawing;
    ImagePlace place;
    int frames = 0;
    Replay replay;
  };
  std::deque<KeptReplay> replays_;
  std::map<std::string, std::array<int, 2>> patches_;  ///< rows and columns, by model and sampler
  Background stored_;                                  ///< the last member: it goes first
};

}  // namespace vitrine::ui
