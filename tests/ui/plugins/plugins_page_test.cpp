// The Plugins page through its real widgets, with a program that answers as `vitrine` would.
#include "ui/plugins/plugins_page.h"

#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <QTreeWidget>

#include "core/config/experiment.h"
#include "tests/ui/support/catalog.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/test_files.h"
#include "ui/figures/figure.h"
#include "ui/plugins/diff_view.h"
#include "ui/plugins/item_text.h"

namespace vitrine::ui {
namespace {

Catalog catalogOfPlugins() {
  Catalog catalog = testCatalog();
  for (ItemCard& card : catalog.items)
    card.plugin = card.kind == ItemKind::Architecture ? "pictures" : "rest";
  return catalog;
}

class Plugins : public ::testing::Test {
 protected:
  Plugins() : workbench_(catalogOfPlugins()) {
    // What it was asked lands in a file; the answers lie beside it.
    write(
        "vitrine",
        "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$@\" >> asked\ncase \"$1\" in\n"
        "check) cat > text.$$; if grep -q causal text.$$; then cat b.json; else cat a.json; fi;;\n"
        "*) if [ -e broken ]; then cat broken; echo 'error: no such luck' >&2; exit 1; fi; cat "
        "plugins.json;;\nesac\n");
    QFile::setPermissions(workbench_.path(QStringLiteral("vitrine")),
                          QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    qputenv("VITRINE_PROGRAM", workbench_.path(QStringLiteral("vitrine")).toLocal8Bit());
    write("plugins.json", R"({
      "loaded": [{"id": "pictures", "version": "0.1.0", "file": "/lib/pictures.so",
                  "sha256": "abc", "trust": "built in"},
                 {"id": "rest", "version": "0.1.0", "file": "/lib/rest.so"}],
      "disabled": [{"id": "off", "file": "/lib/off.so",
                    "sentence": "/lib/off.so is disabled; run `vitrine plugins --enable off`"}],
      "refused": [{"id": "mine", "file": "/home/mine.so", "sha256": "def", "can_be_trusted": true,
                   "sentence": "/home/mine.so is not trusted"},
                  {"file": "/lib/cut.so", "sentence": "/lib/cut.so is cut short"}]})");
    const auto report = [](const char* mask, int parameters, int width) {
      return Json{{"totals", {{"parameters", parameters}, {"flops", 2e6}}},
                  {"problems", Json::array()},
                  {"blocks",
                   {{{"name", "blocks.0.norm1"},
                     {"kind", "norm"},
                     {"operator", mask},
                     {"parameters", parameters},
                     {"flops", 1e6}}}},
                  {"runs",
                   {{{"config",
                      {{"model",
                        {{"architecture", "picture"},
                         {"image_size", {28, 28}},
                         {"patch_size", {7, 7}},
                         {"width", width},
                         {"mask", {{"kind", width == 96 ? "causal" : "none"}, {"epochs", 2}}}}},
                       {"task", {{"name", "sorting"}}},
                       {"data", {{"dataset", "squares"}}}}}}}}}
          .dump();
    };
    write("a.json", report("LayerNorm", 100, 64));
    write("b.json", report("RMSNorm", 60, 96));
  }
  ~Plugins() override { qunsetenv("VITRINE_PROGRAM"); }

  void write(const char* name, const std::string& text) {
    makeFile(workbench_.path(QString::fromLatin1(name)), QByteArray::fromStdString(text));
  }
  QString asked() { return QString::fromUtf8(bytesOf(workbench_.path(QStringLiteral("asked")))); }
  std::unique_ptr<PluginsPage> page() {
    auto made = std::make_unique<PluginsPage>(workbench_);
    made->resize(1100, 760);
    made->waitUntilIdle();
    return made;
  }
  static QStringList rows(const QTreeWidget& tree) {
    QStringList all;
    for (int i = 0; i < tree.topLevelItemCount(); ++i)
      all << tree.topLevelItem(i)->text(0) + QLatin1Char(' ') + tree.topLevelItem(i)->text(1);
    return all;
  }

