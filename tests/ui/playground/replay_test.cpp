// What is done with an image that was drawn: replay, Verify, Send to gallery.
#include <QComboBox>
#include <QLabel>
#include <QSlider>
#include <QTest>
#include <string>
#include <vector>

#include "core/artifact/artifact.h"
#include "tests/ui/playground/playground_fixture.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

class Replaying : public PlaygroundTest {
 protected:
  void SetUp() override {
    open(addRun("a", "painter", "paint"));
    waitForModel();
    probe().form().setValues({{"seed", 120}, {"count", 2}});
    draw();
  }
  void clickPatch(int step, int row, int column) {
    FilmStrip& film = probe().film();
    const QRectF frame = film.frameRect(step);
    ASSERT_FALSE(frame.isEmpty());
    const QPointF at = frame.topLeft() + QPointF((column + 0.5) * frame.width() / 4,
                                                 (row + 0.5) * frame.height() / 4);
    QTest::mouseClick(&film, Qt::LeftButton, Qt::NoModifier, at.toPoint());
    EXPECT_TRUE(soon([&] { return !probe().worker().isBusy(); }));
  }
  const DrawnImage& image(std::size_t index = 0) {
    return probe().shown()->cells.at(0).images.at(index);
  }
  /// As the program stores the way of an image: a strip, then the attention of each step.
  /// \param words  of a prompt, which the patch reads, too
  void storeWay(const DrawnImage& of, int row, int column, const std::vector<float>& words = {}) {
    constexpr int kSteps = 10, kPatches = 16;
    const auto add = [&](Artifact artifact) {
      artifact.analysis = "quick";
      artifact.step = 100;
      artifact.meta["seed"] = of.seed;
      artifact.meta["sha256"] = of.sha256;
      artifact.meta["recipe"] = of.recipe;
      artifact.meta["recipe"]["settings"]["previews"] = kSteps;
      artifact.meta["recipe"]["settings"]["attention"] = Json::array({row, column});
      workbench_.store().addArtifact(probe().run(), artifact);
    };
    Json places = Json::array(), times = Json::array(), names = Json::array();
    std::vector<float> weights = words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      places.push_back(Json::array({-1, -1}));
      names.push_back("word " + std::to_string(i));
    }
    for (int i = 0; i < kPatches; ++i) {
      places.push_back(Json::array({i / 4, i % 4}));
      names.push_back("");
      weights.push_back(0.5F);
    }
    const auto keys = static_cast<std::int64_t>(weights.size());
    const std::vector<float> layer = weights;
    weights.insert(weights.end(), layer.begin(), layer.end());
    for (int i = 0; i < kSteps; ++i) times.push_back((i + 1) / 10.0);
    Artifact strip{.name = "steps of the image", .kind = artifact_kind::kImageGrid};
    setUint8(strip, std::vector<std::uint8_t>(kSteps * 64, 7), {kSteps, 8, 8, 1},
             {"image", "row", "column", "channel"});
    strip.meta["times"] = times;
    add(std::move(strip));
    for (int i = 0; i < kSteps; ++i) {
      Artifact map{.name = "attention at step " + std::to_string(i),
                   .kind = artifact_kind::kAttention};
      setFloat32(map, weights, {2, 1, 1, keys}, {"layer", "head", "query", "key"});
      map.meta["time"] = times[static_cast<std::size_t>(i)];
      map.meta["key_positions"] = places;
      if (!words.empty()) map.meta["key_words"] = names;
      add(std::move(map));
    }
  }
};

TEST_F(Replaying, TheSliderStepsThroughWhatWasKept) {
  auto* slider = page_->findChild<QSlider*>();
  EXPECT_EQ(slider->maximum(), 9);
  EXPECT_EQ(slider->value(), 9);
  slider->setValue(3);
  EXPECT_EQ(probe().film().step(), 3);
  EXPECT_NEAR(probe().film().timeAt(3), 0.4, 1e-9);
  QTest::keyClick(page_.get(), Qt::Key_Left, Qt::ControlModifier);
  EXPECT_EQ(slider->value(), 2);
}

TEST_F(Replaying, AClickShowsWhereThatPatchReadsAtEachStep) {
  clickPatch(9, 2, 1);
  ASSERT_TRUE(image().replay);
  EXPECT_EQ(image().replay->patch, (std::array<int, 2>{2, 1}));
  ASSERT_EQ(image().replay->attention.size(), 10U);
  EXPECT_EQ(probe().film().channels(), (std::array<int, 2>{2, 1}));
  EXPECT_TRUE(visibleText().contains(QStringLiteral("same pixels")));
  // The first layer reads the patch itself, the second one all of them.
  const DescribedPlot::Table table = probe().film().plotTable();
  ASSERT_EQ(table.rows.size(), 10U * 16) << "every weight of every step";
  const QStringList& row = table.rows[9 * 16 + 2 * 4 + 1];
  EXPECT_EQ(row.mid(0, 4).join(QLatin1Char(' ')).toStdString(), "10 1 2 1");
  EXPECT_EQ(row[4], shortNumber((0.75 + 1.0 / 16) / 2));
}

