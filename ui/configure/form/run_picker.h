// Any run of the database, from a list that is searched.
#pragma once

#include <QDialog>
#include <QStringList>
#include <cstdint>
#include <map>

#include "core/store/types.h"

class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;
class QTreeView;

namespace vitrine::ui {

class RunPicker : public QDialog {
  Q_OBJECT
 public:
  /// \param only  runs it offers; all where it is not given
  RunPicker(const QString& title, const std::map<std::int64_t, store::RunRow>& rows,
            bool (*only)(const store::RunRow&) = nullptr, QWidget* parent = nullptr);

  [[nodiscard]] std::int64_t picked() const;  ///< 0 where nothing is
  [[nodiscard]] QLineEdit& filter() const { return *filter_; }
  [[nodiscard]] int shown() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QLineEdit* filter_;
  QTreeView* list_;
  QSortFilterProxyModel* model_;
  QPushButton* take_;
};

}  // namespace vitrine::ui
