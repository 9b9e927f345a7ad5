#include "kernel/kernel_image.h"

#include <cstring>

#include "base/checked.h"

namespace ingot::kernel {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr char kMagic[8] = {'K', 'E', 'R', 'N', 'E', 'L', 'S', '1'};

struct Header {
  char magic[8];
  uint64_t count;
};

// Sorted by key behind the header.
struct Row {
  Digest key;
  uint64_t offset;  // from the start of the image
  uint64_t bytes;
};

template <class T>
T read(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

Row row_at(std::span<const std::byte> image, size_t index) {
  return read<Row>(image, sizeof(Header) + index * sizeof(Row));
}

bool is_sound(const Row& row, uint64_t image_bytes) {
  return row.bytes > 0 && row.offset % kAlignment == 0 && range_fits(row.offset, row.bytes, image_bytes);
}

template <class T>
void write(std::vector<std::byte>& image, size_t offset, const T& value) {
  std::memcpy(image.data() + offset, &value, sizeof(T));
}

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

std::optional<KernelImage> KernelImage::open(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Header)) return std::nullopt;
  const auto header = read<Header>(bytes, 0);
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) return std::nullopt;
  if (header.count > (bytes.size() - sizeof(Header)) / sizeof(Row)) return std::nullopt;
  for (size_t i = 0; i < header.count; ++i)
    if (!is_sound(row_at(bytes, i), bytes.size())) return std::nullopt;
  return KernelImage(bytes, header.count);
}

std::span<const std::byte> KernelImage::find(const Digest& key) const {
  size_t low = 0;
  size_t high = count_;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const Row row = row_at(bytes_, middle);
    if (row.key == key) return bytes_.subspan(row.offset, row.bytes);
    (row.key < key ? low : high) = row.key < key ? middle + 1 : middle;
  }
  return {};
}

std::map<Digest, std::span<const std::byte>> KernelImage::kernels() const {
  std::map<Digest, std::span<const std::byte>> all;
  for (size_t i = 0; i < count_; ++i) {
    const Row row = row_at(bytes_, i);
    all.emplace(row.key, bytes_.subspan(row.offset, row.bytes));
  }
  return all;
}

std::vector<std::byte> make_image(const std::map<Digest, std::span<const std::byte>>& kernels) {
  Header header = {.magic = {}, .count = kernels.size()};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  size_t row_offset = sizeof(Header);
  std::vector<std::byte> image(sizeof(Header) + kernels.size() * sizeof(Row));
  write(image, 0, header);
  for (const auto& [key, code] : kernels) {
    image.resize(aligned(image.size()));
    write(image, row_offset, Row{key, image.size(), code.size()});
    row_offset += sizeof(Row);
    image.insert(image.end(), code.begin(), code.end());
  }
  return image;
}

}  // namespace ingot::kernel
