// A Playground over a database with runs that can draw, and a program that draws for it.
#pragma once

#include <QAction>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <memory>
#include <string>

#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/painter.h"
#include "tests/ui/support/playground_probe.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "ui/playground/film_strip.h"
#include "ui/playground/image_board.h"
#include "ui/playground/playground_page.h"
#include "ui/workbench/model_service.h"

namespace vitrine::ui {

/// A part of a row by its key. The newest: a replaced row is there until it is deleted.
template <class Part = QWidget>
Part* formPart(const SamplerForm& form, const std::string& name) {
  const auto parts = form.findChildren<Part*>(QString::fromStdString(name));
  return parts.isEmpty() ? nullptr : parts.back();
}

class PlaygroundTest : public ::testing::Test {
 protected:
  PlaygroundTest() : serve_(kPainter), workbench_(drawingCatalog()) { workbench_.serve(); }

  /// \param templates  of the captions that it makes of labels
  std::int64_t addRun(const std::string& name, const char* architecture, const char* task,
                      const Json& templates = Json::array()) {
    const Json captions{{"name", "captions"}, {"templates", templates}};
    const Json pipeline{{"train", Json::array({captions})}};
    const std::int64_t run =
        workbench_.addRun(name, {{"model", {{"architecture", architecture}}},
                                 {"task", {{"name", task}}},
                                 {"data", {{"dataset", "clothes"}, {"pipeline", pipeline}}},
                                 {"train", {{"ema", {{"decay", 0.99}}}}}});
    store::RunStore& store = workbench_.store();
    const std::int64_t segment =
        store.openSegment(run, 0, store::thisWorker(), {{"device", "cpu"}, {"commit", ""}});
    store.append(run, segment,
                 {.checkpoints = {{50, "r/step-000000050", 10, 0.1, false, {}},
                                  {100, "r/step-000000100", 10, 0.1, true, {}}}});
    store.setState(run, store::RunState::Done);
    (void)workbench_.run(run);
    return run;
  }
  /// Names of the classes, as another run of the same data has them.
  void nameClasses() {
    const std::int64_t run = workbench_.addRun(
        "judge", {{"model", {{"architecture", "judge"}}}, {"data", {{"dataset", "clothes"}}}});
    Artifact matrix{"sorting", "confusion", artifact_kind::kMatrix};
    setFloat32(matrix, std::vector<float>(9, 0), {3, 3}, {"label", "prediction"});
    matrix.meta["rows"] = matrix.meta["columns"] = {"Coat", "Sneaker", "Bag"};
    workbench_.store().addArtifact(run, matrix);
  }
  /// From now on the model of texts writes only.
  void becomeWriter() {
    Catalog catalog = drawingCatalog();
    for (ItemCard& card : catalog.items) {
      if (card.id == "talker") card.offers.push_back("language_model");
      if (card.id == "talk") card.needs.push_back("language_model");
      if (card.id == "speaker") card.needs = {"language_model"};
    }
    workbench_.become(std::move(catalog));
  }
  PlaygroundPage& open(std::int64_t run) {
    page_ = std::make_unique<PlaygroundPage>(workbench_);
    page_->resize(1200, 800);
    workbench_.selection().setRuns({run}, run);
    page_->show();
    page_->waitUntilIdle();
    return *page_;
  }
  [[nodiscard]] PlaygroundProbe probe() const { return PlaygroundProbe(*page_); }
  /// The model is in memory, and the page knows which sampler fits it.
  void waitForModel() {
    EXPECT_TRUE(soon([&] { return log().contains("sample") && !probe().worker().isWarming(); }));
  }
  void openPainter() {
    open(addRun("a", "painter", "paint"));
    waitForModel();
  }
  void type(const std::string& key, const QString& text) {
    auto* line = formPart<QLineEdit>(probe().form(), key);
    ASSERT_NE(line, nullptr) << key;
    line->selectAll();
    QTest::keyClicks(line, text);
  }
  QPushButton* button(const QString& text) const { return ui::button(*page_, text); }
  void makeAxis(const std::string& key, int entry, const QString& values) {
    formPart<QToolButton>(probe().form(), key + ".axis")->menu()->actions().at(entry)->trigger();
    QLineEdit* line = formPart<QLineEdit>(probe().form(), key + ".axis");
    line->selectAll();
    QTest::keyClicks(line, values);
  }
  QAction* action(const QString& text) const { return saying<QAction>(*page_, text); }
  /// Presses Draw, which may have another word, and waits for the end.
  void draw(const char* word = "Draw") {
    const std::size_t before = probe().history().size();
    press(*page_, word);
    EXPECT_TRUE(
        soon([&] { return probe().history().size() > before && !probe().worker().isBusy(); }));
  }
  QByteArray log() const { return serve_.read(QStringLiteral("log")); }
  QString visibleText() const { return labelsIn(*page_); }

  static constexpr int kRows = 1, kColumns = 2;
  FakeServe serve_;
  FakeWorkbench workbench_;
  std::unique_ptr<PlaygroundPage> page_;
};

}  // namespace vitrine::ui
