// Figures of a report: charts that the window draws without a display, and pictures of the
// database.
#pragma once

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "app/vitrine/report/html.h"
#include "core/base/json.h"
#include "core/base/program.h"

namespace vitrine::app {

/// `vitrine-studio` next to this program; it need not be there.
[[nodiscard]] std::filesystem::path studioProgram();

/// Draws charts through Studio, in a folder of its own that goes with it.
class FigureDrawer {
 public:
  enum class Charts { Drawn, LeftOut };
  /// \param patience  for one chart, and for the PDF file; Studio is killed after it
  FigureDrawer(std::filesystem::path database, Charts charts, std::chrono::milliseconds patience);
  ~FigureDrawer();
  FigureDrawer(const FigureDrawer&) = delete;
  FigureDrawer& operator=(const FigureDrawer&) = delete;

  struct Request {
    std::string title;              ///< the content, for those who do not see it
    std::string page;               ///< of the window: "compare"
    std::vector<std::string> runs;  ///< UUIDs, the first is the current one
    Json view;                      ///< Page::viewState()
    bool isWide = false;            ///< over the whole page; others stand in two columns
    bool isOptional = false;        ///< may have nothing to draw
  };
  /// A `figure` element with an SVG picture inside. Empty where charts are left out, Studio is not
  /// installed or has nothing to draw: problems() says so.
  [[nodiscard]] Html draw(const Request& asked);

  /// Writes a report's HTML as a PDF file, through Studio. \throws Error  it cannot be written
  void print(const std::string& html, const std::filesystem::path& pdf) const;

  /// Why figures are missing, each once; empty where none is.
  [[nodiscard]] const std::set<std::string>& problems() const noexcept { return problems_; }

 private:
  /// Why Studio failed; "" where it did not say.
  [[nodiscard]] std::string reasonOf(const ProgramEnd& ended) const;

  std::filesystem::path database_, folder_;
  Charts charts_;
  RunLimits limits_;
  std::set<std::string> problems_;
  int drawn_ = 0;
};

}  // namespace vitrine::app
