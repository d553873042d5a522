# zarrive_precompile(target header | target REUSE_FROM other): headers of others that most files include, read once. Each file still
# includes what it uses, so that it compiles without (ZARRIVE_PCH=OFF). AUTO takes them for debug builds alone: optimising, g++ 12 no longer
# knows precompiled headers as the system's, and warns falsely of what strings do in them. ON turns those warnings off.
function(zarrive_precompile target)
  if(NOT ZARRIVE_PCH OR (ZARRIVE_PCH STREQUAL "AUTO" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug"))
    return()
  endif()
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/${ARGV1})
  endif()
  # What ccache asks for, to keep objects that were compiled with one.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endfunction()

# zarrive_flags: how our own sources are compiled (never passed on to users): warnings, sanitizers, coverage.
add_library(zarrive_flags INTERFACE)
target_compile_options(zarrive_flags INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${ZARRIVE_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(zarrive_flags INTERFACE -Wno-restrict) # false alarms on "text" + string (GCC PR 105651)
endif()
target_compile_definitions(zarrive_flags INTERFACE
  $<$<BOOL:${ZARRIVE_HAVE_ISAL}>:ZARRIVE_HAVE_ISAL> $<$<BOOL:${ZARRIVE_HAVE_ZFP}>:ZARRIVE_HAVE_ZFP>)
if(ZARRIVE_SANITIZE)
  target_compile_options(zarrive_flags INTERFACE -fsanitize=${ZARRIVE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(zarrive_flags INTERFACE -fsanitize=${ZARRIVE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(zarrive_flags INTERFACE -Wno-maybe-uninitialized) # false alarms in instrumented code
  endif()
  if(ZARRIVE_SANITIZE MATCHES "undefined")
    target_compile_options(zarrive_flags INTERFACE -fno-sanitize-recover=undefined) # a finding is a failure, not a line in a log
  endif()
endif()
if(ZARRIVE_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(zarrive_flags INTERFACE -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/sanitizer-ignore.txt)
endif()
if(ZARRIVE_COVERAGE)
  target_compile_options(zarrive_flags INTERFACE --coverage -fprofile-update=atomic)
  target_compile_definitions(zarrive_flags INTERFACE ZARRIVE_COVERAGE)  # forked children of tests write their counts
  target_link_options(zarrive_flags INTERFACE --coverage)
endif()
