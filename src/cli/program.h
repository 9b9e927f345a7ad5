#pragma once

namespace ingot::cli {

// The whole program; returns its exit code and lets no exception out.
int run_program(int argc, char** argv);

}  // namespace ingot::cli
