// The matrix products of one pre-norm block that a thread computes for the images it has at once:
// what each side of `run.sh gemm` is given.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/turns.h"

namespace vitrine::bench {

/// out[rows][columns] (+)= left right, all row-major and dense; `left` is [depth][rows] where it is
/// transposed.
struct GemmProblem {
  std::int64_t rows, columns, depth;
  bool isLeftTransposed;  ///< weight gradient: added to what is there
  const float* left;
  const float* right;
  float* out;
};

/// Makes whatever is made once for a right factor that many products share, a weight; returns the
/// product.
using GemmLibrary = std::function<std::function<void()>(const GemmProblem&)>;

inline std::vector<float> randomFloats(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> floats(static_cast<std::size_t>(count));
  for (float& value : floats) value = normal(generator);
  return floats;
}

/// Entries spread over the result, against sums in double. Ends the program where one is wrong.
inline void checkProduct(const GemmProblem& p, const std::function<void()>& product) {
  std::fill_n(p.out, p.rows * p.columns, 0.0F);
  product();
  for (std::int64_t i = 0; i < 64; ++i) {
    const std::int64_t r = i * 7919 % p.rows, c = i * 104729 % p.columns;
    double sum = 0;
    for (std::int64_t k = 0; k < p.depth; ++k) {
      const float left = p.isLeftTransposed ? p.left[k * p.rows + r] : p.left[r * p.depth + k];
      sum += static_cast<double>(left) * p.right[k * p.columns + c];
    }
    const double error = std::abs(sum - p.out[r * p.columns + c]);
    if (error > 1e-5 * std::sqrt(static_cast<double>(p.depth)) * (1 + std::abs(sum))) {
      std::cout << "wrong at " << r << ", " << c << ": " << p.out[r * p.columns + c] << " for "
                << sum << std::endl;
      std::exit(1);
    }
  }
}

/// Takes turns with all products of a block: --model demo|ti16|s16|b16 --pass forward|input|weight.
inline int timeProducts(int count, char** words, const std::map<std::string, GemmLibrary>& all) {
  std::map<std::string, std::string> options = readOptions(count, words);
  const auto library = all.find(options["--library"]);
  if (library == all.end()) {
    std::cout << "skipped: not built with " << options["--library"] << std::endl;
    return 0;
  }
  const std::string model = options["--model"], pass = options["--pass"];
  const std::int64_t width = model == "demo"   ? 64
                             : model == "ti16" ? 192
                             : model == "s16"  ? 384
                                               : 768;
  const std::int64_t rows = model == "demo" ? 8 * 17 : 197;
  // Outputs and inputs of the maps.
  const std::int64_t maps[][2] = {
      {3 * width, width}, {width, width}, {4 * width, width}, {width, 4 * width}};
  std::vector<std::vector<float>> memory;
  const auto floats = [&](std::int64_t size) {
    memory.push_back(randomFloats(size, static_cast<unsigned>(memory.size())));
    return memory.back().data();
  };
  std::vector<std::function<void()>> products;
  for (const auto& [out, in] : maps) {
    GemmProblem p{rows, out, in, false, nullptr, nullptr, nullptr};
    if (pass == "input") p = {rows, in, out, false, nullptr, nullptr, nullptr};
    if (pass == "weight") p = {out, in, rows, true, nullptr, nullptr, nullptr};
    p.left = floats(p.rows * p.depth);
    p.right = floats(p.depth * p.columns);
    p.out = floats(p.rows * p.columns);
    products.push_back(library->second(p));
    checkProduct(p, products.back());
  }
  takeTurns(3, [&] {
    return timed([&] {
      for (const auto& product : products) product();
    });
  });
  return 0;
}

}  // namespace vitrine::bench
