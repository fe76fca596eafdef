// Skeleton and error state.
#include "ui/configure/plan/loading_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

#include "ui/kit/fit_area.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

LoadingView::LoadingView(const QString& sentence, QWidget* parent)
    : QWidget(parent), sentence_(sentence) {
  setAccessibleName(sentence);
  delay_.setSingleShot(true);
  delay_.setInterval(200);
  connect(&delay_, &QTimer::timeout, this, [this] {
    isShown_ = true;
    update();
  });
}

void LoadingView::showEvent(QShowEvent*) {
  isShown_ = false;
  delay_.start();
}

void LoadingView::paintEvent(QPaintEvent*) {
  if (!isShown_) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(smallFont());
  painter.setPen(themeColors().muted);
  painter.drawText(QRect(px(12), px(8), width() - px(24), px(24)), Qt::AlignLeft | Qt::AlignVCenter,
                   sentence_);
  painter.setPen(QPen(themeColors().line, 1));
  painter.setBrush(themeColors().panel);
  const QRectF card(px(12) + 0.5, px(40) + 0.5, width() - 2 * px(12) - 1, 330);
  painter.drawRoundedRect(card, 8, 8);
  painter.setPen(Qt::NoPen);
  painter.setBrush(themeColors().raised);
  for (int row = 0; row < 8; ++row) {
    const double y = card.top() + 28 + row * 36;
    painter.drawRoundedRect(QRectF(card.left() + 16, y, 96 + (row * 37) % 40, 12), 4, 4);
    painter.drawRoundedRect(QRectF(card.left() + 178, y - 6, 190, 24), 6, 6);
    if (card.width() > 480)
      painter.drawRoundedRect(QRectF(card.left() + 380, y, card.width() - 420, 12), 4, 4);
  }
}

ErrorView::ErrorView(const QString& sentence, QWidget* parent)
    : QWidget(parent), reason_(new WrapLabel) {
  auto* inside = new QWidget;
  auto* column = columnIn(inside, {px(24), px(24), px(24), px(24)}, px(12));
  auto* title = withRole(new WrapLabel(sentence), "title");
  reason_->setProperty("role", QStringLiteral("error"));
  reason_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  reason_->setAccessibleName(tr("Reason"));
  auto* again = new QPushButton(tr("Retry"));
  again->setProperty("primary", true);
  auto* copy = withName(new QPushButton(tr("Copy")), tr("Copy the reason"));
  auto* line = new QHBoxLayout;
  line->addWidget(again);
  line->addWidget(copy);
  line->addStretch();
  column->addStretch(1);
  column->addWidget(title);
  column->addWidget(reason_);
  column->addLayout(line);
  column->addStretch(2);
  auto* whole = columnIn(this, {});
  whole->addWidget(makeFitArea(inside));
  connect(again, &QPushButton::clicked, this, &ErrorView::retry);
  connect(copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(reason_->text()); });
}

}  // namespace vitrine::ui
