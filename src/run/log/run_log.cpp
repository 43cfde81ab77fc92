#include "run_log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <system_error>

#include "base/console.hpp"
#include "base/errors.hpp"
#include "cosmology/expansion.hpp"
#include "io/checkpoint_folder.hpp"

namespace grove {
namespace {

std::string hours_minutes_seconds(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string time_left(const StepReport& report) {
  return hours_minutes_seconds(report.done > 0 ? report.run_seconds * (1 / report.done - 1) : 0);
}

void print_audit(const AuditResult& audit) {
  say("{:>9} force error: median {:.2e}, 99th percentile {:.2e}, maximum {:.2e}\n", "audit", audit.median,
      audit.p99, audit.max);
}

std::string three(const DisplayUnits& shown, const std::string& name, const Dimension& dimension) {
  std::string columns;
  for (const char* axis : {"x", "y", "z"}) columns += shown.heading(name + "_" + axis, dimension) + ",";
  return columns;
}

/// Types whose bits are set; none if it is one alone, whose radii are those of all.
std::vector<int> several_types(std::uint8_t mask) {
  std::vector<int> types;
  for (int type = 0; type < particle_types; ++type)
    if (mask >> type & 1) types.push_back(type);
  return types.size() > 1 ? types : std::vector<int>{};
}

std::string radii_columns(const DisplayUnits& shown, const std::string& of) {
  std::string columns;
  for (const int percent : LagrangeRadii::percent)
    columns +=
        fmt::format(",{}", shown.heading(fmt::format("lagrange_{}{}", percent, of), dimension::length));
  return columns;
}

std::string energy_header(const DisplayUnits& shown, const std::vector<int>& types, bool expands,
                          bool has_gas) {
  std::string columns = "step," + shown.heading("time", dimension::time) + (expands ? ",scale_factor," : ",");
  const auto energy = [&](const char* name) { columns += shown.heading(name, dimension::energy) + ","; };
  for (const char* name : {"kinetic", "potential", "external"}) energy(name);
  if (has_gas) energy("internal");
  energy("total");
  std::string radii;
  for (const char* axis : {"x", "y", "z"})
    radii += fmt::format(",{}", shown.heading(fmt::format("core_{}", axis), dimension::length));
  radii += radii_columns(shown, "");
  for (const int type : types) radii += radii_columns(shown, fmt::format("_type{}", type));
  return columns + "energy_error," + three(shown, "momentum", dimension::momentum) +
         shown.heading("absolute_momentum", dimension::momentum) + "," +
         three(shown, "angular_momentum", dimension::angular_momentum) +
         three(shown, "centre", dimension::length) + "virial_ratio" + radii + "\n";
}

std::string timing_header(const DisplayUnits& shown) {
  return fmt::format(
      "step,{},rung,active,tree_update,leaves_moved,total [s],{} [s],walk_imbalance,cell_interactions,"
      "particle_interactions\n",
      shown.heading("time", dimension::time), fmt::join(step_phases, " [s],"));
}

std::string rungs_header(const DisplayUnits& shown) {
  return fmt::format("step,{},rung,{},particles,steps,interactions,cost_share,imbalance\n",
                     shown.heading("time", dimension::time), shown.heading("dt", dimension::time));
}

std::string audit_header(const DisplayUnits& shown) {
  return fmt::format("step,{},rung,active,sample,median,p99,max\n", shown.heading("time", dimension::time));
}

/// True if it is a table of other columns, from another version of Grove.
bool is_other_table(const std::filesystem::path& path, const std::string& header) {
  std::ifstream file(path, std::ios::binary);
  std::string row;
  return std::getline(file, row) && row + "\n" != header;
}

/// Keeps a table that cannot be continued, under another name.
void set_aside(const std::filesystem::path& path, std::int64_t step) {
  const std::filesystem::path name = fmt::format("{}.before_step_{}", path.string(), step);
  std::error_code error;
  std::filesystem::rename(path, name, error);
  if (error) throw InputError(fmt::format("{}: cannot be renamed: {}", path.string(), error.message()));
  fmt::print(stderr, "warning: {}: has other columns than this version of Grove writes: it is now {}\n",
             path.string(), name.string());
}

/// Opens a table, with its header; what a run of before has in it stays up to the step that this one goes on
/// after.
LogFile open_table(const std::filesystem::path& path, const std::string& header,
                   std::optional<std::int64_t> resumed_at) {
  if (resumed_at && is_other_table(path, header)) set_aside(path, *resumed_at);
  const auto is_later = [&](const std::string& row) {
    if (row + "\n" == header) return false;
    std::int64_t of_row = 0;
    const auto [end, error] = std::from_chars(row.data(), row.data() + row.size(), of_row);
    return error != std::errc{} || of_row > *resumed_at;
  };
  LogFile file = resumed_at ? open_log(path, is_later) : open_log(path);
  if (std::filesystem::file_size(path) == 0) fmt::print(file.get(), "{}", header);
  return file;
}

}  // namespace

const char* name_of(TreeUpdate update) {
  constexpr const char* names[] = {"refit", "renew", "redecompose"};
  return names[static_cast<int>(update)];
}

RunLog::RunLog(const std::filesystem::path& folder, const DisplayUnits& shown, std::uint8_t types,
               bool expands, bool has_gas, std::optional<std::int64_t> resumed_at)
    : folder_(folder),
      shown_(shown),
      expands_(expands),
      has_gas_(has_gas),
      radii_of_(several_types(types)),
      energy_(
          open_table(folder / "energy.csv", energy_header(shown, radii_of_, expands, has_gas), resumed_at)),
      timing_(open_table(folder / "timing.csv", timing_header(shown), resumed_at)),
      rungs_(open_table(folder / "rungs.csv", rungs_header(shown), resumed_at)),
      audit_(open_table(folder / "audit.csv", audit_header(shown), resumed_at)),
      telemetry_(folder, shown, resumed_at) {
  std::error_code none;
  if (!resumed_at) std::filesystem::remove(folder / "timebins.csv", none);  // rungs.csv of grove 0.1
  print_header();
}

bool RunLog::has_checkpoints(const std::filesystem::path& folder) {
  std::ifstream log(folder / "log.jsonl");
  for (std::string line; std::getline(log, line);)
    if (line.starts_with(R"({"event":"checkpoint")") || line.starts_with(R"({"event":"end")")) return true;
  return false;
}

bool RunLog::has_steps(const std::filesystem::path& folder) {
  std::ifstream log(folder / "log.jsonl");
  bool is_empty = true;
  for (std::string line; std::getline(log, line); is_empty = false)
    if (const std::int64_t step = Telemetry::step_of(line); step > 0) return true;
  return is_empty && is_there(folder);  // of a version that wrote none, who knows
}

bool RunLog::is_there(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "energy.csv", error);
}

void RunLog::require_no_earlier_run(const std::filesystem::path& folder) {
  if (has_steps(folder) || !CheckpointFolder(folder.string()).latest_first().empty())
    throw InputError(fmt::format(
        "{}: holds the results of an earlier run; go on with that (--resume auto), name another folder (-P "
        "output.folder=...), or replace them with --overwrite",
        folder.string()));
}

void RunLog::add(const StepReport& report) {
  if (report.totals) add_totals(report);
  if (report.audit) add_audit(report);
  fmt::print(timing_.get(), "{},{:.12g},{},{},{},{},{:.6f}", report.step, time(report.time), report.rung,
             report.active, name_of(report.tree_update), report.leaves_moved, report.wall_seconds);
  for (const double seconds : report.phases) fmt::print(timing_.get(), ",{:.6f}", seconds);
  fmt::print(timing_.get(), ",{:.4f},{:.1f},{:.1f}\n", report.imbalance, report.cell_interactions,
             report.particle_interactions);
  flush(timing_, "timing.csv");
  telemetry_.add(report);
  if (verbosity() == Verbosity::verbose) print_step(report);
  if (verbosity() == Verbosity::normal) print_longest_step(report);
  last_step_ = report.step;
  last_time_ = report.time;
}

void RunLog::add_totals(const StepReport& report) {
  const Totals& t = *report.totals;
  const double momentum = shown_.factor(dimension::momentum);
  const Vec3d p = momentum * t.momentum, l = shown_.factor(dimension::angular_momentum) * t.angular_momentum,
              c = shown_.factor(dimension::length) * t.centre_of_mass();
  fmt::print(energy_.get(), "{},{:.12g},", report.step, time(report.time));
  if (expands_) fmt::print(energy_.get(), "{:.12g},", report.scale_factor.value());
  fmt::print(energy_.get(), "{:.12g},{:.12g},{:.12g},", energy(t.kinetic_energy), energy(t.potential_energy),
             energy(t.external_energy));
  if (has_gas_) fmt::print(energy_.get(), "{:.12g},", energy(t.internal_energy));
  fmt::print(energy_.get(), "{:.12g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},", energy(t.total_energy()),
             report.energy_error, p.x, p.y, p.z, momentum * t.absolute_momentum);
  fmt::print(energy_.get(), "{:.12g},{:.12g},{:.12g},{:.6g},{:.6g},{:.6g},{:.6g}", l.x, l.y, l.z, c.x, c.y,
             c.z, t.virial_ratio());
  add_radii(report.radii);
  fmt::print(energy_.get(), "\n");
  flush(energy_, "energy.csv");
}

/// Empty where they were not measured.
void RunLog::add_radii(const std::optional<LagrangeRadii>& radii) {
  const double length = shown_.factor(dimension::length);
  const auto add = [&](double value) {
    fmt::print(energy_.get(), ",{}", std::isfinite(value) ? fmt::format("{:.6g}", length * value) : "");
  };
  const LagrangeRadii measured = radii.value_or(LagrangeRadii::none());
  for (int axis = 0; axis < 3; ++axis) add(measured.centre[axis]);
  for (const double radius : measured.all) add(radius);
  for (const int type : radii_of_)
    for (const double radius : measured.by_type[static_cast<std::size_t>(type)]) add(radius);
}

void RunLog::add_audit(const StepReport& report) {
  const AuditResult& audit = *report.audit;
  fmt::print(audit_.get(), "{},{:.12g},{},{},{},{:.6g},{:.6g},{:.6g}\n", report.step, time(report.time),
             report.rung, report.active, audit.sample, audit.median, audit.p99, audit.max);
  flush(audit_, "audit.csv");
}

void RunLog::add(const RungCosts& costs, double longest_step, int ranks) {
  const auto all = static_cast<double>(
      std::max<Count>(1, std::accumulate(costs.interactions.begin(), costs.interactions.end(), Count{0})));
  for (std::size_t rung = 0; rung < costs.particles.size(); ++rung) {
    if (costs.particles[rung] == 0 && costs.interactions[rung] == 0) continue;
    const auto walked = static_cast<double>(std::max<Count>(1, costs.walked[rung]));
    const double imbalance =
        costs.walked[rung] > 0 ? static_cast<double>(costs.busiest[rung]) * ranks / walked : 1;
    fmt::print(rungs_.get(), "{},{:.12g},{},{:.12g},{},{},{},{:.4f},{:.4f}\n", last_step_, time(last_time_),
               rung, time(std::ldexp(longest_step, -static_cast<int>(rung))), costs.particles[rung],
               costs.steps[rung], costs.interactions[rung],
               static_cast<double>(costs.interactions[rung]) / all, imbalance);
  }
  flush(rungs_, "rungs.csv");
}

void RunLog::keep() const {
  for (const LogFile* file : {&energy_, &timing_, &rungs_, &audit_}) ::fsync(::fileno(file->get()));
  telemetry_.keep();
}

void RunLog::flush(const LogFile& file, const char* name) const {
  if (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0)
    throw std::runtime_error(
        fmt::format("cannot write {}: {}", (folder_ / name).string(), std::strerror(errno)));
}

std::string RunLog::when_heading() const {
  return expands_ ? "redshift" : shown_.heading("time", dimension::time);
}

double RunLog::when(const StepReport& report) const {
  return expands_ ? redshift_of(report.scale_factor.value()) : time(report.time);
}

void RunLog::print_header() const {
  const std::string when = when_heading(), dt = shown_.heading("dt", dimension::time);
  if (verbosity() == Verbosity::verbose)
    say("{:>9} {:>12} {:>10} {:>5} {:>10} {:>9} {:>9} {:>9} {:>10} {:>9}\n", "step", when, dt, "rung",
        "active", "wall ms", "cells/p", "parts/p", "dE/E", "ETA");
  else
    say("{:>9} {:>12} {:>8} {:>7} {:>9} {:>10} {:>9}\n", "step", when, "substeps", "deepest", "wall s",
        "dE/E", "ETA");
}

void RunLog::print_step(const StepReport& report) const {
  say("{:>9} {:>12.6g} {:>10.4g} {:>5} {:>10} {:>9.1f} {:>9.1f} {:>9.1f} {:>10} {:>9}\n", report.step,
      when(report), time(report.dt), report.rung, report.active, 1e3 * report.wall_seconds,
      report.cell_interactions, report.particle_interactions,
      report.totals ? fmt::format("{:.2e}", report.energy_error) : "", time_left(report));
  if (report.audit) print_audit(*report.audit);
}

/// Prints all steps since the last time that all particles were synchronised.
void RunLog::print_longest_step(const StepReport& report) {
  if (report.step > 0) ++passed_.steps;
  passed_.deepest = std::max(passed_.deepest, report.rung);
  passed_.seconds += report.wall_seconds;
  if (report.totals) {
    say("{:>9} {:>12.6g} {:>8} {:>7} {:>9.3g} {:>10.2e} {:>9}\n", report.step, when(report), passed_.steps,
        passed_.deepest, passed_.seconds, report.energy_error, time_left(report));
    passed_ = {};
  }
  if (report.audit) print_audit(*report.audit);
}

}  // namespace grove
