#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/display_units.hpp"
#include "base/types.hpp"
#include "log_file.hpp"

namespace grove {

struct Environment;
struct RunEnd;
struct StepReport;

/// The setup of a run at its begin.
struct RunStart {
  Count particles = 0, leaves = 0;
  double begin = 0, end = 0, step = 0;  ///< of the run's time; its longest step
  std::string devices;                  ///< Backend::devices(); empty: the host computes
};

/// log.jsonl in the output folder: an object of JSON on each line, for programs; docs/formats.md says what is
/// in it. A line is written as a whole, by one call of the system, so that a run that is killed leaves whole
/// lines. Lives on the master.
class Telemetry {
 public:
  /// Creates the file, replacing that of an earlier run; or, where that goes on after so many steps, cuts it
  /// back to these, if it is there, and appends. InputError: the folder does not take files.
  /// shown: what values are written in, as the line of the start says.
  explicit Telemetry(const std::filesystem::path& folder, const DisplayUnits& shown,
                     std::optional<std::int64_t> resumed_at = {});

  /// Steps done by the one that a line tells of; -1: of none.
  static std::int64_t step_of(std::string_view line);

  /// Each throws std::runtime_error if the line cannot be written.
  void start(const Environment& environment, const RunStart& run);
  void add(const StepReport& report);
  /// The state after so many steps is saved.
  void checkpoint(std::int64_t step);
  void end(const RunEnd& run);
  /// All lines so far will survive a power failure, where the file system can do that.
  void keep() const;

 private:
  void write(const std::string& object);

  std::filesystem::path path_;
  DisplayUnits shown_;
  LogFile file_;
};

}  // namespace grove
