// What cannot be read, in a line of the form or in the whole text, is not started and not saved
// over something else.
#include <QAction>
#include <QPlainTextEdit>
#include <QToolButton>

#include "tests/ui/configure/configure_fixture.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {
namespace {

const char* const kRest = "\n[task]\nname = \"sorting\"\n\n[data]\ndataset = \"squares\"\n";

std::string experiment(const std::string& title, int width) {
  return "title = \"" + title +
         "\"\n\n[model]\narchitecture = \"picture\"\nwidth = " + std::to_string(width) + "\n" +
         kRest;
}

class Unread : public Configure {
 protected:
  static QString widthOf(const ConfigurePage& page) {
    return qobject_cast<QLineEdit*>(formOf(page).row("model.width")->editor().input())->text();
  }
  static QPlainTextEdit* changesOf(const ConfigurePage& page, int variant) {
    QList<QPlainTextEdit*> found;
    for (auto* text : page.side().sweep().findChildren<QPlainTextEdit*>()) {
      if (text->accessibleName().startsWith(QLatin1String("Changes of the variant"))) found << text;
    }
    return found.value(variant);
  }
  QString write(const QString& name, const QByteArray& bytes) {
    return makeFile(workbench_.path(name), bytes);
  }
};

TEST_F(Unread, ALineOfAVariantKeepsItFromBeingStarted) {
  const auto shown = page();
  shown->side().sweep().addVariant();
  changesOf(*shown, 1)->setPlainText(QStringLiteral("model.width = 96\nmodel.mask"));
  shown->planNow();
  EXPECT_TRUE(labels(*shown).contains(
      QStringLiteral("\u201cmodel.mask\u201d is not of the form key = value")));
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("Not ready: 1 problem")));
  EXPECT_FALSE(startButton(*shown)->isEnabled());
  shown->start();
  shown->queueUp();
  EXPECT_EQ(fileText(program_ + QStringLiteral(".enqueued")), QString());
  changesOf(*shown, 1)->setPlainText(QStringLiteral("model.width = 96"));
  shown->planNow();
  EXPECT_TRUE(startButton(*shown)->isEnabled()) << labels(*shown).toStdString();
  EXPECT_EQ(shown->plan().runs.size(), 2U);
}

TEST_F(Unread, AnAxisWithoutValuesOrKeyKeepsItFromBeingStarted) {
  const auto shown = page();
  shown->side().sweep().addAxis();
  shown->planNow();
  EXPECT_TRUE(startButton(*shown)->isEnabled()) << "an axis that is not begun is none";
  auto* key = named<QLineEdit>(shown->side(), QStringLiteral("Key of the sweep axis"));
  auto* values =
      named<QLineEdit>(shown->side(), QStringLiteral("Values of the sweep axis, comma separated"));
  key->setText(QStringLiteral("model.width"));
  shown->planNow();
  EXPECT_FALSE(startButton(*shown)->isEnabled());
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("the axis model.width has no values")));
  values->setText(QStringLiteral("64, 96"));
  Q_EMIT values->textEdited(values->text());
  shown->planNow();
  EXPECT_TRUE(startButton(*shown)->isEnabled()) << labels(*shown).toStdString();
  key->clear();
  shown->planNow();
  EXPECT_FALSE(startButton(*shown)->isEnabled());
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("64, 96 has no key")));
}

