#include "ui/attention/attention_panel.h"

#include <QBoxLayout>
#include <QStackedWidget>

#include "ui/attention/attention_figures.h"
#include "ui/attention/attention_view.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {

AttentionPanel::AttentionPanel(std::int64_t run, QWidget* parent)
    : QWidget(parent),
      run_(run),
      scene_(std::make_shared<AttentionScene>()),
      stack_(new QStackedWidget(this)),
      heads_(new AttentionView(AttentionView::Shows::Heads, scene_, this)),
      head_(new AttentionView(AttentionView::Shows::Head, scene_, this)),
      empty_(new EmptyPage(QString(), QString(), this)) {
  auto* outer = columnIn(this, {});
  outer->addWidget(stack_);
  auto* views = new QWidget(this);
  row_ = new QBoxLayout(QBoxLayout::LeftToRight, views);
  row_->setContentsMargins(0, 0, 0, 0);
  row_->setSpacing(px(12));
  row_->addWidget(heads_, 1);
  row_->addWidget(head_, 1);
  stack_->addWidget(views);
  auto* card = withRole(new QFrame(this), "card");
  auto* inCard = columnIn(card, {});
  inCard->addWidget(empty_);
  stack_->addWidget(card);
  connect(heads_, &FigureView::clicked, this, &AttentionPanel::chosen);
  connect(head_, &FigureView::clicked, this, &AttentionPanel::chosen);
  connect(heads_, &AttentionView::moved, this, &AttentionPanel::headMoved);
  connect(head_, &AttentionView::moved, this, &AttentionPanel::queryMoved);
  for (AttentionView* view : {heads_, head_})
    connect(view, &AttentionView::tokenRequested, this, &AttentionPanel::tokenRequested);
  connect(empty_, &EmptyPage::actionRequested, this, &AttentionPanel::actionRequested);
  connect(empty_, &EmptyPage::cancelRequested, this, &AttentionPanel::cancelRequested);
  stack_->setCurrentIndex(1);
}

FigureStyle AttentionPanel::styleOf(const QString& title) const {
  FigureStyle style{.title = title};
  if (!title.isEmpty()) style.run = seriesOf(run_);
  return style;
}

void AttentionPanel::showImage(std::shared_ptr<const AttentionImage> image, const QString& title) {
  title_ = title;
  sentence_.clear();
  scene_->setImage(std::move(image));
  showOverview();
  head_->setFigure(std::make_unique<HeadFigure>(scene_, styleOf(QString())));
  stack_->setCurrentIndex(0);
}

void AttentionPanel::showMessage(const QString& sentence, const QString& action, bool canCancel) {
  sentence_ = sentence;
  heads_->setFigure(nullptr);
  head_->setFigure(nullptr);
  scene_->setImage(nullptr);
  empty_->showMessage(sentence, action);
  empty_->setCancelShown(canCancel);
  stack_->setCurrentIndex(1);
}

void AttentionPanel::showOverview() {
  hasDistances_ = scene_->choice().isDistances;
  if (hasDistances_) commonDistance_ = scene_->commonDistance();
  heads_->setFigure(makeOverview(scene_, styleOf(title_)));
}

void AttentionPanel::refresh() {
  const bool isDistances = scene_->choice().isDistances;
  const bool isOther =
      isDistances != hasDistances_ || (isDistances && scene_->commonDistance() != commonDistance_);
  if (hasImage() && isOther) showOverview();
  for (AttentionView* view : {heads_, head_}) {
    if (view->figure() == nullptr) continue;
    FigureStyle style = view->figure()->style();
    style.theme = currentTheme();
    view->figure()->setStyle(style);
    view->refresh();
  }
}

void AttentionPanel::setNarrow(bool isNarrow) {
  row_->setDirection(isNarrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void AttentionPanel::standBeside(const AttentionPanel& other) { scene_->setTwin(other.scene_); }

AttentionPanel::Pictures AttentionPanel::pictures() const {
  if (!hasImage()) return {};
  const auto copy = std::make_shared<const AttentionScene>(*scene_);
  return {makeOverview(copy, styleOf(title_)),
          std::make_unique<HeadFigure>(copy, styleOf(QString()))};
}

}  // namespace vitrine::ui
