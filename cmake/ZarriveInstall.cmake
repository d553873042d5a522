# Headers, both libraries, the command, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
set(ZARRIVE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/zarrive)

install(DIRECTORY include/zarrive TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp")
install(TARGETS zarrive EXPORT zarrive-shared)
install(TARGETS zarrive_static EXPORT zarrive-static)
if(TARGET zarrive_cli)
  install(TARGETS zarrive_cli)
endif()
install(FILES LICENSE TYPE DOC)

# Two export sets: only who links the static library needs the compression libraries' development files.
install(EXPORT zarrive-shared NAMESPACE zarrive:: DESTINATION ${ZARRIVE_CMAKE_DIR})
install(EXPORT zarrive-static NAMESPACE zarrive:: DESTINATION ${ZARRIVE_CMAKE_DIR})
configure_package_config_file(cmake/zarrive-config.cmake.in zarrive-config.cmake INSTALL_DESTINATION ${ZARRIVE_CMAKE_DIR})
write_basic_package_version_file(zarrive-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/zarrive-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/zarrive-config-version.cmake
  cmake/ZarriveDependencies.cmake DESTINATION ${ZARRIVE_CMAKE_DIR})

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH ZARRIVE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" ZARRIVE_PC_PREFIX "${ZARRIVE_PC_PREFIX}")
set(ZARRIVE_PC_REQUIRES "blosc libzstd libdeflate zlib liblzma liblz4")
set(ZARRIVE_PC_LIBS "-lbz2 -pthread")
if(ZARRIVE_HAVE_ISAL)
  string(APPEND ZARRIVE_PC_REQUIRES " libisal")
endif()
if(ZARRIVE_HAVE_ZFP)
  string(PREPEND ZARRIVE_PC_LIBS "-lzfp ")
endif()
configure_file(cmake/zarrive.pc.in zarrive.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/zarrive.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
