#include "ingot/version.h"

namespace ingot {

std::string_view version() { return INGOT_VERSION; }

std::string_view compiler() { return INGOT_COMPILER; }

}  // namespace ingot
