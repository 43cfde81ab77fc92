#include "run/run_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/console.hpp"
#include "base/errors.hpp"
#include "base/progress.hpp"
#include "comm/agreed.hpp"
#include "halos/snapshot_halos.hpp"
#include "io/file.hpp"
#include "run/guard/step_forecast.hpp"
#include "run/start/run_timeline.hpp"
#include "structure/power_table.hpp"

namespace grove {

RunOutputs::RunOutputs(const RunView& run)
    : run_(run), times_(agreed(run.comm, [&] {
        return output_times_of(run.parameters, run.timeline.begin(), run.timeline.end());
      })) {}

void RunOutputs::restore(const State& state) {
  state_ = state;
  done_ = times_.count_passed(run_.clock.time(), state.last, run_.timeline.same());
}

bool RunOutputs::is_due_now() const {
  return done_ < times_.all().size() &&
         std::abs(times_.all()[done_] - run_.clock.time()) <= run_.timeline.same();
}

/// How many of all times come before this one.
std::size_t RunOutputs::due_before(double end) const {
  const double same = std::max(1e-9 * (end - run_.clock.time()), run_.timeline.rounding());
  return run_.clock.is_done() ? times_.all().size() : times_.count_before(end - same);
}

void RunOutputs::write_due(double end, const std::function<void()>& save) {
  const Expected expected(at_most(longest_writing_seconds(run_.forces.particles)));
  for (const std::size_t due = due_before(end); done_ < due; ++done_) {
    const double time = times_.all()[done_];
    try {
      write(time);
    } catch (const Agreed<InputError>&) {
      save();
      throw;
    }
    state_.last = time;
    ++state_.snapshots;
  }
}

void RunOutputs::write(double time) {
  const Parameters& parameters = run_.parameters;
  const Prediction to = run_.clock.prediction(parameters.time.integrator, time);
  const std::string name = fmt::format("{}/snapshot_{:03}", parameters.output.folder, state_.snapshots);
  const auto use = [&](const Particles& particles) {
    write_snapshot(run_.comm, name + ".hdf5", particles, options(time));
    if (parameters.output.power) write_power(particles, name + "_power.csv");
    if (!parameters.output.render) return;
    Caption caption{time, parameters.shown};
    if (const Expansion* expansion = run_.timeline.expansion())
      caption.redshift = redshift_of(expansion->scale_factor(time));
    state_.frame =
        render_png(run_.comm, particles, parameters.output.view, caption, name + ".png", state_.frame);
  };
  const FieldChoice written = fields_read(options(time));
  const auto is_used = [&](const FieldInfo& info) {
    return written(info) || (parameters.output.power && info.name == fields::mass.info.name) ||
           (parameters.output.render && is_drawn(info));
  };
  run_.backend.show(is_synchronised_at(time) ? nullptr : &to, use, is_used);
  if (parameters.output.fof) write_halos(name + ".hdf5", time);
}

/// As `grove fof` makes it of the snapshot, which is read again. GADGET-4 gives it this name.
void RunOutputs::write_halos(const std::string& snapshot, double time) const {
  const OutputParameters& output = run_.parameters.output;
  HaloRequest request{snapshot_files(snapshot, static_cast<int>(output.files))[0],
                      fmt::format("{}/fof_tab_{:03}.hdf5", output.folder, state_.snapshots)};
  request.length_option = "output.fof_length";
  if (const std::optional<double>& length = output.fof_length) {
    const auto comoving = options(time).comoving;
    request.length = fmt::format("{}", *length * (comoving ? comoving->h : 1));
  }
  write_halos_of(run_.comm, request, run_.backend.friends());
}

/// The table that `grove power` makes of a snapshot of all particles.
void RunOutputs::write_power(const Particles& particles, const std::string& file) const {
  const Parameters& parameters = run_.parameters;
  PowerOptions options;
  options.box = *parameters.box.size;
  options.mesh = usual_mesh(run_.forces.particles);
  const std::vector<PowerBin> bins =
      power_spectrum(run_.comm, particles.position, particles.mass, options, run_.backend.spectra());
  const bool has_h = parameters.universe && !parameters.units.is_dimensionless();
  run_.comm.together([&] {
    if (!run_.comm.is_master()) return;
    const double megaparsecs = parameters.units.cgs(dimension::length) / named_unit("Mpc")->cgs;
    write_text(file, power_table(bins, has_h ? SpectrumUnit::of_h(megaparsecs * *parameters.cosmology.h)
                                             : SpectrumUnit::of(parameters.shown)));
  });
}

void RunOutputs::write_requested(std::int64_t step) const {
  const Expected expected(at_most(longest_writing_seconds(run_.forces.particles)));
  const double time = run_.clock.time();
  const std::string name = fmt::format("{}/requested_step_{:08}.hdf5", run_.parameters.output.folder, step);
  const Prediction now = run_.clock.prediction(run_.parameters.time.integrator, time);
  try {
    const auto write = [&](const Particles& particles) {
      write_snapshot(run_.comm, name, particles, options(time));
    };
    run_.backend.show(run_.clock.is_synchronised() ? nullptr : &now, write, fields_read(options(time)));
  } catch (const Agreed<InputError>& error) {
    if (run_.comm.is_master())
      fmt::print(stderr, "warning: no snapshot as asked: {}; the run goes on\n", error.what());
    return;
  }
  if (run_.comm.is_master()) say("as asked: {}\n", name);
}

double RunOutputs::seconds_of_picture() const {
  if (!run_.parameters.output.render) return 0;
  const auto start = std::chrono::steady_clock::now();
  const auto use = [&](const Particles& particles) {
    measure(run_.comm, particles, run_.parameters.output.view);
  };
  run_.backend.show(nullptr, use, is_drawn);
  return run_.comm.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

bool RunOutputs::is_synchronised_at(double time) const {
  return run_.clock.is_synchronised() && std::abs(time - run_.clock.time()) <= run_.timeline.same();
}

WriteOptions RunOutputs::options(double time) const {
  WriteOptions options;
  options.time = time;
  options.units = run_.parameters.units;
  options.fields = run_.parameters.output.fields;
  options.types = run_.parameters.output.types;
  options.files = static_cast<int>(run_.parameters.output.files);
  options.leaf_size = run_.domain.leaf_size;
  options.box = run_.parameters.gravity.images.edge;
  if (const Expansion* expansion = run_.timeline.expansion())
    options.comoving = {expansion->cosmology(), *run_.parameters.cosmology.h, expansion->scale_factor(time),
                        run_.parameters.gas.expansion_power()};
  return options;
}

}  // namespace grove
