// Exports of the Gallery: figures, files with recipes inside, and the clipboard.
#include <QBuffer>
#include <QClipboard>
#include <QGuiApplication>

#include "core/base/error.h"
#include "ui/gallery/contact_sheet.h"
#include "ui/gallery/gallery_page.h"
#include "ui/kit/questions.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/export_dialog.h"
#include "ui/workbench/figure_file.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostExported = 400;  // images in one file
constexpr int kLeastTile = 96;              // pixels of an image in a grid, at least
constexpr int kJsonIndent = 2;

QString wroteWords(const QString& file, std::size_t written, std::size_t asked) {
  return written >= asked ? GalleryPage::tr("Wrote %1.").arg(file)
                          : GalleryPage::tr("Wrote %1 with the first %2 of %3 images.")
                                .arg(file, count(static_cast<std::int64_t>(written)),
                                     count(static_cast<std::int64_t>(asked)));
}

}  // namespace

std::vector<LabelledImage> GalleryPage::readImages(const std::vector<std::int64_t>& ids) {
  std::vector<LabelledImage> images;
  for (const std::int64_t id : ids) {
    LabelledImage one{.row = workbench_.store().generatedImage(id),
                      .picture = thumbnailOf(workbench_.store().generatedImagePng(id), 0)};
    if (one.picture.isNull())
      throw FileError("the picture of image " + std::to_string(id) +
                      " is not a PNG file that can be read");
    one.label = tr("%1, step %2, seed %3")
                    .arg(runName(one.row.runId), ui::count(one.row.step),
                         QString::number(one.row.seed));
    if (const store::RunRow* run = workbench_.run(one.row.runId)) one.run = run->uuid;
    images.push_back(std::move(one));
    if (images.size() == kMostExported) break;
  }
  return images;
}

Json GalleryPage::namesOf(const std::vector<std::int64_t>& ids) const {
  Json names = Json::array();
  for (const std::int64_t id : ids) {
    const int index = model_.indexOf(id);
    const store::RunRow* run = index < 0 ? nullptr : workbench_.run(model_.at(index).run);
    if (run == nullptr) continue;
    const store::ImageEntry& image = model_.at(index);
    names.push_back({{"id", id}, {"run", run->uuid}, {"step", image.step}, {"seed", image.seed}});
    if (names.size() == kMostExported) break;
  }
  return names;
}

std::int64_t GalleryPage::idOf(const Json& name, ImagesByRun& read) {
  const std::int64_t id = stateInteger(name, "id", 0), step = stateInteger(name, "step", -1);
  const std::string uuid = stateText(name, "run"), hash = stateText(name, "sha256");
  if (uuid.empty()) return id;
  const auto isNamed = [&](const store::GeneratedImageRow& image) {
    return image.step == step && Json(image.seed) == name.value("seed", Json()) &&
           (hash.empty() || image.sha256 == hash);
  };
  const std::int64_t run = runOfUuid(workbench_, uuid);
  if (run == 0) return 0;
  try {
    const store::GeneratedImageRow image = workbench_.store().generatedImage(id);
    if (image.runId == run && isNamed(image)) return id;
  } catch (const NotFoundError&) {
    // The number is that of another database.
  }
  const auto [images, isNew] = read.try_emplace(run);
  if (isNew) images->second = workbench_.store().generatedImages(run);
  const auto found = std::find_if(images->second.begin(), images->second.end(), isNamed);
  return found == images->second.end() ? 0 : found->id;
}

Json GalleryPage::figureState() const {
  Json state = viewState();
  if (!isEnlarged_ && view_ != View::RunsAndSteps) state["images"] = namesOf(inSight());
  return state;
}

std::vector<std::int64_t> GalleryPage::inSight() const {
  if (const auto& picked = sheet_->picked(); view_ != View::RunsAndSteps && picked.size() > 1)
    return chosen();
  std::vector<std::int64_t> ids;
  if (view_ == View::RunsAndSteps) {
    for (const auto& [place, cell] : stepsView_->table().cells) ids.push_back(cell.id);
    return ids;
  }
  const auto [first, last] = sheet_->inSight();
  for (int i = first; first >= 0 && i <= last && i < model_.count(); ++i)
    ids.push_back(model_.at(i).id);
  return ids;
}

std::vector<LabelledImage> GalleryPage::inTable(const std::vector<LabelledImage>& images) const {
  const StepsTable& table = stepsView_->table();
  if (view_ != View::RunsAndSteps || images.size() != table.cells.size()) return {};
  std::vector<LabelledImage> all;
  for (const std::int64_t run : table.runs) {
    for (const std::int64_t step : table.steps) {
      const SamePicture* cell = table.at(run, step);
      const auto found =
          std::find_if(images.begin(), images.end(), [&](const LabelledImage& one) {
            return cell != nullptr && one.row.id == cell->id;
          });
      all.push_back(found == images.end() ? LabelledImage() : *found);
    }
  }
  return all;
}

