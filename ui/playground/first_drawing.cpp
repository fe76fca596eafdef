#include "ui/playground/first_drawing.h"

#include "core/config/edit/document.h"
#include "ui/playground/drawable_runs.h"
#include "ui/workbench/help_viewer.h"

namespace vitrine::ui {

namespace {

constexpr double kDrawingSeconds = 148;  // as the first line of the file says

}  // namespace

FirstDrawing firstDrawing(const Catalog& catalog) {
  FirstDrawing first;
  Problem problem;
  first.text = builtInText(QStringLiteral("experiments/draw.toml")).toStdString();
  if (const auto document = parseDocument(first.text, problem);
      document && !samplersFor(catalog, document->tables).empty()) {
    first.title = document->title;
    first.seconds = kDrawingSeconds;
    return first;
  }
  first.text = drawingExperiment(catalog);
  if (const auto document = parseDocument(first.text, problem); document && !first.text.empty())
    first.title = document->title;
  return first;
}

}  // namespace vitrine::ui
