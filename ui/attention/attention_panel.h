// One run on the Attention page: its heads and the chosen one, or why there is nothing yet.
#pragma once

#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>

#include "ui/attention/attention_scene.h"
#include "ui/figures/figure.h"

class QBoxLayout;
class QStackedWidget;

namespace vitrine::ui {

class AttentionView;
class EmptyPage;

class AttentionPanel final : public QWidget {
  Q_OBJECT
 public:
  explicit AttentionPanel(std::int64_t run, QWidget* parent = nullptr);

  [[nodiscard]] std::int64_t run() const { return run_; }
  [[nodiscard]] AttentionScene& scene() { return *scene_; }
  [[nodiscard]] const AttentionScene& scene() const { return *scene_; }
  [[nodiscard]] bool hasImage() const { return scene_->image() != nullptr; }
  [[nodiscard]] AttentionView& headsView() { return *heads_; }
  [[nodiscard]] AttentionView& headView() { return *head_; }

  /// \param title  "" where one run stands alone
  void showImage(std::shared_ptr<const AttentionImage> image, const QString& title);
  /// Shows a sentence instead. \param action  the word on the button; "": none
  void showMessage(const QString& sentence, const QString& action, bool canCancel = false);
  [[nodiscard]] QString sentence() const { return sentence_; }
  /// Draws again after the scene was changed.
  void refresh();
  /// Next to another run: the two pictures one below the other.
  void setNarrow(bool isNarrow);
  /// Draws as large as the other panel does.
  void standBeside(const AttentionPanel& other);
  /// Copies of both pictures as they are now, for exports; nothing without an image.
  struct Pictures {
    std::unique_ptr<Figure> heads, head;
  };
  [[nodiscard]] Pictures pictures() const;

 Q_SIGNALS:
  void chosen(const vitrine::ui::FigureTarget& target);
  void queryMoved(int down, int right);
  void headMoved(int down, int right);
  void tokenRequested(int token);
  void actionRequested();
  void cancelRequested();

 private:
  void showOverview();
  [[nodiscard]] FigureStyle styleOf(const QString& title) const;

  std::int64_t run_;
  std::shared_ptr<AttentionScene> scene_;
  QString title_, sentence_;
  bool hasDistances_ = false;             ///< in the overview
  std::optional<double> commonDistance_;  ///< of its axis
  QStackedWidget* stack_;
  QBoxLayout* row_;
  AttentionView *heads_, *head_;
  EmptyPage* empty_;
};

}  // namespace vitrine::ui
