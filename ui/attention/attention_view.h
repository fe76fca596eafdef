// A picture of attention in the window: the pointer and the arrow keys choose in it.
#pragma once

#include <memory>

#include "ui/attention/attention_scene.h"
#include "ui/figures/figure_view.h"

namespace vitrine::ui {

class AttentionView final : public FigureView {
  Q_OBJECT
 public:
  enum class Shows {
    Heads,  ///< arrow keys choose layer and head
    Head,   ///< arrow keys move the query
  };
  AttentionView(Shows shows, std::shared_ptr<const AttentionScene> scene,
                QWidget* parent = nullptr);

  /// The pointer chooses without a click.
  void setFollowing(bool isFollowing) { isFollowing_ = isFollowing; }
  [[nodiscard]] Table plotTable() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 Q_SIGNALS:
  /// Arrow keys.
  void moved(int down, int right);
  /// Home: the first token that is on no patch; End: the mean of all queries.
  void tokenRequested(int token);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  Shows shows_;
  std::shared_ptr<const AttentionScene> scene_;
  bool isFollowing_ = false;
};

}  // namespace vitrine::ui
