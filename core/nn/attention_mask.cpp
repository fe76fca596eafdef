#include "core/nn/attention_mask.h"

namespace vitrine::nn {

SequenceMask::~SequenceMask() = default;

}  // namespace vitrine::nn
