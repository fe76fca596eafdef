// Bias of a map: whether it adds a constant to each output.
#pragma once

namespace vitrine::nn {

enum class Bias { None, Present };

}  // namespace vitrine::nn
