// Words of a drawing that have no room are read in tool tips.
#include "ui/playground/image_board.h"

#include <gtest/gtest.h>

#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/tool_tip.h"

namespace vitrine::ui {
namespace {

QString longLabel() {
  return QStringLiteral("a red bag and two shoes on a white table next to a window");
}

TEST(ImageBoard, LabelsOfAGridAreWholeInTheToolTip) {
  const auto drawing = std::make_shared<Drawing>();
  drawing->base.values = {{"seed", 7}, {"count", 1}};
  drawing->grid.rows = GridAxis{"prompt", QStringLiteral("Prompt"), {"x", "y"}, {longLabel(), "y"}};
  drawing->grid.columns = GridAxis{"guidance", QStringLiteral("Guidance"), {1, 2}, {"1", "2"}};
  for (const SampleSettings& settings : cellsOf(drawing->base, drawing->grid))
    drawing->cells.push_back({.settings = settings});
  ImageBoard board;
  board.resize(400, 300);
  board.setDrawing(drawing);
  board.show();
  const BoardLayout& layout = board.tiles();
  ASSERT_EQ(layout.rowLabels.size(), 2U);
  ASSERT_EQ(layout.columnLabels.size(), 2U);
  const QPoint edge(4, 4);  // around the board
  const std::string row = "Prompt " + longLabel().toStdString();
  EXPECT_EQ(toolTipAt(board, layout.rowLabels[0].center().toPoint() + edge), row);
  EXPECT_EQ(toolTipAt(board, layout.columnLabels[1].center().toPoint() + edge), "Guidance 2");
  EXPECT_EQ(toolTipAt(board, layout.tiles.front().rect.center().toPoint() + edge),
            row + ", Guidance 1, seed 7");
}

TEST(ImageBoard, AGridOverSeedsNamesTheSeedOnce) {
  const auto drawing = std::make_shared<Drawing>();
  drawing->base.values = {{"seed", 0}, {"count", 2}};
  drawing->grid.rows = GridAxis{"seed", QStringLiteral("Seed"), {3, 8}, {"3", "8"}};
  for (const SampleSettings& settings : cellsOf(drawing->base, drawing->grid))
    drawing->cells.push_back({.settings = settings});
  ImageBoard board;
  board.resize(400, 300);
  board.setDrawing(drawing);
  board.show();
  const BoardLayout& layout = board.tiles();
  ASSERT_EQ(layout.tiles.size(), 4U);
  const QPoint edge(4, 4);  // around the board
  EXPECT_EQ(toolTipAt(board, layout.tiles[0].rect.center().toPoint() + edge), "Seed 3");
  EXPECT_EQ(toolTipAt(board, layout.tiles[1].rect.center().toPoint() + edge), "Seed 3, seed 4");
}

TEST(ImageBoard, ThePromptOfATextIsWholeInTheToolTip) {
  const auto drawing = std::make_shared<Drawing>();
  DrawnCell cell;
  cell.settings.values = {{"seed", 7}, {"count", 1}};
  DrawnText text{.prompt = longLabel()};
  text.text = QStringLiteral(" a bag");  // as a model of texts continues a prompt
  cell.texts.push_back(std::move(text));
  drawing->cells.push_back(std::move(cell));
  ImageBoard board;
  board.resize(400, 300);
  board.setDrawing(drawing);
  board.show();
  EXPECT_EQ(toolTipAt(board, board.tiles().tiles.front().rect.center().toPoint()),
            "seed 7, " + longLabel().toStdString() + ", a bag");
  drawing->cells[0].texts[0].text = QStringLiteral(" ");
  EXPECT_EQ(toolTipAt(board, board.tiles().tiles.front().rect.center().toPoint()),
            "seed 7, " + longLabel().toStdString() + ", (the model wrote nothing)");
}

}  // namespace
}  // namespace vitrine::ui
