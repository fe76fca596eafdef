# The imported target vitrine_torch: LibTorch's headers and its CPU libraries.
#
# LibTorch's own package file wants a whole CUDA toolkit even for a build that uses none of it, and links
# 350 MB of CUDA libraries into every process. A process that stays on the CPU starts in two thirds of the time
# and a quarter of the memory without them, so the CUDA half is a module of its own that is loaded when a run
# first asks for a GPU (core/kernels/cuda_module.h).
#
# Input: Torch_DIR (share/cmake/Torch of a LibTorch), as a variable or in the environment.

if(NOT Torch_DIR AND DEFINED ENV{Torch_DIR})
  set(Torch_DIR "$ENV{Torch_DIR}")
endif()
set(Torch_DIR "${Torch_DIR}" CACHE PATH "share/cmake/Torch of a LibTorch 2.11")
get_filename_component(VITRINE_TORCH_PREFIX "${Torch_DIR}/../../.." ABSOLUTE)
if(NOT EXISTS "${VITRINE_TORCH_PREFIX}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "No LibTorch at '${VITRINE_TORCH_PREFIX}': set Torch_DIR to its share/cmake/Torch.")
endif()

set(VITRINE_TORCH_VERSION "")
foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS "${VITRINE_TORCH_PREFIX}/include/${header}")
    foreach(part MAJOR MINOR PATCH)
      file(STRINGS "${VITRINE_TORCH_PREFIX}/include/${header}" line REGEX "define TORCH_VERSION_${part} ")
      string(REGEX MATCH "[0-9]+$" VITRINE_TORCH_${part} "${line}")
    endforeach()
    set(VITRINE_TORCH_VERSION "${VITRINE_TORCH_MAJOR}.${VITRINE_TORCH_MINOR}.${VITRINE_TORCH_PATCH}")
    break()
  endif()
endforeach()
if(NOT VITRINE_TORCH_VERSION MATCHES "^2\\.11\\.")
  message(FATAL_ERROR "LibTorch at '${VITRINE_TORCH_PREFIX}' is version '${VITRINE_TORCH_VERSION}': Vitrine needs 2.11.")
endif()

if(NOT TARGET vitrine_torch)
  add_library(vitrine_torch INTERFACE IMPORTED)
  target_include_directories(vitrine_torch SYSTEM INTERFACE
    "${VITRINE_TORCH_PREFIX}/include" "${VITRINE_TORCH_PREFIX}/include/torch/csrc/api/include")
  target_link_libraries(vitrine_torch INTERFACE
    "${VITRINE_TORCH_PREFIX}/lib/libtorch_cpu.so" "${VITRINE_TORCH_PREFIX}/lib/libc10.so")
  # libtorch_cpu finds its own neighbours; programs of the build tree need not repeat them.
  target_link_options(vitrine_torch INTERFACE -Wl,--allow-shlib-undefined)
  # at::parallel_for is a template: where it is compiled without OpenMP, it runs on one thread.
  target_compile_options(vitrine_torch INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
  target_link_options(vitrine_torch INTERFACE $<$<LINK_LANGUAGE:CXX>:-fopenmp>)
endif()
