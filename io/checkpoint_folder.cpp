#include "io/checkpoint_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "io/file.hpp"

namespace grove {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_suffix = ".tmp", removed_suffix = ".removed.tmp";

/// Errors of the file system are reported with the path.
void attempt(const std::string& path, const std::string& what, const std::function<void()>& work) {
  try {
    work();
  } catch (const fs::filesystem_error& error) {
    throw InputError(fmt::format("{}: cannot be {}: {}", path, what, error.code().message()));
  }
}

/// The number in step_NUMBER; none: this is the name of something else.
std::optional<std::int64_t> step_of(std::string_view name) {
  constexpr std::string_view prefix = "step_";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc{} || end != name.data() + name.size() || name.front() == '-') return std::nullopt;
  return step;
}

/// True for the name of a checkpoint that is being written, or removed.
bool is_unfinished(std::string_view name) {
  for (const std::string_view suffix : {removed_suffix, temporary_suffix})
    if (name.ends_with(suffix)) return step_of(name.substr(0, name.size() - suffix.size())).has_value();
  return false;
}

/// First takes its name away, so that a process that ends on the way leaves no half of a checkpoint. Returns
/// what is left, and why; empty: nothing. begin() removes files that have lost their names: on NFS a file
/// that any process has open stays in its folder.
std::string discard(const std::string& checkpoint) {
  const std::string removed = checkpoint + std::string(removed_suffix);
  std::error_code error;
  fs::remove_all(removed, error);
  fs::rename(checkpoint, removed, error);
  if (error) return fmt::format("{}: cannot be removed: {}", checkpoint, error.message());
  fs::remove_all(removed, error);
  return error ? fmt::format("{}: cannot be removed: {}", removed, error.message()) : "";
}

/// Two folders change names, at once. False where the file system cannot do that.
bool exchange(const std::string& path, const std::string& other) {
  return ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

/// However they are spelled.
bool is_same(const std::string& path, const std::string& other) {
  std::error_code error;
  return fs::equivalent(path, other, error);
}

/// Names of the folders in a folder; of none if there is no such folder.
std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  attempt(path, "read", [&] {
    if (!fs::exists(path)) return;
    for (const auto& entry : fs::directory_iterator(path))
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
  });
  return names;
}

void require_piece(const std::string& folder, const CheckpointPiece& piece) {
  const std::string path = folder + "/" + piece.name;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error)
    throw InputError(
        fmt::format("{}: was written by its rank, and cannot be found by rank 0: {}", path, error.message()));
  if (size != static_cast<std::uintmax_t>(piece.size))
    throw InputError(
        fmt::format("{}: was written with {} bytes, and rank 0 finds {}", path, piece.size, size));
}

}  // namespace

bool CheckpointFolder::holds(const std::string& checkpoint) const {
  return is_same(path_, (fs::path(checkpoint) / "..").string());
}

bool CheckpointFolder::exists() const {
  bool result = false;
  attempt(path_, "read", [&] { result = fs::is_directory(path_); });
  return result;
}

std::vector<std::string> CheckpointFolder::latest_first() const {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const std::string& name : folders_in(path_))
    if (const auto step = step_of(name)) found.emplace_back(*step, path_ + "/" + name);
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> paths;
  for (auto& [step, path] : found) paths.push_back(std::move(path));
  return paths;
}

std::string CheckpointFolder::place_of(std::int64_t step) const {
  return fmt::format("{}/step_{:09}", path_, step);
}

void CheckpointFolder::begin() const {
  make_output_folder(path_);
  std::error_code error;
  for (const std::string& name : folders_in(path_))
    if (is_unfinished(name)) fs::remove_all(path_ + "/" + name, error);
}

void CheckpointFolder::clear() const {
  std::string faults;
  for (const std::string& old : latest_first()) faults += discard(old);
  if (!latest_first().empty()) throw InputError(faults);
}

std::string CheckpointFolder::temporary(std::int64_t step) const {
  return place_of(step) + std::string(temporary_suffix);
}

void CheckpointFolder::make_temporary(std::int64_t step) const {
  const std::string path = temporary(step);
  attempt(path, "made", [&] {
    fs::remove_all(path);
    fs::create_directories(path);
  });
}

void CheckpointFolder::remove_temporary(std::int64_t step) const {
  std::error_code error;
  fs::remove_all(temporary(step), error);
}

void CheckpointFolder::commit(std::int64_t step, const std::vector<CheckpointPiece>& pieces) const {
  const std::string place = place_of(step), written = temporary(step);
  for (const CheckpointPiece& piece : pieces) require_piece(written, piece);
  flush_folder(written);
  attempt(place, "put in place", [&] {
    if (fs::exists(place) && exchange(written, place)) {
      remove_temporary(step);
    } else {
      discard(place);  // from here to the next line there is none of this step
      fs::rename(written, place);
    }
  });
  flush_folder(path_);
}

std::vector<std::string> CheckpointFolder::remove_others(const std::string& kept,
                                                         const std::string& also_kept) const {
  std::vector<std::string> faults;
  if (is_same(kept, also_kept)) return faults;
  try {
    for (const std::string& old : latest_first()) {
      if (is_same(old, kept) || is_same(old, also_kept)) continue;
      if (std::string fault = discard(old); !fault.empty()) faults.push_back(std::move(fault));
    }
  } catch (const InputError& error) {
    faults.emplace_back(error.what());
  }
  return faults;
}

}  // namespace grove
