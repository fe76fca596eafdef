#include "core/nn/position/token_rotation.h"

namespace vitrine::nn {

TokenRotation::~TokenRotation() = default;

}  // namespace vitrine::nn
