# Language level, warnings, and the tools that make two cores enough: ccache and a fast linker where present.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1 -D_GLIBCXX_ASSERTIONS")  # not cached: project() has already cached an empty value
# For programs too: CMake would give them -fPIE, and a precompiled header serves only one of the two.
add_compile_options(-fPIC)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need these two; base_dir lets checkouts in different folders share results.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# Warnings apply to this project's code only; they are not exported to users of the library.
add_library(ingot_options INTERFACE)
target_compile_options(ingot_options INTERFACE -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ingot_options INTERFACE -fpch-preprocess)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # With full inlining GCC 12 reports overlapping and oversized copies inside std::string that cannot happen.
    target_compile_options(ingot_options INTERFACE
                           $<$<CONFIG:Release>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>)
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
      # It sees members of an empty std::optional read, after the test that it is not empty.
      target_compile_options(ingot_options INTERFACE -Wno-maybe-uninitialized)
    endif()
  endif()
endif()
