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

enum class Width { Usual, Wide };

// Tabs of several pages: those that look into a model, and those of generated images.
constexpr const char* kAlone = "";
constexpr const char* kInside = QT_TRANSLATE_NOOP("Pages", "Look inside");
constexpr const char* kImages = QT_TRANSLATE_NOOP("Pages", "Images");

template <class Made>
PageFactory pageOf(const char* id, const char* title, Width width, const char* group,
                   const char* about) {
  const auto words = [](const char* text) { return QCoreApplication::translate("Pages", text); };
  return {
      QString::fromLatin1(id),
      words(title),
      [](Workbench& workbench, QWidget* parent) -> Page* { return new Made(workbench, parent); },
      words(about),
      width == Width::Wide,
      words(group)};
}

}  // namespace

const std::vector<PageFactory>& pages() {
  static const std::vector<PageFactory> all = [] {
    std::vector<PageFactory> ordered{
        pageOf<ConfigurePage>(
            "configure", "Configure", Width::Wide, kAlone,
            "Choose a model, a data set and the training; see changes and costs before the start."),
        pageOf<QueuePage>("queue", "Queue", Width::Usual, kAlone, ""),
        pageOf<MonitorPage>(
            "monitor", "Monitor", Width::Usual, kAlone,
            "Curves of the selected runs while they train, with one cursor for all of them."),
        pageOf<ComparePage>(
            "compare", "Compare", Width::Wide, kAlone,
            "Variants with intervals over seeds, their differences, and the paper's numbers."),
        pageOf<AttentionPage>(
            "attention", "Attention", Width::Wide, kInside,
            "Where every head reads, for any patch, image and step; two runs in lock-step."),
        pageOf<SpectraPage>("spectra", "Spectra", Width::Wide, kInside,
                            "Singular values of every head's attention, their ranks, step by step "
                            "while a run trains."),
        pageOf<CalibrationPage>(
            "calibration", "Calibration", Width::Wide, kInside,
            "Confidence against accuracy: bins, temperature, steps, and the images behind them."),
        pageOf<LivePage>(
            "live", "Live", Width::Wide, kInside,
            "Attention, schedule and step time of a run while it trains: click a patch, "
            "drag along the schedule."),
        pageOf<PlaygroundPage>(
            "playground", "Playground", Width::Wide, kImages,
            "Draw with a model in memory: grids over settings, every step, where a patch reads."),
        pageOf<GalleryPage>(
            "gallery", "Gallery", Width::Wide, kImages,
            "All generated images: by step, by run, compared pixel by pixel, with recipes."),
        pageOf<ArtifactsPage>(
            "artifacts", "Artifacts", Width::Wide, kAlone,
            "Results of analyses: attention maps, ranks, calibration, images, by step."),
        pageOf<SqlPage>("sql", "SQL", Width::Wide, kAlone,
                        "Queries to the database in SQL: documented views, saved queries, charts."),
        pageOf<PluginsPage>(
            "plugins", "Plugins", Width::Wide, kAlone,
            "Installed plugins, the keys of each item; two architectures block by block."),
    };
    ordered.insert(ordered.begin(), startPage(ordered));
    return ordered;
  }();
  return all;
}

}  // namespace vitrine::ui
