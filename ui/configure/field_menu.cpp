// The menu of one field: sweep it, make a variant of it, restore its default.
#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
#include <QMenu>

#include "core/config/edit/document.h"
#include "ui/configure/configure_page.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {

namespace {

/// A value and its usual alternatives.
std::vector<Json> valuesToTry(const std::string& key, const Field& field, const Json& value) {
  if (key == "train.seed") return {0, 1, 2};
  const auto isLegal = [&](double one) {
    return (!field.minimum || one >= *field.minimum) && (!field.maximum || one <= *field.maximum) &&
           (!field.above || one > *field.above) && (!field.below || one < *field.below);
  };
  switch (field.type) {
    case FieldType::Bool:
      if (value.is_boolean()) return {value, !value.get<bool>()};
      break;
    case FieldType::Choice: {
      std::vector<Json> values{value};
      for (const std::string& choice : field.choices) {
        const bool isRefused = std::find(field.refusedValues.begin(), field.refusedValues.end(),
                                         Json(choice)) != field.refusedValues.end();
        if (Json(choice) != value && !isRefused && values.size() < 8) values.emplace_back(choice);
      }
      return values;
    }
    case FieldType::Integer:
      if (value.is_number_integer() && value.get<std::int64_t>() > 0 &&
          isLegal(2.0 * value.get<double>()))
        return {value, 2 * value.get<std::int64_t>()};
      break;
    case FieldType::Real: {
      if (!value.is_number()) break;
      const double now = value.get<double>();
      const double other = now == 0 ? 0.1 : now / 2;
      if (isLegal(other)) return {value, other};
      break;
    }
    default:
      break;
  }
  return {value.is_null() ? Json("none") : value};
}

/// As one writes it: n for a size of [n, n].
Json plainly(const Field& field, const Json& value) {
  const bool isSquare = field.type == FieldType::Size && value.is_array() && value.size() == 2 &&
                        value[0] == value[1];
  return isSquare ? value[0] : value;
}

}  // namespace

std::unique_ptr<QMenu> ConfigurePage::fieldMenu(FormRow* row) {
  auto menu = std::make_unique<QMenu>(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setAccessibleName(tr("Menu of ") + row->title());
  fillFieldMenu(*menu, row);
  return menu;
}

void ConfigurePage::fillFieldMenu(QMenu& menu, FormRow* row) {
  const std::string key = row->key();
  const Field& field = row->editor().field();
  const Json value = plainly(field, form_->value(key));
  const auto add = [&](QMenu* to, const QString& text, const auto& act) {
    QAction* action = to->addAction(text);
    connect(action, &QAction::triggered, this, act);
    return action;
  };
  add(&menu, tr("Back to the default"), [this, key] {
    form_->reset(key);
  })->setEnabled(row->isChanged());
  menu.addSeparator();
  add(&menu, tr("Sweep this field"), [this, key, values = valuesToTry(key, field, value)] {
    side_->sweep().sweep(key, values);
  })->setEnabled(row->hasMenu());
  add(&menu, tr("New variant from this field"), [this, row] {
    moveToVariant(row, -1);
  })->setEnabled(row->hasMenu());
  const QStringList names = side_->sweep().variantNames();
  QMenu* into = menu.addMenu(tr("Add to variant"));
  into->setEnabled(!names.isEmpty() && row->hasMenu());
  for (int i = 0; i < names.size(); ++i)
    add(into, names[i], [this, row, i] { moveToVariant(row, i); });
  menu.addSeparator();
  add(&menu, tr("Copy key"),
      [key] { QGuiApplication::clipboard()->setText(QString::fromStdString(key)); });
  if (auto* line = qobject_cast<QLineEdit*>(row->editor().input()); line != nullptr) {
    menu.addSeparator();
    const bool isMarked = line->hasSelectedText();
    add(&menu, tr("Cut"), [line] { line->cut(); })->setEnabled(isMarked);
    add(&menu, tr("Copy"), [line] { line->copy(); })->setEnabled(isMarked);
    add(&menu, tr("Paste"), [line] {
      line->paste();
    })->setEnabled(!QGuiApplication::clipboard()->text().isEmpty());
  }
}

void ConfigurePage::moveToVariant(FormRow* row, int place) {
  const std::string key = row->key();
  const Json value = plainly(row->editor().field(), form_->value(key));
  const QString shown = fieldText(row->editor().field(), value);
  // What was changed here becomes the variant's alone: the others keep the default.
  if (row->isChanged()) {
    const QSignalBlocker quiet(form_);
    form_->reset(key);
  }
  const Json written = value.is_null() ? Json("none") : value;
  if (place >= 0) {
    side_->sweep().addToVariant(place, key, written);
  } else {
    side_->sweep().addVariant(
        QStringLiteral("+ %1 %2").arg(row->title().toLower(), shown).toStdString(), key, written);
  }
}

}  // namespace vitrine::ui
