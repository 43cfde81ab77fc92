#pragma once

#include <cstddef>
#include <new>
#include <string>

namespace grove {

/// Says what was wanted, and what there is.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// Memory of whole large pages, which the kernel is asked to make so: arrays of particles and nodes are read
/// at random, and with small pages the look-up of the page costs more than the data. Not cleared. bytes: any.
/// Errors: OutOfMemory; also where the system would promise more than the host has, and end a process later.
///
/// The pages of freed arrays are kept and given to the next ones: a step makes and drops the same arrays as
/// the step before, and on its first touch the kernel clears a page, which takes longer than to sort into it.
void* allocate_pages(std::size_t bytes);

/// bytes: as they were allocated.
void free_pages(void* memory, std::size_t bytes) noexcept;

/// The same for memory below a large page: the C library keeps what is freed instead of giving it back to the
/// system at once. Called once, before arrays are made. No effect where the library has no such setting.
void keep_freed_memory();

/// Gives the pages that are kept, but in no array, back to the system.
void release_pages() noexcept;

}  // namespace grove
