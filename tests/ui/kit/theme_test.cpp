// Colours, numbers, icons and the order of what is found.
#include "ui/kit/theme.h"

#include <QLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QPixmapCache>
#include <QPushButton>
#include <QRegularExpression>
#include <QStyleOptionButton>
#include <QToolButton>
#include <cmath>
#include <set>

#include "tests/ui/support/qt_test.h"
#include "ui/kit/fuzzy.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/style_sheet.h"

namespace vitrine::ui {
namespace {

constexpr ThemeKind kThemes[] = {ThemeKind::Dark, ThemeKind::Light, ThemeKind::HighContrast};

TEST(Contrast, IsThatOfWcag) {
  EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-9);
  EXPECT_NEAR(contrast(QColor("#777777"), Qt::white), 4.48, 0.01);
}

TEST(ThemeColors, TextIsReadableOnEveryGround) {
  for (const ThemeKind kind : kThemes) {
    const ThemeColors& t = themeColors(kind);
    for (const QColor& ground : {t.background, t.panel, t.raised}) {
      for (const QColor& text : {t.text, t.muted, t.ok, t.warn, t.bad, t.accent}) {
        EXPECT_GE(contrast(text, ground), 4.5)
            << static_cast<int>(kind) << ' ' << text.name().toStdString() << " on "
            << ground.name().toStdString();
      }
    }
    for (const QColor& text : {t.text, t.muted})
      EXPECT_GE(contrast(text, t.selection), 4.5) << text.name().toStdString();
    EXPECT_GE(contrast(t.onAccent, t.accent), 4.5) << static_cast<int>(kind);
  }
}

// Under a style sheet Qt keeps another picture of an arrow with each drawing, and a window beside
// runs that train draws some four times a second for days.
TEST(StyleSheet, WhatIsKeptOfDrawnArrowsIsBounded) {
  QPixmapCache::setCacheLimit(10'240);
  applyTheme(currentTheme());
  EXPECT_LE(QPixmapCache::cacheLimit(), 1024) << "kB";
}

TEST(ThemeColors, LinesOfRunsStandOutFromTheirPanel) {
  for (const ThemeKind kind : kThemes) {
    for (int run = 1; run <= 7; ++run) {
      EXPECT_GE(contrast(seriesColor(run, kind), themeColors(kind).panel), 3)
          << static_cast<int>(kind) << ' ' << run;
    }
  }
}

TEST(Series, TwentyEightRunsDifferInColourOrDash) {
  std::set<std::pair<QRgb, int>> looks;
  for (int run = 1; run <= 28; ++run)
    looks.emplace(seriesColor(run, ThemeKind::Dark).rgb(), seriesDash(run));
  EXPECT_EQ(looks.size(), 28U);
}

TEST(StyleSheet, LeavesNoPlaceholderBehind) {
  for (const ThemeKind kind : kThemes) {
    const QString sheet = styleSheet(themeColors(kind));
    EXPECT_FALSE(sheet.contains(QRegularExpression(QStringLiteral("\\d!|@[A-Za-z]"))));
    EXPECT_FALSE(sheet.contains(QLatin1String("url(\"\")")));
    EXPECT_EQ(sheet.count(QLatin1Char('{')), sheet.count(QLatin1Char('}')));
  }
}

/// Pixels of `color` in the column of the marks, at the line of `action`.
int pixelsOf(const QColor& color, QMenu& menu, const QAction* action) {
  const QRect line = menu.actionGeometry(const_cast<QAction*>(action));
  const QImage image = menu.grab().toImage();
  int found = 0;
  for (int y = line.top(); y <= line.bottom(); ++y) {
    for (int x = line.left(); x < line.left() + px(24); ++x)
      found += image.pixelColor(x, y).rgb() == color.rgb() ? 1 : 0;
  }
  return found;
}

TEST(StyleSheet, ACheckBoxOfAMenuIsVisibleBeforeItIsChecked) {
  for (const ThemeKind kind : kThemes) {
    applyTheme(kind);
    QMenu menu;
    const QAction* plain = menu.addAction(QStringLiteral("Rename"));
    QAction* off = menu.addAction(QStringLiteral("Follow"));
    QAction* on = menu.addAction(QStringLiteral("Raw values"));
    for (QAction* one : {off, on}) one->setCheckable(true);
    on->setChecked(true);
    menu.ensurePolished();
    menu.resize(menu.sizeHint());
    const ThemeColors& t = themeColors();
    EXPECT_EQ(pixelsOf(t.muted, menu, plain), 0) << static_cast<int>(kind);
    EXPECT_GE(pixelsOf(t.muted, menu, off), px(24)) << static_cast<int>(kind);
    EXPECT_GE(pixelsOf(t.accent, menu, on), px(40)) << static_cast<int>(kind);
    EXPECT_EQ(pixelsOf(t.accent, menu, off), 0) << static_cast<int>(kind);
  }
  applyTheme(ThemeKind::Dark);
}

// Its border; the style has a frame for the focus, too.
TEST(StyleSheet, AButtonWithTheFocusHasOneFrame) {
  for (const ThemeKind kind : kThemes) {
    applyTheme(kind);
    QPushButton button;
    button.ensurePolished();
    QStyleOptionButton option;
    option.initFrom(&button);
    option.rect = QRect(0, 0, px(120), px(28));
    option.state |= QStyle::State_HasFocus | QStyle::State_KeyboardFocusChange;
    QImage image(option.rect.size(), QImage::Format_RGB32);
    image.fill(Qt::black);
    QPainter painter(&image);
    button.style()->drawControl(QStyle::CE_PushButton, &option, &painter, &button);
    painter.end();
    std::set<QRgb> inside;
    const QRect within = option.rect.adjusted(px(2), px(2), -px(2), -px(2));
    for (int x = within.left() + px(8); x < within.right() - px(8); ++x) {
      for (int y = within.top(); y <= within.bottom(); ++y) inside.insert(image.pixel(x, y));
    }
    EXPECT_EQ(inside.size(), 1U) << static_cast<int>(kind);
  }
  applyTheme(ThemeKind::Dark);
}

/// The window's picture of a button that is on, with the focus or without.
QImage drawnOn(const QPushButton& button, bool hasFocus) {
  QStyleOptionButton option;
  option.initFrom(&button);
  option.rect = QRect(0, 0, px(120), px(28));
  option.state |= QStyle::State_On;
  option.state.setFlag(QStyle::State_HasFocus, hasFocus);
  QImage image(option.rect.size(), QImage::Format_RGB32);
  image.fill(Qt::black);
  QPainter painter(&image);
  button.style()->drawControl(QStyle::CE_PushButton, &option, &painter, &button);
  return image;
}

// One that is on has the accent already.
TEST(StyleSheet, TheFocusIsSeenOnAButtonThatIsOn) {
  for (const ThemeKind kind : kThemes) {
    applyTheme(kind);
    QPushButton button;
    button.setCheckable(true);
    button.setChecked(true);
    button.ensurePolished();
    EXPECT_NE(drawnOn(button, true), drawnOn(button, false)) << static_cast<int>(kind);
  }
  applyTheme(ThemeKind::Dark);
}

TEST(StyleSheet, TheButtonThatClearsAFieldStandsInItsMiddle) {
  QLineEdit field(QStringLiteral("seed=1"));
  field.setClearButtonEnabled(true);
  field.resize(200, field.sizeHint().height());
  field.show();
  const auto* clear = field.findChild<QToolButton*>();
  ASSERT_NE(clear, nullptr);
  EXPECT_LE(std::abs(clear->geometry().center().y() - field.rect().center().y()), 1);
}

TEST(ColourMaps, GrowLighterFromEndToEnd) {
  for (const auto map : {viridis, cividis}) {
    double before = -1;
    for (double t = 0; t <= 1; t += 0.05) {
      const double light = contrast(map(t), Qt::black);
      EXPECT_GT(light, before) << t;
      before = light;
    }
  }
  EXPECT_EQ(viridis(0).name().toStdString(), "#440154");
  EXPECT_EQ(viridis(1).name().toStdString(), "#fde725");
}

TEST(Numbers, AreWrittenTheSameEverywhere) {
  EXPECT_EQ(number(-1234.5, 1).toStdString(), "\u22121,234.5");
  EXPECT_EQ(number(-0.0001, 2).toStdString(), "0.00");
  EXPECT_EQ(count(-1234).toStdString(), "\u22121,234");
  EXPECT_EQ(count(9'007'199'254'740'993).toStdString(), "9,007,199,254,740,993");
  EXPECT_EQ(number(std::nan(""), 2).toStdString(), "\u2013");
  EXPECT_EQ(percent(0.861, 1).toStdString(), "86.1\u2009%");
  EXPECT_EQ(percent(std::nan(""), 1).toStdString(), "\u2013");
  EXPECT_EQ(counted(1, "run", "runs").toStdString(), "1 run");
  EXPECT_EQ(counted(1200, "run", "runs").toStdString(), "1,200 runs");
}

TEST(Fuzzy, RanksStartsOfWordsAndNeighboursFirst) {
  EXPECT_LT(fuzzyScore("xyz", "New experiment"), 0);
  EXPECT_GE(fuzzyScore("nexp", "New experiment"), 0);
  EXPECT_GT(fuzzyScore("ne", "New experiment"), fuzzyScore("ne", "Command line"));
  EXPECT_GT(fuzzyScore("mon", "Monitor"), fuzzyScore("mon", "Common ground"));
  EXPECT_EQ(fuzzyScore("", "anything"), 0);
}

TEST(TypedWords, KeepsWhatStandsInQuotationMarksTogether) {
  EXPECT_EQ(typedWords(" a  key=\"two words\" \"\" \"open end"),
            QStringList({"a", "key=two words", "open end"}));
  EXPECT_TRUE(typedWords("  ").isEmpty());
}

TEST(Icons, OfAButtonWithoutRoomAreNoPicture) {
  EXPECT_TRUE(icon(Icon::More).pixmap(QSize(0, 16)).isNull());
  EXPECT_TRUE(icon(Icon::More).pixmap(QSize(0, 0)).isNull());
  EXPECT_FALSE(icon(Icon::More).pixmap(QSize(16, 16)).isNull());
}

TEST(WordLabel, ShowsANameThatLooksLikeHtmlAsItIs) {
  const WordLabel marked(QStringLiteral("<b>one</b>\ntwo")), plain(QStringLiteral("one\ntwo"));
  EXPECT_EQ(marked.heightForWidth(400), plain.heightForWidth(400)) << "two lines";
  EXPECT_GT(marked.sizeHint().width(), plain.sizeHint().width());
}

TEST(DockHeader, LeavesOutThePartsOfItsNoteThatHaveNoRoom) {
  DockHeader header(QStringLiteral("Runs"), nullptr);
  header.addButton(new QToolButton);
  const QString whole = QStringLiteral("12 of 48 runs, 3 selected, 1 hidden");
  header.setNote(whole);
  header.resize(900, 32);
  header.show();
  EXPECT_EQ(header.note(), whole);
  EXPECT_EQ(header.toolTip(), QString());
  for (int width = 900; width >= 200; width -= 10) {
    header.resize(width, 32);
    EXPECT_TRUE(whole == header.note() || whole.startsWith(header.note() + QLatin1Char(',')))
        << header.note().toStdString();
  }
  EXPECT_LT(header.note().size(), whole.size());
  EXPECT_EQ(header.toolTip(), whole);
}

TEST(DockHeader, CutsNoPartOfItsNoteInTwo) {
  DockHeader header(QStringLiteral("Runs"), nullptr);
  header.addButton(new QToolButton);
  header.setNote(QStringLiteral("12 of 48 runs, 3 selected, 1 hidden"));
  header.show();
  for (int width = 500; width >= 200; --width) {
    header.resize(width, 32);
    header.layout()->activate();
    for (const auto* label : header.findChildren<ElidedLabel*>()) {
      if (label->text() != header.note() || !header.note().contains(QLatin1Char(','))) continue;
      EXPECT_GE(label->width(), label->fontMetrics().horizontalAdvance(label->text())) << width;
    }
  }
}

}  // namespace
}  // namespace vitrine::ui
