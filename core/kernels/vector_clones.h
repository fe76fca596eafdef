// One binary, the widest vectors of the machine it runs on: a function marked so is compiled three
// times and chosen at load.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define VITRINE_VECTOR_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VITRINE_VECTOR_CLONES
#endif
