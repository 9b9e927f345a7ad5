#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "ingot/error.h"
#include "ingot/tensor.h"

namespace ingot::cli {

// To standard output. Errors of writing (a full disk behind a redirection) are thrown by flush_output() at
// the latest.
void print_text(std::string_view text);
void print_json(const nlohmann::ordered_json& json);  // one object on one line
void flush_output();

// To standard error: one sentence, then the details, one a line.
void print_error(std::string_view command, const Error& error);

std::string format_seconds(double seconds);  // "1.24 ms"
std::string format_bytes(uint64_t bytes);    // "4.7 MB"

}  // namespace ingot::cli
