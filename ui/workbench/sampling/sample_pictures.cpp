#include "ui/workbench/sampling/sample_pictures.h"

#include "ui/kit/value_text.h"

namespace vitrine::ui {

SamplePictures::~SamplePictures() {
  if (ticket_ != 0 && models_ != nullptr) models_->cancel(ticket_);
}

QImage SamplePictures::picture(std::int64_t run, const std::string& split, std::int64_t id) const {
  const auto found = kept_.find({run, split, id});
  return found == kept_.end() ? QImage() : found->second;
}

void SamplePictures::fetch(const ModelChoice& model, const std::string& split,
                           const std::vector<std::int64_t>& ids) {
  const std::int64_t run = model.run;
  if (ticket_ != 0) models_->cancel(std::exchange(ticket_, 0));
  error_.clear();
  std::vector<std::int64_t> missing;
  for (const std::int64_t id : ids) {
    if (id >= 0 && kept_.count({run, split, id}) == 0) missing.push_back(id);
  }
  if (missing.empty()) return;
  if (models_ == nullptr) {
    error_ = tr("Images cannot be read: the vitrine program was not found.");
    return;
  }
  if (kept_.size() + missing.size() > kMostKept) kept_.clear();
  ModelService::Listener listener;
  listener.onPart = [this, run, split](const Json& answer) {
    const Json& sample = stateMember(answer, "sample");
    const Json& bytes = stateMember(sample, "bytes");
    const auto number = stateInteger(sample, "sample_id");
    if (!number || !bytes.is_binary()) return;
    const auto& png = bytes.get_binary();
    const QImage image = QImage::fromData(png.data(), static_cast<int>(png.size()), "PNG");
    kept_[{run, split, *number}] = image;
    Q_EMIT arrived(run, *number, image);
  };
  listener.onDone = [this](const Json&) {
    ticket_ = 0;
    Q_EMIT ended();
  };
  listener.onError = [this](const ModelError& error) {
    if (error.kind == "cancelled" || error.kind == "replaced") return;
    ticket_ = 0;
    error_ = error.sentence;
    Q_EMIT ended();
  };
  ticket_ = models_->compute(model, {{"op", "samples"}, {"sample_ids", missing}, {"split", split}},
                             this, listener);
}

}  // namespace vitrine::ui
