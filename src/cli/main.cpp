#include "cli/program.h"

int main(int argc, char** argv) { return ingot::cli::run_program(argc, argv); }
