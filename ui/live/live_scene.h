// The floating windows of the Live page, drawn with Dear ImGui from the model alone.
#pragma once

#include <QCoreApplication>
#include <QRectF>
#include <QSize>
#include <QString>
#include <functional>
#include <utility>
#include <vector>

#include "ui/live/live_model.h"

struct ImVec2;

namespace vitrine::ui {

class LiveCanvas;

/// Where a part lies and whether there is anything to show of it.
struct LivePlaces {
  QRectF heads, probe, schedule, film, steps;  ///< empty where a run has no such part
};

/// Two aligned columns; what a run does not have leaves its place to the others.
[[nodiscard]] LivePlaces livePlaces(QSize size, bool hasSchedule, bool hasFilm);

class LiveScene {
  Q_DECLARE_TR_FUNCTIONS(LiveScene)

 public:
  /// \param onChoice  called when the user chose another query, head, image or step
  LiveScene(LiveModel& model, std::function<void()> onChoice)
      : model_(model), onChoice_(std::move(onChoice)) {}

  /// Between ImGui's NewFrame and Render.
  void draw(LiveCanvas& canvas);

 private:
  /// A window at its place; `info` stands right in its title, or is its tool tip where there is no
  /// room. \returns  whether it is open
  bool begin(const QString& title, const char* id, const QString& info, const QRectF& place);
  void end();
  // scene_attention.cpp
  void drawHeads(const QRectF& place);
  void drawOverview(int layers, int heads);
  void drawLargeHead(const QPointF& corner, double side);
  void drawHeadRow(const live::AttentionLayer& layer, double cell, double left);
  void drawProbe(const QRectF& place);
  /// Room that the longest name next to the image needs with its value.
  [[nodiscard]] double factsWidth(const AttentionCells& cells) const;
  void drawProbeImage(const AttentionCells& cells, double side);
  void drawProbeFacts(const AttentionCells& cells, const live::AttentionLayer& layer);
  void drawHistory();
  // scene_schedule.cpp
  void drawSchedule(const QRectF& place);
  void drawTrack(double height);
  void drawMatrices();
  void drawFilm(const QRectF& place);
  void drawFilmStrip(const live::Film& film);
  [[nodiscard]] double filmNamesWidth(int images, double room) const;
  /// What an image is drawn from, left of it; where it is cut, the tool tip has the whole.
  void drawFilmName(int image, const ImVec2& at, const ImVec2& size);
  // scene_steps.cpp
  void drawSteps(const QRectF& place);
  void drawFlame(const std::vector<double>& medians);
  void drawStrip(double height);
  void drawPartTable(const std::vector<double>& medians);

  void chose() {
    if (onChoice_) onChoice_();
  }

  LiveModel& model_;
  std::function<void()> onChoice_;
  LiveCanvas* canvas_ = nullptr;  ///< while drawing
  LiveRange shared_;  ///< of all heads of the frame shown
  std::pair<bool, bool> parts_;  ///< whether there was a schedule and a film
  bool isArranging_ = false;     ///< windows are put to their places
};

}  // namespace vitrine::ui
