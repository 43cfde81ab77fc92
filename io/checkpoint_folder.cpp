#include "io/checkpoint_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/errors.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

namespace fs = std::filesystem;

constexpr const char* temporary_suffix = ".tmp";

/// What the file system refuses is said with the path.
void attempt(const std::string& path, const std::string& what, const std::function<void()>& work) {
  try {
    work();
  } catch (const fs::filesystem_error& error) {
    throw InputError(fmt::format("{}: cannot be {}: {}", path, what, error.code().message()));
  }
}

/// Not under its own name, so that a process that ends on the way leaves no half of a checkpoint.
void remove_checkpoint(const fs::path& path) {
  fs::path removed = path;
  removed += std::string(".removed") + temporary_suffix;
  fs::remove_all(removed);
  fs::rename(path, removed);
  fs::remove_all(removed);
}

/// However they are spelled.
bool is_same(const std::string& path, const std::string& other) {
  std::error_code error;
  return fs::equivalent(path, other, error);
}

}  // namespace

bool CheckpointFolder::holds(const std::string& checkpoint) const {
  return is_same(path_, (fs::path(checkpoint) / "..").string());
}

bool CheckpointFolder::exists() const { return fs::is_directory(path_); }

std::vector<std::string> CheckpointFolder::latest_first() const {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step_") && !name.ends_with(temporary_suffix))
      found.push_back(entry.path().string());
  }
  // Numbers of more than nine digits come after those of nine.
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  return found;
}

std::string CheckpointFolder::place_of(std::int64_t step) const {
  return fmt::format("{}/step_{:09}", path_, step);
}

void CheckpointFolder::begin() const {
  make_output_folder(path_);
  attempt(path_, "cleared of unfinished checkpoints", [&] {
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(path_))
      if (entry.path().string().ends_with(temporary_suffix)) left.push_back(entry.path());
    for (const fs::path& path : left) fs::remove_all(path);
  });
}

void CheckpointFolder::clear() const {
  attempt(path_, "cleared", [&] {
    for (const std::string& old : latest_first()) remove_checkpoint(old);
  });
}

std::string CheckpointFolder::temporary() const { return path_ + "/next" + temporary_suffix; }

void CheckpointFolder::make_temporary() const {
  const std::string path = temporary();
  attempt(path, "made", [&] {
    fs::remove_all(path);
    fs::create_directories(path);
  });
}

void CheckpointFolder::remove_temporary() const {
  std::error_code error;
  fs::remove_all(temporary(), error);
}

void CheckpointFolder::commit(std::int64_t step, const std::string& kept) const {
  const std::string place = place_of(step);
  flush_folder(temporary());
  attempt(place, "put in place", [&] {
    if (fs::exists(place)) remove_checkpoint(place);
    fs::rename(temporary(), place);
  });
  flush_folder(path_);
  attempt(path_, "cleared of older checkpoints", [&] {
    for (const std::string& old : latest_first())
      if (!is_same(old, place) && !is_same(old, kept)) remove_checkpoint(old);
  });
}

}  // namespace grove
