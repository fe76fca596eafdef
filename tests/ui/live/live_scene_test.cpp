// The floating windows, drawn by the processor and clicked with the mouse.
#include "ui/live/live_scene.h"

#include <gtest/gtest.h>

#include <QMouseEvent>
#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "tests/ui/live/live_frames.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/kit/theme.h"
#include "ui/live/live_canvas.h"
#include "ui/live/live_values.h"

namespace vitrine::ui {
namespace {

constexpr QSize kSize(1000, 680);

class Scene : public ::testing::Test {
 protected:
  Scene()
      : scene_(model_, [this] { ++chosen_; }), canvas_([this](LiveCanvas& c) { scene_.draw(c); }) {
    model_.begin(100);
  }
  /// As fast as a tap: nothing is painted in between.
  void press(const QPointF& at) {
    for (const auto type :
         {QEvent::MouseMove, QEvent::MouseButtonPress, QEvent::MouseButtonRelease}) {
      const auto button = type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton;
      QMouseEvent event(type, at, at, button, button, Qt::NoModifier);
      ASSERT_TRUE(canvas_.take(&event));
    }
    static_cast<void>(canvas_.frame(kSize, 1));
  }
  void moveTo(const QPointF& at, bool isDown) {
    QMouseEvent move(QEvent::MouseMove, at, at, Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    canvas_.take(&move);
    QMouseEvent button(isDown ? QEvent::MouseButtonPress : QEvent::MouseButtonRelease, at, at,
                       Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
    canvas_.take(&button);
    static_cast<void>(canvas_.frame(kSize, 1));
  }
  /// Colours in a part of the picture.
  static std::set<QRgb> colorsIn(const QImage& image, const QRectF& area) {
    std::set<QRgb> colors;
    const QRect rect = area.toRect() & image.rect();
    for (int y = rect.top(); y <= rect.bottom(); ++y) {
      for (int x = rect.left(); x <= rect.right(); ++x) colors.insert(image.pixel(x, y));
    }
    return colors;
  }

  LiveModel model_;
  int chosen_ = 0;
  LiveScene scene_;
  LiveCanvas canvas_;
};

TEST_F(Scene, DrawsEveryWindowInTheColoursOfTheMaps) {
  model_.add(liveFrame(40));
  const QImage image = canvas_.image(kSize, 1);
  const LivePlaces places = livePlaces(kSize, true, false);
  const QRgb most = liveColor(1, {0, 1}), none = QColor(0x6A, 0x70, 0x78).rgb();
  const auto heads = colorsIn(image, places.heads);
  EXPECT_TRUE(heads.count(most));
  EXPECT_TRUE(heads.count(none));  // masked keys
  EXPECT_GT(colorsIn(image, places.probe).size(), 20U);
  EXPECT_TRUE(colorsIn(image, places.schedule).count(themeColors().accent.rgb()));
  EXPECT_GT(colorsIn(image, places.steps).size(), 10U);
}

TEST_F(Scene, IsTheSamePictureTwiceAsSharpAtScaleTwo) {
  model_.add(liveFrame(40));
  const QImage image = canvas_.image(kSize, 2);
  EXPECT_EQ(image.size(), kSize * 2);
  EXPECT_EQ(image.deviceIndependentSize().toSize(), kSize);
}

TEST_F(Scene, NamesOfPatchesEndBeforeTheirValuesInANarrowWindow) {
  model_.add(liveFrame(40));
  const QSize narrow(560, 680);
  const QImage image = canvas_.image(narrow, 1);
  const QRect probe = livePlaces(narrow, true, false).probe.toRect();
  const QRect rows(probe.right() - 108, probe.top() + 90, 100, 26);
  const QRgb panel = image.pixel(probe.right() - 4, rows.top());
  int gap = 0, widest = 0, inked = 0;
  for (int x = rows.left(); x <= rows.right(); ++x) {
    bool isFree = true;
    for (int y = rows.top(); y <= rows.bottom(); ++y) isFree &= image.pixel(x, y) == panel;
    gap = isFree ? gap + 1 : 0;
    widest = std::max(widest, gap);
    inked += isFree ? 0 : 1;
  }
  EXPECT_GT(inked, 40) << "names and values";
  EXPECT_GE(widest, 8);
}

TEST_F(Scene, ATitleWithoutRoomSaysWhatItShowsInATip) {
  model_.add(liveFrame(40));
  const auto pictureOf = [&](QSize size, const QPointF& mouse) {
    QMouseEvent move(QEvent::MouseMove, mouse, mouse, Qt::NoButton, Qt::NoButton, Qt::NoModifier);
    canvas_.take(&move);
    static_cast<void>(canvas_.image(size, 1));
    return canvas_.image(size, 1);
  };
  const QPointF away(1, 1);
  const auto titleOf = [](QSize size) {
    const QRectF heads = livePlaces(size, true, false).heads;
    return QPointF(heads.center().x(), heads.top() + 8);
  };
  const QImage plain = pictureOf(kSize, away);
  EXPECT_EQ(pictureOf(kSize, titleOf(kSize)), plain) << "the title has it";
  const QSize narrow(360, 680);
  const QImage bare = pictureOf(narrow, away);
  EXPECT_NE(pictureOf(narrow, titleOf(narrow)), bare);
}

TEST_F(Scene, AClickOnTheImageAsksFromThatPatch) {
  model_.add(liveFrame(40));
  static_cast<void>(canvas_.frame(kSize, 1));
  static_cast<void>(canvas_.frame(kSize, 1));
  const QRectF probe = livePlaces(kSize, true, false).probe;
  press(probe.topLeft() + QPointF(30, 60));  // within the upper left patch
  EXPECT_EQ(model_.query.kind, LiveQuery::Kind::Patch);
  EXPECT_LT(model_.query.row, 1.0 / 3);
  EXPECT_LT(model_.query.column, 1.0 / 3);
  EXPECT_EQ(chosen_, 1);
}

TEST_F(Scene, TheChosenMapIsOutlinedAboveAndBelow) {
  model_.add(liveFrame(40));
  static_cast<void>(canvas_.frame(kSize, 1));
  const QImage image = canvas_.image(kSize, 1);
  const QColor accent = themeColors().accent;
  const auto isAccent = [&](int x, int y) {
    const QColor color = image.pixelColor(x, y);
    return std::abs(color.red() - accent.red()) < 24 &&
           std::abs(color.green() - accent.green()) < 24 &&
           std::abs(color.blue() - accent.blue()) < 24;
  };
  const QRect heads = livePlaces(kSize, true, false).heads.toRect();
  std::vector<int> edges;  // rows with a line as wide as a map
  for (int y = heads.top(); y <= heads.bottom(); ++y) {
    int run = 0, longest = 0;
    for (int x = heads.left(); x <= heads.right(); ++x) {
      run = isAccent(x, y) ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    if (longest > 40) edges.push_back(y);
  }
  ASSERT_FALSE(edges.empty());
  EXPECT_GT(edges.back() - edges.front(), 40) << "the upper edge is missing";
}

TEST_F(Scene, AClickOnAMapChoosesItsHeadAndPatch) {
  model_.add(liveFrame(40));
  static_cast<void>(canvas_.frame(kSize, 1));
  static_cast<void>(canvas_.frame(kSize, 1));
  // The lower row of the overview is the second layer.
  const QRectF heads = livePlaces(kSize, true, false).heads;
  press(QPointF(heads.left() + 250, heads.bottom() - 60));
  EXPECT_EQ(model_.layer, 1);
  EXPECT_EQ(model_.query.kind, LiveQuery::Kind::Patch);
  EXPECT_GE(chosen_, 1);
}

TEST_F(Scene, DraggingAlongTheScheduleGoesBackInTime) {
  for (std::int64_t step = 10; step <= 60; step += 10) model_.add(liveFrame(step));
  static_cast<void>(canvas_.frame(kSize, 1));
  static_cast<void>(canvas_.frame(kSize, 1));
  const QRectF track = livePlaces(kSize, true, false).schedule;
  const QPointF at(track.left() + track.width() * 0.25, track.top() + 60);
  moveTo(at, true);
  static_cast<void>(canvas_.frame(kSize, 1));
  ASSERT_TRUE(model_.scrubbed());
  EXPECT_GT(*model_.scrubbed(), 5);
  EXPECT_LT(*model_.scrubbed(), 40);
  EXPECT_LT(model_.shown()->step, 50);
  moveTo(QPointF(track.right() - 30, at.y()), true);  // into what is not trained
  static_cast<void>(canvas_.frame(kSize, 1));
  EXPECT_FALSE(model_.scrubbed());
  EXPECT_EQ(model_.shown()->step, 60);
}

TEST_F(Scene, ShowsImagesBeingDenoisedWhereTheRunMakesThem) {
  live::Frame frame = liveFrame(40);
  frame.film = liveFilm();
  model_.add(frame);
  const QImage image = canvas_.image(kSize, 1);
  EXPECT_TRUE(colorsIn(image, livePlaces(kSize, true, true).film).count(qRgb(90, 90, 90)));
}

TEST_F(Scene, WindowsTakeThePlaceOfAPartThatAnotherRunDoesNotHave) {
  live::Frame frame = liveFrame(40);
  frame.film = liveFilm();
  model_.add(frame);
  static_cast<void>(canvas_.image(kSize, 1));
  model_.begin(100);
  model_.add(liveFrame(40));
  static_cast<void>(canvas_.frame(kSize, 1));
  const QImage image = canvas_.image(kSize, 1);
  const QRect schedule = livePlaces(kSize, true, false).schedule.toRect();
  EXPECT_EQ(image.pixel(schedule.center().x(), schedule.bottom() - 5), themeColors().panel.rgb());
}

TEST_F(Scene, DrawsAModelWithoutAttentionOrSchedule) {
  live::Frame frame = liveFrame(40);
  frame.attention.clear();
  frame.matrices.reset();
  frame.scheduled.clear();
  frame.gap.reset();
  frame.images = 0;
  frame.image = -1;
  model_.add(frame);
  const QImage image = canvas_.image(kSize, 1);
  EXPECT_GT(colorsIn(image, livePlaces(kSize, false, false).steps).size(), 10U);
  LiveValues values;
  values.show(model_);
  EXPECT_TRUE(labelsIn(values).contains(QStringLiteral("Attention page"))) << "where to look";
}

TEST_F(Scene, FollowsTheTheme) {
  model_.add(liveFrame(40));
  const QImage dark = canvas_.image(kSize, 1);
  applyTheme(ThemeKind::Light);
  canvas_.restyle();
  const QImage light = canvas_.image(kSize, 1);
  applyTheme(ThemeKind::Dark);
  EXPECT_TRUE(colorsIn(light, livePlaces(kSize, true, false).heads)
                  .count(themeColors(ThemeKind::Light).panel.rgb()));
  EXPECT_NE(dark, light);
}

TEST(LivePlaces, StandInTwoAlignedColumnsAndFillThePage) {
  for (const bool hasSchedule : {false, true}) {
    for (const bool hasFilm : {false, true}) {
      const LivePlaces places = livePlaces({1090, 690}, hasSchedule, hasFilm);
      double bottom = places.heads.bottom();
      for (const QRectF& each : {places.schedule, places.film}) {
        if (each.isEmpty()) continue;
        EXPECT_EQ(each.left(), places.heads.left());
        EXPECT_EQ(each.right(), places.heads.right());
        EXPECT_GT(each.top(), bottom);
        bottom = each.bottom();
      }
      EXPECT_NEAR(bottom, places.steps.bottom(), 1);
      EXPECT_EQ(places.probe.left(), places.steps.left());
      EXPECT_GT(places.probe.left(), places.heads.right());
      EXPECT_LE(places.steps.right(), 1090);
    }
  }
}

}  // namespace
}  // namespace vitrine::ui
