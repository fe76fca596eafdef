// The form over the schemas of the plugins that are built: every preset there and back.
#include <QFile>
#include <QProcess>

#include "core/config/edit/document.h"
#include "core/config/edit/toml_patch.h"
#include "tests/support/long_tier.h"
#include "tests/ui/configure/configure_fixture.h"
#include "tests/ui/support/changed_rows.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {
namespace {

/// As Studio asks for it; empty where the program is not built.
Catalog readBuiltCatalog() {
  const QString program = QStringLiteral(VITRINE_BINARY_DIR) + QStringLiteral("/bin/vitrine");
  if (!QFile::exists(program)) return {};
  QProcess process;
  process.start(program, {QStringLiteral("describe"), QStringLiteral("--json")});
  if (!process.waitForFinished(60000)) return {};
  const QByteArray out = process.readAllStandardOutput();
  const Json report = Json::parse(out.begin(), out.end(), nullptr, false);
  return report.is_object() && report.contains("catalog") ? catalogFromJson(report["catalog"])
                                                          : Catalog();
}

/// Asked for once.
const Catalog& builtCatalog() {
  static const Catalog catalog = readBuiltCatalog();
  return catalog;
}

/// The text of the form, read again and written again, and every value of the form, said outright,
/// are the same experiment.
void expectUnchanged(ConfigurePage& page, const Document& document, const std::string& name) {
  page.setText(toText(document));
  const std::string text = page.text();
  const Json first = formOf(page).merged();
  Problem problem;
  const std::optional<Document> read = parseDocument(text, problem);
  ASSERT_TRUE(read) << name << ": " << problem.message;
  EXPECT_TRUE(meansTheSame(*read, formOf(page).document())) << name;
  EXPECT_EQ(patchToml(text, formOf(page).document()), text) << name;
  Document said = *read;
  for (const auto& [key, value] : flatten(first)) {
    const FormRow* row = formOf(page).row(key);
    if (row == nullptr || key == "model.preset") continue;
    const Field& field = row->editor().field();
    const QString shown = value.is_null() ? QString() : fieldText(field, value);
    const std::optional<Json> typed =
        field.type == FieldType::Bool || field.type == FieldType::Choice
            ? std::optional<Json>(value)
            : parseFieldText(field, shown);
    if (field.nullable && value.is_null()) continue;
    ASSERT_TRUE(typed.has_value()) << name << " " << key;
    EXPECT_EQ(normalized(field, *typed), normalized(field, value)) << name << " " << key;
    said.set(key, *typed);
  }
  const std::string outright = patchToml(text, said);
  page.setText(outright);
  EXPECT_EQ(changedRows(formOf(page)), 0) << name << "\n" << outright;
  for (const auto& [key, value] : flatten(first)) {
    const FormRow* row = formOf(page).row(key);
    if (row == nullptr) continue;
    EXPECT_EQ(normalized(row->editor().field(), value), formOf(page).value(key))
        << name << ": " << key;
  }
}

TEST(Presets, GoFromFormToTextToFormUnchanged) {
  const Catalog& catalog = builtCatalog();
  if (catalog.items.empty()) GTEST_SKIP() << "vitrine is not built, or no plugin was loaded";
  FakeWorkbench workbench(catalog);
  ConfigurePage page(workbench);
  int presets = 0;
  for (const ItemCard& item : catalog.items) {
    if (item.kind != ItemKind::Architecture) continue;
    std::vector<std::string> names{""};
    for (const Preset& preset : item.schema.presets) names.push_back(preset.name);
    // A form takes a second on a slow core: the short tier makes those of no preset and of the
    // first one, which have every row of the architecture.
    if (!isLong() && names.size() > 2) names.resize(2);
    for (const std::string& name : names) {
      Document document = freshDocument(catalog);
      document.tables["model"] = Json{{"architecture", item.id}};
      if (!name.empty()) document.set("model.preset", name);
      ASSERT_NO_FATAL_FAILURE(expectUnchanged(page, document, item.id + " " + name));
      ++presets;
      // The forms before go, as in a window; hundreds of them would slow each other down.
      QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
      QCoreApplication::processEvents();
    }
  }
  EXPECT_GT(presets, 2);
  RecordProperty("presets", presets);
}

TEST(Presets, HaveValuesThatAreReadAsTheyAreShown) {
  const Catalog& catalog = builtCatalog();
  if (catalog.items.empty()) GTEST_SKIP() << "vitrine is not built, or no plugin was loaded";
  int values = 0;
  for (const ItemCard& item : catalog.items) {
    if (item.kind != ItemKind::Architecture) continue;
    for (const Preset& preset : item.schema.presets) {
      for (const auto& [key, value] : flatten(preset.values)) {
        const Field* field = item.schema.find(key);
        ASSERT_NE(field, nullptr) << preset.name << " " << key;
        if (value.is_null() || field->type == FieldType::Bool || field->type == FieldType::Choice)
          continue;
        const std::optional<Json> typed = parseFieldText(*field, fieldText(*field, value));
        ASSERT_TRUE(typed.has_value()) << preset.name << " " << key;
        EXPECT_EQ(normalized(*field, *typed), normalized(*field, value))
            << preset.name << " " << key;
        ++values;
      }
    }
  }
  EXPECT_GT(values, 10);
}

}  // namespace
}  // namespace vitrine::ui
