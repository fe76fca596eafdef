#pragma once

namespace vitrine::nn {

enum class Bias { None, Present };

}  // namespace vitrine::nn
