#include "ui/workbench/recipe.h"

#include <QFile>
#include <QtEndian>
#include <array>

#include "core/base/error.h"
#include "core/base/read_json.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/page.h"

namespace vitrine::ui {
namespace {

constexpr const char* kUuidProperty = "databaseUuid";
constexpr qint64 kMostFile = 64LL * 1024 * 1024;
constexpr qsizetype kMostText = 1024 * 1024;
constexpr std::size_t kMostRecipeRuns = 10'000;
constexpr std::size_t kMostWord = 200;

const QByteArray kWord = QByteArrayLiteral("vitrine-recipe ");
const QByteArray kPngMagic = QByteArray::fromHex("89504e470d0a1a0a");
const QByteArray kPngKey = QByteArrayLiteral("tEXtvitrine-recipe");
const QByteArray kPdfKey = QByteArrayLiteral("/VitrineRecipe <");

quint32 crcOf(const QByteArray& bytes) {
  static const std::array<quint32, 256> kTable = [] {
    std::array<quint32, 256> table{};
    for (quint32 n = 0; n < 256; ++n) {
      quint32 c = n;
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xedb88320U ^ (c >> 1) : c >> 1;
      table[n] = c;
    }
    return table;
  }();
  quint32 crc = 0xffffffffU;
  for (const char byte : bytes) crc = kTable[(crc ^ static_cast<quint8>(byte)) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffffU;
}

QByteArray bigEndian(quint32 value) {
  QByteArray bytes(4, '\0');
  qToBigEndian(value, bytes.data());
  return bytes;
}

std::string recipeWordOf(const Json& json, const char* key) {
  std::string text = stateText(json, key);
  return text.size() <= kMostWord ? text : std::string();
}

std::optional<Recipe> fromPng(const QByteArray& file) {
  qsizetype at = kPngMagic.size();
  while (at + 12 <= file.size()) {
    const auto length = qsizetype{qFromBigEndian<quint32>(file.constData() + at)};
    if (length > file.size() - at - 12) return std::nullopt;
    const QByteArray body = file.mid(at + 4, 4 + length);
    if (body.startsWith(kPngKey) && body.size() > kPngKey.size() && body[kPngKey.size()] == '\0')
      return recipeFromText(body.mid(kPngKey.size() + 1));
    if (body.startsWith("IEND")) break;
    at += 12 + length;
  }
  return std::nullopt;
}

// Number after the last `key` in `text`; -1 where there is none.
qint64 numberAfter(const QByteArray& text, const QByteArray& key) {
  const qsizetype at = text.lastIndexOf(key);
  if (at < 0) return -1;
  qint64 value = -1;
  for (qsizetype i = at + key.size(); i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      value = (value < 0 ? 0 : value) * 10 + (c - '0');
      if (value > kMostFile) return -1;
    } else if (value >= 0 || (c != ' ' && c != '\n' && c != '\r')) {
      break;
    }
  }
  return value;
}

}  // namespace

std::string databaseUuid(store::RunReader& store) {
  try {
    return store.uuid();
  } catch (const Error&) {
    return {};  // an older file: the figure then opens on any database with its runs
  }
}

void rememberUuid(Workbench& workbench, const std::string& uuid) {
  if (!uuid.empty()) workbench.setProperty(kUuidProperty, QByteArray::fromStdString(uuid));
}

Recipe recipeOf(Workbench& workbench, const QString& pageId, const Page& page) {
  Recipe recipe{.database = workbench.property(kUuidProperty).toByteArray().toStdString()};
  if (recipe.database.empty()) {
    recipe.database = databaseUuid(workbench.store());
    rememberUuid(workbench, recipe.database);
  }
  recipe.page = pageId.toStdString();
  for (const std::int64_t id : workbench.selection().drawn()) {
    if (const store::RunRow* row = workbench.run(id)) recipe.runs.push_back(row->uuid);
  }
  if (const store::RunRow* row = workbench.run(workbench.selection().current()))
    recipe.current = row->uuid;
  recipe.view = page.figureState();
  return recipe;
}

std::int64_t runOfUuid(const Workbench& workbench, const std::string& uuid) {
  for (const auto& [id, row] : workbench.runs())
    if (!uuid.empty() && row.uuid == uuid) return id;
  return 0;
}

void selectRunsOf(const Recipe& recipe, Workbench& workbench) {
  const std::string here = databaseUuid(workbench.store());
  std::vector<std::int64_t> runs;
  for (const std::string& uuid : recipe.runs) {
    if (const std::int64_t run = runOfUuid(workbench, uuid); run != 0) runs.push_back(run);
  }
  // It may be another one than the selected runs.
  const std::int64_t current = runOfUuid(workbench, recipe.current);
  // Runs keep their uuid when they are exported and imported: they, not the file, must be there.
  if (runs.empty() && !recipe.runs.empty()) {
    const bool isOther = !recipe.database.empty() && !here.empty() && recipe.database != here;
    throw NotFoundError(
        isOther ? "the figure was drawn from the database " + recipe.database + ", and " +
                      workbench.store().file().string() + " is another one; open that one with --db"
                : "none of the " + std::to_string(recipe.runs.size()) +
                      " runs of the figure is in " + workbench.store().file().string() +
                      "; they were deleted, or moved to another database");
  }
  if (runs.empty() && current != 0) runs.push_back(current);
  if (runs.empty()) return;
  workbench.selection().setRuns(runs, current != 0 ? current : runs.front());
}

QByteArray toText(const Recipe& recipe) {
  Json json = {{"version", recipe.version},    {"database", recipe.database}, {"page", recipe.page},
               {"runs", recipe.runs},          {"current", recipe.current},   {"view", recipe.view},
               {"paper", toJson(recipe.paper)}};
  const QByteArray plain =
      QByteArray::fromStdString(json.dump(-1, ' ', true, Json::error_handler_t::replace));
  QByteArray text;
  text.reserve(plain.size());
  for (const char c : plain) {
    // Inside strings only, where JSON knows another way to write them.
    if (c == '<') {
      text += "\\u003c";
    } else if (c == '>') {
      text += "\\u003e";
    } else if (c == '&') {
      text += "\\u0026";
    } else {
      text += c;
    }
  }
  return text;
}

std::optional<Recipe> recipeFromText(const QByteArray& text) {
  if (text.size() > kMostText) return std::nullopt;
  const Json json = readJson(text.toStdString());
  if (stateInteger(json, "version") != Recipe::kVersion) return std::nullopt;
  Recipe recipe{.database = recipeWordOf(json, "database"),
                .page = recipeWordOf(json, "page"),
                .current = recipeWordOf(json, "current")};
  if (recipe.page.empty()) return std::nullopt;
  for (const Json& run : stateList(json, "runs")) {
    if (recipe.runs.size() == kMostRecipeRuns) return std::nullopt;
    if (run.is_string() && run.get_ref<const std::string&>().size() <= kMostWord)
      recipe.runs.push_back(run.get<std::string>());
  }
  recipe.view = stateMember(json, "view");
  recipe.paper = paperFromJson(stateMember(json, "paper"));
  return recipe;
}

QByteArray withRecipeInPng(const QByteArray& png, const QByteArray& recipe) {
  constexpr qsizetype kHeader = 8 + 12 + 13;  // signature and IHDR, which must come first
  if (!png.startsWith(kPngMagic) || png.size() < kHeader) return png;
  const QByteArray body = kPngKey + '\0' + recipe;
  return png.left(kHeader) + bigEndian(static_cast<quint32>(body.size() - 4)) + body +
         bigEndian(crcOf(body)) + png.mid(kHeader);
}

QByteArray withRecipeInPdf(const QByteArray& pdf, const QByteArray& recipe) {
  const qint64 before = numberAfter(pdf, "startxref");
  const qsizetype trailer = pdf.lastIndexOf("trailer");
  if (before < 0 || trailer < 0) return pdf;
  const QByteArray old = pdf.mid(trailer);
  const qint64 size = numberAfter(old, "/Size"), root = numberAfter(old, "/Root"),
               info = numberAfter(old, "/Info");
  if (size < 0 || root < 0) return pdf;
  QByteArray file = pdf;
  if (!file.endsWith('\n')) file += '\n';
  const qsizetype object = file.size();
  const QByteArray number = QByteArray::number(size);
  file += number + " 0 obj\n<< " + kPdfKey + recipe.toHex() + "> >>\nendobj\n";
  const qsizetype table = file.size();
  file += "xref\n" + number + " 1\n" + QByteArray::number(object).rightJustified(10, '0') +
          " 00000 n \n" + "trailer\n<< /Size " + QByteArray::number(size + 1) + " /Root " +
          QByteArray::number(root) + " 0 R" +
          (info < 0 ? QByteArray() : " /Info " + QByteArray::number(info) + " 0 R") + " /Prev " +
          QByteArray::number(before) + " >>\nstartxref\n" + QByteArray::number(table) + "\n%%EOF\n";
  return file;
}

std::optional<Recipe> readRecipe(const QString& path) {
  QFile input(path);
  if (!input.open(QIODevice::ReadOnly)) return std::nullopt;
  const QByteArray file = input.read(kMostFile);
  if (file.startsWith(kPngMagic)) return fromPng(file);
  if (file.startsWith("%PDF-")) {
    const qsizetype at = file.lastIndexOf(kPdfKey);
    if (at < 0) return std::nullopt;
    const qsizetype from = at + kPdfKey.size();
    const qsizetype end = file.indexOf('>', from);
    if (end < 0 || end - from > 2 * kMostText) return std::nullopt;
    return recipeFromText(QByteArray::fromHex(file.mid(from, end - from)));
  }
  if (file.left(16 * 1024).contains("<svg")) {
    const QByteArray opening = "<metadata>" + kWord;
    const qsizetype at = file.indexOf(opening);
    if (at < 0) return std::nullopt;
    const qsizetype from = at + opening.size();
    const qsizetype end = file.indexOf('<', from);
    return end < 0 ? std::nullopt : recipeFromText(file.mid(from, end - from));
  }
  if (file.startsWith("# " + kWord)) {
    const qsizetype end = file.indexOf('\n');
    const qsizetype from = 2 + kWord.size();
    return recipeFromText(file.mid(from, end < 0 ? -1 : end - from).trimmed());
  }
  return recipeFromText(file.size() > kMostText ? QByteArray() : file);
}

}  // namespace vitrine::ui
