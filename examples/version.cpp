// The smallest program that uses Ingot: says which library it runs with.
#include "ingot/version.h"

#include <iostream>

int main() {
  std::cout << "ingot " << ingot::version() << ", engine format " << ingot::kEngineFormatVersion
            << ", built with " << ingot::compiler() << "\n";
}
