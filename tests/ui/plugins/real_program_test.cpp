// The Plugins page with the real program behind it: ViT beside iLLaMA, and a plugin that is
// disabled.
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QTreeWidget>

#include "core/config/experiment.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "ui/plugins/diff_view.h"
#include "ui/plugins/plugins_page.h"

namespace vitrine::ui {
namespace {

/// A program with settings and a cache of its own.
class RealProgram : public ::testing::Test {
 protected:
  RealProgram() {
    qputenv("VITRINE_PROGRAM", VITRINE_PROGRAM);
    qputenv("XDG_CONFIG_HOME", home_.filePath(QStringLiteral("config")).toLocal8Bit());
    qputenv("XDG_CACHE_HOME", home_.filePath(QStringLiteral("cache")).toLocal8Bit());
    qputenv("XDG_DATA_HOME", home_.filePath(QStringLiteral("data")).toLocal8Bit());
    qunsetenv("VITRINE_PLUGIN_PATH");
  }
  ~RealProgram() override { qunsetenv("VITRINE_PROGRAM"); }
  QTemporaryDir home_;
};

TEST_F(RealProgram, ShowsViTBesideILLaMAAndLeavesOutADisabledPlugin) {
  SampleStudio studio(SampleOptions{0, 0});
  PluginsPage page(studio.workbench);
  page.resize(1200, 800);
  page.waitUntilIdle();
  ASSERT_EQ(page.error().toStdString(), "");
  page.showDiff(true);
  only<DiffView>(page).choose(QStringLiteral("preset:vit/demo"),
                              QStringLiteral("preset:illama/demo"));
  page.waitUntilIdle();
  ASSERT_EQ(only<DiffView>(page).error().toStdString(), "");
  const QString csv = only<DiffView>(page).csv();
  for (const char* line :
       {"norm,LayerNorm,RMSNorm,128,64,-64", "mask,\u2013,\"soft, multiplicative\",,0,0",
        "rotary positions,\u2013,\"1-D, along the sequence\",,0,0",
        "mlp,\"GELU (tanh), 256 wide\",\"SwiGLU, 176 wide",
        "class token first\",\"learned, 17 places, class token last\""})
    EXPECT_TRUE(csv.contains(QString::fromUtf8(line))) << line << " is not in\n"
                                                       << csv.toStdString();

  std::string ablation;
  QObject::connect(&studio.workbench, &StudioWorkbench::configureRequested, &page,
                   [&ablation](const std::string& text, const QString&) { ablation = text; });
  only<DiffView>(page).ablate();
  const Plan plan = planExperiment(ablation, "", studio.workbench.catalog());
  EXPECT_TRUE(plan.problems.empty()) << ablation;
  EXPECT_GT(plan.runs.size(), 3U) << ablation;

  page.setEnabledPlugin(QStringLiteral("illama"), false);
  page.waitUntilIdle();
  QProcess check;
  check.start(QStringLiteral(VITRINE_PROGRAM),
              {QStringLiteral("check"), QStringLiteral("-"), QStringLiteral("--json")});
  check.write(
      "[task]\nname = \"classification\"\n[data]\ndataset = \"fashion_mnist\"\n"
      "[model]\narchitecture = \"illama\"\npreset = \"illama/demo\"\n");
  check.closeWriteChannel();
  ASSERT_TRUE(check.waitForFinished(60'000));
  EXPECT_EQ(check.exitCode(), 2);
  const QString said = QString::fromUtf8(check.readAllStandardOutput());
  EXPECT_TRUE(
      said.contains(QStringLiteral("the architecture 'illama' is of the plugin 'illama', "
                                   "which is disabled; run `vitrine plugins --enable "
                                   "illama`")))
      << said.toStdString();
  page.showDiff(false);
  page.showEntry(QStringLiteral("plugin:illama"));
  EXPECT_TRUE(page.text().toPlainText().contains(QStringLiteral("disabled")));
}

}  // namespace
}  // namespace vitrine::ui
