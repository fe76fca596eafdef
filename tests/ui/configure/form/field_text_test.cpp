// Values as they are typed into fields of the form, and shown there.
#include <gtest/gtest.h>

#include <QLocale>

#include "ui/form/field_editor.h"
#include "ui/configure/form/sweep_editor.h"

namespace vitrine::ui {
namespace {

TEST(SweepValues, SurviveTheirText) {
  for (const std::vector<Json>& values : {std::vector<Json>{0, 1, 2},
                                          {1e-3, 3e-4},
                                          {"soft", "none"},
                                          {Json::array({28, 32}), 28},
                                          {true, false}}) {
    EXPECT_EQ(parseValues(valuesText(values)), values) << valuesText(values).toStdString();
  }
}

TEST(FieldText, NoneIsTheChoiceOfThatNameAndElsewhereAbsence) {
  const Field rule = choiceField("rule", nullptr, {"none", "linear"}, "a rule").orNone();
  const Field place = choiceField("place", nullptr, {"left", "right"}, "a place").orNone();
  EXPECT_EQ(parseFieldText(rule, QStringLiteral("none")), Json("none"));
  EXPECT_EQ(normalized(rule, "none"), Json("none"));
  EXPECT_EQ(parseFieldText(place, QStringLiteral("none")), Json(nullptr));
  EXPECT_EQ(normalized(place, "none"), Json(nullptr));
  FieldEditor editor(rule, QStringLiteral("Rule"));
  editor.setValue("none");
  EXPECT_EQ(editor.value(), Json("none"));
}

TEST(FieldText, ReadsWhatItShows) {
  const Field size = sizeField("image_size", 28, "");
  EXPECT_EQ(parseFieldText(size, QStringLiteral("28")), Json(28));
  EXPECT_EQ(parseFieldText(size, QStringLiteral("28 x 32")), Json::array({28, 32}));
  EXPECT_EQ(parseFieldText(size, QStringLiteral("28\u00d732")), Json::array({28, 32}));
  EXPECT_EQ(fieldText(size, Json::array({28, 28})).toStdString(), "28");
  EXPECT_EQ(fieldText(size, Json::array({28, 32})).toStdString(), "28 x 32");
  const Field real = realField("rate", 1e-3, "");
  EXPECT_EQ(parseFieldText(real, QStringLiteral("3e-4")), Json(3e-4));
  EXPECT_EQ(parseFieldText(real, QStringLiteral("1")), Json(1.0));
  EXPECT_TRUE(parseFieldText(real, QStringLiteral("1"))->is_number_float());
  const Field list = listField("rates", FieldType::Real, Json::array(), "");
  EXPECT_EQ(parseFieldText(list, QStringLiteral("0.5, 1")), Json::array({0.5, 1.0}));
  Field absent = integerField("steps", nullptr, "");
  absent.orNone();
  EXPECT_EQ(parseFieldText(absent, QString()), Json(nullptr));
  EXPECT_EQ(parseFieldText(absent, QStringLiteral("none")), Json(nullptr));
  EXPECT_EQ(parseFieldText(absent, QStringLiteral("4,690")), Json(4690));
}

TEST(FieldText, AnAbsentValueIsWhatTheFieldCallsIt) {
  const Field samples = integerField("samples", nullptr, "at most n; none: all").orNone();
  EXPECT_EQ(fieldText(samples, nullptr).toStdString(), "all");
  EXPECT_EQ(parseFieldText(samples, QStringLiteral("all")), Json(nullptr));
  EXPECT_EQ(fieldText(integerField("steps", nullptr, "").orNone(), nullptr).toStdString(), "none");
}

TEST(FieldText, BoundsHaveTheirCommas) {
  const Field side = integerField("image_size", 28, "").range(1, 16384);
  EXPECT_EQ(rangeText(side), QStringLiteral("1 \u2026 16,384"));
  const Field patch = integerField("patch_size", 4, "").range(1, 4096);
  EXPECT_EQ(rangeText(patch), QStringLiteral("1 \u2026 4,096"));
  const Field classes = integerField("num_classes", 10, "").range(1, 1e6);
  EXPECT_EQ(rangeText(classes), QStringLiteral("1 \u2026 1,000,000"));
}

TEST(FieldText, LeavesWhatIsNoNumberToThePlanner) {
  const Field whole = integerField("width", 64, "");
  EXPECT_EQ(parseFieldText(whole, QStringLiteral("wide")), Json("wide"));
  EXPECT_EQ(parseFieldText(whole, QStringLiteral("6.5")), Json(6.5));
  EXPECT_EQ(parseFieldText(whole, QString()), std::nullopt);
}

TEST(FieldText, ReadsTheSameInEveryLocale) {
  const QLocale before;
  QLocale::setDefault(QLocale(QLocale::German));
  EXPECT_EQ(parseFieldText(realField("rate", 1.0, ""), QStringLiteral("0.5")), Json(0.5));
  EXPECT_EQ(fieldText(realField("rate", 1.0, ""), Json(0.5)).toStdString(), "0.5");
  QLocale::setDefault(before);
}

}  // namespace
}  // namespace vitrine::ui
