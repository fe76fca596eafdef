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
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${launcher}")
endif()

# A file that sees LibTorch takes over a gigabyte to compile: never more than two at once.
set_property(GLOBAL PROPERTY JOB_POOLS torch_compile=2)

# Flags of our own code live here, never in CMAKE_CXX_FLAGS, and are not exported.
add_library(vitrine_flags INTERFACE)
target_compile_options(vitrine_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor>
  # g++ 12 sees overlaps in "text" + std::string(...) that are not there (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${VITRINE_WERROR}>>:-Werror>)
if(VITRINE_SANITIZE)
  target_compile_options(vitrine_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${VITRINE_SANITIZE} -fno-omit-frame-pointer>)
  target_link_options(vitrine_flags INTERFACE -fsanitize=${VITRINE_SANITIZE})
endif()

# vitrine_unite(TARGETS...) compiles files of a target together, which reads the large headers once for all of them.
# VITRINE_UNITE=OFF compiles each alone: quicker to change, and shows a file that forgot to include what it uses.
function(vitrine_unite)
  if(VITRINE_UNITE)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
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

# vitrine_add_test(NAME SOURCES ... [LINKS ...] [LABELS ...] [TIMEOUT SECONDS]) makes one GoogleTest program.
function(vitrine_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} GTest::gmock GTest::gtest_main vitrine_flags)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE
    VITRINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" VITRINE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  # A test spends its time in what it tests: optimising its own code takes longer than it saves.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  # Tests run side by side: a waiting thread of one sleeps instead of taking the core from another, as in the program.
  set(properties TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "GOMP_SPINCOUNT=1000")
  if(arg_LABELS)
    list(APPEND properties LABELS "${arg_LABELS}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES ${properties})
endfunction()
