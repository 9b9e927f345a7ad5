#include "tensor_io/digest.h"

namespace ingot {
namespace {

void update(Sha256& sha, const Tensor& tensor) {
  sha.update(tensor.bytes());
  if (!tensor.is_string()) return;
  for (const std::string& text : tensor.strings())
    sha.update(std::string_view(text.c_str(), text.size() + 1));
}

}  // namespace

Digest content_digest(const Datum& datum) {
  Sha256 sha;
  if (datum.is_tensor()) update(sha, datum.tensor());
  if (datum.is_sequence())
    for (const Tensor& t : datum.sequence()) update(sha, t);
  return sha.finish();
}

}  // namespace ingot
