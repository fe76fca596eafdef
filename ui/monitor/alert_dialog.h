// The alerts of a metric: behind the bell of its card.
#pragma once

#include <QCheckBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <array>

#include "ui/monitor/alerts.h"

namespace vitrine::ui {

class AlertDialog : public QDialog {
  Q_OBJECT
 public:
  AlertDialog(const QString& title, const std::string& metric, const std::vector<AlertRule>& rules,
              QWidget* parent = nullptr);
  [[nodiscard]] std::vector<AlertRule> rules() const;

 private:
  std::string metric_;
  std::array<QCheckBox*, 4> checks_{};
  std::array<QDoubleSpinBox*, 4> values_{};
};

}  // namespace vitrine::ui
