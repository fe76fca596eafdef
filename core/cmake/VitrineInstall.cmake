# cmake --install: the programs, the libraries with their plugins, and what a third party's plugin is built with.
#
#     <prefix>/bin/vitrine, vitrine-studio
#     <prefix>/<lib>/libvitrine_{foundation,engine,store}.so
#     <prefix>/<lib>/vitrine/engine_verbs.so, image_codecs.so, plugins/*.so
#     <prefix>/<lib>/cmake/Vitrine/          find_package(Vitrine 0.1), vitrine_add_plugin
#     <prefix>/include/vitrine/core/...      the same include paths as in the tree
#     <prefix>/share/vitrine/experiments, python/vitrine.py, <prefix>/share/doc/Vitrine

include(CMakePackageConfigHelpers)
set(vitrine_cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Vitrine")

# LibTorch stays where it is; its folder is found through the path the libraries were linked with.
set_target_properties(vitrine_foundation vitrine_engine vitrine_store PROPERTIES
  INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
set_property(TARGET vitrine_engine APPEND PROPERTY INSTALL_RPATH "$ORIGIN/vitrine")  # image_codecs.so
set_target_properties(vitrine PROPERTIES
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)

install(TARGETS vitrine_foundation vitrine_engine EXPORT VitrineTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS vitrine_store LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" NAMELINK_SKIP)
install(TARGETS vitrine RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET vitrine_engine_verbs)
  set_target_properties(vitrine_engine_verbs PROPERTIES INSTALL_RPATH "$ORIGIN/.." INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS vitrine_engine_verbs LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/vitrine")
endif()
if(TARGET vitrine_kernels_cuda)
  set_target_properties(vitrine_kernels_cuda PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS vitrine_kernels_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
foreach(studio vitrine-studio vitrine_studio)
  if(TARGET ${studio})
    set_target_properties(${studio} PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${studio} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()

foreach(room base config artifact run live files text model nn kernels data eval train plugin)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/${room}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/vitrine/core/${room}"
    FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES
  "${PROJECT_BINARY_DIR}/generated/core/foundation_export.h" "${PROJECT_BINARY_DIR}/generated/core/engine_export.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/vitrine/core")

install(EXPORT VitrineTargets NAMESPACE Vitrine:: DESTINATION "${vitrine_cmake_folder}")
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/VitrineConfig.cmake.in" "${PROJECT_BINARY_DIR}/generated/VitrineConfig.cmake"
  INSTALL_DESTINATION "${vitrine_cmake_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/VitrineConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/generated/VitrineConfig.cmake" "${PROJECT_BINARY_DIR}/generated/VitrineConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/VitrineTorch.cmake" "${CMAKE_CURRENT_LIST_DIR}/VitrinePlugin.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/plugin.json.in" "${CMAKE_CURRENT_LIST_DIR}/plugin.cpp.in"
  DESTINATION "${vitrine_cmake_folder}")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/experiments/" DESTINATION "${CMAKE_INSTALL_DATADIR}/vitrine/experiments")
install(FILES "${PROJECT_SOURCE_DIR}/resources/python/vitrine.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/vitrine/python")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/resources/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
