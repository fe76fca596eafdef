// The form of the Playground: one row for each key of a sampler, each of which may become the rows
// or columns of a grid.
#pragma once

#include <QString>
#include <QStringList>
#include <QWidget>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/schema.h"
#include "ui/playground/sample_settings.h"

class QGridLayout;
class QToolButton;

namespace vitrine::ui {

/// A key as the form shows it.
struct FormEntry {
  Field field;
  /// Words for its values: of a choice one for each, of a whole number from 0 on. Empty: none.
  QStringList valueTitles = {};
  bool isRare = false;     ///< below "More settings"
  QString noneTitle = {};  ///< words for no value; empty: "none"
};

class SamplerForm : public QWidget {
  Q_OBJECT
 public:
  explicit SamplerForm(QWidget* parent = nullptr);
  ~SamplerForm() override;

  /// Keys that were there before keep their values and axes.
  void setEntries(std::vector<FormEntry> entries);
  /// By key; a row that is an axis has its first value.
  [[nodiscard]] Json values() const;
  /// Keys that the form does not have, and values that no field can show, are left out.
  void setValues(const Json& values);
  [[nodiscard]] SampleGrid grid() const;
  void setGrid(const SampleGrid& grid);
  /// Why nothing can be drawn, one sentence; "" where all is well.
  [[nodiscard]] QString error() const;
  [[nodiscard]] QString titleOfValue(const std::string& key, const Json& value) const;

  enum class Axis { None, Rows, Columns };
  [[nodiscard]] Axis axis(const std::string& key) const;
  void setAxis(const std::string& key, Axis axis);

 Q_SIGNALS:
  void edited();

 private:
  struct Row;
  void addRow(FormEntry entry, int line);
  void fillAxisMenu(Row& row);
  void showAxis(Row& row);
  void showRare();
  [[nodiscard]] Row* row(const std::string& key) const;
  [[nodiscard]] std::optional<Json> valueOf(const Row& row) const;
  [[nodiscard]] AxisValues axisOf(const Row& row) const;
  [[nodiscard]] QString problemOf(const Row& row) const;
  void chooseFile(const std::string& key);

  QGridLayout* grid_;
  QToolButton* more_;
  std::vector<std::unique_ptr<Row>> rows_;
};

}  // namespace vitrine::ui
