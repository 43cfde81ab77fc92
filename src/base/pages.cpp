#include "base/pages.hpp"

#include <new>

#include "base/memory.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

// The address sanitizer sees only what the allocators of the language hand out.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

namespace grove {
namespace {

constexpr std::size_t page = std::size_t{2} << 20;

constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

/// The system is asked if it has so many new bytes, which takes as long as to clear a page.
constexpr std::size_t many = 32 * page;

void require_room(std::size_t bytes) {
  if (bytes < many) return;
  const double room = available_memory();
  if (room > 0 && static_cast<double>(bytes) > room) throw OutOfMemory(bytes);
}

/// Addresses of `size` bytes, from a multiple of the page on, without memory behind them yet.
char* reserve(std::size_t size) {
  void* const reserved =
      mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) throw OutOfMemory(size);
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(reserved) % page) % page;
  char* const begin = static_cast<char*>(reserved) + before;
  if (before > 0) munmap(reserved, before);
  munmap(begin + size, page - before);
  madvise(begin, size, MADV_HUGEPAGE);  // a refusal costs speed alone
  return begin;
}

bool is_in_memory(char* p) {
  unsigned char first = 0;  // of the system's small pages
  return mincore(p, 1, &first) == 0 && (first & 1) != 0;
}

/// Pages of freed arrays. The kernel moves a page to another address without touching what is in it.
class KeptPages {
 public:
  void* allocate(std::size_t size) {
    const std::lock_guard lock(mutex_);
    require_room(size - std::min(size, kept_.size() * page));
    char* const begin = reserve(size);
    pages_ += size / page;
    kept_.reserve(kept_.size() + pages_);  // so that free() needs no memory
    for (char* p = begin; p < begin + size && !kept_.empty(); p += page) {
      char* const kept = kept_.back();
      kept_.pop_back();
      if (mremap(kept, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, p) == MAP_FAILED) replace(kept, p);
    }
    return begin;
  }

  void free(void* memory, std::size_t size) noexcept {
    const std::lock_guard lock(mutex_);
    pages_ -= size / page;
    char* const begin = static_cast<char*>(memory);
    char* end = begin + size;
    // The room at the end of an array may never have been written, and has no memory to give.
    for (; end > begin && !is_in_memory(end - page); end -= page) munmap(end - page, page);
    for (; end > begin; end -= page) kept_.push_back(end - page);
  }

  void release() noexcept {
    const std::lock_guard lock(mutex_);
    for (char* p : kept_) munmap(p, page);
    kept_.clear();
  }

 private:
  /// A fresh page at p instead of a kept one, which the kernel did not move (a limit of mappings).
  static void replace(char* kept, char* p) {
    munmap(kept, page);
    if (mmap(p, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      throw OutOfMemory(page);
  }

  std::mutex mutex_;
  std::vector<char*> kept_;
  std::size_t pages_ = 0;  ///< in arrays
};

KeptPages& kept_pages() {
  static auto* const pages = new KeptPages;  // never destroyed: arrays of other statics may end later
  return *pages;
}

}  // namespace

void* allocate_pages(std::size_t bytes) { return kept_pages().allocate(whole_pages(bytes)); }

void free_pages(void* memory, std::size_t bytes) noexcept { kept_pages().free(memory, whole_pages(bytes)); }

void release_pages() noexcept { kept_pages().release(); }

}  // namespace grove

#else

namespace grove {

namespace {
constexpr std::align_val_t alignment{64};
}

void* allocate_pages(std::size_t bytes) { return ::operator new(bytes, alignment); }

void free_pages(void* memory, std::size_t) noexcept { ::operator delete(memory, alignment); }

void release_pages() noexcept {}

}  // namespace grove

#endif

namespace grove {

OutOfMemory::OutOfMemory(std::size_t bytes) {
  const auto mebibytes = [](double amount) {
    return std::to_string(static_cast<std::size_t>(amount) >> 20) + " MiB";
  };
  text_ = "out of memory: " + mebibytes(static_cast<double>(bytes)) +
          " more were asked for; this rank uses " + mebibytes(memory_use().now) + ", this host has " +
          mebibytes(available_memory()) +
          " left for it: use more hosts, or fewer ranks on each ('grove run --check' says what a run needs)";
}

void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 2 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

}  // namespace grove
