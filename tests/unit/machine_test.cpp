#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "machine/rank_place.hpp"

namespace grove {
namespace {

TEST(CpuSet, is_read_and_written_as_the_kernel_does) {
  for (const char* list : {"0", "0-3", "0-3,8", "1,3,5-7", "4095"})
    EXPECT_EQ(text_of(*parse_cpus(list)), list);
  EXPECT_EQ(parse_cpus("0-3,8\n")->count(), 5u);
  EXPECT_EQ(text_of(*parse_cpus("")), "none");
  for (const char* list : {"a", "3-1", "1-", "-1", "1;2", "0x3"}) EXPECT_FALSE(parse_cpus(list)) << list;
}

RankPlace place(const char* host, const char* cores, const char* numa = "0") {
  RankPlace result;
  std::strcpy(result.host.data(), host);
  result.cpus = result.cores = *parse_cpus(cores);
  result.numa = *parse_cpus(numa);
  return result;
}

RankPlace with_gpu(RankPlace place, char number, int numa = -1) {
  place.gpu.is_there = true;
  place.gpu.identity[0] = number;
  place.gpu.numa = numa;
  return place;
}

/// The warnings about a placement hold these words, and there are so many.
void expect_warnings(const std::vector<RankPlace>& places, const std::vector<std::string>& words) {
  const std::vector<std::string> warnings = warnings_about(places);
  std::string all;
  for (const std::string& warning : warnings) all += warning + "\n";
  EXPECT_EQ(warnings.size(), words.size()) << all;
  for (const std::string& word : words)
    EXPECT_NE(all.find(word), std::string::npos) << word << " in:\n" << all;
}

TEST(Doctor, finds_nothing_wrong_where_each_rank_can_have_a_core) {
  expect_warnings({place("a", "0"), place("a", "1"), place("b", "0")}, {});
  expect_warnings({place("a", "0-1"), place("a", "0-1")}, {});
  // The first two leave core 2 to the third, though its choice is taken at first.
  expect_warnings({place("a", "0-2"), place("a", "0-1"), place("a", "0")}, {});
}

TEST(Doctor, warns_of_ranks_that_share_a_core) {
  expect_warnings({place("a", "0"), place("a", "0"), place("b", "0")}, {"a: 2 ranks have 1 core between"});
  expect_warnings({place("a", "0-1"), place("a", "0-1"), place("a", "0-1")}, {"a: 3 ranks have 2 cores"});
  expect_warnings({place("a", "0-1"), place("a", "0-1"), place("a", "0-1"), place("a", "5")},
                  {"a: 4 ranks have 3 cores"});
}

TEST(Doctor, warns_of_ranks_that_may_leave_their_memory) {
  expect_warnings({place("a", "0-7", "0-1"), place("a", "0-7", "0-1")}, {"2 ranks, the first is 0"});
}

TEST(Doctor, warns_of_gpus_that_are_shared_far_or_missing) {
  expect_warnings({with_gpu(place("a", "0"), 1), with_gpu(place("a", "1"), 2)}, {});
  expect_warnings({with_gpu(place("a", "0"), 1), with_gpu(place("a", "1"), 1)}, {"ranks 0 and 1 on a share"});
  expect_warnings({with_gpu(place("a", "0", "0"), 1, 1), with_gpu(place("a", "1", "0"), 2, 0)},
                  {"rank 0 on a runs on NUMA node 0"});
  expect_warnings({with_gpu(place("a", "0"), 1), place("b", "0")}, {"rank 1 on b sees no GPU"});
}

TEST(Doctor, prints_a_line_per_rank) {
  const std::string table = table_of({with_gpu(place("node17", "0-3"), 1, 0), place("b", "8")});
  EXPECT_NE(table.find("    0  node17  0-3             4  0 "), std::string::npos) << table;
  EXPECT_NE(table.find("    1  b       8               1  0       none"), std::string::npos) << table;
}

}  // namespace
}  // namespace grove
