// The fuzzers' targets (tests/fuzz) on the inputs that they start from, and on those that once were faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/targets.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

using Target = void (*)(std::span<const std::uint8_t>);

/// Every input there is, whole and cut short.
void run_all(const std::string& folder, Target target) {
  int inputs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(GROVE_SOURCE_DIR "/tests/fuzz/seeds/" + folder)) {
    SCOPED_TRACE(entry.path());
    const std::string text = testing::bytes_of(entry.path());
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    EXPECT_NO_THROW(target(bytes)) << entry.path();
    for (std::size_t length = 0; length < std::min<std::size_t>(bytes.size(), 1024); length += 7)
      EXPECT_NO_THROW(target(bytes.first(length))) << entry.path() << ", the first " << length << " bytes";
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

TEST(FuzzSeeds, parameters) { run_all("parameters", fuzz::parameters); }
TEST(FuzzSeeds, gadget) { run_all("gadget", fuzz::snapshot); }
TEST(FuzzSeeds, tipsy) { run_all("tipsy", fuzz::snapshot); }
TEST(FuzzSeeds, hdf5) { run_all("hdf5", fuzz::hdf5_changes); }

}  // namespace
}  // namespace grove