  FakeWorkbench workbench_;
};

TEST_F(Plugins, ListsWhatIsLoadedDisabledAndRefused) {
  const auto shown = page();
  EXPECT_EQ(rows(shown->list()).join(QLatin1Char('\n')).toStdString(),
            "pictures 0.1.0\nrest 0.1.0\noff disabled\nmine refused\ncut.so refused\n"
            "Every experiment ");
  EXPECT_EQ(shown->list().topLevelItem(0)->child(0)->text(0).toStdString(), "picture");
}

TEST_F(Plugins, SaysThatAPluginIsBeingRead) {
  PluginsPage shown(workbench_);
  shown.show();
  ASSERT_EQ(shown.list().topLevelItem(0)->text(0), QStringLiteral("pictures")) << "of its items";
  EXPECT_EQ(shown.text().toPlainText().toStdString(), "Reading the plugins: a second or two.");
  shown.waitUntilIdle();
  EXPECT_TRUE(shown.text().toPlainText().contains(QStringLiteral("/lib/pictures.so")));
}

TEST_F(Plugins, SaysWhyAPluginWasRefused) {
  const auto shown = page();
  shown->showEntry(QStringLiteral("plugin:cut.so"));
  EXPECT_TRUE(shown->text().toPlainText().contains(QStringLiteral("/lib/cut.so is cut short")));
  EXPECT_TRUE(shown->change().isHidden()) << "there is nothing to switch";
}

// Else Trust would be about the file of the first.
TEST_F(Plugins, TwoFilesOfOnePluginAreTwoEntries) {
  write("plugins.json", R"({"refused": [
      {"id": "mine", "file": "/home/old/mine.so", "sha256": "abc", "can_be_trusted": true},
      {"id": "mine", "file": "/home/new/mine.so", "sha256": "def", "can_be_trusted": true}]})");
  const auto shown = page();
  for (const int row : {1, 0}) {
    shown->list().setCurrentItem(shown->list().topLevelItem(row));
    const QString file = row == 0 ? QStringLiteral("/old/") : QStringLiteral("/new/");
    EXPECT_TRUE(shown->text().toPlainText().remove(QChar(0x200b)).contains(file)) << row;
  }
}

TEST_F(Plugins, DocumentsAnItemFromItsSchema) {
  const auto shown = page();
  shown->showEntry(QStringLiteral("item:architecture/picture"));
  const QString text = shown->text().toPlainText().remove(QChar(0x200b));
  for (const char* part :
       {"Picture transformer", "Nobody et al. 2026", "side of a patch", "1 to 1,024 px",
        "class token before the patches", "each patch must lie wholly inside the image",
        "picture/demo", "mask.kind = \"causal\"", "image classifier"})
    EXPECT_TRUE(text.contains(QString::fromUtf8(part))) << part << " in " << text.toStdString();
}

TEST_F(Plugins, DocumentsTheTablesOfEveryExperiment) {
  const auto shown = page();
  shown->showEntry(QStringLiteral("core:train"));
  EXPECT_TRUE(
      shown->text().toPlainText().remove(QChar(0x200b)).contains(QStringLiteral("optimizer.name")));
}

TEST_F(Plugins, SearchesKeysAndMeanings) {
  const auto shown = page();
  shown->search().setText(QStringLiteral("probability skipping"));
  QTreeWidget& list = shown->list();
  EXPECT_FALSE(list.topLevelItem(0)->isHidden());
  EXPECT_FALSE(list.topLevelItem(0)->child(0)->isHidden());
  EXPECT_TRUE(list.topLevelItem(1)->isHidden());
}

TEST_F(Plugins, DisablesAndEnablesThroughTheProgram) {
  const auto shown = page();
  shown->showEntry(QStringLiteral("plugin:pictures"));
  EXPECT_EQ(shown->change().text().toStdString(), "Disable");
  shown->change().click();
  shown->waitUntilIdle();
  EXPECT_TRUE(asked().contains(QStringLiteral("plugins --disable pictures --json")))
      << asked().toStdString();
  EXPECT_EQ(workbench_.asked, 1) << "the schemas are asked for once more";
  shown->showEntry(QStringLiteral("plugin:off"));
  EXPECT_EQ(shown->change().text().toStdString(), "Enable");
  shown->trust(QStringLiteral("/home/mine.so"));
  shown->waitUntilIdle();
  EXPECT_TRUE(asked().contains(QStringLiteral("plugins --trust /home/mine.so --json")));
}

