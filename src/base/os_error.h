#pragma once

#include <string_view>

namespace ingot {

// Throws the Error for a system call on a file that failed with `error_number` (a value of errno): not_found,
// invalid_argument, out_of_memory or device, with the path, what was tried ("write", "open") and a remedy.
[[noreturn]] void throw_os_error(int error_number, std::string_view object, std::string_view path,
                                 std::string_view action);

}  // namespace ingot
