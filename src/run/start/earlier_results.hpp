#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace grove {

/// The snapshots, pictures and power spectra that a run left in its output folder. By one process.
class EarlierResults {
 public:
  /// Those that are there now. InputError: the folder cannot be listed.
  explicit EarlierResults(const std::filesystem::path& folder);

  /// The last one that was due, of its set the first file; empty: there is none.
  std::string latest_snapshot() const;
  /// True if a file is one of them.
  bool hold(const std::filesystem::path& file) const;

  /// Bytes of all.
  double bytes() const;

  /// Removes all. Returns how many files. InputError: one cannot be removed.
  std::size_t remove_all() const;
  /// Removes those that were due with this number or a later one.
  std::size_t remove_from(std::int64_t number) const;

 private:
  struct Result {
    std::filesystem::path path;
    std::optional<std::int64_t> number;  ///< none: asked for by SIGUSR2
  };
  std::vector<Result> results_;  ///< by path
};

}  // namespace grove
