// Attention of any queries over any keys, against loops in double precision written from its
// definition.
#include "core/nn/attend.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/nn/attention.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::nn {
namespace {

using testing::onEveryCpuPath;

/// A tensor as rows of doubles; absent axes count as one.
class Numbers {
 public:
  explicit Numbers(const at::Tensor& tensor)
      : values_(tensor.detach().to(at::kDouble).contiguous()) {}
  /// The last indices are those of the tensor's axes; an axis of one is broadcast.
  [[nodiscard]] double& at(std::initializer_list<std::int64_t> index) const {
    std::int64_t place = 0;
    const std::size_t skipped = index.size() - static_cast<std::size_t>(values_.dim());
    for (std::int64_t axis = 0; axis < values_.dim(); ++axis) {
      const std::int64_t i = index.begin()[skipped + static_cast<std::size_t>(axis)];
      place += values_.size(axis) == 1 ? 0 : i * values_.stride(axis);
    }
    return values_.data_ptr<double>()[place];
  }
  [[nodiscard]] const at::Tensor& tensor() const { return values_; }

 private:
  at::Tensor values_;
};

/// Turns [batch, tokens, heads, channels] token by token; direction -1 turns back.
at::Tensor turnedSlowly(const at::Tensor& x, const at::Tensor& angles, RopePairs pairs,
                        double direction) {
  if (!angles.defined()) return x;
  const Numbers in(x), out(x.clone());
  const Numbers table(angles.dim() == 3 ? angles.unsqueeze(1) : angles);
  const std::int64_t count = angles.size(-1);
  for (std::int64_t b = 0; b < x.size(0); ++b) {
    for (std::int64_t n = 0; n < x.size(1); ++n) {
      for (std::int64_t h = 0; h < x.size(2); ++h) {
        for (std::int64_t m = 0; m < count; ++m) {
          const double angle = direction * table.at({b, h, n, m});
          const bool isNext = pairs == RopePairs::Interleaved;
          const std::int64_t i = isNext ? 2 * m : m, j = isNext ? 2 * m + 1 : m + count;
          const double a = in.at({b, n, h, i}), c = in.at({b, n, h, j});
          out.at({b, n, h, i}) = a * std::cos(angle) - c * std::sin(angle);
          out.at({b, n, h, j}) = a * std::sin(angle) + c * std::cos(angle);
        }
      }
    }
  }
  return out.tensor();
}

struct Results {
  at::Tensor values, softmax;
  at::Tensor query, key, value, bias;  ///< gradients
};

/// 1 where a query may see a key: [batch, queries, keys].
at::Tensor allowedPairs(const AttendOptions& o, std::int64_t batch, std::int64_t queries,
                        std::int64_t keys) {
  const Numbers allowed(at::ones({batch, queries, keys}, at::kDouble));
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < queries; ++i) {
      const auto bound = [&](const at::Tensor& edges) {
        return (edges.dim() == 2 ? edges[b] : edges)[i].item<std::int64_t>();
      };
      const std::int64_t first = o.firstAllowedKey.defined() ? bound(o.firstAllowedKey) : 0;
      std::int64_t last = o.lastAllowedKey.defined() ? bound(o.lastAllowedKey) : keys;
      if (o.isCausal) last = std::min(last, i + keys - queries);
      for (std::int64_t j = 0; j < keys; ++j)
        allowed.at({b, i, j}) = j >= first && j <= last ? 1 : 0;
    }
  }
  return allowed.tensor();
}

