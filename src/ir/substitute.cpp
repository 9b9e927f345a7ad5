#include "ir/substitute.h"

namespace ingot {

Type substitute(const Type& type, const std::function<std::optional<Dim>(std::string_view name)>& binding) {
  Type out = type;
  if (out.inner) out.inner = std::make_shared<const Type>(substitute(*type.inner, binding));
  if (out.dims)
    for (Dim& d : *out.dims) d = d.substitute(binding);
  return out;
}

}  // namespace ingot
