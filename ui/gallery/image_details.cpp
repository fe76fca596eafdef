#include "ui/gallery/image_details.h"

#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QPixmap>
#include <QStringListModel>
#include <QToolButton>

#include "core/store/tables/image_tags.h"
#include "ui/gallery/image_pair.h"
#include "ui/kit/flow_row.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/workbench/fact_table.h"
#include "ui/workbench/page_commands.h"
#include "ui/workbench/sampling/recipe_facts.h"

namespace vitrine::ui {

namespace {

constexpr int kPreview = 112;  // design pixels

}  // namespace

/// Facts of which those that differ from the other image stand out.
class RecipeTable final : public FactTable {
 public:
  using FactTable::FactTable;
  void setLines(const std::vector<Fact>& facts, const std::vector<bool>& differs) {
    setFacts(facts);
    for (int row = 0; row < topLevelItemCount(); ++row) {
      QFont font = bodyFont();
      font.setBold(differs[static_cast<std::size_t>(row)]);
      topLevelItem(row)->setFont(1, font);
    }
  }
};

ImageDetails::ImageDetails(QWidget* parent) : QWidget(parent) {
  paintAs(this, "panel");
  auto* column = columnIn(this, {px(12), px(10), px(12), px(12)}, px(8));
  title_ = withRole(new ElidedLabel(this), "title");
  column->addWidget(title_);

  auto* top = rowIn(nullptr, {}, px(12));
  preview_ = withName(new QLabel(this), tr("The image"));
  preview_->setFixedSize(px(kPreview), px(kPreview));
  preview_->setAlignment(Qt::AlignCenter);
  top->addWidget(preview_, 0, Qt::AlignTop | Qt::AlignLeft);
  auto* side = columnIn(nullptr, {}, px(6));
  about_ = withRole(new WrapLabel(this), "small");
  about_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  side->addWidget(about_);
  star_ = new QToolButton(this);
  star_->setCheckable(true);
  star_->setProperty(kListed, false);
  connect(star_, &QToolButton::clicked, this, &ImageDetails::starToggled);
  // As wide as its words, or the column beside the image would be no wider.
  side->addWidget(star_, 0, Qt::AlignLeft);
  side->addStretch();
  top->addLayout(side, 1);
  column->addLayout(top);

  tags_ = new FlowBar(this);
  tags_->row().setSpacing(px(4));
  column->addWidget(tags_);
  newTag_ = withName(new QLineEdit(this), tr("New tag of the image"));
  newTag_->setPlaceholderText(tr("Add a tag"));
  newTag_->setMaxLength(static_cast<int>(store::kLongestImageTag));
  connect(newTag_, &QLineEdit::returnPressed, this, [this] {
    const QString tag = newTag_->text().simplified();
    newTag_->clear();
    if (!tag.isEmpty()) Q_EMIT tagAdded(tag);
  });
  column->addWidget(newTag_);

  verdict_ = withName(new WrapLabel(this), tr("Verification"));
  verdict_->setTextFormat(Qt::RichText);
  verdict_->setVisible(false);
  column->addWidget(verdict_);
  auto* head = new QHBoxLayout;
  auto* title = withRole(new QLabel(tr("Recipe"), this), "title");
  hint_ = withRole(new QLabel(this), "small");
  head->addWidget(title);
  head->addStretch();
  head->addWidget(hint_);
  column->addLayout(head);
  recipe_ = new RecipeTable(tr("Recipe of the image"), this);
  recipe_->setLabelWidth(134);  // "relative tolerance"
  column->addWidget(recipe_);
  buttons_ = new FlowBar(this);
  buttons_->row().setSpacing(px(6));
  column->addWidget(buttons_);
  column->addStretch();
  setEmpty();
}

void ImageDetails::addButton(QWidget* button) { buttons_->row().addWidget(button); }

void ImageDetails::setVerdict(const QString& text) { sayIn(*verdict_, text); }

void ImageDetails::focusTag() {
  newTag_->setFocus(Qt::ShortcutFocusReason);
  newTag_->selectAll();
}

void ImageDetails::setKnownTags(const QStringList& tags) {
  auto* completer = new QCompleter(tags, newTag_);
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  delete newTag_->completer();
  newTag_->setCompleter(completer);
}

void ImageDetails::setEmpty() {
  title_->setText(tr("No image is chosen"));
  about_->clear();
  hint_->clear();
  preview_->clear();
  star_->setChecked(false);
  star_->setText(tr("Star"));
  star_->setEnabled(false);
  newTag_->setEnabled(false);
  showTags({});
  recipe_->setLines({}, {});
}

void ImageDetails::showTags(const QStringList& tags) {
  if (tags == shownTags_) return;
  shownTags_ = tags;
  while (QLayoutItem* item = tags_->row().takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();
    }
    delete item;
  }
  for (const QString& tag : tags) {
    auto* chip = withName(makeToolButton(tag + QStringLiteral(" \u00d7"),
                                         tr("Remove the tag \u201c%1\u201d").arg(tag), tags_),
                          tr("Remove the tag %1").arg(tag));
    chip->setProperty(kListed, false);
    connect(chip, &QToolButton::clicked, this, [this, tag] { Q_EMIT tagRemoved(tag); });
    tags_->row().addWidget(chip);
    chip->show();
  }
  tags_->setVisible(!tags.isEmpty());
  tags_->updateGeometry();
}

void ImageDetails::setFacts(const Facts& facts) {
  const store::GeneratedImageRow& image = facts.image;
  title_->setText(tr("%1, step %2").arg(facts.run, count(image.step)));
  about_->setText(tr("image %1\nseed %2\n%3 \u00d7 %4 pixels\nSHA-256 %5\u2026")
                      .arg(image.id)
                      .arg(image.seed)
                      .arg(image.width)
                      .arg(image.height)
                      .arg(QString::fromStdString(image.sha256).left(8)));
  if (!facts.picture.isNull()) {
    const double dots = devicePixelRatioF();
    const QSize place = (QSizeF(preview_->size()) * dots).toSize();
    const int scale = wholeScale(facts.picture.size(), place);
    QPixmap pixmap = QPixmap::fromImage(
        facts.picture.scaled(scaledBy(facts.picture.size(), scale), Qt::IgnoreAspectRatio,
                             scale >= 1 ? Qt::FastTransformation : Qt::SmoothTransformation));
    pixmap.setDevicePixelRatio(dots);
    preview_->setPixmap(pixmap);
  } else {
    preview_->clear();
  }
  star_->setEnabled(true);
  newTag_->setEnabled(true);
  star_->setChecked(facts.isStarred);
  star_->setText(facts.isStarred ? tr("\u2605 Starred") : tr("\u2606 Star"));
  star_->setAccessibleName(tr("Star"));
  star_->setToolTip(tr("Star of this image"));
  showTags(facts.tags);
  std::vector<Fact> rows;
  std::vector<bool> differs;
  for (const RecipeFact& line :
       recipeFacts(image.recipe, facts.other ? facts.other->recipe : Json(),
                   QStringLiteral("#%1 %2").arg(image.runId).arg(facts.run), facts.classNames)) {
    Fact fact{
        .label = line.label, .value = line.value, .definition = QString::fromStdString(line.key)};
    if (line.isDifferent) fact.definition += tr("\nB: %1").arg(line.compared);
    rows.push_back(fact);
    differs.push_back(line.isDifferent);
  }
  recipe_->setLines(rows, differs);
  hint_->setText(facts.other ? tr("differs from B in bold") : QString());
}

}  // namespace vitrine::ui