/// The definition, and its gradients by hand.
Results attendSlowly(const at::Tensor& queryIn, const at::Tensor& keyIn, const at::Tensor& valueIn,
                     const AttendOptions& o, const at::Tensor& upstream) {
  const std::int64_t batch = queryIn.size(0), queries = queryIn.size(1), heads = queryIn.size(2),
                     keys = keyIn.size(1), share = heads / keyIn.size(2), width = queryIn.size(3),
                     valueWidth = valueIn.size(3);
  const double scale = o.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  const Numbers q(turnedSlowly(queryIn, o.queryAngles, o.pairs, 1)),
      k(turnedSlowly(keyIn, o.keyAngles, o.pairs, 1)), v(valueIn), g(upstream);
  const Numbers allowed(allowedPairs(o, batch, queries, keys));
  const at::Tensor one = at::ones({1}, at::kDouble);
  const Numbers bias(o.bias.defined() ? o.bias : 0 * one),
      factor(o.factor.defined() ? o.factor : one);
  const Numbers out(at::zeros({batch, queries, heads, valueWidth}, at::kDouble)),
      p(at::zeros({batch, heads, queries, keys}, at::kDouble)), biasGradient(p.tensor().clone()),
      dq(at::zeros_like(q.tensor())), dk(at::zeros_like(k.tensor())),
      dv(at::zeros_like(v.tensor()));
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < queries; ++i) {
        std::vector<double> logits, slopes;
        double sum = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
          double logit = bias.at({b, h, i, j});
          for (std::int64_t c = 0; c < width; ++c)
            logit += scale * q.at({b, i, h, c}) * k.at({b, j, h / share, c});
          if (allowed.at({b, i, j}) == 0) logit = -std::numeric_limits<double>::infinity();
          logits.push_back(std::exp(logit));
          sum += logits.back();
        }
        double mean = 0;
        for (std::int64_t j = 0; j < keys; ++j) {
          const double probability = sum > 0 ? logits[static_cast<std::size_t>(j)] / sum : 0;
          p.at({b, h, i, j}) = probability;
          const double weight = probability * factor.at({b, h, i, j});
          double slope = 0;
          for (std::int64_t c = 0; c < valueWidth; ++c) {
            out.at({b, i, h, c}) += weight * v.at({b, j, h / share, c});
            dv.at({b, j, h / share, c}) += weight * g.at({b, i, h, c});
            slope += g.at({b, i, h, c}) * v.at({b, j, h / share, c});
          }
          slopes.push_back(slope * factor.at({b, h, i, j}));
          mean += probability * slopes.back();
        }
        for (std::int64_t j = 0; j < keys; ++j) {
          const double slope = p.at({b, h, i, j}) * (slopes[static_cast<std::size_t>(j)] - mean);
          biasGradient.at({b, h, i, j}) = slope;
          for (std::int64_t c = 0; c < width; ++c) {
            dq.at({b, i, h, c}) += scale * slope * k.at({b, j, h / share, c});
            dk.at({b, j, h / share, c}) += scale * slope * q.at({b, i, h, c});
          }
        }
      }
    }
  }
  Results results{out.tensor(),
                  p.tensor(),
                  turnedSlowly(dq.tensor(), o.queryAngles, o.pairs, -1),
                  turnedSlowly(dk.tensor(), o.keyAngles, o.pairs, -1),
                  dv.tensor(),
                  {}};
  if (o.bias.defined()) results.bias = at::sum_to(biasGradient.tensor(), o.bias.sizes());
  return results;
}

struct Case {
  const char* name;
  std::vector<std::int64_t> query, key;  ///< [batch, tokens, heads, channels]
  std::function<void(AttendOptions&)> set;
  std::int64_t valueWidth = 0;  ///< 0: that of the keys
};

at::Tensor integers(std::initializer_list<std::int64_t> values) {
  return at::tensor(std::vector<std::int64_t>(values));
}

at::Tensor lineAngles(const at::Tensor& positions, std::int64_t channels) {
  return ropeAngles(positions, RopeSpectrum{channels, RopeAxes::Line, 50, 0}, at::kDouble);
}

at::Tensor gridAngles(const at::Tensor& positions, std::int64_t channels, std::int64_t heads = 0) {
  return ropeAngles(positions, RopeSpectrum{channels, RopeAxes::ColumnFirst, 50, heads},
                    at::kDouble);
}

