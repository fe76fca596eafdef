// The scene of one run: an image's attention with the chosen query, layer and head, and its rows,
// computed once for each query.
#pragma once

#include <QImage>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ui/attention/attention_data.h"
#include "ui/attention/attention_measures.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

/// How attention is looked at; the same for all runs on the page.
struct AttentionChoice {
  enum class Layout {
    Map,      ///< the map alone
    Overlay,  ///< over the image
    Beside,   ///< the image, and the map next to it
  };
  QueryChoice query;
  int layer = 0;  ///< index among the layers that are shown, from 0
  int head = 0;
  double share = 1;          ///< of the mass that is drawn
  bool isSameScale = false;  ///< else each map has its own
  bool isRollout = false;
  bool isDistances = false;  ///< how far heads read instead of their maps
  Layout layout = Layout::Beside;
  bool operator==(const AttentionChoice&) const = default;
};

/// A copy shares the image and has rows of its own.
class AttentionScene {
 public:
  /// One layer and head for the query.
  struct Row {
    std::vector<float> weights;  ///< of each key, NaN: masked; empty: the layer has no such query
    std::vector<bool> kept;      ///< what the threshold leaves
    ValueRange range;
  };

  /// nullptr: nothing is shown.
  void setImage(std::shared_ptr<const AttentionImage> image);
  void setChoice(const AttentionChoice& choice);
  /// Range of the colours instead of this image's own, so that runs can be compared.
  void setCommonRange(const std::optional<ValueRange>& range);
  /// A run that is shown next to this one: pictures of both are drawn equally large.
  void setTwin(const std::shared_ptr<const AttentionScene>& twin) { twin_ = twin; }
  /// nullptr where there is none, or where it shows nothing.
  [[nodiscard]] std::shared_ptr<const AttentionScene> twin() const;

  [[nodiscard]] const AttentionImage* image() const { return image_.get(); }
  [[nodiscard]] const AttentionChoice& choice() const { return choice_; }
  [[nodiscard]] bool isRollout() const;  ///< asked for, and defined here
  [[nodiscard]] QString whyNoRollout() const { return whyNoRollout_; }
  [[nodiscard]] int layers() const;
  [[nodiscard]] int heads(int layer) const;  ///< 1 of a rollout
  /// Those of the choice, held within this image.
  [[nodiscard]] int layer() const;
  [[nodiscard]] int head() const;
  [[nodiscard]] const AttentionLayer& layerAt(int layer) const;
  [[nodiscard]] std::optional<int> query(int layer) const;
  /// Whether a layer has the query, or another window that is not there may have it.
  [[nodiscard]] bool canAnswer() const;
  /// "query: row 4, column 5", "mean of 17 queries", or why there is none.
  [[nodiscard]] QString queryText(int layer) const;

  [[nodiscard]] const Row& row(int layer, int head) const;
  /// Of the colours of this map; the common one, or of all maps, or its own.
  [[nodiscard]] ValueRange range(int layer, int head) const;
  /// Of all maps for this query.
  [[nodiscard]] ValueRange wholeRange() const;
  /// A pixel a cell of the keys' grid: colours, grey where masked, clear where there is no key or
  /// the threshold leaves it out. Null where the keys are on no grid.
  [[nodiscard]] QImage map(int layer, int head, const ThemeColors& colors) const;
  [[nodiscard]] QColor colorOf(float weight, const ValueRange& range,
                               const ThemeColors& colors) const;
  [[nodiscard]] double distance(int layer, int head) const;  ///< meanDistance(), computed once
  /// Where all patches read alike: of the widest layer without windows; 0: there is none.
  [[nodiscard]] double alikeDistance() const;
  /// The largest of this one and its twin, which have one axis of distances; none: its own.
  [[nodiscard]] std::optional<double> commonDistance() const;

 private:
  friend class Probe;  ///< of tests
  void forgetRows();
  [[nodiscard]] double largestDistance() const;  ///< of all heads, and of patches read alike

  std::shared_ptr<const AttentionImage> image_;
  AttentionChoice choice_;
  std::optional<ValueRange> common_;
  std::weak_ptr<const AttentionScene> twin_;
  QString whyNoRollout_;
  mutable std::map<std::pair<int, int>, Row> rows_;  ///< by layer and head
  mutable std::map<int, std::vector<bool>> masked_;  ///< by layer
  mutable std::map<std::pair<int, int>, double> distances_;
  mutable std::optional<double> alike_;  ///< alikeDistance()
  mutable std::optional<ValueRange> whole_;
  mutable int rowsMade_ = 0;
};

/// Cells that a query cannot see.
[[nodiscard]] QColor maskedColor(const ThemeColors& colors);

}  // namespace vitrine::ui