TEST_F(Unread, AFileThatIsNotTomlIsNotOverwrittenWithTheExperimentBefore) {
  const auto shown = page();
  shown->setText(experiment("mine", 160));
  shown->planNow();
  ASSERT_EQ(widthOf(*shown), QStringLiteral("160"));
  const QByteArray broken = "title = \"theirs\"\n\n[model\nwidth = 32\n";
  const QString file = write(QStringLiteral("theirs.toml"), broken);
  shown->openFile(file);
  shown->planNow();
  EXPECT_EQ(shown->text(), broken.toStdString());
  EXPECT_FALSE(startButton(*shown)->isEnabled());
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("not valid TOML")));
  EXPECT_FALSE(formOf(*shown).isEnabled()) << "what is edited there has no place in the text";
  EXPECT_FALSE(shown->side().sweep().isEnabled());
  EXPECT_NE(widthOf(*shown), QStringLiteral("160")) << "the experiment before is still in the form";
  // A control that is reached all the same changes nothing.
  type(*shown, "model.width", QStringLiteral("48"));
  shown->save();
  EXPECT_EQ(fileText(file).toStdString(), broken.toStdString());
  EXPECT_EQ(shown->text(), broken.toStdString());
  // Corrected in the text, it is an experiment like any other.
  shown->side().text().setPlainText(QString::fromStdString(experiment("theirs", 32)));
  shown->planNow();
  EXPECT_TRUE(formOf(*shown).isEnabled());
  EXPECT_EQ(widthOf(*shown), QStringLiteral("32"));
  type(*shown, "model.width", QStringLiteral("48"));
  shown->planNow();
  shown->save();
  EXPECT_EQ(fileText(file).toStdString(), experiment("theirs", 48));
}

TEST_F(Unread, AFileThatAnotherProgramChangedIsOverwrittenAtTheSecondSave) {
  const auto shown = page();
  const QByteArray mine = QByteArray::fromStdString(experiment("mine", 32));
  const QByteArray theirs = QByteArray::fromStdString(experiment("mine", 96));
  const QString file = write(QStringLiteral("shared.toml"), mine);
  shown->openFile(file);
  shown->planNow();
  type(*shown, "model.width", QStringLiteral("48"));
  shown->planNow();
  write(QStringLiteral("shared.toml"), theirs);
  shown->save();
  EXPECT_EQ(fileText(file).toStdString(), theirs.toStdString());
  ASSERT_EQ(workbench_.errors.size(), 1U);
  EXPECT_TRUE(workbench_.errors.front().contains(file));
  shown->save();
  EXPECT_EQ(fileText(file).toStdString(), experiment("mine", 48));
  shown->save();
  EXPECT_EQ(workbench_.errors.size(), 1U) << "what was saved here is known";
}

TEST_F(Unread, AFileThatIsTooLargeIsAnError) {
  const auto shown = page();
  const std::string before = shown->text();
  shown->openFile(write(QStringLiteral("large.toml"), QByteArray((8 << 20) + 1, '#')));
  ASSERT_EQ(workbench_.errors.size(), 1U);
  EXPECT_TRUE(workbench_.errors.front().contains(QStringLiteral("larger than 8 MiB")));
  EXPECT_EQ(shown->text(), before);
}

TEST_F(Unread, UndoBackToAnotherFileDoesNotCallItChanged) {
  const auto shown = page();
  const QString first = write(QStringLiteral("first.toml"),
                              QByteArray::fromStdString(experiment("first", 32))),
                second = write(QStringLiteral("second.toml"),
                               QByteArray::fromStdString(experiment("second", 48)));
  shown->openFile(first);
  shown->openFile(second);
  shown->planNow();
  shown->undo();
  EXPECT_TRUE(labels(*shown).contains(first));
  EXPECT_FALSE(labels(*shown).contains(QStringLiteral("first.toml \u00b7 changed")));
  type(*shown, "model.width", QStringLiteral("64"));
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("first.toml \u00b7 changed")));
}

TEST_F(Unread, TypingSomethingThatIsNotTomlClosesTheFormUntilItIs) {
  const auto shown = page();
  shown->setText(experiment("mine", 160));
  shown->planNow();
  shown->side().text().setPlainText(QString::fromStdString(experiment("mine", 160) + "depth ="));
  shown->planNow();
  EXPECT_FALSE(formOf(*shown).isEnabled());
  type(*shown, "model.width", QStringLiteral("48"));
  EXPECT_TRUE(shown->text().ends_with("depth =")) << "what was typed is gone";
  shown->undo();
  shown->planNow();
  EXPECT_TRUE(formOf(*shown).isEnabled());
}

}  // namespace
}  // namespace vitrine::ui