/// Who turns by what, and whose keys are whose.
std::vector<Case> turnedCases() {
  std::vector<Case> cases;
  cases.push_back({"plain", {2, 17, 3, 8}, {2, 17, 3, 8}, [](AttendOptions&) {}});
  cases.push_back({"one token", {1, 1, 1, 2}, {1, 1, 1, 2}, [](AttendOptions&) {}});
  cases.push_back({"turned along the sequence", {2, 17, 3, 8}, {2, 17, 3, 8}, [](AttendOptions& o) {
                     o.queryAngles = o.keyAngles = lineAngles(at::arange(17), 8);
                   }});
  cases.push_back(
      {"turned by their halves, in part", {2, 7, 3, 8}, {2, 7, 3, 8}, [](AttendOptions& o) {
         o.queryAngles = o.keyAngles = lineAngles(at::arange(7), 6);
         o.pairs = RopePairs::HalfSplit;
       }});
  cases.push_back({"windows of a grid", {6, 9, 2, 8}, {6, 9, 2, 8}, [](AttendOptions& o) {
                     o.queryAngles = o.keyAngles = gridAngles(gridPositions({3, 3}), 4);
                   }});
  cases.push_back({"keys that stand for cells", {2, 24, 2, 8}, {2, 6, 2, 8}, [](AttendOptions& o) {
                     o.queryAngles = gridAngles(gridPositions({4, 6}), 8);
                     o.keyAngles = gridAngles(cellPositions({2, 3}, 2), 8);
                   }});
  cases.push_back({"more keys than queries, a spectrum over all heads",
                   {2, 3, 4, 8},
                   {2, 12, 4, 8},
                   [](AttendOptions& o) {
                     o.queryAngles = gridAngles(gridPositions({1, 3}), 8, 4);
                     o.keyAngles = gridAngles(gridPositions({3, 4}), 8, 4);
                   }});
  cases.push_back({"shared key heads", {2, 5, 6, 4}, {2, 5, 2, 4}, [](AttendOptions& o) {
                     o.queryAngles = o.keyAngles = lineAngles(at::arange(5), 4);
                     o.isCausal = true;
                   }});
  return cases;
}

/// Which keys a query may see.
std::vector<Case> boundedCases() {
  std::vector<Case> cases;
  cases.push_back(
      {"causal", {2, 9, 2, 4}, {2, 9, 2, 4}, [](AttendOptions& o) { o.isCausal = true; }});
  cases.push_back({"two new tokens over a cache", {2, 2, 4, 4}, {2, 9, 2, 4}, [](AttendOptions& o) {
                     o.queryAngles = lineAngles(at::arange(7, 9), 4);
                     o.isCausal = true;
                   }});
  cases.push_back(
      {"a cache that each sample filled so far", {3, 1, 4, 4}, {3, 9, 2, 4}, [](AttendOptions& o) {
         o.queryAngles = lineAngles(integers({8, 2, 5}).view({3, 1}), 4);
         o.lastAllowedKey = integers({8, 2, 5}).view({3, 1});
       }});
  cases.push_back({"words in order around an image seen whole",
                   {2, 7, 2, 4},
                   {2, 7, 2, 4},
                   [](AttendOptions& o) {
                     o.lastAllowedKey = integers({0, 1, 4, 4, 4, 5, 6});
                   }});
  cases.push_back({"the same for each sample", {2, 5, 2, 4}, {2, 5, 2, 4}, [](AttendOptions& o) {
                     o.lastAllowedKey = integers({0, 3, 3, 3, 4, 2, 2, 2, 3, 4}).view({2, 5});
                   }});
  cases.push_back(
      {"packed documents and padding", {2, 6, 2, 4}, {2, 6, 2, 4}, [](AttendOptions& o) {
         o.firstAllowedKey = integers({0, 0, 2, 2, 2, 5, 0, 0, 0, 0, 4, 4}).view({2, 6});
         o.lastAllowedKey = integers({0, 1, 2, 3, 4, 5, 0, 1, 2, 3, -1, -1}).view({2, 6});
       }});
  cases.push_back(
      {"padding that all samples share", {2, 3, 2, 4}, {2, 3, 2, 4}, [](AttendOptions& o) {
         o.lastAllowedKey = integers({0, 1, -1});
         o.isCausal = true;
       }});
  cases.push_back(
      {"gathered tokens with places of each sample",
       {3, 4, 2, 8},
       {3, 4, 2, 8},
       [](AttendOptions& o) {
         const at::Tensor rows = integers({0, 1, 3, 3, 2, 0, 1, 1, 3, 2, 1, 0}).view({3, 4});
         o.queryAngles = o.keyAngles = gridAngles(at::stack({rows, rows.flip(1)}, -1), 8);
       }});
  return cases;
}