TEST_F(Plugins, IsTrustedWithTheButtonThatSaysSo) {
  const auto shown = page();
  shown->showEntry(QStringLiteral("plugin:mine"));
  QTimer hand;
  QObject::connect(&hand, &QTimer::timeout, [&hand] {
    auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (question == nullptr) return;
    hand.stop();
    EXPECT_TRUE(question->text().contains(QStringLiteral("/home/mine.so")));
    EXPECT_TRUE(question->informativeText().contains(QStringLiteral("SHA-256 def")));
    for (QAbstractButton* one : question->buttons())
      if (one->text() == QLatin1String("Trust")) return one->click();
    ADD_FAILURE() << "no button says what it does";
    question->reject();
  });
  hand.start(20);
  shown->change().click();
  shown->waitUntilIdle();
  EXPECT_TRUE(asked().contains(QStringLiteral("plugins --trust /home/mine.so --json")));
}

TEST_F(Plugins, WhyAPluginWasNotTrustedStaysUntilItIsRead) {
  const auto shown = page();
  write("broken", R"({"error": {"code": "failed", "message": "no such luck"}})");
  shown->trust(QStringLiteral("/home/mine.so"));
  shown->waitUntilIdle();
  ASSERT_EQ(workbench_.errors.size(), 1U);
  EXPECT_TRUE(workbench_.errors.back().contains(QStringLiteral("no such luck")));
}

TEST_F(Plugins, SaysWhatFailedAndProbesAgain) {
  workbench_.become({});
  write("broken", R"({"error": {"code": "failed", "message": "no such luck"}})");
  const auto shown = page();
  EXPECT_TRUE(shown->error().contains(QStringLiteral("no such luck")));
  QString texts;
  for (const QLabel* label : shown->findChildren<QLabel*>()) texts += label->text();
  EXPECT_TRUE(texts.contains(QStringLiteral("The plugins cannot be read: no such luck")));
  QFile::remove(workbench_.path(QStringLiteral("broken")));
  workbench_.become(catalogOfPlugins());
  shown->probe();
  shown->waitUntilIdle();
  EXPECT_EQ(shown->error().toStdString(), "");
  EXPECT_EQ(shown->list().topLevelItemCount(), 6);
}

TEST_F(Plugins, HighlightsChangedBlocksAndOpensConfigureWithTheAblation) {
  const std::int64_t plain =
      workbench_.addRun("plain", Json{{"model", {{"architecture", "picture"}}},
                                      {"task", {{"name", "sorting"}}},
                                      {"data", {{"dataset", "squares"}}}});
  const std::int64_t masked =
      workbench_.addRun("masked", Json{{"model",
                                        {{"architecture", "picture"},
                                         {"width", 96},
                                         {"mask", {{"kind", "causal"}, {"epochs", 2}}}}},
                                       {"task", {{"name", "sorting"}}},
                                       {"data", {{"dataset", "squares"}}}});
  (void)workbench_.run(plain);
  (void)workbench_.run(masked);
  const auto shown = page();
  shown->showDiff(true);
  only<DiffView>(*shown).choose(QStringLiteral("run:%1").arg(plain),
                                QStringLiteral("run:%1").arg(masked));
  shown->waitUntilIdle();
  EXPECT_EQ(only<DiffView>(*shown).error().toStdString(), "");
  QTreeWidget& blocks = only<DiffView>(*shown).blocks();
  ASSERT_EQ(blocks.topLevelItemCount(), 1);
  const QTreeWidgetItem* norm = blocks.topLevelItem(0)->child(0);
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(norm->text(0).toStdString(), "\u2260 norm");
  EXPECT_EQ(norm->text(1).toStdString(), "LayerNorm");
  EXPECT_EQ(norm->text(2).toStdString(), "RMSNorm");
  EXPECT_EQ(norm->text(5).toStdString(), "\u221240");
  EXPECT_NE(norm->background(0).style(), Qt::NoBrush);
  EXPECT_EQ(only<DiffView>(*shown).keys().topLevelItem(0)->text(0).toStdString(), "model.width");
  EXPECT_TRUE(
      only<DiffView>(*shown).csv().contains(QStringLiteral("LayerNorm,RMSNorm,100,60,-40")));
  ASSERT_NE(shown->figure(), nullptr);
  only<DiffView>(*shown).ablate();
  ASSERT_EQ(workbench_.configured.size(), 1U);
  const Plan plan = planExperiment(workbench_.configured[0], "", workbench_.catalog());
  EXPECT_TRUE(plan.problems.empty()) << workbench_.configured[0];
  EXPECT_EQ(plan.runs.size(), 4U) << workbench_.configured[0];
}

