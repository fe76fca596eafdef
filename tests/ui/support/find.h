// The parts of a widget by what the user reads on them.
#pragma once

#include <gtest/gtest.h>

#include <QAnyStringView>
#include <QLabel>
#include <QPushButton>
#include <QStringList>
#include <QTest>

namespace vitrine::ui {

/// nullptr where `holds` of none.
template <class Part, class Holds>
Part* firstWhere(const QObject& in, const Holds& holds) {
  for (Part* part : in.findChildren<Part*>()) {
    if (holds(*part)) return part;
  }
  return nullptr;
}

/// By the name that a screen reader says.
template <class Part>
Part* named(const QObject& in, QAnyStringView name) {
  Part* part =
      firstWhere<Part>(in, [name](const Part& one) { return one.accessibleName() == name; });
  EXPECT_NE(part, nullptr) << "nothing is called " << name.toString().toStdString();
  return part;
}

/// By its words, without the mark of its key: a button, an action, a label.
template <class Part>
Part* saying(const QObject& in, QAnyStringView text) {
  Part* part = firstWhere<Part>(
      in, [text](const Part& one) { return one.text().remove(QLatin1Char('&')) == text; });
  EXPECT_NE(part, nullptr) << "nothing says " << text.toString().toStdString();
  return part;
}

/// A button in sight with this text; nullptr where there is none.
template <class Button = QPushButton>
Button* button(const QWidget& in, QAnyStringView text) {
  return firstWhere<Button>(
      in, [&](const Button& one) { return one.text() == text && one.isVisibleTo(&in); });
}

template <class Button = QPushButton>
void press(const QWidget& in, QAnyStringView text) {
  Button* one = button<Button>(in, text);
  ASSERT_NE(one, nullptr) << "there is no button " << text.toString().toStdString();
  QTest::mouseClick(one, Qt::LeftButton);
}

/// The only part of this type, in sight or not.
template <class Part>
Part& only(const QObject& in) {
  const auto parts = in.findChildren<Part*>();
  if (parts.size() != 1)
    qFatal("%d parts are a %s", static_cast<int>(parts.size()), Part::staticMetaObject.className());
  return *parts.front();
}

/// All words that the user sees.
inline QString labelsIn(const QWidget& in) {
  QStringList texts;
  for (const QLabel* label : in.findChildren<QLabel*>()) {
    if (label->isVisibleTo(&in)) texts << label->text();
  }
  return texts.join(QLatin1Char('\n'));
}

}  // namespace vitrine::ui
