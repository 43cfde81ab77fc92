#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/array.hpp"

namespace grove {
namespace {

constexpr std::size_t page = std::size_t{2} << 20;

/// Bytes of [memory, memory + bytes) that the system holds in memory now.
[[maybe_unused]] std::size_t bytes_in_memory(void* memory, std::size_t bytes) {
  const auto small_page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> in_memory(bytes / small_page);
  EXPECT_EQ(mincore(memory, bytes, in_memory.data()), 0);
  std::size_t count = 0;
  for (const unsigned char flags : in_memory) count += flags & 1;
  return count * small_page;
}

TEST(Pages, arrays_keep_their_values_while_others_come_and_go) {
  std::vector<Array<std::uint32_t>> arrays;
  for (std::uint32_t i = 0; i < 12; ++i) {
    arrays.emplace_back((i + 1) * page / 8, i);  // from below a page to several
    if (i % 3 == 2) arrays[i - 1] = {};
  }
  for (std::uint32_t i = 0; i < arrays.size(); ++i)
    for (const std::uint32_t value : arrays[i]) ASSERT_EQ(value, i);
}

TEST(Pages, memory_is_aligned_to_cache_lines) {
  const std::size_t bytes = page + 1;
  void* const memory = allocate_pages(bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0u);
  free_pages(memory, bytes);
}

#if !defined(__SANITIZE_ADDRESS__)  // which allocates in our place

TEST(Pages, freed_ones_are_given_out_again_until_they_are_released) {
  const std::size_t bytes = 6 * page;
  release_pages();
  void* memory = allocate_pages(bytes);
  EXPECT_EQ(bytes_in_memory(memory, bytes), 0u);
  std::memset(memory, 1, bytes - page);  // the end is never written
  free_pages(memory, bytes);

  memory = allocate_pages(2 * bytes);
  EXPECT_EQ(bytes_in_memory(memory, 2 * bytes), bytes - page);
  free_pages(memory, 2 * bytes);

  release_pages();
  memory = allocate_pages(bytes);
  EXPECT_EQ(bytes_in_memory(memory, bytes), 0u);
  free_pages(memory, bytes);
}

#endif

TEST(Pages, say_what_was_wanted_where_the_host_has_not_so_much) {
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
  for (const std::size_t bytes : {std::size_t{1} << 46, std::size_t{1} << 62}) try {
      void* const memory = allocate_pages(bytes);
      free_pages(memory, bytes);
      ADD_FAILURE() << "a host with " << bytes << " bytes";
    } catch (const OutOfMemory& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(std::to_string(bytes >> 20) + " MiB more were asked for"), std::string::npos)
          << text;
    }
#else
  GTEST_SKIP() << "arrays come from the allocator of the language here";
#endif
}

}  // namespace
}  // namespace grove
