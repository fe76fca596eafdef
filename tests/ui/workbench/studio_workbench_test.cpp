#include "ui/workbench/studio_workbench.h"

#include <QSignalSpy>

#include "tests/ui/support/describing.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"

namespace vitrine::ui {
namespace {

TEST(Workbench, OffersOnlyWhatAStateAllows) {
  store::RunRow row;
  row.state = store::RunState::Running;
  EXPECT_FALSE(StudioWorkbench::canStart(row));
  EXPECT_TRUE(StudioWorkbench::canStop(row));
  EXPECT_FALSE(StudioWorkbench::canDelete(row));
  row.state = store::RunState::Interrupted;
  EXPECT_TRUE(StudioWorkbench::canStart(row));
  EXPECT_FALSE(StudioWorkbench::canStop(row));
  EXPECT_TRUE(StudioWorkbench::canDelete(row));
  row.state = store::RunState::Failed;
  EXPECT_TRUE(StudioWorkbench::canStart(row));
  row.state = store::RunState::Done;
  EXPECT_FALSE(StudioWorkbench::canStart(row));
}

TEST(Workbench, AsksForTheCatalogAgainAfterItFailed) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, "echo 'out of order' >&2; exit 1");
  QSignalSpy ready(&studio.workbench, &Workbench::catalogReady);
  QSignalSpy failed(&studio.workbench, &Workbench::catalogFailed);
  EXPECT_TRUE(studio.workbench.catalog().items.empty());
  ASSERT_TRUE(soon([&] { return failed.count() == 1; }));
  studio.workbench.askCatalogAgain();
  ASSERT_TRUE(soon([&] { return failed.count() == 2; }));
  becomeProgram(studio, describing("vit"));
  studio.workbench.askCatalogAgain();
  ASSERT_TRUE(soon([&] { return ready.count() == 1; }));
  EXPECT_NE(studio.workbench.catalog().find(ItemKind::Architecture, "vit"), nullptr);
}

TEST(Workbench, ReadsTheCatalogFromWhatTheProgramDescribes) {
  SampleStudio studio(SampleOptions{0, 0});
  becomeProgram(studio, describing("vit"));
  QSignalSpy ready(&studio.workbench, &Workbench::catalogReady);
  EXPECT_TRUE(studio.workbench.catalog().items.empty());
  EXPECT_TRUE(soon([&] { return ready.count() == 1; }));
  EXPECT_NE(studio.workbench.catalog().find(ItemKind::Architecture, "vit"), nullptr);
}

}  // namespace
}  // namespace vitrine::ui
