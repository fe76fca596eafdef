#include "ui/configure/form/edit_history.h"

#include <gtest/gtest.h>

namespace vitrine::ui {
namespace {

TEST(EditHistory, MergesTypingAndEndsWhereItBegan) {
  EditHistory history;
  history.reset({"a", {}, {}});
  history.push({"ab", {}, "typing"}, "line 1");
  history.push({"abc", {}, "typing"}, "line 1");
  history.push({"abcd", {}, "typing"}, "line 2");
  EXPECT_EQ(history.steps(), 2U);
  EXPECT_EQ(history.undo().text, "abc");
  EXPECT_EQ(history.undo().text, "a");
  EXPECT_FALSE(history.canUndo());
  EXPECT_EQ(history.redo().text, "abc");
  EXPECT_EQ(history.redo().text, "abcd");
  EXPECT_FALSE(history.canRedo());
}

TEST(EditHistory, BeginsAStepWhereTheFocusWent) {
  EditHistory history;
  history.reset({"", {}, {}});
  history.push({"1", {}, {}}, "field");
  history.seal();
  history.push({"12", {}, {}}, "field");
  EXPECT_EQ(history.steps(), 2U);
}

TEST(EditHistory, ForgetsWhatWasUndoneAfterANewEdit) {
  EditHistory history;
  history.reset({"a", {}, {}});
  history.push({"b", {}, {}}, "");
  history.undo();
  history.push({"c", {}, {}}, "");
  EXPECT_FALSE(history.canRedo());
  EXPECT_EQ(history.undo().text, "a");
}

TEST(EditHistory, HasNoStepForWhatWasTypedAndTakenBack) {
  EditHistory history;
  history.reset({"a", {}, {}});
  history.push({"ab", {}, {}}, "line");
  history.push({"a", {}, {}}, "line");
  EXPECT_FALSE(history.canUndo());
}

// Else Undo behind "Save as" would lead Ctrl+S back to the file before.
TEST(EditHistory, AllStatesOfAnExperimentAreOfTheFileItWasSavedAs) {
  constexpr auto kOpening = EditHistory::Kind::Opening;
  const QString first = QStringLiteral("first.toml"), second = QStringLiteral("second.toml");
  EditHistory history;
  history.reset({"a", first, {}, kOpening});
  history.push({"b", {}, {}, kOpening}, "");
  history.push({"bb", {}, {}}, "");
  history.push({"bbb", {}, {}}, "");
  history.push({"c", first, {}, kOpening}, "");
  history.undo();
  history.undo();
  history.setOrigin(second);
  EXPECT_EQ(history.undo().origin, second);
  EXPECT_EQ(history.undo().origin, first) << "another experiment";
  history.redo();
  history.redo();
  EXPECT_EQ(history.redo().origin, second);
  EXPECT_EQ(history.redo().origin, first) << "another experiment";
}

TEST(EditHistory, KeepsItsBytesWithinALimit) {
  EditHistory history;
  history.reset({"", {}, {}});
  for (int i = 0; i < 40; ++i)
    history.push({std::string(1 << 20, static_cast<char>('a' + i)), {}, {}}, "");
  EXPECT_LE(history.steps(), 16U);
  EXPECT_GE(history.steps(), 14U);
}

}  // namespace
}  // namespace vitrine::ui
