// What the window does with files that are dropped on it.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "core/files/safetensors.h"
#include "tests/support/has_texts.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"
#include "tests/ui/support/test_files.h"
#include "ui/configure/configure_page.h"
#include "ui/shell/weights_dialog.h"
#include "ui/sql/sql_editor.h"

namespace vitrine::ui {
namespace {

class DroppedFiles : public ::testing::Test {
 protected:
  DroppedFiles() : studio_(SampleOptions{0, 20}), window_(studio_.workbench) { window_.show(); }
  ~DroppedFiles() override { qunsetenv("VITRINE_PROGRAM"); }

  QString write(const QString& name, const QByteArray& bytes) {
    return makeFile(studio_.folder.filePath(name), bytes);
  }
  void drop(const QString& file) { dropFile(file, window_); }
  /// What the window says: an error, or what was done.
  [[nodiscard]] std::string sentence() {
    const QString error = errorIn(window_);
    return (error.isEmpty() ? only<BottomBar>(window_).sentence() : error).toStdString();
  }

  SampleStudio studio_;
  MainWindow window_;
};

TEST_F(DroppedFiles, AnExperimentOpensInTheForm) {
  drop(write(QStringLiteral("mine.toml"), "# kept\ntitle = \"mine\"\n"));
  auto* form = qobject_cast<ConfigurePage*>(window_.currentPage());
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(form->text(), "# kept\ntitle = \"mine\"\n");
}

TEST_F(DroppedFiles, OnATextAreOpenedAndNotWrittenIntoIt) {
  const QString file = write(QStringLiteral("mine.toml"), "title = \"mine\"\n");
  for (const char* id : {"sql", "monitor"}) {
    ASSERT_TRUE(window_.showPage(QString::fromUtf8(id)));
    window_.waitUntilIdle();
    auto* editor = window_.currentPage()->findChild<SqlEditor*>();
    QLineEdit& filter = only<RunsPanel>(window_).filter();
    const auto text = [&] { return editor != nullptr ? editor->toPlainText() : filter.text(); };
    const QString before = text();
    dropFile(file, editor != nullptr ? *editor->viewport() : static_cast<QWidget&>(filter));
    EXPECT_EQ(text(), before) << id;
    const auto* form = qobject_cast<const ConfigurePage*>(window_.currentPage());
    ASSERT_NE(form, nullptr) << id;
    EXPECT_EQ(form->text(), "title = \"mine\"\n");
  }
}

TEST_F(DroppedFiles, AnExperimentLargerThanTheLimitOfEveryReaderIsRefused) {
  const QString name = write(QStringLiteral("large.toml"), "title = \"large\"\n");
  ASSERT_TRUE(QFile::resize(name, (8 << 20) + 1));
  drop(name);
  EXPECT_NE(sentence().find("larger than 8 MiB"), std::string::npos) << sentence();
}

TEST_F(DroppedFiles, AFolderOfImagesBecomesADataset) {
  QDir(studio_.folder.path()).mkpath(QStringLiteral("flowers/rose"));
  write(QStringLiteral("flowers/rose/one.PNG"), "not looked into");
  drop(studio_.folder.filePath(QStringLiteral("flowers")));
  auto* form = qobject_cast<ConfigurePage*>(window_.currentPage());
  ASSERT_NE(form, nullptr);
  EXPECT_THAT(form->text(), test::HasTexts("dataset = \"image_folder\"", "/flowers\""));
}

TEST_F(DroppedFiles, AFolderOfAnyNameIsWrittenAsToml) {
  QDir(studio_.folder.path()).mkpath(QStringLiteral("a \"rose\" \x7f/red"));
  write(QStringLiteral("a \"rose\" \x7f/red/one.png"), "not looked into");
  drop(studio_.folder.filePath(QStringLiteral("a \"rose\" \x7f")));
  auto* form = qobject_cast<ConfigurePage*>(window_.currentPage());
  ASSERT_NE(form, nullptr);
  EXPECT_THAT(form->text(), test::HasTexts("title = \"a \\\"rose\\\" \\u007F\"\n"));
}

TEST_F(DroppedFiles, WeightsAreListed) {
  const QString file = studio_.folder.filePath(QStringLiteral("w.safetensors"));
  const std::vector<float> values(12, 1.0F);
  writeSafetensors(file.toStdString(),
                   {{"head.weight", "F32", {3, 4}, std::as_bytes(std::span(values))}});
  drop(file);
  auto* dialog = window_.findChild<WeightsDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->table().model()->rowCount(), 1);
  EXPECT_TRUE(dialog->summary().contains(QStringLiteral("12 values")))
      << dialog->summary().toStdString();
  QTest::keyClicks(&dialog->search(), "norm");
  EXPECT_EQ(dialog->table().model()->rowCount(), 0);
}

TEST_F(DroppedFiles, WeightsThatAreCutAreRefusedWithASentence) {
  drop(write(QStringLiteral("cut.safetensors"), QByteArray("\x40\0\0\0\0\0\0\0{\"a\":", 13)));
  EXPECT_EQ(window_.findChild<WeightsDialog*>(), nullptr);
  EXPECT_NE(sentence().find("cut.safetensors"), std::string::npos) << sentence();
}

TEST_F(DroppedFiles, APickleIsRefusedAndSaysHowToConvertIt) {
  drop(write(QStringLiteral("model.pt"), "\x80\x02"));
  EXPECT_NE(sentence().find("safetensors.torch.save_file"), std::string::npos) << sentence();
}

TEST_F(DroppedFiles, WhatIsOfNoKnownKindIsNamed) {
  drop(write(QStringLiteral("letter.odt"), "PK"));
  EXPECT_EQ(sentence().rfind("letter.odt is not a file that", 0), 0u) << sentence();
  drop(write(QStringLiteral("photo.png"), "\x89PNG"));
  EXPECT_NE(sentence().find("Other images open on the page Attention."), std::string::npos)
      << sentence();
  drop(studio_.folder.filePath(QStringLiteral("nowhere.toml")));
  EXPECT_NE(sentence().find("There is no file"), std::string::npos) << sentence();
}

TEST_F(DroppedFiles, AnExportIsImportedAndItsRunsAreSelected) {
  becomeProgram(studio_, "echo '{\"runs\":[{\"id\":" + QByteArray::number(qint64(studio_.runs[2])) +
                             ",\"imported\":true}]}'");
  QSignalSpy importing(&only<FileController>(window_), &FileController::importing);
  drop(write(QStringLiteral("runs.vitrine"), "any"));
  ASSERT_TRUE(soon([&] { return importing.count() == 2; }));
  EXPECT_EQ(studio_.workbench.selection().current(), studio_.runs[2]);
  EXPECT_NE(sentence().find("1 run imported"), std::string::npos) << sentence();
}

TEST_F(DroppedFiles, AnImportThatFailsSaysWhatTheProgramSaid) {
  becomeProgram(studio_, "echo 'first' >&2; echo 'runs.vitrine is damaged' >&2; exit 1");
  QSignalSpy importing(&only<FileController>(window_), &FileController::importing);
  drop(write(QStringLiteral("runs.vitrine"), "any"));
  ASSERT_TRUE(soon([&] { return importing.count() == 2; }));
  EXPECT_EQ(sentence(), "runs.vitrine is damaged");
}

TEST_F(DroppedFiles, AnImportWaitsForTheOneBefore) {
  becomeProgram(studio_, "echo '{\"runs\":[]}'");
  QSignalSpy importing(&only<FileController>(window_), &FileController::importing);
  drop(write(QStringLiteral("a.vitrine"), "any"));
  drop(write(QStringLiteral("b.vitrine"), "any"));
  EXPECT_EQ(importing.count(), 1);
  ASSERT_TRUE(soon([&] { return importing.count() == 4; }));
  EXPECT_EQ(importing[2].front().toString().section(QLatin1Char('/'), -1).toStdString(),
            "b.vitrine");
}

TEST_F(DroppedFiles, AnImportCanBeCancelled) {
  becomeProgram(studio_, "exec sleep 60");
  QSignalSpy importing(&only<FileController>(window_), &FileController::importing);
  drop(write(QStringLiteral("runs.vitrine"), "any"));
  ASSERT_EQ(importing.count(), 1);
  only<FileController>(window_).cancelImport();
  ASSERT_TRUE(soon([&] { return importing.count() == 2; }));
  EXPECT_EQ(importing[1].front().toString().toStdString(), "");
  EXPECT_NE(sentence().find("cancelled"), std::string::npos) << sentence();
}

TEST_F(DroppedFiles, ADatabaseThatIsRefusedIsNotOpened) {
  becomeProgram(studio_, "echo '{\"usable\":false,\"refusal\":\"bad.sqlite is not ours\"}'");
  drop(write(QStringLiteral("bad.sqlite"), "SQLite format 3"));
  ASSERT_TRUE(soon([&] { return sentence().find("not ours") != std::string::npos; }));
}

TEST_F(DroppedFiles, TheDatabaseOfThisWindowIsNotOpenedAgain) {
  becomeProgram(studio_, "echo '{\"usable\":true,\"refusal\":\"\",\"runs\":12}'");
  drop(QString::fromStdString(studio_.writer.file().string()));
  ASSERT_TRUE(soon([&] { return sentence().find("is open in this window") != std::string::npos; }));
}

}  // namespace
}  // namespace vitrine::ui
