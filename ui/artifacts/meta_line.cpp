// Reads `meta` key by key; missing keys are omitted.
#include "ui/artifacts/meta_line.h"

#include <QStringList>

#include "core/base/text.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

QString metaLine(const store::ArtifactRow& row) {
  const Json& meta = row.meta;
  QStringList parts{asWords(row.kind)};
  if (const QString about = metaAbout(meta); !about.isEmpty()) parts << about;
  if (const Json& ids = stateList(meta, "sample_ids"); ids.size() == 1) {
    parts << QObject::tr("sample ") + QString::fromStdString(ids.front().dump());
  } else if (!ids.empty() && !meta.contains("samples") && !meta.contains("images")) {
    parts << QObject::tr("%1 samples").arg(ids.size());
  }
  if (const QString weights = metaText(meta, "weights"); !weights.isEmpty())
    parts << QObject::tr("weights: ") + weights;
  if (const QString unit = metaText(meta, "unit"); !unit.isEmpty())
    parts << QObject::tr("unit: ") + unit;
  if (const Json& shape = stateMember(meta, "shape"); shape.is_array() && shape.size() <= 16) {
    QStringList sides;
    for (const Json& side : shape) sides << QString::fromStdString(side.dump());
    parts << sides.join(QStringLiteral(" \u00d7 "));
  }
  parts << QObject::tr("step ") + count(row.step);
  if (const Json& time = stateMember(meta, "time"); !time.is_null()) {
    parts << (time.is_number() ? QString::fromStdString(formatDuration(time.get<double>())) +
                                     QObject::tr(" into the run")
                               : metaText(meta, "time"));
  }
  parts << QString::fromStdString(formatBytes(row.bytes));
  return parts.join(QStringLiteral(" \u00b7 "));
}

}  // namespace vitrine::ui
