#include "ui/runs/saved_filters.h"

#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/questions.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

const QString kFilterGroup = QStringLiteral("filters");

void storeFilter(const QString& name, const QString& text) {
  storeSetting(keyOfName(kFilterGroup, name), text);
}

}  // namespace

QStringList filterNames() { return givenNames(kFilterGroup); }

QString storedFilter(const QString& name) {
  return setting(keyOfName(kFilterGroup, name)).toString();
}

FilterButton::FilterButton(QLineEdit& filter, QWidget* parent)
    : QToolButton(parent), filter_(filter) {
  setIcon(ui::icon(Icon::Bookmark));
  setProperty("quiet", true);
  setAccessibleName(tr("Saved filters"));
  setToolTip(tr("Saved filters"));
  setFocusPolicy(Qt::TabFocus);
  setPopupMode(QToolButton::InstantPopup);
  setMenu(&menu_);
  connect(&menu_, &QMenu::aboutToShow, this, &FilterButton::fillMenu);
}

void FilterButton::fillMenu() {
  emptyMenu(menu_);
  const QStringList names = filterNames();
  for (const QString& name : names) {
    QAction* one = menu_.addAction(menuText(name), this,
                                   [this, name] { filter_.setText(storedFilter(name)); });
    one->setToolTip(storedFilter(name));
    one->setCheckable(true);
    one->setChecked(storedFilter(name) == filter_.text().trimmed());
  }
  if (!names.isEmpty()) {
    QMenu* remove = menu_.addMenu(tr("&Delete"));
    for (const QString& name : names) {
      remove->addAction(menuText(name), this, [this, name] {
        forgetSetting(keyOfName(kFilterGroup, name));
        Q_EMIT messageSent(tr("Deleted the filter \u201c%1\u201d.").arg(name));
      });
    }
    menu_.addSeparator();
  }
  menu_.addAction(tr("&Save this filter\u2026"), this, &FilterButton::askName)
      ->setEnabled(!filter_.text().trimmed().isEmpty());
  menu_.setToolTipsVisible(true);
}

void FilterButton::askName() {
  const QString text = filter_.text().trimmed();
  if (text.isEmpty()) return;
  const QString name = ui::askName(this, tr("Save filter"), tr("Name of this filter"), text);
  if (name.isEmpty()) return;
  storeFilter(name, text);
  Q_EMIT messageSent(tr("Saved the filter \u201c%1\u201d.").arg(name));
}

}  // namespace vitrine::ui
