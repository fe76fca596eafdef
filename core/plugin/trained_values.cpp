#include "core/plugin/trained_values.h"

namespace vitrine {

KeepsTrainedValues::~KeepsTrainedValues() = default;

}  // namespace vitrine
