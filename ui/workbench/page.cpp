#include "ui/workbench/page.h"

#include "core/base/error.h"
#include "ui/figures/figure.h"
#include "ui/kit/loading_state.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

const store::TaskCards& Workbench::cards() {
  cards_ = store::taskCards(catalog());
  return cards_;
}

void Workbench::selectEnqueued(const std::vector<std::int64_t>& runs) {
  watcher().poll();
  queue().refresh();
  if (!runs.empty()) selection().setRuns(runs, runs.front());
}

void Workbench::attempt(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    showError(QString::fromUtf8(error.what()));
  }
}

Page::~Page() { disconnectParts(*this); }

void Page::setViewState(const Json& /*state*/) {}

std::unique_ptr<Figure> Page::figure() { return nullptr; }

void ReadingPage::changed() {
  isStale_ = true;
  if (isVisible()) reload();
}

void ReadingPage::changed(LoadingState& loading) {
  isStale_ = true;
  if (isVisible()) loading.readLater();
}

void ReadingPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (isStale_) reload();
}

QImage Page::snapshot(QSize size, double scale) {
  // A page that was never shown has no layout yet: show it without a window on the screen.
  setAttribute(Qt::WA_DontShowOnScreen, parentWidget() == nullptr);
  resize(size);
  ensurePolished();
  if (parentWidget() == nullptr) show();
  waitUntilIdle();
  QImage image(size * scale, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(scale);
  image.fill(themeColors().background);
  render(&image);
  return image;
}

}  // namespace vitrine::ui