std::vector<Case> weighedCases() {
  std::vector<Case> cases;
  cases.push_back({"a bias for all", {2, 5, 2, 4}, {2, 7, 2, 4}, [](AttendOptions& o) {
                     o.bias = drawn({5, 7}, 11);
                   }});
  cases.push_back(
      {"a bias of each head, and a bound", {2, 5, 2, 4}, {2, 5, 2, 4}, [](AttendOptions& o) {
         o.bias = drawn({1, 2, 5, 5}, 11);
         o.isCausal = true;
       }});
  cases.push_back(
      {"a bias of each key of each sample", {2, 5, 2, 4}, {2, 7, 2, 4}, [](AttendOptions& o) {
         o.bias = drawn({2, 1, 1, 7}, 11);
       }});
  cases.push_back({"a factor", {2, 5, 2, 4}, {2, 7, 2, 4}, [](AttendOptions& o) {
                     o.factor = drawn({5, 7}, 12).abs();
                   }});
  cases.push_back(
      {"a factor of each sample, and a bound", {2, 5, 4, 4}, {2, 5, 2, 4}, [](AttendOptions& o) {
         o.factor = drawn({2, 1, 5, 5}, 12).abs();
         o.isCausal = true;
       }});
  cases.push_back(
      {"another scale", {2, 5, 2, 4}, {2, 5, 2, 4}, [](AttendOptions& o) { o.scale = 1.7; }});
  cases.push_back(
      {"values of another width", {2, 5, 4, 4}, {2, 7, 2, 4}, [](AttendOptions&) {}, 6});
  cases.push_back({"beyond the short kernel", {1, 300, 1, 4}, {1, 300, 1, 4}, [](AttendOptions& o) {
                     o.queryAngles = o.keyAngles = lineAngles(at::arange(300), 4);
                     o.isCausal = true;
                   }});
  return cases;
}

