# Everything Vitrine links, found once.

find_package(Threads REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)

if(VITRINE_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  # The language alone finds compiler, headers and runtime. FindCUDAToolkit of CMake 3.25 fails on a CUDA 13 that lacks the
  # mathematics libraries, which is what PyPI's nvcc is.
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
endif()

if(VITRINE_ENGINE)
  include(VitrineTorch)
endif()

if(VITRINE_STORE)
  find_package(Qt6 6.4 REQUIRED COMPONENTS Core)
  find_package(SQLite3 REQUIRED)
  find_package(CLI11 REQUIRED)
endif()
if(VITRINE_GUI)
  find_package(Qt6 6.4 REQUIRED COMPONENTS Widgets Svg)
  # Debian's Dear ImGui is one static library with its painters; it has no CMake files. Used by ui/live alone.
  find_path(IMGUI_INCLUDE_DIR imgui.h PATH_SUFFIXES imgui REQUIRED)
  find_library(IMGUI_LIBRARY imgui REQUIRED)
  find_library(STB_LIBRARY stb REQUIRED)  # its letters
endif()

if(VITRINE_TESTS)
  if(VITRINE_GTEST_SOURCE)
    set(INSTALL_GTEST OFF)
    add_subdirectory("${VITRINE_GTEST_SOURCE}" "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
  else()
    find_package(GTest REQUIRED)
  endif()
endif()
