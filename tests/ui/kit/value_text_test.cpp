#include "ui/kit/value_text.h"

#include <gtest/gtest.h>

namespace vitrine::ui {
namespace {

TEST(ValueText, WritesAValueOfAConfigurationAsAUserReadsIt) {
  EXPECT_EQ(valueText(nullptr).toStdString(), "none");
  EXPECT_EQ(valueText("swiglu").toStdString(), "swiglu");
  EXPECT_EQ(valueText(true).toStdString(), "true");
  EXPECT_EQ(valueText(12).toStdString(), "12");
  EXPECT_EQ(valueText(0.001).toStdString(), "0.001");
  EXPECT_EQ(valueText(Json::array({28, 28})).toStdString(), "28");
  EXPECT_EQ(valueText(Json::array({28, 32})).toStdString(), "28 x 32");
  EXPECT_EQ(valueText(Json::array({0.9, 0.999})).toStdString(), "0.9, 0.999");
  EXPECT_EQ(valueText(Json::array({2, 2, 6, 2})).toStdString(), "2, 2, 6, 2");
  EXPECT_EQ(valueText(Json{{"kind", "soft"}}).toStdString(), "{\"kind\":\"soft\"}");
}

TEST(JsonText, QuotesNoTextAndEndsWithNoneThatIsNotUtf8) {
  EXPECT_EQ(jsonText("a \"b\"").toStdString(), "a \"b\"");
  EXPECT_EQ(jsonText(Json::array({"a", 1})).toStdString(), "[\"a\",1]");
  EXPECT_EQ(jsonText(Json::array({"\xff"})), QStringLiteral("[\"\ufffd\"]"));
}

TEST(Places, AreCountedFromZeroAsInTheNamesOfMetrics) {
  EXPECT_EQ(layerName(0).toStdString(), "layer 0");
  EXPECT_EQ(headName(3).toStdString(), "head 3");
  EXPECT_EQ(atStart(headName(0, 2)).toStdString(), "Layer 0, head 2");
  EXPECT_EQ(patchName(0, 5).toStdString(), "row 0, column 5");
}

TEST(AtStart, RaisesAWordButNotAKey) {
  EXPECT_EQ(atStart("no device.").toStdString(), "No device.");
  EXPECT_EQ(atStart("failed.").toStdString(), "Failed.");
  EXPECT_EQ(atStart("ode.steps: must be an integer").toStdString(),
            "ode.steps: must be an integer");
  EXPECT_EQ(atStart(QString()), QString());
}

TEST(QuotedNames, KeepCommasOfANameApart) {
  EXPECT_EQ(quotedNames({QStringLiteral("ViT"), QStringLiteral("iLLaMA, soft mask")}),
            QStringLiteral("\u201cViT\u201d, \u201ciLLaMA, soft mask\u201d"));
  EXPECT_EQ(quotedNames({}), QString());
}

}  // namespace
}  // namespace vitrine::ui