std::vector<Case> everyCase() {
  std::vector<Case> cases = turnedCases();
  for (const auto& more : {boundedCases(), weighedCases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

/// What attend() makes of it in the given type.
Results attended(const Case& item, AttentionPath path, at::ScalarType type, Results* reference) {
  AttendOptions options;
  item.set(options);
  options.path = path;
  std::vector<std::int64_t> valueShape = item.key;
  if (item.valueWidth > 0) valueShape[3] = item.valueWidth;
  const at::Tensor query = drawn(item.query, 1), key = drawn(item.key, 2),
                   value = drawn(valueShape, 3);
  std::vector<std::int64_t> outShape = item.query;
  outShape[3] = valueShape[3];
  const at::Tensor upstream = drawn(outShape, 4);
  static std::map<std::string, Results> known;  // the loops are slow
  if (!known.contains(item.name))
    known.emplace(item.name, attendSlowly(query, key, value, options, upstream));
  *reference = known.at(item.name);
  const auto leaf = [&](const at::Tensor& x) {
    return x.to(type).detach().clone().requires_grad_();
  };
  const at::Tensor q = leaf(query), k = leaf(key), v = leaf(value);
  if (options.bias.defined()) options.bias = leaf(options.bias);
  for (at::Tensor* constant : {&options.factor, &options.keyAngles})
    if (constant->defined()) *constant = constant->to(type);
  if (options.queryAngles.defined()) {
    AttendOptions before;
    item.set(before);
    // One table for both stays one.
    options.queryAngles = before.queryAngles.is_same(before.keyAngles)
                              ? options.keyAngles
                              : options.queryAngles.to(type);
  }
  const AttentionOutput output = attend(q, k, v, options);
  output.values.backward(upstream.to(type));
  return {output.values.detach(),
          output.softmax,
          q.grad(),
          k.grad(),
          v.grad(),
          options.bias.defined() ? options.bias.grad() : at::Tensor()};
}

void expectEqual(const Results& ours, const Results& wanted, double tolerance) {
  const auto close = [&](const char* what, const at::Tensor& a, const at::Tensor& b, double share) {
    const double most = std::max(1.0, b.abs().max().item<double>());
    EXPECT_LE(largestDifference(a, b), share * most) << what;
  };
  ASSERT_EQ(ours.values.sizes(), wanted.values.sizes());
  close("values", ours.values, wanted.values, tolerance);
  close("gradient of the queries", ours.query, wanted.query, 5 * tolerance);
  close("gradient of the keys", ours.key, wanted.key, 5 * tolerance);
  close("gradient of the values", ours.value, wanted.value, 5 * tolerance);
  if (wanted.bias.defined()) close("gradient of the bias", ours.bias, wanted.bias, 5 * tolerance);
  if (ours.softmax.defined()) close("probabilities", ours.softmax, wanted.softmax, tolerance);
}

TEST(Attend, AgreesWithItsDefinitionInDoubleByEveryPathThatTakesDouble) {
  for (const Case& item : everyCase()) {
    SCOPED_TRACE(item.name);
    AttendOptions options;
    item.set(options);
    Results reference;
    const Results slow = attended(item, AttentionPath::Explicit, at::kDouble, &reference);
    EXPECT_TRUE(slow.softmax.defined());
    expectEqual(slow, reference, 1e-12);
    if (options.factor.defined()) continue;
    expectEqual(attended(item, AttentionPath::Fused, at::kDouble, &reference), reference, 1e-12);
  }
}

TEST(Attend, AgreesWithItsDefinitionInFloatByThePathItPicksOnEveryCpuPath) {
  onEveryCpuPath([] {
    for (const Case& item : everyCase()) {
      SCOPED_TRACE(item.name);
      Results reference;
      expectEqual(attended(item, AttentionPath::Automatic, at::kFloat, &reference), reference,
                  1e-5);
    }
  });
}

TEST(Attend, TheShortKernelTakesWhatAllSamplesShare) {
  std::string taken;
  for (const Case& item : everyCase()) {
    AttendOptions options;
    item.set(options);
    Results reference;
    if (options.bias.defined()) continue;  // attended() trains it
    try {
      const Results ours = attended(item, AttentionPath::Short, at::kFloat, &reference);
      SCOPED_TRACE(item.name);
      expectEqual(ours, reference, 1e-5);
      taken += std::string(item.name) + "\n";
    } catch (const ShapeError&) {
      continue;
    }
  }
  EXPECT_EQ(taken,
            "plain\none token\nturned along the sequence\nturned by their halves, in part\nwindows "
            "of a grid\nkeys that stand for cells\nmore keys than queries, a spectrum over all "
            "heads\nshared key heads\ncausal\ntwo new tokens over a cache\nwords in order around "
            "an image seen whole\npadding that all samples "
            "share\ngathered tokens with places of each sample\na factor\n");
}

TEST(Attend, GivesToTheLastBitWhatPackedProjectionsGive) {
  onEveryCpuPath([] {
    for (const std::int64_t tokens : {17, 300}) {
      AttentionInput packed;
      packed.heads = 3;
      packed.query = drawn({2, tokens, 3 * 24}, 5).to(at::kFloat);
      packed.angles = lineAngles(at::arange(tokens), 8).to(at::kFloat);
      packed.additive = at::ones({tokens, tokens}).tril().log();
      const at::Tensor all = packed.query.unflatten(-1, {3, 3, 8});
      AttendOptions options;
      options.queryAngles = options.keyAngles = packed.angles;
      options.bias = packed.additive;
      const at::Tensor q = all.select(2, 0), k = all.select(2, 1), v = all.select(2, 2);
      EXPECT_TRUE(attend(packed).values.equal(attend(q, k, v, options).values.flatten(2)));
    }
  });
}

TEST(Attend, TheSoftmaxAndWhatAFactorLeavesOfItAreReturnedWhenAsked) {
  AttendOptions options;
  options.path = AttentionPath::Explicit;
  options.factor = at::full({3, 4}, 0.5);
  options.lastAllowedKey = integers({0, 3, -1});
  const AttentionOutput output =
      attend(drawn({1, 3, 2, 4}, 1), drawn({1, 4, 2, 4}, 2), drawn({1, 4, 2, 4}, 3), options);
  EXPECT_EQ(output.softmax.sizes().vec(), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(output.effective.equal(output.softmax * 0.5));
  EXPECT_EQ(output.softmax[0][1][0][0].item<double>(), 1);
  EXPECT_EQ(output.softmax[0][1][2].abs().sum().item<double>(), 0);
}

TEST(Attend, AQueryWithoutKeysGivesZerosAndFiniteGradients) {
  for (const AttentionPath path :
       {AttentionPath::Explicit, AttentionPath::Fused, AttentionPath::Short}) {
    AttendOptions options;
    options.path = path;
    options.lastAllowedKey = integers({-1, 1});
    const at::Tensor q = at::randn({1, 2, 1, 4}, seeded(1)).requires_grad_();
    const at::Tensor values = attend(q, q, q, options).values;
    EXPECT_EQ(values[0][0].abs().max().item<float>(), 0);
    EXPECT_GT(values[0][1].abs().max().item<float>(), 0);
    values.sum().backward();
    EXPECT_TRUE(q.grad().isfinite().all().item<bool>());
  }
}

TEST(Attend, RefusesPartsThatDoNotFit) {
  const at::Tensor q = at::zeros({2, 3, 4, 8});
  const auto refuses = [&](const at::Tensor& k, const at::Tensor& v, const auto& change) {
    AttendOptions options;
    change(options);
    EXPECT_THROW((void)attend(q, k, v, options), ShapeError);
  };
  const auto nothing = [](AttendOptions&) {};
  refuses(at::zeros({2, 5, 3, 8}), at::zeros({2, 5, 3, 8}), nothing);
  refuses(at::zeros({2, 5, 4, 6}), at::zeros({2, 5, 4, 6}), nothing);
  refuses(at::zeros({2, 5, 4, 8}), at::zeros({2, 6, 4, 8}), nothing);
  refuses(at::zeros({1, 5, 4, 8}), at::zeros({1, 5, 4, 8}), nothing);
  const at::Tensor k = at::zeros({2, 5, 4, 8});
  refuses(k, k, [](AttendOptions& o) { o.bias = at::zeros({3, 4}); });
  refuses(k, k, [](AttendOptions& o) { o.factor = at::zeros({3, 1, 3, 5}); });
  refuses(k, k, [](AttendOptions& o) { o.lastAllowedKey = at::zeros({5}, at::kLong); });
  refuses(k, k, [](AttendOptions& o) { o.queryAngles = at::zeros({5, 4}); });
  for (const std::int64_t tokens : {2, 4}) {
    refuses(q, q, [&](AttendOptions& o) { o.queryAngles = o.keyAngles = at::zeros({tokens, 4}); });
    AttentionInput packed;
    packed.heads = 4;
    packed.query = at::zeros({2, 3, 3 * 32});
    packed.angles = at::zeros({tokens, 4});
    EXPECT_THROW((void)attend(packed), ShapeError);
  }
  refuses(k, k, [](AttendOptions& o) {
    o.factor = at::ones({3, 5});
    o.path = AttentionPath::Fused;
  });
  refuses(at::zeros({2, 2, 4, 8}), at::zeros({2, 2, 4, 8}),
          [](AttendOptions& o) { o.isCausal = true; });
}

}  // namespace
}  // namespace vitrine::nn
