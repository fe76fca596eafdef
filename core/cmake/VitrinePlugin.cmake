# vitrine_add_plugin(ID VERSION x.y.z SOURCES ... [NAMESPACE name | PLUGIN plugin.cpp] [LINKS ...])
#
# SOURCES become an OBJECT library without Qt, vitrine_ID_objects: tests and the GPU machine link it directly. Together with
# the one file that has the root object they are the MODULE vitrine_ID. With NAMESPACE that file is generated and calls
# name::registerAll(vitrine::Registry&) of SOURCES; with PLUGIN it is yours. The same call serves a third party after
# find_package(Vitrine).
# The manifest is generated as ID.json next to the build: Q_PLUGIN_METADATA(... FILE "ID.json").

set(VITRINE_COMPILER "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
set(VITRINE_VERSION_MINOR "0.1")
set(VITRINE_PLUGIN_TEMPLATE "${CMAKE_CURRENT_LIST_DIR}/plugin.json.in")
set(VITRINE_PLUGIN_ROOT "${CMAKE_CURRENT_LIST_DIR}/plugin.cpp.in")

function(vitrine_add_plugin plugin_id)
  cmake_parse_arguments(arg "" "VERSION;PLUGIN;NAMESPACE" "SOURCES;LINKS" ${ARGN})
  set(plugin_version "${arg_VERSION}")
  set(plugin_namespace "${arg_NAMESPACE}")
  set(objects vitrine_${plugin_id}_objects)
  add_library(${objects} OBJECT ${arg_SOURCES})
  target_link_libraries(${objects} PUBLIC Vitrine::engine ${arg_LINKS})
  target_compile_features(${objects} PUBLIC cxx_std_20)
  set_target_properties(${objects} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(TARGET vitrine_flags)  # within Vitrine's own build
    target_link_libraries(${objects} PRIVATE vitrine_flags)
    set_target_properties(${objects} PROPERTIES JOB_POOL_COMPILE torch_compile)
  endif()
  if(NOT (arg_PLUGIN OR arg_NAMESPACE) OR NOT TARGET Qt6::Core)
    return()
  endif()

  configure_file("${VITRINE_PLUGIN_TEMPLATE}" "${CMAKE_CURRENT_BINARY_DIR}/${plugin_id}.json" @ONLY)
  if(arg_NAMESPACE)
    set(arg_PLUGIN "${CMAKE_CURRENT_BINARY_DIR}/${plugin_id}_plugin.cpp")
    configure_file("${VITRINE_PLUGIN_ROOT}" "${arg_PLUGIN}" @ONLY)
  endif()
  add_library(vitrine_${plugin_id} MODULE ${arg_PLUGIN})
  set_property(GLOBAL APPEND PROPERTY VITRINE_PLUGINS vitrine_${plugin_id})
  target_link_libraries(vitrine_${plugin_id} PRIVATE ${objects} Qt6::Core)
  target_include_directories(vitrine_${plugin_id} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  target_compile_definitions(vitrine_${plugin_id} PRIVATE QT_NO_KEYWORDS)
  set_target_properties(vitrine_${plugin_id} PROPERTIES
    AUTOMOC ON AUTOMOC_MOC_OPTIONS "-I${CMAKE_CURRENT_BINARY_DIR}" PREFIX "" OUTPUT_NAME "${plugin_id}"
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    INSTALL_RPATH "$ORIGIN/../.." INSTALL_RPATH_USE_LINK_PATH ON)
  if(TARGET vitrine_flags)
    target_link_libraries(vitrine_${plugin_id} PRIVATE vitrine_flags)
    set_target_properties(vitrine_${plugin_id} PROPERTIES JOB_POOL_COMPILE torch_compile)
  endif()
  if(VITRINE_PLUGIN_OUTPUT_DIRECTORY)
    set_target_properties(vitrine_${plugin_id} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY "${VITRINE_PLUGIN_OUTPUT_DIRECTORY}")
  endif()
  install(TARGETS vitrine_${plugin_id} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/vitrine/plugins")
endfunction()
