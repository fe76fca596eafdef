# Flags, output folders and the two helpers every room uses.

include(GNUInstallDirs)
include(GenerateExportHeader)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(VITRINE_PLUGIN_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/vitrine/plugins")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths below the tree count as relative, so that clones in different folders share what they compiled.
  # Precompiled headers are looked into (pch_defines) and may be newer than the compilation that uses them.
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime" "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${launcher}")
endif()

# A file that sees LibTorch takes over a gigabyte to compile: never more than two at once.
set_property(GLOBAL PROPERTY JOB_POOLS torch_compile=2)

# Flags of our own code live here, never in CMAKE_CXX_FLAGS, and are not exported.
add_library(vitrine_flags INTERFACE)
target_compile_options(vitrine_flags INTERFACE
  # A designated initializer names what differs from the defaults.
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers>
  # g++ 12 sees overlaps in "text" + std::string(...) that are not there (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${VITRINE_WERROR}>>:-Werror>)
if(VITRINE_SANITIZE)
  target_compile_options(vitrine_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${VITRINE_SANITIZE} -fno-omit-frame-pointer>)
  target_link_options(vitrine_flags INTERFACE -fsanitize=${VITRINE_SANITIZE})
endif()

# For code that runs seldom, or waits for files and processes: without the optimisation of loops it compiles in two thirds of the time.
set(VITRINE_COLD_OPTIONS $<$<CONFIG:Release>:-O1>)

# vitrine_unite([FILES n] TARGETS...) compiles n files of a target together, else 6, which reads the large headers once for all of them.
# VITRINE_UNITE=OFF compiles each alone: quicker to change, and shows a file that forgot to include what it uses.
function(vitrine_unite)
  cmake_parse_arguments(arg "" "FILES" "" ${ARGN})
  if(NOT arg_FILES)
    set(arg_FILES 6)
  endif()
  if(VITRINE_UNITE)
    set_target_properties(${arg_UNPARSED_ARGUMENTS} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${arg_FILES})
  endif()
endfunction()

# vitrine_unite_rooms(TARGET [BY_FOLDER] [FILES n] [COLD regex]) does so for a library that its rooms fill. BY_FOLDER: a new file
# changes the company of its own folder only. COLD: folders that are compiled with VITRINE_COLD_OPTIONS. Called when the target has all
# its sources.
function(vitrine_unite_rooms target)
  if(NOT VITRINE_UNITE)
    return()
  endif()
  cmake_parse_arguments(arg "BY_FOLDER" "FILES;COLD" "" ${ARGN})
  if(NOT arg_FILES)
    set(arg_FILES 6)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder_of_build ${target} BINARY_DIR)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(SORT sources)
  set(keys)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${folder}")
    set(key "hot")
    if(arg_COLD AND folder MATCHES "${arg_COLD}")
      set(key "cold")
    endif()
    if(arg_BY_FOLDER)
      string(MAKE_C_IDENTIFIER "${key}_${folder}" key)
    endif()
    list(APPEND keys ${key})
    list(APPEND of_${key} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES keys)
  foreach(key IN LISTS keys)
    list(LENGTH of_${key} count)
    math(EXPR groups "(${count} + ${arg_FILES} - 1) / ${arg_FILES}")
    set(index 0)
    foreach(source IN LISTS of_${key})
      math(EXPR group "${index} * ${groups} / ${count}")
      math(EXPR index "${index} + 1")
      set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${key}_${group}")
      if(key MATCHES "^cold")
        set_source_files_properties("${folder_of_build}/CMakeFiles/${target}.dir/Unity/unity_${key}_${group}_cxx.cxx"
          TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${VITRINE_COLD_OPTIONS}")
      endif()
    endforeach()
  endforeach()
endfunction()

# What most files of a kind read first, measured by what it saves: LibTorch's headers take 8 s of the 14 s of a test that sees them.
set(VITRINE_HEADERS_plain <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional>
  <set> <span> <string> <string_view> <utility> <vector> <nlohmann/json.hpp>)
set(VITRINE_HEADERS_test ${VITRINE_HEADERS_plain} <fstream> <gmock/gmock.h> <gtest/gtest.h>)
set(VITRINE_HEADERS_store_test ${VITRINE_HEADERS_test})
set(VITRINE_HEADERS_torch ${VITRINE_HEADERS_plain} <ATen/ATen.h> <torch/nn/module.h>)
set(VITRINE_HEADERS_torch_test ${VITRINE_HEADERS_torch} <fstream> <gmock/gmock.h> <gtest/gtest.h>)
set(VITRINE_HEADERS_window ${VITRINE_HEADERS_plain} <QApplication> <QBoxLayout> <QComboBox> <QHeaderView> <QLabel> <QLineEdit>
  <QMenu> <QPainter> <QPushButton> <QStackedWidget> <QTimer> <QToolButton> <QTreeWidget>)
set(VITRINE_HEADERS_window_test ${VITRINE_HEADERS_window} <fstream> <gmock/gmock.h> <gtest/gtest.h>)

# With precompiled headers the same bug of g++ shows as overflows that are not there, where code is optimised.
set(VITRINE_PRECOMPILED_OPTIONS $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow;-Wno-array-bounds>>)

# vitrine_precompile(TARGET KIND) reads VITRINE_HEADERS_KIND once for all files of a target.
function(vitrine_precompile target kind)
  if(VITRINE_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${VITRINE_HEADERS_${kind}})
    target_compile_options(${target} PRIVATE ${VITRINE_PRECOMPILED_OPTIONS})
  endif()
endfunction()

# vitrine_share_precompiled(TARGET KIND [TEST] LINKS ...): the same, read once for all targets of that kind.
function(vitrine_share_precompiled target kind)
  cmake_parse_arguments(arg "TEST" "" "LINKS" ${ARGN})
  if(NOT VITRINE_PRECOMPILE)
    return()
  endif()
  set(owner vitrine_precompiled_${kind})
  if(NOT TARGET ${owner})
    set(source "${PROJECT_BINARY_DIR}/generated/${owner}.cpp")
    if(NOT EXISTS "${source}")
      file(WRITE "${source}" "// Holds the precompiled headers of kind ${kind}.\n")
    endif()
    add_library(${owner} OBJECT "${source}")
    target_link_libraries(${owner} PRIVATE ${arg_LINKS} vitrine_flags)
    target_include_directories(${owner} PRIVATE "${PROJECT_SOURCE_DIR}")
    if(kind MATCHES "torch")
      target_include_directories(${owner} BEFORE PRIVATE "${PROJECT_SOURCE_DIR}/core/cmake/light_torch")  # see the header in it
    endif()
    if(arg_TEST)  # as programs are compiled, see vitrine_add_test
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE -fPIE -O0)
    endif()
    set_target_properties(${owner} PROPERTIES JOB_POOL_COMPILE torch_compile)
    vitrine_precompile(${owner} ${kind})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(NOT arg_TEST)
    target_compile_options(${target} PRIVATE ${VITRINE_PRECOMPILED_OPTIONS})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")  # compiled as the library is that owns the header
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endif()
endfunction()

# vitrine_add_library(NAME) makes a shared library Vitrine::NAME from the sources its rooms add,
# with a generated export header core/NAME_export.h.
function(vitrine_add_library name)
  add_library(vitrine_${name} SHARED)
  add_library(Vitrine::${name} ALIAS vitrine_${name})
  set_target_properties(vitrine_${name} PROPERTIES
    EXPORT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  generate_export_header(vitrine_${name}
    BASE_NAME vitrine_${name}
    EXPORT_FILE_NAME "${PROJECT_BINARY_DIR}/generated/core/${name}_export.h")
  target_include_directories(vitrine_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/vitrine>)
  target_link_libraries(vitrine_${name} PRIVATE $<BUILD_INTERFACE:vitrine_flags>)
endfunction()

# vitrine_build_as_test(NAME LINKS...) compiles the program NAME as all tests are.
function(vitrine_build_as_test name)
  if(NOT TARGET vitrine_test_main)
    add_library(vitrine_test_main STATIC "${PROJECT_SOURCE_DIR}/tests/support/test_main.cpp")
    target_link_libraries(vitrine_test_main PUBLIC GTest::gmock PRIVATE vitrine_flags)
    target_include_directories(vitrine_test_main PRIVATE "${PROJECT_SOURCE_DIR}")
  endif()
  target_link_libraries(${name} PRIVATE ${ARGN} vitrine_test_main vitrine_flags)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  # A test spends its time in what it tests: optimising its own code takes longer than it saves.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  if("${ARGN}" MATCHES "vitrine_ui")  # without QTest, which is compiled with the folder of each test
    vitrine_share_precompiled(${name} window_test TEST
      LINKS vitrine_ui nlohmann_json::nlohmann_json GTest::gmock)
  elseif("${ARGN}" MATCHES "ui")
    # Few files, and with other parts of Qt.
  elseif("${ARGN}" MATCHES "Vitrine::store|vitrine_store")  # with Qt, which wants other flags
    vitrine_share_precompiled(${name} store_test TEST LINKS Qt6::Core nlohmann_json::nlohmann_json GTest::gmock)
  elseif("${ARGN}" MATCHES "engine|golden|_objects")
    vitrine_share_precompiled(${name} torch_test TEST LINKS vitrine_torch nlohmann_json::nlohmann_json GTest::gmock)
  elseif("${ARGN}" MATCHES "foundation")
    vitrine_share_precompiled(${name} test TEST LINKS nlohmann_json::nlohmann_json GTest::gmock)
  endif()
endfunction()

# vitrine_add_test(NAME SOURCES ... [LINKS ...] [LABELS ...] [TIMEOUT SECONDS] [FIRST SUITE] [ALONE SUITES...] [COSTS NAME SECONDS ...]
# [THREADS N]) makes one GoogleTest program. Each of its suites is a test of ctest, which may take TIMEOUT and 20 s for each test in it.
# A program with LibTorch, which takes longer to load than most suites to run, is one process and one test of ctest, "Suites", but for
# the suites that are ALONE: those that may be skipped, or that need a process of their own. LibTorch computes with THREADS, by default
# 1: tests run side by side, and small layers gain nothing from more. The other suites wait for suite FIRST, which prepares what they
# use. COSTS: ctest starts what takes long first.
function(vitrine_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;FIRST;THREADS" "SOURCES;LINKS;LABELS;ALONE;COSTS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  vitrine_build_as_test(${name} ${arg_LINKS})
  vitrine_unite(${name})
  target_compile_definitions(${name} PRIVATE
    VITRINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" VITRINE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  # A waiting thread of one test sleeps instead of taking the core from another, as in the program.
  set(environment "GOMP_SPINCOUNT=1000")
  set(joins OFF)
  if("${arg_LINKS}" MATCHES "engine|golden|_objects")
    set(joins ON)
    if(NOT arg_THREADS)
      set(arg_THREADS 1)
    endif()
    list(APPEND environment "OMP_NUM_THREADS=${arg_THREADS}")
  endif()
  set(properties "")
  if(arg_LABELS)
    set(properties LABELS "${arg_LABELS}")
  endif()
  set(suites "${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake")
  file(GENERATE OUTPUT "${suites}" CONTENT "set(name \"${name}\")
set(program \"$<TARGET_FILE:${name}>\")
set(folder \"${CMAKE_CURRENT_BINARY_DIR}\")
set(timeout ${arg_TIMEOUT})
set(environment \"${environment}\")
set(properties \"${properties}\")
set(joins ${joins})
set(alone \"${arg_ALONE}\")
set(first \"${arg_FIRST}\")
set(costs \"${arg_COSTS}\")
include(\"${PROJECT_SOURCE_DIR}/core/cmake/VitrineTestSuites.cmake\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${suites}")
endfunction()