TEST_F(Plugins, SaysWhichSideCannotBeBuilt) {
  write("a.json", R"({"problems": [{"key": "model.width", "message": "5 is odd"}], "blocks": []})");
  const auto shown = page();
  shown->showDiff(true);
  only<DiffView>(*shown).choose(QStringLiteral("preset:picture/tiny"),
                                QStringLiteral("preset:picture/tiny"));
  shown->waitUntilIdle();
  QString texts;
  for (const QLabel* label : shown->findChildren<QLabel*>()) texts += label->text();
  EXPECT_TRUE(texts.contains(QStringLiteral("A: model.width: 5 is odd"))) << texts.toStdString();
}

TEST_F(Plugins, ADifferenceThatIsAskedForBeforeTheCatalogIsThereIsShownLater) {
  workbench_.become(Catalog());
  PluginsPage shown(workbench_);  // page() would wait for the catalog
  shown.setViewState({{"show", "diff"}, {"a", "architecture:blind"}, {"b", "preset:picture/tiny"}});
  EXPECT_EQ(only<DiffView>(shown).sourceA(), QString());
  workbench_.become(catalogOfPlugins());
  EXPECT_EQ(only<DiffView>(shown).sourceA(), QStringLiteral("architecture:blind"));
  EXPECT_EQ(only<DiffView>(shown).sourceB(), QStringLiteral("preset:picture/tiny"));
}

TEST_F(Plugins, TheFirstDifferenceIsOneBetweenArchitecturesThatOfferTheSame) {
  Catalog catalog = catalogOfPlugins();
  const auto add = [&catalog](const char* id, const char* paper, std::vector<std::string> offers) {
    ItemCard card{.id = id, .paper = paper, .offers = std::move(offers)};
    card.schema.presets.push_back({std::string(id) + "/demo", "", Json::object()});
    catalog.items.push_back(std::move(card));
  };
  add("first", "Authors 1990", {"class_scores", "attention"});
  add("codec", "Authors 1991", {"codec"});
  add("second", "Authors 1992", {"class_scores"});
  workbench_.become(std::move(catalog));
  const auto shown = page();
  shown->showDiff(true);
  EXPECT_EQ(only<DiffView>(*shown).sourceA(), QStringLiteral("preset:first/demo"));
  EXPECT_EQ(only<DiffView>(*shown).sourceB(), QStringLiteral("preset:second/demo"));
}

TEST_F(Plugins, RemembersWhatWasLookedAt) {
  const auto shown = page();
  shown->showEntry(QStringLiteral("item:task/sorting"));
  shown->showDiff(true);
  only<DiffView>(*shown).choose(QStringLiteral("preset:picture/tiny"),
                                QStringLiteral("architecture:blind"));
  const Json state = shown->viewState();
  const auto other = page();
  other->setViewState(state);
  EXPECT_EQ(other->viewState(), state);
  other->setViewState(Json{{"show", 4}, {"entry", "item:task/gone"}, {"a", "run:99"}, {"b", ""}});
  EXPECT_FALSE(other->isDiffShown());
}

TEST(ItemText, WritesRangesAsPeopleDo) {
  EXPECT_EQ(fieldRangeText(integerField("n", 1, "").range(1, 8)).toStdString(), "1 to 8");
  EXPECT_EQ(fieldRangeText(realField("x", 1.0, "").moreThan(0)).toStdString(), "above 0");
  EXPECT_EQ(fieldRangeText(realField("x", nullptr, "").atLeast(2).orNone()).toStdString(),
            "at least 2, or none");
}

}  // namespace
}  // namespace vitrine::ui
