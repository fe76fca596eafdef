#include "ui/shell/weights_dialog.h"

#include <QAbstractTableModel>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <map>
#include <utility>

#include "core/base/text.h"
#include "core/config/toml/to_toml.h"
#include "core/files/safetensors_set.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

std::int64_t elementsOf(const SafetensorsEntry& entry) {
  std::int64_t all = 1;
  for (const std::int64_t size : entry.shape) all *= size;
  return all;
}

QString shapeText(const std::vector<std::int64_t>& shape) {
  QStringList sizes;
  for (const std::int64_t size : shape) sizes << QString::number(size);
  return shape.empty() ? QObject::tr("scalar") : sizes.join(QStringLiteral(" \u00d7 "));
}

class TensorModel final : public QAbstractTableModel {
 public:
  TensorModel(std::vector<SafetensorsEntry> entries, QObject* parent)
      : QAbstractTableModel(parent), entries_(std::move(entries)) {}

  int rowCount(const QModelIndex& parent) const override {
    return parent.isValid() ? 0 : static_cast<int>(entries_.size());
  }
  int columnCount(const QModelIndex& parent) const override { return parent.isValid() ? 0 : 5; }
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
      return QVariant(section >= 3 ? Qt::AlignRight | Qt::AlignVCenter
                                   : Qt::AlignLeft | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    const QStringList titles{QObject::tr("Tensor"), QObject::tr("Type"), QObject::tr("Shape"),
                             QObject::tr("Elements"), QObject::tr("Bytes")};
    return titles.value(section);
  }
  QVariant data(const QModelIndex& index, int role) const override {
    const SafetensorsEntry& entry = entries_[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    if (role == Qt::TextAlignmentRole && column >= 3)
      return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    const bool isSorted = role == Qt::UserRole;
    if (role != Qt::DisplayRole && !isSorted) return {};
    switch (column) {
      case 0:
        return QString::fromStdString(entry.name);
      case 1:
        return QString::fromStdString(entry.dtype);
      case 2:
        return shapeText(entry.shape);
      case 3:
        return isSorted ? QVariant(static_cast<qlonglong>(elementsOf(entry)))
                        : QVariant(count(elementsOf(entry)));
      default: {
        const auto bytes = static_cast<std::int64_t>(entry.end - entry.begin);
        return isSorted ? QVariant(static_cast<qlonglong>(bytes))
                        : QVariant(QString::fromStdString(formatBytes(bytes)));
      }
    }
  }

 private:
  std::vector<SafetensorsEntry> entries_;
};

}  // namespace

WeightsDialog::WeightsDialog(const QString& path, QWidget* parent) : QDialog(parent), path_(path) {
  const SafetensorsSet weights{std::filesystem::path(path.toStdString())};
  setWindowTitle(tr("Weights: %1").arg(QFileInfo(path).fileName()));
  std::int64_t elements = 0;
  double bytes = 0;
  std::map<std::string, std::int64_t> types;
  for (const SafetensorsEntry& entry : weights.entries()) {
    elements += elementsOf(entry);
    bytes += static_cast<double>(entry.end - entry.begin);
    ++types[entry.dtype];
  }
  QStringList kinds;
  for (const auto& [type, number] : types)
    kinds << QStringLiteral("%1 %2").arg(count(number), QString::fromStdString(type));
  summary_ =
      withRole(new QLabel(tr("%1, %2 values, %3; %4")
                              .arg(counted(static_cast<std::int64_t>(weights.entries().size()),
                                           tr("tensor"), tr("tensors")),
                                   count(elements), QString::fromStdString(formatBytes(bytes)),
                                   kinds.join(QStringLiteral(", ")))),
               "small");
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* place = withRole(new QLabel(QFileInfo(path).absoluteFilePath()), "small");
  place->setWordWrap(true);

  search_ = makeSearchField(tr("Search tensors"), QString(), this);
  auto* model = new TensorModel(weights.entries(), this);
  auto* shown = new QSortFilterProxyModel(this);
  shown->setSourceModel(model);
  shown->setSortRole(Qt::UserRole);
  shown->setFilterKeyColumn(0);
  shown->setFilterCaseSensitivity(Qt::CaseInsensitive);
  table_ = withName(new QTableView, tr("Tensors"));
  table_->setModel(shown);
  table_->setSortingEnabled(true);
  table_->sortByColumn(-1, Qt::AscendingOrder);  // in the order of the file
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setShowGrid(false);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(px(26));
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  for (int column = 1; column < 5; ++column)
    table_->horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  connect(search_, &QLineEdit::textChanged, shown, &QSortFilterProxyModel::setFilterFixedString);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  QPushButton* begin =
      buttons->addButton(tr("New experiment from these weights"), QDialogButtonBox::ActionRole);
  connect(begin, &QPushButton::clicked, this, [this] {
    Q_EMIT experimentRequested("[init]\nweights = " + tomlString(path_.toStdString()) + "\n");
    accept();
  });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* layout = columnIn(this, {px(12), px(12), px(12), px(12)}, px(8));
  layout->addWidget(place);
  layout->addWidget(summary_);
  layout->addWidget(search_);
  layout->addWidget(table_, 1);
  layout->addWidget(buttons);
  resize(px(760), px(560));
}

QString WeightsDialog::summary() const { return summary_->text(); }

}  // namespace vitrine::ui
