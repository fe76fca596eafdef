// Attention of one query a head, as in decoding with a cache.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include "core/nn/attend.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::nn {
namespace {

using testing::onEveryCpuPath;

TEST(AttendOne, QueryOverACacheAgreesWithTheExplicitPathOnEveryCpuPath) {
  onEveryCpuPath([] {
    for (const std::int64_t keys : {1, 7, 16, 37, 300}) {
      for (const std::int64_t keyHeads : {1, 3, 6}) {
        const c10::NoGradGuard noGradient;
        const at::Tensor query = drawn({2, 1, 6, 20}, 1).to(at::kFloat);
        // A cache has room for more, and lies head by head.
        const at::Tensor key =
            drawn({2, keyHeads, 320, 20}, 2).to(at::kFloat).narrow(2, 0, keys).transpose(1, 2);
        const at::Tensor value =
            drawn({2, keyHeads, 320, 12}, 3).to(at::kFloat).narrow(2, 0, keys).transpose(1, 2);
        AttendOptions options{.isCausal = true};
        const at::Tensor ours = attend(query, key, value, options).values;
        options.path = AttentionPath::Explicit;
        const at::Tensor slow =
            attend(query.to(at::kDouble), key.to(at::kDouble), value.to(at::kDouble), options)
                .values;
        ASSERT_EQ(ours.sizes(), slow.sizes());
        EXPECT_LT(largestDifference(ours, slow), 1e-6) << keys << " keys, " << keyHeads << " heads";
      }
    }
  });
}

}  // namespace
}  // namespace vitrine::nn
