# Run with FILES, SALT, CONSTANT and OUTPUT: writes a header with the SHA-256 of the salt and the files, names included.
set(text "${SALT}\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(SHA256 ${file} digest)
  string(APPEND text "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${text}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once
namespace ingot {
inline constexpr char ${CONSTANT}[] = \"${digest}\";
}
")
