#include "app/vitrine/report/report_figures.h"

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"

namespace vitrine::app {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestFigure = 32U << 20;  // bytes
constexpr int kWide = 200, kNarrow = 120;            // millimetres

}  // namespace

fs::path studioProgram() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "vitrine-studio";
}

FigureDrawer::FigureDrawer(fs::path database, Charts charts, std::chrono::milliseconds patience)
    : database_(std::move(database)),
      folder_(fs::temp_directory_path() / ("vitrine-report-" + newUuid())),
      charts_(charts),
      limits_{patience} {
  fs::create_directories(folder_);
  fs::permissions(folder_, fs::perms::owner_all);
}

FigureDrawer::~FigureDrawer() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string FigureDrawer::reasonOf(const ProgramEnd& ended) const {
  if (ended.how != ProgramEnd::How::Overdue) return lastLine(ended.err);
  return "vitrine-studio took longer than " +
         formatDuration(std::chrono::duration<double>(limits_.patience).count()) +
         "; give it more time with --chart-time";
}

Html FigureDrawer::draw(const Request& asked) {
  if (charts_ == Charts::LeftOut) {
    problems_.insert("Charts are left out, as requested.");
    return {};
  }
  if (!fs::exists(studioProgram())) {
    problems_.insert("Charts are drawn by vitrine-studio, which is not installed here.");
    return {};
  }
  const std::string name = std::to_string(++drawn_);
  const fs::path recipe = folder_ / (name + ".json"), picture = folder_ / (name + ".svg");
  const Json json{{"version", 1},       {"page", asked.page},
                  {"runs", asked.runs}, {"current", asked.runs.empty() ? "" : asked.runs.front()},
                  {"view", asked.view}, {"paper", {{"width_mm", asked.isWide ? kWide : kNarrow}}}};
  writeFileAtomically(recipe, dumpJson(json));
  const ProgramEnd ended =
      runProgram({studioProgram().string(), "--db", database_.string(), "--figure", recipe.string(),
                  "--fit", "--out", picture.string()},
                 limits_);
  const bool isEmpty =
      ended.how == ProgramEnd::How::Exited && ended.code == static_cast<int>(ExitCode::NotFound);
  if (asked.isOptional && isEmpty) return {};
  const auto omit = [&](const std::string& reason) {
    problems_.insert("Not drawn: " + asked.title + (reason.empty() ? "" : " (" + reason + ")"));
    return Html();
  };
  if (!ended.isSuccess() || !fs::exists(picture)) return omit(reasonOf(ended));
  if (const std::uintmax_t size = fs::file_size(picture); size > kLargestFigure) {
    return omit("it takes " + formatBytes(size) + ", more than the " + formatBytes(kLargestFigure) +
                " of a figure");
  }
  const std::string bytes = readTextFile(picture, kLargestFigure);
  Html figure =
      Html::empty("img", {{"src", dataUri("image/svg+xml", std::as_bytes(std::span(bytes)))},
                          {"alt", asked.title},
                          {"class", "chart"}});
  figure += Html::element("figcaption", Html(asked.title));
  return Html::element("figure", {{"class", asked.isWide ? "wide" : "narrow"}}, figure);
}

void FigureDrawer::print(const std::string& html, const fs::path& pdf) const {
  const fs::path page = folder_ / "report.html";
  writeFileAtomically(page, html);
  const ProgramEnd ended =
      runProgram({studioProgram().string(), "--print", page.string(), "--out", pdf.string()},
                 limits_);
  if (ended.isSuccess() && fs::exists(pdf)) return;
  const std::string reason = reasonOf(ended);
  throw Error("'" + pdf.string() + "' was not written" +
              (reason.empty() ? std::string("; write an .html file and print it from a browser")
                              : " (" + reason + ")"));
}

}  // namespace vitrine::app
