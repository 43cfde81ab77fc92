// How an output folder, and the checkpoints in it, are kept.
#include "io/checkpoint_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/array_file.hpp"
#include "io/checksum.hpp"
#include "io/folder_lock.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

namespace fs = std::filesystem;

/// By the master of a run, so on one rank.
class CheckpointFolderOnDisk : public ::testing::Test {
 protected:
  CheckpointFolderOnDisk() : output_(comm_, "checkpoint-folder"), folder_(output_.path()) { folder_.begin(); }

  std::string place(const std::string& name) const { return folder_.path() + "/" + name; }
  /// A folder with a file of three bytes.
  void make(const std::string& name) const {
    fs::create_directories(place(name));
    std::ofstream(place(name + "/piece")) << "abc";
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string refusal(std::int64_t step, const CheckpointPiece& piece) const {
    try {
      folder_.commit(step, {piece});
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }

  Communicator comm_{MPI_COMM_SELF};
  testing::TestFolder output_;
  CheckpointFolder folder_;
};

TEST_F(CheckpointFolderOnDisk, takes_nothing_for_a_checkpoint_that_has_another_name) {
  const std::vector<std::string> others{
      "step_", "step_000000007-kept", "step_1e9", "step_-00000001", "step_9 before", "best.tmp", "steps_7"};
  for (const std::string& name : others) make(name);
  for (const char* name : {"step_000000009", "step_1000000000", "step_000000010", "step_000000011.tmp",
                           "step_000000003.removed.tmp"})
    make(name);
  folder_.begin();
  EXPECT_EQ(
      folder_.latest_first(),
      (std::vector<std::string>{place("step_1000000000"), place("step_000000010"), place("step_000000009")}));
  folder_.remove_others(place("step_000000010"), place("./step_000000010"));
  EXPECT_EQ(folder_.latest_first().size(), 3u) << "one was written again";
  EXPECT_EQ(folder_.remove_others(place("step_000000010"), ""), std::vector<std::string>{});
  EXPECT_EQ(folder_.latest_first(), std::vector<std::string>{place("step_000000010")});
  folder_.clear();
  std::vector<std::string> left = others;
  std::sort(left.begin(), left.end());
  EXPECT_EQ(names(), left);
}

TEST_F(CheckpointFolderOnDisk, puts_in_place_only_what_all_ranks_have_written) {
  make("step_000000005");
  folder_.make_temporary(5);
  make("step_000000005.tmp");
  EXPECT_NE(refusal(5, {"another", 3, "", {}}).find("another: was written by its rank, and cannot be found"),
            std::string::npos);
  EXPECT_NE(refusal(5, {"piece", 4, "", {}}).find("piece: was written with 4 bytes, and rank 0 finds 3"),
            std::string::npos);
  EXPECT_EQ(names(), (std::vector<std::string>{"step_000000005", "step_000000005.tmp"}));
  EXPECT_EQ(refusal(5, {"piece", 3, "", {}}), "none");
  EXPECT_EQ(names(), std::vector<std::string>{"step_000000005"});
}

TEST_F(CheckpointFolderOnDisk, is_not_empty_where_it_cannot_be_read) {
  // A link to itself: no user may follow it.
  fs::remove(folder_.path());
  fs::create_symlink(folder_.path(), folder_.path());
  EXPECT_THROW(folder_.latest_first(), InputError);
  EXPECT_THROW(folder_.exists(), InputError);
  fs::remove(folder_.path());
  EXPECT_EQ(folder_.latest_first(), std::vector<std::string>{});
  EXPECT_FALSE(folder_.exists());
}

TEST_F(CheckpointFolderOnDisk, says_what_it_cannot_remove) {
  // Whoever asks, the system takes no name of more than 255 bytes, as this one has with the ending for
  // removal.
  const std::string stays = "step_" + std::string(244, '0') + "1";
  make(stays);
  make("step_000000002");
  make("step_000000003");
  const std::vector<std::string> faults = folder_.remove_others(place("step_000000003"), "");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].find(stays + ": cannot be removed: File name too long"), std::string::npos)
      << faults[0];
  EXPECT_EQ(names(), (std::vector<std::string>{stays, "step_000000003"})) << "the others are gone";
  EXPECT_THROW(folder_.clear(), InputError);
}

TEST(FolderLock, lets_one_process_write) {
  const Communicator comm(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "lock");
  const std::string output = folder / "not/yet/there";
  {
    const FolderLock lock(output);
    try {
      const FolderLock second(output);
      ADD_FAILURE() << "two have it";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(fmt::format(": process {} on ", ::getpid())),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_NO_THROW(FolderLock{output}) << "it ended with its owner";
}

/// While it lives the system writes at most so many bytes of a file.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

struct Bytes {
  std::int64_t number;
  char letter;
};

TEST(ArrayFile, keeps_arrays_as_they_are_in_memory) {
  const Communicator comm(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "arrays");
  const std::string path = folder / "arrays.hdf5";
  const std::vector<double> numbers{1, -0.0, 3e-310};
  const std::vector<Vec3f> vectors{{1, 2, 3}, {4, 5, 6}};
  ArrayFileWriter file(path, 1000);
  file.put("Numbers", numbers);
  file.put("None", std::vector<std::int64_t>{});
  file.put("Vectors", vectors);
  file.put_value("Piece", Bytes{7, 'x'});
  const FileSum sum = file.close();
  EXPECT_EQ(sum, checksum_of_file(path));
  const ArrayFileReader read(path);
  EXPECT_EQ(read.all<double>("Numbers"), numbers);
  EXPECT_TRUE(std::signbit(read.all<double>("Numbers")[1]));
  EXPECT_EQ(read.rows("None"), 0u);
  EXPECT_EQ(read.all<Vec3f>("Vectors")[1].z, 6);
  EXPECT_EQ(read.value<Bytes>("Piece").letter, 'x');
}

// HDF5 1.10 keeps files that it could not close, and reads their freed memory when the program ends.
TEST(ArrayFile, that_cannot_be_written_leaves_nothing_open) {
  const Communicator comm(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "no-room");
  const std::vector<double> large(1 << 17);
  const int sealed = ::memfd_create("sealed", MFD_ALLOW_SEALING);
  const std::string path = fmt::format("/proc/self/fd/{}", sealed);
  {
    ArrayFileWriter file(path, 1 << 20);
    ASSERT_EQ(::fcntl(sealed, F_ADD_SEALS, F_SEAL_GROW), 0);
    file.put("Large", large);
    std::string refusal = "none";
    try {
      file.close();
    } catch (const InputError& error) {
      refusal = error.what();
    }
    EXPECT_EQ(refusal, path + ": cannot be written: Operation not permitted");
  }
  ::close(sealed);
  const FileSizeLimit limit(1 << 17);
  EXPECT_THROW(ArrayFileWriter(folder / "arrays.hdf5", 1 << 20), InputError) << "before HDF5 begins";
  EXPECT_EQ(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

}  // namespace
}  // namespace grove
