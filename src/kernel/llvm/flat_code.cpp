#include "kernel/llvm/flat_code.h"

#include <elf.h>

#include <cstring>

#include "base/checked.h"
#include "ingot/error.h"

namespace ingot::kernel {
namespace {

constexpr size_t kAlignment = 64;
constexpr std::byte kTrap{0xcc};  // int3, between sections

[[noreturn]] void fail(std::string expected, std::string observed) {
  throw Error({.code = ErrorCode::internal,
               .object = "kernel object",
               .expected = std::move(expected),
               .observed = std::move(observed),
               .remedy = "This is a fault of Ingot's code generator; please report it."});
}

// Reads an ELF object, every offset checked.
class Object {
 public:
  explicit Object(std::span<const std::byte> bytes) : bytes_(bytes), header_(read<Elf64_Ehdr>(0)) {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_machine != EM_X86_64)
      fail("an x86-64 ELF object", "something else");
    names_ = section(header_.e_shstrndx);
  }

  size_t section_count() const { return header_.e_shnum; }
  Elf64_Shdr section(size_t index) const {
    if (index >= header_.e_shnum) fail("a section of the object", fmt::format("section {}", index));
    return read<Elf64_Shdr>(header_.e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::string_view name(const Elf64_Shdr& section) const { return text(names_, section.sh_name); }

  std::span<const std::byte> content(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) fail("no zeroed data", std::string(name(section)));
    return range(section.sh_offset, section.sh_size);
  }
  std::string_view text(const Elf64_Shdr& strings, size_t offset) const {
    const auto all = range(strings.sh_offset, strings.sh_size);
    if (offset >= all.size()) fail("a name inside its table", fmt::format("offset {}", offset));
    const auto* start = reinterpret_cast<const char*>(all.data()) + offset;
    return {start, strnlen(start, all.size() - offset)};
  }

  template <class T>
  T read(size_t offset) const {
    T value;
    std::memcpy(&value, range(offset, sizeof(T)).data(), sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> range(size_t offset, size_t size) const {
    if (!range_fits(offset, size, bytes_.size()))
      fail("a complete object", fmt::format("{} bytes", bytes_.size()));
    return bytes_.subspan(offset, size);
  }

  std::span<const std::byte> bytes_;
  Elf64_Ehdr header_;
  Elf64_Shdr names_;
};

class Linker {
 public:
  Linker(const Object& object, std::string_view entry)
      : object_(object), place_(object.section_count(), kAbsent) {
    for (size_t i = 0; i < object_.section_count(); ++i)
      if (object_.section(i).sh_type == SHT_SYMTAB) symbols_ = object_.section(i);
    place(find_function(entry));
    for (size_t i = 0; i < object_.section_count(); ++i)
      if (place_[i] == kAbsent && is_wanted(object_.section(i))) place(i);
  }

  Code link() {
    for (size_t i = 0; i < object_.section_count(); ++i) {
      const Elf64_Shdr section = object_.section(i);
      if (section.sh_type == SHT_RELA && place_.at(section.sh_info) != kAbsent) relocate_section(section);
    }
    return std::move(code_);
  }

 private:
  static constexpr uint64_t kAbsent = ~uint64_t{0};

  size_t symbol_count() const { return symbols_.sh_size / sizeof(Elf64_Sym); }
  Elf64_Sym symbol(size_t index) const {
    if (index >= symbol_count()) fail("a symbol of the object", fmt::format("symbol {}", index));
    return object_.read<Elf64_Sym>(symbols_.sh_offset + index * sizeof(Elf64_Sym));
  }
  std::string_view name(const Elf64_Sym& symbol) const {
    return object_.text(object_.section(symbols_.sh_link), symbol.st_name);
  }

  // The section that begins with the function.
  size_t find_function(std::string_view entry) const {
    for (size_t i = 0; i < symbol_count(); ++i) {
      const Elf64_Sym candidate = symbol(i);
      if (name(candidate) != entry) continue;
      if (candidate.st_value != 0 || !is_wanted(object_.section(candidate.st_shndx)))
        fail(fmt::format("function '{}' at the start of a section", entry), "another place");
      return candidate.st_shndx;
    }
    fail(fmt::format("a function '{}'", entry), "none");
  }

  // Unwind tables are left out: nothing is thrown through a kernel.
  bool is_wanted(const Elf64_Shdr& section) const {
    const std::string_view name = object_.name(section);
    if (!(section.sh_flags & SHF_ALLOC) || section.sh_size == 0 || name == ".eh_frame") return false;
    if (!(section.sh_flags & SHF_WRITE) && (name.starts_with(".text") || name.starts_with(".rodata")))
      return true;
    fail("code and read-only data alone", fmt::format("section '{}'", name));
  }

  void place(size_t index) {
    const Elf64_Shdr section = object_.section(index);
    if (section.sh_addralign > kAlignment)
      fail(fmt::format("alignment up to {}", kAlignment), fmt::format("{}", section.sh_addralign));
    code_.resize((code_.size() + kAlignment - 1) / kAlignment * kAlignment, kTrap);
    place_[index] = code_.size();
    const auto content = object_.content(section);
    code_.insert(code_.end(), content.begin(), content.end());
  }

  void relocate_section(const Elf64_Shdr& table) {
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.sh_size; at += sizeof(Elf64_Rela))
      relocate(object_.read<Elf64_Rela>(table.sh_offset + at), place_[table.sh_info]);
  }

  void relocate(const Elf64_Rela& relocation, uint64_t base) {
    const uint64_t type = ELF64_R_TYPE(relocation.r_info);
    const Elf64_Sym target = symbol(ELF64_R_SYM(relocation.r_info));
    if (target.st_shndx >= place_.size() || place_[target.st_shndx] == kAbsent)
      fail("references inside the kernel", fmt::format("symbol '{}'", name(target)));
    const uint64_t place = base + relocation.r_offset;
    const uint64_t distance =
        place_[target.st_shndx] + target.st_value + static_cast<uint64_t>(relocation.r_addend) - place;
    if (type == R_X86_64_PC32 || type == R_X86_64_PLT32) return patch(place, static_cast<uint32_t>(distance));
    if (type == R_X86_64_PC64) return patch(place, distance);
    fail("relative references", fmt::format("relocation type {} against '{}'", type, name(target)));
  }

  template <class T>
  void patch(uint64_t place, T value) {
    if (!range_fits(place, sizeof(T), code_.size()))
      fail("a relocation inside its section", fmt::format("{}", place));
    std::memcpy(code_.data() + place, &value, sizeof(T));
  }

  const Object& object_;
  std::vector<uint64_t> place_;  // of each section in code_
  Elf64_Shdr symbols_ = {};
  Code code_;
};

}  // namespace

Code link_flat(std::span<const std::byte> object, std::string_view entry) {
  const Object elf(object);
  return Linker(elf, entry).link();
}

}  // namespace ingot::kernel
