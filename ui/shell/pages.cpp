#include "ui/shell/pages.h"

#include "ui/artifacts/artifacts_page.h"
#include "ui/compare/compare_page.h"
#include "ui/configure/configure_page.h"
#include "ui/monitor/monitor_page.h"
#include "ui/plugins/plugins_page.h"
#include "ui/queue/queue_page.h"
#include "ui/sql/sql_page.h"
#include "ui/start/start_page.h"

namespace vitrine::ui {
namespace {

PageFactory offered(PageFactory page, const char* about) {
  page.about = QString::fromUtf8(about);
  return page;
}

}  // namespace

const std::vector<PageFactory>& pages() {
  static const std::vector<PageFactory> all = [] {
    std::vector<PageFactory> ordered{
        offered(
            configurePage(),
            "Choose a model, a data set and the training; see changes and costs before the start."),
        queuePage(),
        offered(monitorPageFactory(),
                "Curves of the selected runs while they train, with one cursor for all of them."),
        offered(comparePage(),
                "Variants with intervals over seeds, their differences, and the paper's numbers."),
        offered(artifactsPage(),
                "Results of analyses: attention maps, ranks, calibration, images, by step."),
        offered(sqlPage(),
                "Any question to the database in SQL: documented views, saved queries, charts."),
        offered(pluginsPage(),
                "Installed plugins, the keys of each item; two architectures block by block."),
    };
    ordered.insert(ordered.begin(), startPage(ordered));
    return ordered;
  }();
  return all;
}

}  // namespace vitrine::ui
