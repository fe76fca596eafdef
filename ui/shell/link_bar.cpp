#include "ui/shell/link_bar.h"

#include <QDateTime>
#include <QLocale>
#include <algorithm>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

LinkBar::LinkBar(RemoteLink& link, QWidget* parent) : QFrame(parent), link_(link) {
  paintAs(this, "panel");
  setAccessibleName(tr("Link to the other machine"));
  text_ = new ElidedLabel;
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  again_ = withName(new QPushButton(tr("&Try now")), tr("Try the link now"));
  again_->hide();
  try_ = new QAction(tr("&Try the link now"), this);
  addAction(try_);
  auto* layout = rowIn(this, {px(12), px(4), px(8), px(4)}, px(8));
  layout->addWidget(text_, 1);
  layout->addWidget(again_);
  connect(again_, &QPushButton::clicked, try_, &QAction::trigger);
  connect(try_, &QAction::triggered, this, [this] { link_.tryNow(); });
  connect(&link_, &RemoteLink::stateChanged, this, [this] {
    const remote::RemoteState& state = link_.state();
    if (state.link == remote::RemoteState::Link::Lost)
      tryAt_ = QDateTime::currentMSecsSinceEpoch() + state.pause.count() * 1000;
    if (state.link == remote::RemoteState::Link::Linked)
      asOf_ = QLocale().toString(QTime::currentTime(), QLocale::ShortFormat);
    show(state);
  });
  clock_.setInterval(1000);
  connect(&clock_, &QTimer::timeout, this, [this] { show(link_.state()); });
  show(link_.state());
}

void LinkBar::show(const remote::RemoteState& state) {
  const bool isLost = state.link == remote::RemoteState::Link::Lost;
  const bool isConnecting = state.link == remote::RemoteState::Link::Connecting;
  // A short word is not a reason to move the pages: a copy of a few runs is there before it is
  // read.
  const bool isShown = isLost || isConnecting ||
                       (state.link == remote::RemoteState::Link::Copying && state.total > 20);
  QString text = link_.sentence();
  if (isLost) {
    if (!text.endsWith(QLatin1Char('.'))) text += QLatin1Char('.');
    text += asOf_.isEmpty() ? tr(" The pages show data that were read earlier;")
                            : tr(" The pages show the data of %1;").arg(asOf_);
    const qint64 left = std::max<qint64>(0, tryAt_ - QDateTime::currentMSecsSinceEpoch());
    text += tr(" the next try is in %1 s.").arg((left + 999) / 1000);
    if (const int waiting = link_.waitingEdits(); waiting > 0) {
      text += QLatin1Char(' ') +
              tr("%1 for it.").arg(counted(waiting, tr("edit waits"), tr("edits wait")));
    }
  }
  text_->setText(text);
  restyle(*text_, "role", isLost ? "warn" : "muted");
  // It stays during a try: a button that goes takes the keyboard focus away.
  const bool isOffered = isLost || (isConnecting && !again_->isHidden());
  again_->setVisible(isOffered);
  try_->setEnabled(isOffered);
  try_->setProperty(kWhyNot, isConnecting ? tr("it is being tried") : tr("there is a link"));
  isLost ? clock_.start() : clock_.stop();
  setVisible(isShown);
}

}  // namespace vitrine::ui
