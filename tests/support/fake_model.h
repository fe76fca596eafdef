// The base of models that tests make up: without costs, without randomness, and with the
// capabilities that it is made of.
#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "core/model/model.h"

namespace vitrine::test {

template <class... Capabilities>
class FakeModel : public torch::nn::Module, public Model, public Capabilities... {
 public:
  torch::nn::Module& module() override { return *this; }
  std::vector<BlockCost> cost() const override { return {}; }
  std::vector<OfferedCapability> capabilities() override {
    if constexpr (sizeof...(Capabilities) == 0) {
      return {};
    } else {
      return offersOf<Capabilities...>(*this);
    }
  }
  void setGenerator(const at::Generator&) override {}
};

}  // namespace vitrine::test
