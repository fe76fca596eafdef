#include "ui/shell/pages.h"

#include "ui/artifacts/artifacts_page.h"
#include "ui/configure/configure_page.h"
#include "ui/monitor/monitor_page.h"
#include "ui/queue/queue_page.h"

namespace vitrine::ui {

const std::vector<PageFactory>& pages() {
  static const std::vector<PageFactory> all{
      configurePage(),
      queuePage(),
      monitorPageFactory(),
      artifactsPage(),
  };
  return all;
}

}  // namespace vitrine::ui
