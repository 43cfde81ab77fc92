// Every damage to a checkpoint is found before a run begins with it, or is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "backend/host_backend.hpp"
#include "base/errors.hpp"
#include "support/checkpoint_checks.hpp"

namespace grove {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;

class DamagedCheckpoint : public ::testing::Test {
 protected:
  DamagedCheckpoint() : folder_(comm_, "damage") {
    testing::CheckedRun merger(
        [](const Communicator& comm, Particles own, const GravityParameters& gravity) {
          return std::make_unique<HostBackend>(comm, std::move(own), gravity);
        },
        "gravity: {softening: 0.02}\ntime: {end: 0.1, step: 0.05}\n", 1000);
    merger.parameters.output.folder = folder_.path();
    Simulation run = merger.begin(comm_);
    run.step();
    run.write_checkpoint();
    path_ = CheckpointFolder(folder_.path()).latest_first().at(0);
    for (const auto& file : fs::directory_iterator(path_))
      files_.push_back({file.path().string(), bytes_of(file.path().string())});
    std::sort(files_.begin(), files_.end(), [](const File& a, const File& b) { return a.path < b.path; });
    manifest_ = text_of(open_checkpoint(comm_, path_).manifest);
  }

  /// True if reading fails as it should. If it does not, the state that was read must be the one written.
  bool is_found() const {
    try {
      const Checkpoint read = open_checkpoint(comm_, path_);
      EXPECT_EQ(text_of(read.manifest), manifest_) << "and is not harmless";
      return false;
    } catch (const Agreed<InputError>&) {
      return true;
    }
  }
  struct File {
    std::string path, bytes;
  };
  void write(const File& file) const {
    comm_.barrier();
    if (comm_.is_master()) std::ofstream(file.path, std::ios::binary | std::ios::trunc) << file.bytes;
    comm_.barrier();
  }
  void expect_found_or_harmless(const std::string& path, const std::string& bytes) const {
    write({path, bytes});
    // Blanks of the manifest say nothing; any other bit does.
    EXPECT_TRUE(is_found() || path == manifest_of_checkpoint(path_)) << path;
  }

  Communicator comm_{MPI_COMM_WORLD};
  testing::TestFolder folder_;
  std::string path_;
  std::vector<File> files_;
  std::string manifest_;  ///< as it was written
  std::mt19937_64 random_{1};
};

TEST_F(DamagedCheckpoint, is_found_wherever_a_bit_flips) {
  ASSERT_EQ(files_.size(), 2u + static_cast<std::size_t>(comm_.size()));
  for (const File& file : files_) {
    for (int flip = 0; flip < 200; ++flip) {
      std::string bytes = file.bytes;
      const std::size_t at = random_() % bytes.size();
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << random_() % 8);
      expect_found_or_harmless(file.path, bytes);
    }
    expect_found_or_harmless(file.path, file.bytes + "\n");
    write(file);
  }
  EXPECT_FALSE(is_found()) << "all is as it was";
}

TEST_F(DamagedCheckpoint, is_found_wherever_a_file_ends_too_early) {
  for (const File& file : files_) {
    for (int cut = 0; cut < 20; ++cut)
      expect_found_or_harmless(file.path, file.bytes.substr(0, random_() % file.bytes.size()));
    expect_found_or_harmless(file.path, "");
    write(file);
  }
  EXPECT_FALSE(is_found()) << "all is as it was";
}

}  // namespace
}  // namespace grove
