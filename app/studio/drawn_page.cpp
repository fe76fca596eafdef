#include "app/studio/drawn_page.h"

#include "core/base/error.h"
#include "ui/shell/pages.h"

namespace vitrine::ui {

DrawnPage drawnPage(const Recipe& recipe, Workbench& workbench,
                    const std::function<void()>& waitForPage) {
  const PageFactory* wanted = nullptr;
  for (const PageFactory& page : pages()) {
    if (page.id.toStdString() == recipe.page) wanted = &page;
  }
  if (wanted == nullptr) {
    throw NotFoundError("the figure belongs to a page '" + recipe.page +
                        "' that this program does not have");
  }
  selectRunsOf(recipe, workbench);
  DrawnPage drawn;
  drawn.page.reset(wanted->make(workbench, nullptr));
  // A page lays itself out when it is shown.
  drawn.page->setAttribute(Qt::WA_DontShowOnScreen);
  drawn.page->resize(1200, 800);
  drawn.page->show();
  drawn.page->waitUntilIdle();
  drawn.page->setViewState(recipe.view);
  drawn.page->waitUntilIdle();
  waitForPage();
  drawn.figure = drawn.page->figure();
  return drawn;
}

}  // namespace vitrine::ui
