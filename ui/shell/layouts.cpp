#include "ui/shell/layouts.h"

#include <QWidget>

#include "core/base/read_json.h"
#include "ui/kit/settings.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

const QString kLayoutGroup = QStringLiteral("layouts");
const QString kOwnDefault = QStringLiteral("window/own_layout");

QString layoutText(const Layout& layout) {
  Json views = Json::object();
  for (const auto& [page, view] : layout.views) views[page.toStdString()] = view;
  Json widths = Json::object();
  for (const auto& [dock, width] : layout.widths) widths[dock.toStdString()] = width;
  const Json all{{"docks", layout.docks.toBase64().toStdString()},
                 {"zoom", layout.zoom},
                 {"widths", std::move(widths)},
                 {"page", layout.page.toStdString()},
                 {"views", std::move(views)}};
  return QString::fromStdString(all.dump());
}

std::optional<Layout> layoutOf(const QString& text) {
  const Json all = readJson(text.toStdString());
  if (!all.is_object()) return std::nullopt;
  Layout layout{.docks = QByteArray::fromBase64(QByteArray::fromStdString(stateText(all, "docks"))),
                .zoom = stateNumber(all, "zoom", 1)};
  const Json& widths = stateTable(all, "widths");
  for (const auto& entry : widths.items()) {
    const double width = stateNumber(widths, entry.key().c_str());
    if (width > 0 && width < QWIDGETSIZE_MAX)
      layout.widths[QString::fromStdString(entry.key())] = width;
  }
  layout.page = stateWords(all, "page");
  for (const auto& [page, view] : stateTable(all, "views").items())
    layout.views[QString::fromStdString(page)] = view;
  return layout;
}

}  // namespace

QStringList layoutNames() { return givenNames(kLayoutGroup); }

std::optional<Layout> storedLayout(const QString& name) {
  return layoutOf(setting(keyOfName(kLayoutGroup, name)).toString());
}

void storeLayout(const QString& name, const Layout& layout) {
  storeSetting(keyOfName(kLayoutGroup, name), layoutText(layout));
}

void forgetLayout(const QString& name) { forgetSetting(keyOfName(kLayoutGroup, name)); }

std::optional<Layout> ownDefaultLayout() { return layoutOf(setting(kOwnDefault).toString()); }

void storeOwnDefaultLayout(const Layout& layout) { storeSetting(kOwnDefault, layoutText(layout)); }

}  // namespace vitrine::ui
