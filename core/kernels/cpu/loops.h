// All loops of one path and the table that names them. Included once, by the file of that path.
#pragma once

#include "core/kernels/cpu/decay_loops.h"
#include "core/kernels/cpu/group_loops.h"
#include "core/kernels/cpu/head_loops.h"
#include "core/kernels/cpu/packing_loops.h"
#include "core/kernels/cpu/product_loops.h"
#include "core/kernels/cpu/row_loops.h"

namespace vitrine::cpu {
namespace {

void multiply(const Product& product) { multiplyByTiles(product); }

constexpr Kernels tableOf(const char* name) {
  return {name,         kPanel,         nullptr,          multiply,          packRows,
          packColumns,  normRows,       normRowsBackward, geluTanh,          geluErf,
          swiGlu,       swiGluBackward, multiplyRows,     addRows,           addScaledRows,
          addGatedRows, gateBackward,   softmaxRows,      slopeRows,         turnRow,
          turnWords,    turnHalves,     decayRows,        decayRowsBackward, scaleRows,
          dotRows,      dotInDouble,    mixGroups,        mixGroupsBackward};
}

}  // namespace
}  // namespace vitrine::cpu
