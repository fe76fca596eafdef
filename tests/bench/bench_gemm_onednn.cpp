// The same with oneDNN, in a program of its own: LibTorch brings another version of that library.
#include <oneapi/dnnl/dnnl.hpp>

#include "tests/bench/gemm_products.h"

using vitrine::bench::GemmProblem;

namespace {

/// A weight is brought into the form that oneDNN asks for, once; both factors of a weight's
/// gradient stay as they are.
std::function<void()> oneDnn(const GemmProblem& p) {
  using namespace dnnl;
  const engine engine(engine::kind::cpu, 0);
  stream stream(engine);
  const auto type = memory::data_type::f32;
  const auto tag = [](bool isTransposed) {
    return isTransposed ? memory::format_tag::ba : memory::format_tag::ab;
  };
  const memory::desc left({p.rows, p.depth}, type, tag(p.isLeftTransposed)),
      plain({p.depth, p.columns}, type, tag(false)),
      wanted({p.depth, p.columns}, type, p.isLeftTransposed ? tag(false) : memory::format_tag::any),
      out({p.rows, p.columns}, type, tag(false));
  primitive_attr attributes;
  if (p.isLeftTransposed) {
    post_ops operations;
    operations.append_sum(1);
    attributes.set_post_ops(operations);
  }
  const matmul::primitive_desc descriptor(matmul::desc(left, wanted, out), attributes, engine);
  memory given(plain, engine, const_cast<float*>(p.right));
  memory right = given;
  if (descriptor.weights_desc() != plain) {
    right = memory(descriptor.weights_desc(), engine);
    reorder(given, right).execute(stream, given, right);
  }
  const std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, memory(left, engine, const_cast<float*>(p.left))},
      {DNNL_ARG_WEIGHTS, right},
      {DNNL_ARG_DST, memory(out, engine, p.out)}};
  const matmul product(descriptor);
  return [=]() mutable {
    product.execute(stream, arguments);
    stream.wait();
  };
}

}  // namespace

int main(int count, char** words) {
  return vitrine::bench::timeProducts(count, words, {{"onednn", oneDnn}});
}
