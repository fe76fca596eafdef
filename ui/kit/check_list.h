// A dialog that asks which entries of a list are chosen, with a search field above it.
#pragma once

#include <QString>
#include <QWidget>
#include <optional>
#include <string>
#include <vector>

namespace vitrine::ui {

struct CheckList {
  struct Entry {
    std::string id;
    QString name;
    QString tip = {};
    bool isChecked = false;
  };
  enum class Order {
    Fixed,
    ByUser,  ///< entries are dragged to another place
  };
  QString title;   ///< of the dialog
  QString search;  ///< what the search field looks for
  QString name;    ///< of the list, for a screen reader
  Order order = Order::Fixed;
  std::vector<Entry> entries = {};
};

/// The checked entries in the order of the list; nothing when the user cancels.
[[nodiscard]] std::optional<std::vector<std::string>> askCheckList(QWidget* parent,
                                                                   const CheckList& list);

}  // namespace vitrine::ui
