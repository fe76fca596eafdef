// The Attention page of texts with their images: words and patches of one sequence are queries and
// keys.
#include <gmock/gmock.h>

#include <QComboBox>

#include "tests/support/has_texts.h"
#include "tests/ui/attention/catalog.h"
#include "tests/ui/attention/maps.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/attention/attention_page.h"
#include "ui/attention/attention_panel.h"
#include "ui/attention/attention_view.h"

namespace vitrine::ui {
namespace {

class WordsAndPatches : public PageTest<AttentionPage> {
 protected:
  std::unique_ptr<AttentionPage> shownPage() {
    workbench_.become(attentionCatalog());
    return page({runWith("a", {samples::captionMap(0), samples::pixels(0)}, configOf("captions"))});
  }
  static std::optional<int> query(const AttentionPage& page) {
    return page.panels()[0]->scene().query(0);
  }
};

TEST_F(WordsAndPatches, AreChosenByClick) {
  const auto shown = shownPage();
  AttentionView& view = shown->panels()[0]->headView();
  clickAt(view, [](const FigureTarget& target) { return target.token == 1; });
  EXPECT_EQ(query(*shown), 1);
  EXPECT_EQ(shown->panels()[0]->scene().queryText(0).toStdString(), "query: red");
  EXPECT_THAT(view.figure()->csv().toStdString(),
              test::HasTexts("0,,0,0,a,,,0.5,shown", ",bag,,,,masked"));
  clickAt(view,
          [](const FigureTarget& target) { return target.queryAt && (*target.queryAt)[1] > 0.75; });
  EXPECT_EQ(query(*shown), 4);
  EXPECT_THAT(view.figure()->csv().toStdString(), test::HasLine("0,,0,1,red,,,0.5,shown\n"));
}

TEST_F(WordsAndPatches, AreAllReachedByKey) {
  const auto shown = shownPage();
  AttentionView& view = shown->panels()[0]->headView();
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Home);
  EXPECT_EQ(query(*shown), 0);
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(query(*shown), 4) << "before the first word there is none";
  QTest::keyClick(&view, Qt::Key_Home);
  QTest::keyClick(&view, Qt::Key_Right);
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_EQ(query(*shown), 2);
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_EQ(query(*shown), 4) << "onto the grid";
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(query(*shown), 3);
}

TEST_F(WordsAndPatches, AreNamedAmongTheQueries) {
  const auto shown = shownPage();
  const auto* queries = named<QComboBox>(*shown, "Query");
  ASSERT_NE(queries, nullptr);
  for (const char* word : {"a", "red", "bag", "mean of all queries"})
    EXPECT_GE(queries->findText(QString::fromLatin1(word)), 0) << word;
}

}  // namespace
}  // namespace vitrine::ui
