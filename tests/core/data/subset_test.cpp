#include "core/data/subset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace vitrine {
namespace {

/// Images sorted by class, as a folder lists them: `sizes[c]` of class c.
class SortedDataset final : public LabelledImages {
 public:
  explicit SortedDataset(const std::vector<std::int64_t>& sizes) {
    info_.channels = info_.height = info_.width = 1;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      info_.classes.push_back(std::to_string(c));
      labels_.insert(labels_.end(), static_cast<std::size_t>(sizes[c]),
                     static_cast<std::int64_t>(c));
    }
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split) const override { return std::ssize(labels_); }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t>) const override {
    return labels_.at(static_cast<std::size_t>(id));
  }

 private:
  DatasetInfo info_;
  std::vector<std::int64_t> labels_;
};

std::map<std::int64_t, int> countsOf(const Dataset& dataset, const std::vector<std::int64_t>& ids) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t id : ids) ++counts[dataset.label(Split::Train, id)];
  return counts;
}

TEST(Subset, TakesEveryClassItsShareOfAFolderSortedByClass) {
  const SortedDataset dataset(std::vector<std::int64_t>(10, 100));
  const auto ids = stratifiedSubset(dataset, Split::Train, 200, 3);
  ASSERT_EQ(ids.size(), 200u);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), 200u);
  const auto counts = countsOf(dataset, ids);
  EXPECT_EQ(counts.size(), 10u);
  for (const auto& [label, count] : counts) EXPECT_EQ(count, 20) << label;
}

TEST(Subset, KeepsTheProportionsOfUnequalClassesAndLeavesNoneOut) {
  const SortedDataset dataset({7000, 2500, 499, 1});
  const auto counts = countsOf(dataset, stratifiedSubset(dataset, Split::Train, 1000, 0));
  EXPECT_NEAR(counts.at(0), 700, 2);
  EXPECT_NEAR(counts.at(1), 250, 2);
  EXPECT_NEAR(counts.at(2), 50, 2);
  EXPECT_EQ(counts.at(3), 1);
  EXPECT_EQ(countsOf(dataset, stratifiedSubset(dataset, Split::Train, 4, 0)).size(), 4u);
  EXPECT_EQ(countsOf(dataset, stratifiedSubset(dataset, Split::Train, 3, 0)).size(), 3u)
      << "fewer samples than classes come from classes that differ";
}

TEST(Subset, DependsOnTheSeedAndTheSplitAndOnNothingElse) {
  const SortedDataset dataset(std::vector<std::int64_t>(10, 100));
  const auto ids = stratifiedSubset(dataset, Split::Train, 50, 3);
  EXPECT_EQ(ids, stratifiedSubset(dataset, Split::Train, 50, 3));
  EXPECT_NE(ids, stratifiedSubset(dataset, Split::Train, 50, 4));
  EXPECT_NE(ids, stratifiedSubset(dataset, Split::Test, 50, 3));
}

TEST(Subset, IsPartOfALargerOne) {
  const SortedDataset dataset({400, 30, 170});
  const auto small = stratifiedSubset(dataset, Split::Train, 40, 3);
  const auto large = stratifiedSubset(dataset, Split::Train, 90, 3);
  EXPECT_TRUE(std::includes(large.begin(), large.end(), small.begin(), small.end()));
}

TEST(Subset, OfAllSamplesOrMoreIsTheSplit) {
  const SortedDataset dataset({3, 4});
  std::vector<std::int64_t> all(7);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(stratifiedSubset(dataset, Split::Train, 7, 1), all);
  EXPECT_EQ(stratifiedSubset(dataset, Split::Train, 100, 1), all);
}

/// Numbered samples with no field but a number.
class Unlabelled final : public Dataset {
 public:
  Unlabelled() { info_.fields = {{"number", FieldKind::Number, at::kFloat, {}, ""}}; }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split) const override { return 100; }
  void read(Split, std::int64_t id, Sample& sample) const override {
    sample["number"].resize<float>({})[0] = static_cast<float>(id);
  }

 private:
  DatasetInfo info_;
};

TEST(Subset, OfSamplesWithoutLabelsIsDrawnFromAllOfThem) {
  const Unlabelled dataset;
  const auto ids = stratifiedSubset(dataset, Split::Train, 20, 1);
  EXPECT_EQ(std::set<std::int64_t>(ids.begin(), ids.end()).size(), 20u);
  EXPECT_GT(ids.back(), 50);
  EXPECT_NE(ids, stratifiedSubset(dataset, Split::Train, 20, 2));
}

TEST(Dataset, KnowsALabelByReadingTheImageWhereNothingFasterIsOffered) {
  const SortedDataset dataset({3, 4});
  EXPECT_EQ(dataset.label(Split::Train, 2), 0);
  EXPECT_EQ(dataset.label(Split::Train, 3), 1);
}

}  // namespace
}  // namespace vitrine