TEST_F(Replaying, TheStepsAreAFigureWithEveryWeight) {
  clickPatch(9, 2, 1);
  Json state = page_->viewState();
  state["figure"] = "steps";
  page_->setViewState(state);
  page_->waitUntilIdle();
  const auto figure = page_->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->error(), QString());
  EXPECT_EQ(figure->imageCount(), 10);
  EXPECT_NEAR(figure->valueRange()->at(1), (0.75 + 1.0 / 16) / 2, 1e-6);
  EXPECT_FALSE(figure->image({400, figure->fittingHeight(400)}, 1).isNull());
  const QString csv = figure->csv();
  const QStringList parts = csv.split(QStringLiteral("\n\n"));
  ASSERT_EQ(parts.size(), 2);
  const QStringList weights = parts[0].split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(weights.size(), 1 + 10 * 2 * 16) << "10 steps, 2 layers of one head, 16 patches";
  EXPECT_EQ(weights[1 + 9 * 32 + 2 * 4 + 1].toStdString(), "10,1,0,0,2,1,0.75");
  EXPECT_EQ(parts[1].count(QLatin1Char('\n')), 1 + 10 * 64);
}

TEST_F(Replaying, AFigureOfTheStepsOpensWithItsImageAndPatchInAnotherWindow) {
  QTest::keyClick(&probe().board(), Qt::Key_Right);
  clickPatch(9, 3, 2);
  Json state = page_->figureState();
  state["figure"] = "steps";
  const QString csv = [&] {
    page_->setViewState(state);
    page_->waitUntilIdle();
    return page_->figure()->csv();
  }();
  open(probe().run());
  page_->setViewState(state);
  page_->waitUntilIdle();
  EXPECT_EQ(probe().board().selected().image, 1);
  const auto figure = page_->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->summary().contains(QStringLiteral("row 3, column 2")))
      << figure->summary().toStdString();
  EXPECT_EQ(figure->csv(), csv);
}

TEST_F(Replaying, AClickOnTheLargeImageAsksForItsPatch) {
  const QRectF tile = probe().board().tiles().tiles.at(0).rect;
  const QPointF at(tile.left() + tile.width() * 0.4, tile.top() + tile.height() * 0.6);
  QTest::mouseClick(&probe().board(), Qt::LeftButton, {}, at.toPoint() + QPoint(4, 4));
  EXPECT_TRUE(soon([&] { return !probe().worker().isBusy(); }));
  ASSERT_TRUE(image().replay);
  EXPECT_EQ(image().replay->patch, (std::array<int, 2>{2, 1}));
}

TEST_F(Replaying, AClickOnThePreviewAsksForItsPatch) {
  auto* preview = named<QLabel>(*page_, "Selected image");
  const QSize size = preview->pixmap().size();
  QTest::mouseClick(preview, Qt::LeftButton, {}, {size.width() * 2 / 5, size.height() * 3 / 5});
  EXPECT_TRUE(soon([&] { return !probe().worker().isBusy(); }));
  ASSERT_TRUE(image().replay);
  EXPECT_EQ(image().replay->patch, (std::array<int, 2>{2, 1}));
}

TEST_F(Replaying, ALayerIsShownAlone) {
  clickPatch(9, 2, 1);
  EXPECT_NEAR(probe().film().largest(), (0.75 + 1.0 / 16) / 2, 1e-6);
  auto* box = named<QComboBox>(*page_, "Layer of the attention");
  EXPECT_EQ(box->count(), 3);
  box->setCurrentIndex(1);
  Q_EMIT box->activated(1);
  EXPECT_NEAR(probe().film().largest(), 0.75, 1e-6);
}

TEST_F(Replaying, TheKeyboardReachesEveryPatch) {
  clickPatch(9, 0, 0);
  probe().film().setFocus();
  QTest::keyClick(&probe().film(), Qt::Key_Right, Qt::ShiftModifier);
  QTest::keyClick(&probe().film(), Qt::Key_Down, Qt::ShiftModifier);
  QTest::keyClick(&probe().film(), Qt::Key_Return);
  EXPECT_TRUE(soon([&] { return !probe().worker().isBusy(); }));
  EXPECT_EQ(image().replay->patch, (std::array<int, 2>{1, 1}));
}

TEST_F(Replaying, OfAnotherImageIsItsOwn) {
  clickPatch(9, 2, 1);
  QTest::keyClick(&probe().board(), Qt::Key_Right);
  EXPECT_EQ(probe().film().channels(), (std::array<int, 2>{0, 0}));
  clickPatch(9, 3, 3);
  ASSERT_TRUE(image(1).replay);
  EXPECT_EQ(image(1).replay->patch, (std::array<int, 2>{3, 3}));
  EXPECT_EQ(image(0).replay->patch, (std::array<int, 2>{2, 1}));
}

