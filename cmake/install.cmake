# What `cmake --install` lays down: the library, the program, the public headers, what finds them
# (pkg-config, CMake package), the documentation and the examples. tests/install uses an installed copy
# from outside.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A header is public if it declares part of the library's interface (WB_API), is one of the two that
# have macros and inline functions only, or is included by a public one. The test of the installed
# copy compiles each alone.
set(WB_PUBLIC_HEADERS)
set(waiting)
foreach(header base/check.h compiler/dsl.h)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    list(APPEND waiting ${header})
  endif()
endforeach()
foreach(room IN LISTS WB_ROOMS)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
    ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.h)
  foreach(header IN LISTS headers)
    file(STRINGS ${header} declares REGEX "^WB_API " LIMIT_COUNT 1)
    if(declares)
      list(APPEND waiting ${header})
    endif()
  endforeach()
endforeach()
while(waiting)
  list(POP_FRONT waiting header)
  if(NOT header IN_LIST WB_PUBLIC_HEADERS)
    list(APPEND WB_PUBLIC_HEADERS ${header})
    get_filename_component(folder ${header} DIRECTORY)
    file(STRINGS ${header} includes REGEX "^#include \"")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included ${line})
      get_filename_component(path ${folder}/${included} ABSOLUTE
        BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
      file(RELATIVE_PATH path ${CMAKE_CURRENT_SOURCE_DIR} ${path})
      list(APPEND waiting ${path})
    endforeach()
  endif()
endwhile()
foreach(header IN LISTS WB_PUBLIC_HEADERS)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warpbook/${folder})
endforeach()

# the program finds the library beside it, wherever the prefix is
file(RELATIVE_PATH to_lib /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
target_include_directories(warpbook INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS warpbook EXPORT warpbookTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET warpbook_program)
  set_target_properties(warpbook_program PROPERTIES INSTALL_RPATH "$ORIGIN/${to_lib}")
  install(TARGETS warpbook_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# the code generator stands beside the library, which looks for it there
if(TARGET wb_llvm)
  install(TARGETS wb_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/warpbook)
install(EXPORT warpbookTargets NAMESPACE warpbook:: DESTINATION ${package})
configure_package_config_file(cmake/warpbookConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/warpbookConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/warpbookConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/warpbookConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/warpbookConfigVersion.cmake DESTINATION ${package})

# the pages, the examples and the day that both speak of, as they lie here: links and commands hold
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY data/sample DESTINATION ${CMAKE_INSTALL_DOCDIR}/data FILES_MATCHING PATTERN *.csv)

# made when it is installed: the prefix may be given only then
set(WB_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(WB_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(WB_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(WB_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
install(CODE "
  set(PROJECT_DESCRIPTION \"${PROJECT_DESCRIPTION}\")
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  set(WB_PC_LIBDIR [==[${WB_PC_LIBDIR}]==])
  set(WB_PC_INCLUDEDIR [==[${WB_PC_INCLUDEDIR}]==])
  configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/cmake/warpbook.pc.in\"
    \"${CMAKE_CURRENT_BINARY_DIR}/warpbook.pc\" @ONLY)")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/warpbook.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
