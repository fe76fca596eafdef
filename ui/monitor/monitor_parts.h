// Helpers shared by the files of the Monitor page: its choices in the settings.
#pragma once

#include <QByteArray>
#include <QString>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "ui/monitor/alerts.h"
#include "ui/monitor/curve_plot.h"

namespace vitrine::ui {

inline constexpr const char* kAlertsKey = "monitor/alerts";

/// A choice as it lies in the settings; null where it is not JSON.
[[nodiscard]] Json viewParsed(const QByteArray& text);
[[nodiscard]] std::vector<AlertRule> alertsFromText(const QByteArray& text);
[[nodiscard]] Smoothing storedSmoothing();
void storeSmoothing(const Smoothing& smoothing);
[[nodiscard]] Json toJson(const Smoothing& smoothing);
[[nodiscard]] Smoothing smoothingFromJson(const Json& json, const Smoothing& otherwise);
/// "train", "analysis / attention rank": the group a metric belongs to.
[[nodiscard]] QString groupOf(const std::string& metric);
/// "System": the heading of a group.
[[nodiscard]] QString groupTitle(const QString& group);

}  // namespace vitrine::ui
