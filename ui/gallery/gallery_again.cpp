// A stored image made again: its pixels compared, or its settings taken over where images are
// drawn.
#include "core/base/error.h"
#include "ui/gallery/gallery_page.h"
#include "ui/gallery/image_details.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

void GalleryPage::verify() {
  ModelService* models = workbench_.models();
  if (models == nullptr)
    return workbench_.showMessage(tr("Nothing can be computed with this database from here."));
  if (check_.ticket != 0) return models->cancel(check_.ticket);
  if (!looked_.a || looked_.a->id != current_)
    return workbench_.showMessage(tr("There is no image to verify: choose an image."));
  const store::GeneratedImageRow& image = *looked_.a;
  SampleSettings again;
  try {
    again = settingsAgain(image.recipe, image.runId);
  } catch (const Error& error) {
    return takeVerdict(image.id, {false, QString::fromUtf8(error.what())});
  }
  const auto made = std::make_shared<std::optional<HashedImage>>();
  ModelService::Listener listener;
  listener.onPart = [this, made, seed = image.seed](const Json& part) {
    const double done = stateNumber(part, "done", -1), total = stateNumber(part, "total");
    if (done >= 0 && total > 0) check_.share = done / total;
    if (auto found = imageIn(part, seed)) *made = std::move(found);
    showVerdict();
  };
  listener.onDone = [this, made, id = image.id,
                     stored = HashedImage{looked_.pictureA, image.sha256}](const Json&) {
    takeVerdict(id, verdictOf(stored, *made));
  };
  listener.onError = [this, id = image.id](const ModelError& error) {
    if (error.kind == "cancelled") {
      check_ = {};
      return showVerdict();
    }
    takeVerdict(id, {false, tr("The image cannot be made again: %1").arg(error.sentence)});
  };
  check_ = {image.id, models->compute(again.model, again.request(), this, std::move(listener)), 0};
  showVerdict();
}

void GalleryPage::takeVerdict(std::int64_t id, const Verdict& verdict) {
  check_ = {};
  verdicts_[id] = verdict;
  showVerdict();
  workbench_.showMessage(tr("Image %1: %2").arg(id).arg(verdict.sentence));
}

void GalleryPage::showVerdict() {
  const bool isChecking = check_.ticket != 0;
  verify_->setText(isChecking ? tr("Cancel") : tr("Verify"));
  QString text;
  if (isChecking && check_.image == current_) {
    text = tr("Making the image again: %1").arg(percent(check_.share, 0));
  } else if (const auto found = verdicts_.find(current_); found != verdicts_.end()) {
    const ThemeColors& colors = themeColors();
    const Verdict& verdict = found->second;
    text = QStringLiteral("<span style=\"color:%1\">%2 %3</span>")
               .arg((verdict.isExact ? colors.ok : colors.warn).name(),
                    verdict.isExact ? QStringLiteral("\u2713") : QStringLiteral("\u2717"),
                    verdict.sentence.toHtmlEscaped());
  }
  details_->setVerdict(text);
}

void GalleryPage::recallSettings() {
  if (!looked_.a || looked_.a->id != current_)
    return workbench_.showMessage(tr("There are no settings to recall: choose an image."));
  const store::GeneratedImageRow image = *looked_.a;
  workbench_.showPage(QStringLiteral("playground"));
  workbench_.selection().recall(image.runId, image.recipe);
}

}  // namespace vitrine::ui
