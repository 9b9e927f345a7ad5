# Run by CTest with SOURCE_DIR, BUILD_DIR, WORK_DIR, VERSION, CXX and CXX_FLAGS.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
# A package must not remember where it was installed.
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/prefix)
# Nor may the examples find anything of the tree beside them.
file(COPY ${SOURCE_DIR}/examples DESTINATION ${WORK_DIR})

# Every installed header must compile on its own.
file(GLOB_RECURSE headers RELATIVE ${WORK_DIR}/prefix/include ${WORK_DIR}/prefix/include/*.h)
if(NOT headers)
  message(FATAL_ERROR "no header was installed")
endif()
foreach(header ${headers})
  string(MAKE_C_IDENTIFIER ${header} name)
  file(WRITE ${WORK_DIR}/headers/${name}.cpp "#include \"${header}\"\n#include \"${header}\"\n")
endforeach()
file(WRITE ${WORK_DIR}/headers/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(Headers LANGUAGES CXX)
find_package(Ingot ${VERSION} REQUIRED)
file(GLOB sources *.cpp)
add_library(headers STATIC \${sources})
target_compile_options(headers PRIVATE -Wall -Wextra -Werror)
target_link_libraries(headers PRIVATE Ingot::ingot)
")

foreach(project examples headers)
  run(${CMAKE_COMMAND} -S ${WORK_DIR}/${project} -B ${WORK_DIR}/build-${project} -G Ninja
      -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/build-${project})
endforeach()

run(${WORK_DIR}/build-examples/version)
if(NOT output MATCHES "^ingot ${VERSION}, engine format [0-9]+")
  message(FATAL_ERROR "the version example printed: ${output}")
endif()
list(LENGTH headers count)
message(STATUS "${count} headers compile on their own; the examples build; ${output}")