std::unique_ptr<Figure> GalleryPage::figureOf(const std::vector<LabelledImage>& images) const {
  const std::vector<LabelledImage> all = inTable(images);
  if (all.size() < 2) return imagesFigure(images, tr("Generated images"));
  QStringList rows, columns;
  for (const std::int64_t run : stepsView_->table().runs) rows << runName(run);
  for (const std::int64_t step : stepsView_->table().steps)
    columns << tr("step %1").arg(ui::count(step));
  return tableFigure(all, rows, columns, tr("Generated images"));
}

std::unique_ptr<Figure> GalleryPage::figure() {
  try {
    if (isEnlarged_ && looked_.a && !looked_.pictureA.isNull()) {
      if (looked_.b && !looked_.pictureB.isNull()) {
        auto pair = readImages({looked_.a->id, looked_.b->id});
        return pairFigure(pair[0], pair[1], compare_);
      }
      return imagesFigure(readImages({looked_.a->id}), QString());
    }
    return figureOf(readImages(inSight()));
  } catch (const Error& error) {
    workbench_.showError(QString::fromUtf8(error.what()));
    return nullptr;
  }
}

bool GalleryPage::canExport() {
  if (current_ != 0) return true;
  workbench_.showMessage(tr("There is no image to save: choose one."));
  return false;
}

QString GalleryPage::askFile(const QString& title, const QString& name, const QString& filter) {
  return canExport() ? askSaveFile(this, title, name, filter) : QString();
}

void GalleryPage::saveImage(const QString& file) {
  if (!canExport()) return;
  workbench_.attempt([&] {
    const std::vector<LabelledImage> images = readImages({current_});
    const std::vector<std::byte> png = workbench_.store().generatedImagePng(current_);
    Recipe recipe = recipeOf(workbench_, QStringLiteral("gallery"), *this);
    recipe.view["images"] = recipesOf(images);
    // The bytes of the database, with a chunk of text more.
    writeFile(file, withRecipeInPng(
                        QByteArray(reinterpret_cast<const char*>(png.data()), std::ssize(png)),
                        toText(recipe)));
    workbench_.showMessage(wroteWords(file, 1, 1));
  });
}

void GalleryPage::saveGrid(const QString& file) {
  if (!canExport()) return;
  workbench_.attempt([&] {
    const std::vector<std::int64_t> ids = inSight();
    const std::vector<LabelledImage> images = readImages(ids);
    const std::vector<LabelledImage> table = inTable(images);
    const int columns = table.empty() ? columnsFor(static_cast<int>(images.size()))
                                      : static_cast<int>(stepsView_->table().steps.size());
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    gridImage(table.empty() ? images : table, columns, kLeastTile).save(&buffer, "PNG");
    Recipe recipe = recipeOf(workbench_, QStringLiteral("gallery"), *this);
    recipe.view["images"] = recipesOf(images);
    writeFile(file, withRecipeInPng(png, toText(recipe)));
    workbench_.showMessage(wroteWords(file, images.size(), ids.size()));
  });
}

void GalleryPage::savePdf(const QString& file) {
  if (!canExport()) return;
  workbench_.attempt([&] {
    const std::vector<std::int64_t> ids = inSight();
    const std::vector<LabelledImage> images = readImages(ids);
    const std::unique_ptr<Figure> picture = figureOf(images);
    Recipe recipe = recipeOf(workbench_, QStringLiteral("gallery"), *this);
    recipe.view["images"] = recipesOf(images);
    recipe.paper = paperFor(*picture, storedPaper());
    saveFigure(*picture, file, recipe);
    workbench_.showMessage(wroteWords(file, images.size(), ids.size()));
  });
}

void GalleryPage::copyRecipe() {
  if (!looked_.a) {
    workbench_.showMessage(tr("There is no recipe to copy: choose an image."));
    return;
  }
  QGuiApplication::clipboard()->setText(
      QString::fromStdString(looked_.a->recipe.dump(kJsonIndent)));
  workbench_.showMessage(tr("The recipe of image %1 is on the clipboard.").arg(looked_.a->id));
}

void GalleryPage::showRun() {
  if (!looked_.a) {
    workbench_.showMessage(tr("There is no run to show: choose an image."));
    return;
  }
  const std::int64_t run = looked_.a->runId;
  workbench_.selection().setRuns({run}, run);
  workbench_.showPage(QStringLiteral("monitor"));
}

}  // namespace vitrine::ui
