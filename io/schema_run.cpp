// Sections of a run's way: `time`, `output`, `audit`, `checkpoint` and `limits`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/schema.hpp"
#include "io/schema_slots.hpp"
#include "particles/particles.hpp"

namespace grove::schema {
namespace {

template <class T>
Slot<T> of_view(T View::*member) {
  return [=](Parameters& p) -> T& { return p.output.view.*member; };
}

/// Names of the datasets a snapshot may hold.
std::string output_field_names(bool by_default) {
  std::vector<std::string_view> names;
  for_each_field([&](const auto& field) {
    if (field.info.output && (field.info.output_by_default || !by_default)) names.push_back(field.info.name);
  });
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<Row> snapshot_rows() {
  using O = OutputParameters;
  constexpr auto out = &Parameters::output;
  return {
      {"output", "folder", at(out, &O::folder), dimension::none, any, optional,
       "where all output goes; made if missing"},
      {"output", "every", at(out, &O::every), dimension::time, positive, optional,
       "time between snapshots; unset, as `times`: one at the begin and one at the end"},
      {"output", "times", at(out, &O::times), dimension::time, any, optional,
       "times of the snapshots, a list; between steps, positions and velocities are extrapolated to them, "
       "other fields are those of each particle's last step"},
      {"output", "fields", at(out, &O::fields), dimension::none, any, optional,
       "datasets to write, a list; unset: " + output_field_names(true) +
           "; possible: " + output_field_names(false)},
      {"output", "types", TypeMask{at(out, &O::types)}, dimension::none, any, optional,
       "types to write, a list"},
      {"output", "power", at(out, &O::power), dimension::none, any, optional,
       "the power spectrum of all particles of a periodic box with each snapshot, as `grove power` measures "
       "it"},
      {"output", "render", at(out, &O::render), dimension::none, any, optional,
       "a picture of each snapshot; or a map of what it shows, with the keys that follow"},
      {"output", "files", at(out, &O::files), dimension::none, Range{1, 1 << 20}, optional,
       "files that a snapshot is divided into"},
      {"output", "fof", at(out, &O::fof), dimension::none, any, optional,
       "a catalogue of halos beside each snapshot, as `grove fof` writes it"},
      {"output", "fof_length", at(out, &O::fof_length), dimension::length, positive, optional,
       "their linking length; unset: 0.2 mean distances of the particles, which a periodic box or section "
       "cosmology must tell"},
  };
}

std::vector<Row> audit_rows() {
  using A = AuditParameters;
  constexpr auto audit = &Parameters::audit;
  return {
      {"audit", "every", at(audit, &A::every), dimension::none, not_negative, optional,
       "longest steps between checks of the forces against direct summation, which come at their ends and "
       "inside of them in turn; 0: once, when the run is done"},
      {"audit", "particles", at(audit, &A::particles), dimension::none, Range{1, 1 << 30}, optional,
       "particles to check"},
  };
}

std::vector<Row> render_rows() {
  using V = View;
  return {
      {"output", "render.axes", Axes{of_view(&V::axes)}, dimension::none, any, optional,
       "lines of sight, one panel for each"},
      {"output", "render.pixels", of_view(&V::pixels), dimension::none, Range{0, V::most_pixels}, optional,
       fmt::format("of a panel's side, at least {}; 0: {} of one panel, {} of several", V::fewest_pixels,
                   V::single_panel_pixels, V::several_panels_pixels)},
      {"output", "render.types", TypeMask{of_view(&V::types)}, dimension::none, any, optional,
       "types to show, a list; empty: stars (2, 3, 4) if there are any, else all"},
      {"output", "render.centre",
       Centre{{words<CentreOn>.begin(), words<CentreOn>.end()},
              [](Parameters& p) -> View& { return p.output.view; }},
       dimension::length, any, optional,
       "middle of the picture: of the particles in the first one, chosen anew once a quarter of them has "
       "left it (`middle`), of a periodic box its own; their centre of mass (`mass`) or the densest place "
       "(`densest`) in each; or a place"},
      {"output", "render.width", of_view(&V::width), dimension::length, positive, optional,
       "of a panel; unset: the edge of a periodic box, else twice what holds 90 % of the particles in the "
       "first picture, and more once a quarter of them has left it"},
      {"output", "render.limits", of_view(&V::limits), dimension::surface_density, positive, optional,
       "column densities of the dark and the bright end of the colours, [low, high]; unset: what suits the "
       "first picture"},
  };
}

std::vector<Row> checkpoint_rows() {
  using C = CheckpointParameters;
  return {
      {"checkpoint", "every", at(&Parameters::checkpoint, &C::every), dimension::time, not_negative, optional,
       "time from one checkpoint to the next, a bare number in seconds; the last two are kept; 0: only "
       "when the run ends or is stopped"},
  };
}

std::vector<Row> limits_rows() {
  using L = LimitsParameters;
  constexpr auto in = &Parameters::limits;
  return {
      {"limits", "hang", at(in, &L::hang), dimension::time, Range{1, 1e9}, optional,
       "a rank that makes no progress for this long, and 20 times what is predicted, ends the run; a bare "
       "number is in seconds"},
      {"limits", "wall_clock", at(in, &L::wall_clock), dimension::time, not_negative, optional,
       "time, from its start, after which the run must have ended; it stops so early that a step and a "
       "checkpoint have room; a bare number is in seconds; 0: no limit but that of the job"},
  };
}

}  // namespace

std::vector<Row> time_rows() {
  using T = TimeParameters;
  constexpr auto time = &Parameters::time;
  return {
      {"time", "begin", at(time, &T::begin), dimension::time, any, optional,
       "time at the start; unset: that of the initial conditions"},
      {"time", "end", at(time, &T::end), dimension::time, any, required, "time at which the run is done"},
      {"time", "step", at(time, &T::step), dimension::time, positive, required,
       "longest time step; shortened so that whole steps lead from begin to end"},
      {"time", "step_ln_a", at(time, &T::step_ln_a), dimension::none, positive, optional,
       "with a cosmology, in place of `step`: growth of ln a in the longest step, 0.02 or so"},
      {"time", "steps", choice(time, &T::steps), dimension::none, any, optional,
       "`block`: each particle's steps are the longest one halved as often as its acceleration asks for; "
       "`shared`: all particles take the longest step"},
      {"time", "eta", at(time, &T::eta), dimension::none, positive, optional,
       "accuracy of `block`: a step is at most the square root of length over acceleration, times eta; "
       "unset: as `accuracy` says. GADGET's ErrTolIntAccuracy x is eta = sqrt(2 x): its usual 0.025 is 0.22"},
      {"time", "length", at(time, &T::length), dimension::length, not_negative, optional,
       "length in that criterion, one for all types or a map from type to length; 0: the softening"},
      {"time", "min_step", at(time, &T::min_step), dimension::time, not_negative, optional,
       "no particle gets a shorter step than this"},
      {"time", "integrator", choice(time, &T::integrator), dimension::none, any, optional,
       "where particles are inside of their steps: on straight lines (`leapfrog`), or on parabolas "
       "(`predictor_corrector`)"},
  };
}

std::vector<Row> output_rows() {
  return together({snapshot_rows(), audit_rows(), render_rows(), checkpoint_rows(), limits_rows()});
}

}  // namespace grove::schema
