#include "base/array.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace grove {
namespace {

constexpr std::size_t page = std::size_t{2} << 20;

}  // namespace

void* allocate_pages(std::size_t bytes) {
  void* memory = ::operator new (bytes, std::align_val_t{page});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Whole pages only: the rest may belong to others. A refusal costs speed alone.
  madvise(memory, bytes / page * page, MADV_HUGEPAGE);
#endif
  return memory;
}

void free_pages(void* memory) noexcept { ::operator delete (memory, std::align_val_t{page}); }

}  // namespace grove
