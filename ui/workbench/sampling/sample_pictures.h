// Images of samples by number, fetched from where the run's data are.
#pragma once

#include <QImage>
#include <QObject>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "ui/workbench/model_service.h"

namespace vitrine::ui {

class SamplePictures : public QObject {
  Q_OBJECT
 public:
  /// \param models  may be nullptr: then there are no images
  explicit SamplePictures(ModelService* models, QObject* parent = nullptr)
      : QObject(parent), models_(models) {}
  ~SamplePictures() override;

  /// Null where it is not there yet.
  [[nodiscard]] QImage picture(std::int64_t run, const std::string& split, std::int64_t id) const;
  /// Fetches those that are missing; drops what was asked before.
  /// \param model  any of the run: one that is in memory is asked at once
  void fetch(const ModelChoice& model, const std::string& split,
             const std::vector<std::int64_t>& ids);
  [[nodiscard]] bool isBusy() const { return ticket_ != 0; }
  /// Why the last ones did not come, one sentence; "" when they did.
  [[nodiscard]] QString error() const { return error_; }

 Q_SIGNALS:
  void arrived(qint64 run, qint64 id, const QImage& picture);
  void ended();

 private:
  static constexpr std::size_t kMostKept = 4000;
  ModelService* models_;
  ModelService::Ticket ticket_ = 0;
  QString error_;
  std::map<std::tuple<std::int64_t, std::string, std::int64_t>, QImage> kept_;
};

}  // namespace vitrine::ui
