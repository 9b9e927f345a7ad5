#pragma once

#include <chrono>
#include <functional>

#include "cache/cache_folder.h"
#include "cache/cache_memory.h"

// Many entries in one piece of bytes; FORMAT.md has every byte.
namespace ingot {

// Equal entries give equal bytes.
std::vector<std::byte> make_container(std::vector<NamedEntry> entries);

struct ContainerContent {
  std::vector<NamedEntry> entries;  // those that are sound; they keep the memory alive
  uint64_t damaged = 0;             // the others
};

// No bytes at all hold no entries. Throws Error(corrupt) for what is no container, incompatible for one of
// another format; `name` says in errors which. What is wrong with an entry costs that entry alone.
ContainerContent read_container(const std::shared_ptr<const Mapping>& memory, const std::string& name);

// The same for a file that others cannot have written; not_found where there is none, device where it is not
// private.
ContainerContent read_container_file(const std::string& path, CacheTrust trust);

// Replaces the file by what `change` makes of its content, which is empty where there is none or it is of
// another format. One process at a time: nothing that another adds is lost. Throws Error(corrupt) for a file
// that is no container, which stays; device where it cannot be written or another process holds it longer
// than `wait`.
void update_container_file(const std::string& path, std::chrono::milliseconds wait,
                           const std::function<std::vector<NamedEntry>(ContainerContent)>& change);

// Adds entries to others, each name once: of two the one used later. Keeps those used last within the limit.
std::vector<NamedEntry> merge_entries(std::vector<NamedEntry> into, std::vector<NamedEntry> added,
                                      uint64_t limit_bytes);

}  // namespace ingot
