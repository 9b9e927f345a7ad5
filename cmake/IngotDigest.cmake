# ingot_digest_header(TARGET HEADER CONSTANT files...): a generated header, included as HEADER by the target and those who
# link it, with the SHA-256 over the files, the version and the compiler as the string CONSTANT.
function(ingot_digest_header target header constant)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/include/${header})
  set(script ${PROJECT_SOURCE_DIR}/cmake/digest_header.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARGN}" -DOUTPUT=${output} -DCONSTANT=${constant}
            "-DSALT=${PROJECT_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -P ${script}
    DEPENDS ${ARGN} ${script}
    COMMENT "Digest ${header}" VERBATIM)
  add_custom_target(${target}_generated_headers DEPENDS ${output})
  add_dependencies(${target} ${target}_generated_headers)
  target_include_directories(${target} PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/include)
endfunction()