TEST_F(Replaying, APatchThatWasSeenIsNotDrawnAgain) {
  clickPatch(9, 2, 1);
  clickPatch(9, 3, 3);
  const qsizetype drawn = log().count("sample");
  clickPatch(9, 2, 1);
  EXPECT_EQ(image().replay->patch, (std::array<int, 2>{2, 1}));
  EXPECT_EQ(probe().film().channels(), (std::array<int, 2>{2, 1}));
  EXPECT_EQ(log().count("sample"), drawn);
  clickPatch(9, 0, 2);
  EXPECT_EQ(log().count("sample"), drawn + 1);
}

TEST_F(Replaying, AReplayOfAnEarlierStartIsReadAndNotDrawnAgain) {
  storeWay(image(), 2, 1);
  const qsizetype drawn = log().count("sample");
  clickPatch(9, 2, 1);
  ASSERT_TRUE(image().replay);
  EXPECT_EQ(image().replay->patch, (std::array<int, 2>{2, 1}));
  EXPECT_EQ(image().replay->attention.size(), 10U);
  EXPECT_EQ(probe().film().channels(), (std::array<int, 2>{2, 1}));
  EXPECT_NEAR(probe().film().largest(), 0.5, 1e-6);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("Stored with the run")));
  EXPECT_EQ(log().count("sample"), drawn);
  EXPECT_FALSE(log().contains("steps within"));
}

TEST_F(Replaying, NamesTheWordsOfThePromptThatThePatchReadsMost) {
  storeWay(image(), 2, 1, {0.125F, 0.5F, 0.0F, 0.25F});
  clickPatch(9, 2, 1);
  EXPECT_TRUE(visibleText().contains(
      QStringLiteral("word 1 0.5, word 3 0.25, word 0 0.125; all words 0.875")))
      << visibleText().toStdString();
  const DescribedPlot::Table table = probe().film().plotTable();
  ASSERT_EQ(table.rows.size(), 10U * 20) << "patches and words of every step";
  EXPECT_EQ(table.rows[17].mid(2).join(QLatin1Char('|')).toStdString(), "|word 1|0.5");
  Json state = page_->viewState();
  state["figure"] = "steps";
  page_->setViewState(state);
  page_->waitUntilIdle();
  const auto figure = page_->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->csv().contains(QStringLiteral("\n1,0.1,1,0,,word 3,0.25\n")));
}

TEST_F(Replaying, OfAnotherPatchOrImageIsDrawnAndStoredInTheRoomThatIsLeft) {
  storeWay(image(), 2, 1);
  clickPatch(9, 3, 3);
  ASSERT_TRUE(image().replay);
  EXPECT_EQ(image().replay->patch, (std::array<int, 2>{3, 3}));
  const QByteArray most = QByteArray::number(qlonglong{DrawWorker::kMostStoredBytes});
  EXPECT_TRUE(log().contains("steps within ")) << "the program stores what it drew";
  EXPECT_FALSE(log().contains("steps within " + most)) << "what is stored took some of the room";
  QTest::keyClick(&probe().board(), Qt::Key_Right);
  clickPatch(9, 2, 1);
  ASSERT_TRUE(image(1).replay);
  EXPECT_FALSE(visibleText().contains(QStringLiteral("Stored with the run")));
}

TEST_F(Replaying, VerifyFindsTheSamePixels) {
  probe().board().setFocus();
  QTest::keyClick(&probe().board(), Qt::Key_V);
  EXPECT_TRUE(soon([&] { return !image().verdict.isEmpty(); }));
  EXPECT_TRUE(image().isExact);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("Bit-exact on this machine")));
}

TEST_F(Replaying, VerifyNamesTheLargestDifference) {
  serve_.touch(QStringLiteral("drifts"));
  probe().board().setFocus();
  QTest::keyClick(&probe().board(), Qt::Key_V);
  EXPECT_TRUE(soon([&] { return !image().verdict.isEmpty(); }));
  EXPECT_FALSE(image().isExact);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("64 pixels, by 3 of 255")));
}

TEST_F(Replaying, SendToGalleryKeepsTheImagesOfTheCell) {
  action(QStringLiteral("Send to gallery"))->trigger();
  EXPECT_TRUE(soon([&] { return image(1).stored != 0; }));
  EXPECT_EQ(image(0).stored, 70);
  EXPECT_EQ(image(1).stored, 71);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("In the gallery as image 70")));
}

TEST_F(Replaying, ASamplerWithoutAttentionAsksForNoPatch) {
  auto* box = formPart<QComboBox>(probe().form(), kSamplerKey);
  ASSERT_NE(box, nullptr);
  box->setCurrentIndex(box->findData(QStringLiteral("slow")));
  EXPECT_FALSE(probe().form().values().contains("guidance"));
  draw();
  EXPECT_EQ(probe().shown()->cells[0].settings.sampler, "slow");
  EXPECT_EQ(probe().film().frameCount(), 10);
  QTest::mouseClick(&probe().film(), Qt::LeftButton, Qt::NoModifier,
                    probe().film().frameRect(9).center().toPoint());
  EXPECT_FALSE(probe().worker().isBusy());
}

}  // namespace
}  // namespace vitrine::ui
