#include "ui/shell/pages.h"

#include <QCoreApplication>

#include "ui/artifacts/artifacts_page.h"
#include "ui/attention/attention_page.h"
#include "ui/calibration/calibration_page.h"
#include "ui/compare/compare_page.h"
#include "ui/configure/configure_page.h"
#include "ui/gallery/gallery_page.h"
#include "ui/live/live_page.h"
#include "ui/monitor/monitor_page.h"
#include "ui/playground/playground_page.h"
#include "ui/plugins/plugins_page.h"
#include "ui/queue/queue_page.h"
#include "ui/spectra/spectra_page.h"
#include "ui/sql/sql_page.h"
#include "ui/start/start_page.h"

namespace vitrine::ui {
namespace {

PageFactory offered(PageFactory page, const char* about) {
  page.about = QCoreApplication::translate("Pages", about);
  return page;
}

PageFactory wide(PageFactory page) {
  page.isWide = true;
  return page;
}

/// One tab for the pages that look into a model.
PageFactory inside(PageFactory page) {
  page.group = QObject::tr("Look inside");
  return page;
}

/// One tab for the pages of generated images.
PageFactory generated(PageFactory page) {
  page.group = QObject::tr("Images");
  return page;
}

}  // namespace

const std::vector<PageFactory>& pages() {
  static const std::vector<PageFactory> all = [] {
    std::vector<PageFactory> ordered{
        offered(
            wide(configurePage()),
            "Choose a model, a data set and the training; see changes and costs before the start."),
        queuePage(),
        offered(monitorPageFactory(),
                "Curves of the selected runs while they train, with one cursor for all of them."),
        offered(wide(comparePage()),
                "Variants with intervals over seeds, their differences, and the paper's numbers."),
        offered(inside(wide(attentionPage())),
                "Where every head reads, for any patch, image and step; two runs in lock-step."),
        offered(inside(spectraPage()),
                "Singular values of every head's attention, their ranks, step by step while a run "
                "trains."),
        offered(
            inside(calibrationPage()),
            "Confidence against accuracy: bins, temperature, steps, and the images behind them."),
        offered(inside(wide(livePage())),
                "Attention, schedule and step time of a run while it trains: click a patch, drag "
                "along the schedule."),
        offered(
            generated(wide(playgroundPage())),
            "Draw with a model in memory: grids over settings, every step, where a patch reads."),
        offered(generated(wide(galleryPage())),
                "All generated images: by step, by run, compared pixel by pixel, with recipes."),
        offered(wide(artifactsPage()),
                "Results of analyses: attention maps, ranks, calibration, images, by step."),
        offered(wide(sqlPage()),
                "Queries to the database in SQL: documented views, saved queries, charts."),
        offered(wide(pluginsPage()),
                "Installed plugins, the keys of each item; two architectures block by block."),
    };
    ordered.insert(ordered.begin(), startPage(ordered));
    return ordered;
  }();
  return all;
}

}  // namespace vitrine::ui
