#include "ui/workbench/help_viewer.h"

#include <QDialogButtonBox>
#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QRegularExpression>
#include <QTextBrowser>
#include <QTextDocument>

#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

// A resource of a static library is left out unless it is named, outside of any namespace.
static void bringHelpResource() { Q_INIT_RESOURCE(help); }

namespace vitrine::ui {
namespace {

// In the order in which a new user reads them.
const char* const kDocuments[] = {"studio.md",     "configuration.md", "command_line.md",
                                  "datasets.md",   "database.md",      "remote.md",
                                  "python.md",     "serve.md",         "plugin_author.md",
                                  "vocabulary.md", "reliability.md",   "architecture.md"};

constexpr int kNameRole = Qt::UserRole;

QString headlineOf(const QString& markdown, const QString& otherwise) {
  for (const QString& line : markdown.split(QLatin1Char('\n'))) {
    if (line.startsWith(QLatin1String("# "))) return line.mid(2).trimmed();
  }
  return otherwise;
}

}  // namespace

QString builtInText(const QString& name) {
  bringHelpResource();
  QFile file(QStringLiteral(":/vitrine/") + name);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

HelpViewer::HelpViewer(QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Documents"));
  list_ = withName(new QListWidget, tr("Documents"));
  list_->setFixedWidth(px(210));
  for (const char* name : kDocuments) {
    const QString file = QString::fromLatin1(name);
    auto* item =
        new QListWidgetItem(headlineOf(builtInText(QStringLiteral("docs/") + file), file), list_);
    item->setData(kNameRole, file);
  }
  text_ = withName(new QTextBrowser, tr("Document"));
  text_->setOpenLinks(false);
  search_ = makeSearchField(tr("Find in this document"), QString(), this);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);

  auto* right = columnIn(nullptr, {}, px(8));
  right->addWidget(search_);
  right->addWidget(text_, 1);
  auto* columns = rowIn(nullptr, {}, px(12));
  columns->addWidget(list_);
  columns->addLayout(right, 1);
  auto* layout = columnIn(this, {px(12), px(12), px(12), px(12)});
  layout->addLayout(columns, 1);
  layout->addWidget(buttons);

  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(list_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (item == nullptr) return;
    read(item->data(kNameRole).toString());
    if (!search_->text().isEmpty()) searchOn(search_->text());
  });
  connect(search_, &QLineEdit::textEdited, this, &HelpViewer::searchOn);
  connect(search_, &QLineEdit::returnPressed, this, [this] { text_->find(search_->text()); });
  connect(text_, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    // Links go from document to document; the network is left alone.
    if (link.isRelative()) showDocument(link.path().section(QLatin1Char('/'), -1));
  });
  list_->setCurrentRow(0);
  resize(px(980), px(680));
}

void HelpViewer::read(const QString& name) {
  QTextDocument*& document = documents_[name];
  if (document == nullptr) {
    // Away from the widget: one that is shown would be laid out again at every row of a table.
    document = new QTextDocument(this);
    document->setDefaultFont(bodyFont());
    document->setDocumentMargin(px(16));
    // The pictures of the documents show this very window.
    static const QRegularExpression kPicture(QStringLiteral("^!\\[[^\\n]*\\n"),
                                             QRegularExpression::MultilineOption);
    document->setMarkdown(builtInText(QStringLiteral("docs/") + name).remove(kPicture));
  }
  text_->setDocument(document);
}

void HelpViewer::showDocument(const QString& name) {
  for (int row = 0; row < list_->count(); ++row) {
    if (list_->item(row)->data(kNameRole).toString() == name) list_->setCurrentRow(row);
  }
}

void HelpViewer::searchOn(const QString& words) {
  text_->moveCursor(QTextCursor::Start);
  if (!words.isEmpty()) text_->find(words);
}

}  // namespace vitrine::ui
