// Reads for the Gallery, on threads of its own: the list of images, the two that are compared, and
// the same picture by other runs.
#include <QEvent>
#include <QLabel>
#include <QPixmap>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedWidget>
#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/store/tables/image_tags.h"
#include "ui/gallery/contact_sheet.h"
#include "ui/gallery/gallery_page.h"
#include "ui/gallery/image_details.h"
#include "ui/kit/empty_page.h"
#include "ui/kit/fit_area.h"
#include "ui/workbench/recipe.h"
#include "ui/workbench/remote_link.h"
#include "ui/workbench/sampling/recipe_facts.h"

namespace vitrine::ui {

namespace {

constexpr std::size_t kMostSame = 2000;  // images of one seed whose recipes are read
constexpr std::size_t kMostRuns = 8;     // rows of the table of runs and steps

}  // namespace

/// An image as it was read.
struct GalleryPage::Look {
  std::optional<store::GeneratedImageRow> row;
  QImage picture;

  static Look read(store::RunReader& store, std::int64_t id) {
    Look look;
    if (id == 0) return look;
    try {
      look.row = store.generatedImage(id);
      look.picture = thumbnailOf(store.generatedImagePng(id), 0);
    } catch (const NotFoundError&) {  // its run was deleted: nothing is shown
      look = {};
    }
    return look;
  }
};

void GalleryPage::reload() {
  isStale_ = false;
  error_.clear();
  list_.run([this, search = query_.search, standing = standing_, newest = newestRead_,
             tagsBefore = tagsRead_, names = classNames_, namesHistory = namesHistory_,
             catalog = total_ == 0 ? workbench_.catalog() : Catalog()](
                store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    const store::ImageStanding now = store::imageStanding(store);
    // Rows of images never change: what was found is still there, unless a run went or was resumed.
    // What a search for stars or tags found is that only until another one is set.
    auto tags = store::taggedImages(store);
    const bool asksTags =
        std::any_of(search.begin(), search.end(), [](const store::ImageCondition& condition) {
          return condition.key == "starred" || condition.key == "tag";
        });
    const bool isMore =
        standing && standing->history == now.history && (!asksTags || tags == tagsBefore);
    // The first segment of a new run changes the history.
    const ClassNames classes = now.history == namesHistory ? names : readClassNames(store, isStale);
    std::vector<store::ImageEntry> found;
    if (!isMore || now.newest > newest || now.count != standing->count)
      found = store::findImages(store, withClasses(search, classes), isMore ? newest : 0, isStale);
    const DrawingRuns drawing =
        now.count == 0 ? drawingRuns(store, catalog, isStale) : DrawingRuns();
    if (isStale) return {};
    return [this, now, drawing, isMore, search, classes, found = std::move(found),
            tags = std::move(tags), uuid = databaseUuid(store)] {
      rememberUuid(workbench_, uuid);
      if (search != query_.search) return;
      standing_ = now;
      classNames_ = classes;
      namesHistory_ = now.history;
      newestRead_ = now.newest;
      total_ = now.count;
      drawing_ = drawing;
      if (isMore) {
        model_.addImages(found);
      } else {
        model_.setImages(found);
      }
      tagsRead_ = tags;
      model_.setTags(tags);
      details_->setKnownTags(model_.allTags());
      afterReading();
    };
  });
}

bool GalleryPage::hasOffer() const {
  return drawing_.ready == 0 && !workbench_.catalog().items.empty();
}

void GalleryPage::afterReading() {
  isRead_ = error_.isEmpty();
  if (!error_.isEmpty()) {
    stack_->showEmpty(error_);
    return;
  }
  if (total_ == 0) {
    const QString sentence =
        tr("No image is stored yet. Samples that a run draws while it trains are shown "
           "here, and those that you send from the Playground.");
    offer_.setComing(drawing_.coming);
    if (hasOffer())
      stack_->showEmpty(sentence + QLatin1Char(' ') + offer_.sentence(), offer_.action());
    else
      stack_->showEmpty(sentence, tr("Open Playground"));
    return;
  }
  stack_->showContent();
  auto* none = views_->findChild<EmptyPage*>(QStringLiteral("noHits"));
  none->showMessage(tr("None of %1 matches \u201c%2\u201d.")
                        .arg(counted(total_, tr("image"), tr("images")), search_->text().trimmed()),
                    tr("Clear the search"));
  // An image stays chosen while the search hides it only if it is the current one.
  if (model_.indexOf(current_) < 0 && !isEnlarged_) {
    current_ = model_.count() > 0 ? model_.at(0).id : 0;
    sheet_->setCurrent(current_, ContactSheet::Reveal::No);
  }
  takePicks();
  sheet_->refresh();
  readLook();
  if (view_ == View::RunsAndSteps) readSteps();
  showLook();
  showTools();
  showView();
  if (hasFocus()) keyPart().setFocus();  // a key opened the page, which was still reading
}

void GalleryPage::readLook() {
  if (looked_.wantedA == current_ && looked_.wantedB == other_) return;
  looked_.wantedA = current_;
  looked_.wantedB = other_;
  look_.run([this, a = current_, b = other_](store::RunReader& store,
                                             const std::atomic<bool>&) -> Background::Finish {
    Look first = Look::read(store, a), second = Look::read(store, b);
    return [this, first = std::move(first), second = std::move(second)] {
      looked_.a = first.row;
      looked_.b = second.row;
      looked_.pictureA = first.picture;
      looked_.pictureB = second.picture;
      showLook();
    };
  });
}

void GalleryPage::showLook() {
  showVerdict();
  if (!looked_.a) {
    details_->setEmpty();
    stage_->setSentence(
        looked_.wantedA == 0
            ? tr("Choose an image to enlarge it.")
            : tr("This image is not in the database any more: its run was deleted."));
    return;
  }
  details_->setFacts({.image = *looked_.a,
                      .other = looked_.b,
                      .run = runName(looked_.a->runId),
                      .classNames = classNames_.of(looked_.a->runId),
                      .picture = looked_.pictureA,
                      .isStarred = model_.isStarred(looked_.a->id),
                      .tags = model_.tags(looked_.a->id)});
  if (looked_.pictureA.isNull()) {
    stage_->setSentence(
        tr("The picture of image %1 is not a PNG file that can be read.").arg(looked_.a->id));
  } else {
    const auto named = [&](const std::optional<store::GeneratedImageRow>& row) {
      return row ? tr("%1, step %2, seed %3")
                       .arg(runName(row->runId), count(row->step), QString::number(row->seed))
                 : QString();
    };
    stage_->setImages({looked_.pictureA, named(looked_.a)}, {looked_.pictureB, named(looked_.b)});
  }
}

void GalleryPage::readSteps() {
  const StepsTable& table = stepsView_->table();
  const bool isIn = std::any_of(table.cells.begin(), table.cells.end(),
                                [this](const auto& cell) { return cell.second.id == current_; });
  if (current_ == 0 || (stepsOf_ != 0 && isIn)) return;
  stepsOf_ = current_;
  std::vector<std::int64_t> runs = workbench_.selection().drawn();
  if (runs.size() < 2) runs.clear();  // one is selected always; several were chosen
  steps_.run([this, id = current_, runs, names = classNames_](
                 store::RunReader& store, const std::atomic<bool>& isStale) -> Background::Finish {
    StepsTable found;
    QString note;
    try {
      const store::GeneratedImageRow image = store.generatedImage(id);
      std::vector<store::GeneratedImageRow> others;
      for (const store::ImageEntry& entry : store::findImages(
               store, {{"seed", store::ImageCondition::Test::Is, std::to_string(image.seed)}}, 0,
               isStale)) {
        if (isStale) return {};
        const bool isWanted = runs.empty() || entry.run == image.runId ||
                              std::find(runs.begin(), runs.end(), entry.run) != runs.end();
        if (!isWanted) continue;
        others.push_back(store.generatedImage(entry.id));
        if (others.size() > kMostSame) others.erase(others.begin());
      }
      found = StepsTable::of(samePictures(image, others), image.runId, kMostRuns);
      QStringList parts{tr("seed %1").arg(image.seed)};
      for (const RecipeFact& line : recipeFacts(image.recipe, Json(), {}, names.of(image.runId))) {
        for (const char* key : {"class", "prompt", "guidance", "steps", "sampler"})
          if (line.key == key) parts << QStringLiteral("%1 %2").arg(line.label, line.value);
      }
      if (!runs.empty()) parts << tr("only the selected runs");
      note = parts.join(QStringLiteral(" \u00b7 "));
    } catch (const NotFoundError&) {  // its run was deleted meanwhile
    }
    return [this, found = std::move(found), note] {
      stepsNote_->setText(note);
      stepsView_->setTable(found);
      showSteps();
    };
  });
}

void GalleryPage::showSteps() {
  const StepsTable& table = stepsView_->table();
  {
    const QSignalBlocker quiet(stepSlider_);
    stepSlider_->setRange(0, std::max(0, static_cast<int>(table.steps.size()) - 1));
    stepSlider_->setEnabled(table.steps.size() > 1);
  }
  markCell();
  showLook();
}

void GalleryPage::changeTags(const std::string& tag, bool isOn) {
  std::vector<std::int64_t> ids = chosen();
  if (ids.empty()) return;
  try {
    std::map<std::int64_t, std::vector<store::ImageTagRow>> byRun;
    for (const std::int64_t id : ids) {
      const store::GeneratedImageRow image = workbench_.store().generatedImage(id);
      byRun[image.runId].push_back({image.step, image.sha256, tag});
    }
    for (const auto& [run, rows] : byRun) {
      // What stands now; the version comes first, so that it is not newer than the list.
      store::RunReader& store = workbench_.store();
      const std::int64_t version = store.version(run, store::RunField::ImageTags);
      const std::string* waiting = workbench_.waiting(run, store::RunField::ImageTags);
      const auto standing =
          waiting == nullptr ? store.imageTags(run) : store::imageTagsFromText(*waiting);
      std::set<store::ImageTagRow> tags(standing.begin(), standing.end());
      for (const store::ImageTagRow& row : rows) {
        if (isOn) {
          tags.insert(row);
        } else {
          tags.erase(row);
        }
      }
      const std::vector<store::ImageTagRow> list(tags.begin(), tags.end());
      store::checkImageTags(list);
      workbench_.edit(run, store::RunField::ImageTags, store::imageTagsText(list), version, this,
                      [this](const EditOutcome& outcome) {
                        if (!outcome.error.isEmpty()) {
                          workbench_.showError(outcome.error);
                        } else if (outcome.isConflict) {
                          workbench_.showMessage(
                              tr("Another user changed the tags meanwhile; theirs are shown. Set "
                                 "yours again."));
                        }
                        reload();
                      });
    }
  } catch (const Error& error) {
    workbench_.showError(QString::fromUtf8(error.what()));
    showLook();
  }
}

void GalleryPage::waitUntilIdle() {
  if (typing_.isActive()) search(search_->text());
  loading_.forgetLater();
  reload();
  // Each asks for the next one: the list for the current image, that for its table.
  for (int round = 0; round < 3; ++round) {
    list_.waitUntilIdle();
    look_.waitUntilIdle();
    steps_.waitUntilIdle();
  }
  layOutNow();
  // Visible tiles request their pictures while they are painted.
  if (isVisible()) {
    const QPixmap painted = views_->grab();
    thumbnails_.waitUntilIdle();
    pictures_.waitUntilIdle();
  }
}

}  // namespace vitrine::ui
