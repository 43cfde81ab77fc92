#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/display_units.hpp"
#include "base/types.hpp"
#include "base/units.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "io/cosmological_model.hpp"
#include "io/cosmology_parameters.hpp"
#include "io/potential_parameters.hpp"
#include "io/view.hpp"
#include "kernels/math/decomposition_parameters.hpp"
#include "kernels/math/gas.hpp"
#include "kernels/math/leapfrog.hpp"
#include "kernels/math/opening.hpp"
#include "particles/models/parameters.hpp"

namespace grove {

struct ModelInfo;

/// Sizes of the units of the run. Either a named system or the three sizes.
struct UnitsParameters {
  std::string system = "galactic";  ///< "galactic", "none" (G = 1), "custom" (the three sizes below)
  std::optional<double> length_cm, mass_g, velocity_cm_s;
};

/// Particles from a snapshot, or of a model.
struct ParticleSource {
  std::string file;                    ///< path of a snapshot; empty: a model is made
  ModelParameters model = no_model();  ///< what to make; its name is empty if the file is read

 private:
  static ModelParameters no_model() {
    ModelParameters none;
    none.model.clear();
    return none;
  }
};

/// Which type particles of each type get.
using TypeMap = std::array<std::uint8_t, particle_types>;

/// The placement of a component's particles: first they turn about the origin, then they move.
struct Placement {
  Vec3d position{0, 0, 0}, velocity{0, 0, 0};  ///< of the component's origin
  double inclination = 0;                      ///< degrees, about the x axis
  double node = 0;                             ///< degrees, then about the z axis
  TypeMap type{0, 1, 2, 3, 4, 5};
  std::optional<std::uint64_t> id_offset;  ///< added to ids; unset: so that ids follow those before
};

/// One of several sets of particles that a run starts with.
struct ComponentParameters : ParticleSource {
  Placement placement{};
};

/// The source of the particles: one source, or several components.
struct InitialConditionsParameters : ParticleSource {
  CosmologicalModelParameters cosmological;     ///< if the model is of a universe
  std::vector<ComponentParameters> components;  ///< then file and model are empty
  std::uint8_t tracer = 0;                      ///< bit t set: particles of type t may have no mass
  /// The mean one of gas whose files have temperatures, in protons; unset: that gas moves by gravity alone.
  std::optional<double> molecular_weight{};

  /// The components; of one source that source alone, where it is.
  std::vector<ComponentParameters> parts() const {
    return components.empty() ? std::vector{ComponentParameters{*this}} : components;
  }
  /// The model that is all the particles; nullptr: they are of files, of several components or of a universe.
  const ModelInfo* only_model() const;
  /// Their name in messages.
  std::string source() const {
    if (!components.empty()) return "initial_conditions.components";
    return file.empty() ? "model " + model.model : file;
  }
};

/// How accurate forces and steps are together.
enum class Accuracy : std::uint8_t {
  fast,      ///< as other codes by their defaults: systems near equilibrium, first looks
  standard,  ///< energy within 1 % in violent problems, too
  high,      ///< what others are compared with
};

/// The values that it stands for. Measured: docs/measurements/accuracy.md, docs/cosmology.md.
struct AccuracyOf {
  double delta;           ///< GravityParameters::delta
  double periodic_delta;  ///< the same in periodic boxes, where accelerations are what is left of larger ones
  double eta;             ///< TimeParameters::eta

  constexpr double delta_in(bool periodic) const { return periodic ? periodic_delta : delta; }
};
/// expands: space does. Structures that form there come together slowly, and steps are longer than those that
/// a collapse in static space asks for.
constexpr AccuracyOf accuracy_of(Accuracy accuracy, bool expands) {
  constexpr AccuracyOf in_static_space[] = {
      {3.5e-3, 3.5e-3, 0.2}, {2.5e-4, 2.5e-4, 0.05}, {1e-4, 4e-5, 0.02}};
  constexpr double eta_in_expanding_space[] = {0.3, 0.15, 0.075};
  const auto at = static_cast<int>(accuracy);
  AccuracyOf of = in_static_space[at];
  if (expands) of.eta = eta_in_expanding_space[at];
  return of;
}

/// The span of time to compute, and its steps.
struct TimeParameters {
  std::optional<double> begin;  ///< unset: the time of the initial conditions
  double end = 0;
  double step = 0;                    ///< the longest
  std::optional<double> step_ln_a{};  ///< where space expands, in place of it: growth of ln a
  double min_step = 0;                ///< no particle gets a shorter one
  StepKind steps = StepKind::block;
  double eta = accuracy_of(Accuracy::standard, false).eta;
  std::array<double, particle_types> length{};  ///< of the step's criterion, by type; 0: the softening
  Integrator integrator = Integrator::leapfrog;

  /// How particles' steps are chosen, the longest step being this.
  StepRule rule(double longest, const std::array<double, particle_types>& softening) const;
};

/// The measure of the cost of new trees and cuts, beside the interactions that they save.
enum class TuningCost : std::uint8_t {
  counted,   ///< so many interactions, as on a reference machine
  measured,  ///< as many as this run's walks make in that time
};

/// How trees follow the particles.
struct TuningParameters {
  Count rebuild_interval = 0;  ///< steps between decompositions; 0: chosen as the run goes
  /// New cuts and trees when walks cost (1 + this) times as many interactions per active particle as after
  /// the last ones. Not beside an interval.
  std::optional<double> rebuild_above;
  TuningCost cost = TuningCost::counted;
};

/// The output of a run: its kinds, place and times.
struct OutputParameters {
  std::string folder = "output";
  std::optional<double> every;       ///< time between snapshots
  std::vector<double> times;         ///< or the times themselves
  std::vector<std::string> fields;   ///< datasets to write; empty: the default ones
  std::uint8_t types = 0x3f;         ///< bit t set: particles of type t are written
  bool power = false;                ///< a power spectrum per snapshot
  bool render = true;                ///< a picture per snapshot
  View view;                         ///< of the pictures
  Count files = 1;                   ///< files per snapshot
  bool fof = false;                  ///< a catalogue of halos per snapshot
  std::optional<double> fof_length;  ///< linking length; unset: 0.2 mean distances of particles
};

/// How often forces are checked against direct summation.
struct AuditParameters {
  Count every = 0;  ///< steps; 0: never
  Count particles = 1000;
};

/// How often the state of a run is saved, to go on from.
struct CheckpointParameters {
  double every = 1800;  ///< seconds of the machine's clock; 0: only when the run ends
};

/// How long a run may take, in seconds of the machine's clock.
struct LimitsParameters {
  double wall_clock = 0;  ///< of the whole run; 0: no limit
  double hang = 600;      ///< without progress, unless more is predicted
};

/// Plummer-equivalent lengths by type, in the units of a run or of a file.
struct Softening {
  std::array<double, particle_types> length{};
  std::uint8_t types = 0x3f;  ///< bit t set: type t was given its length
};

/// Space that repeats itself.
struct BoxParameters {
  bool periodic = false;
  std::optional<double> size;  ///< edge, length; of a periodic box it is there
};

/// All that a run can be told, resolved: every value is in the run's units, every default filled in.
struct Parameters {
  UnitsParameters unit_choice;
  Accuracy accuracy = Accuracy::standard;  ///< gives gravity.delta and time.eta where they are not given
  InitialConditionsParameters initial_conditions;
  CosmologyParameters cosmology;      ///< complete, if there is a universe
  std::optional<Cosmology> universe;  ///< none: space is static
  BoxParameters box;
  GravityParameters gravity;
  GasParameters gas;             ///< of particles of type 0 that have internal energies
  std::uint8_t softened = 0x3f;  ///< bit t set: gravity.softening has a length for type t
  std::array<double, particle_types> max_physical_softening{};  ///< by type, in expanding space; 0: none
  std::vector<PotentialParameters> potentials;  ///< external ones; momentum is conserved only without
  DecompositionParameters decomposition;
  TimeParameters time;
  TuningParameters tuning;
  OutputParameters output;
  AuditParameters audit;
  CheckpointParameters checkpoint;
  LimitsParameters limits;

  /// The lengths of forces when the scale factor is this; 1 in static space.
  std::array<double, particle_types> softening(double scale_factor) const;

  Units units = Units::galactic();  ///< what unit_choice says
  DisplayUnits shown;               ///< what its values are shown in: units as the user wrote them
  UnitNames typed;                  ///< those that the user wrote, for that or as the run's; empty: none
};

/// The edge of a periodic box that parameters do not have, in their units; 0: it is not known. By one rank.
using EdgeOfBox = std::function<double(const Parameters&)>;

/// Collective: the master reads the file, all ranks get the same result or the same InputError, which names
/// file, line and key and says what would be right. overrides: "section.key=value", as from -P; they win over
/// the file. known_edge: is asked on the master where a periodic box has no box.size and its particles are of
/// a file; then this file is looked at only if it knows none.
Parameters read_parameters(const Communicator& comm, const std::string& path,
                           const std::vector<std::string>& overrides, const EdgeOfBox& known_edge = {});

/// The same from a text, which all ranks have; `name` stands for the file in messages.
Parameters resolve_parameters(const Communicator& comm, const std::string& text, const std::string& name,
                              const std::vector<std::string>& overrides, const EdgeOfBox& known_edge = {});

/// The same by this rank alone. edge_of_box: is asked in place of the file; without it such parameters are
/// refused.
Parameters parse_parameters(const std::string& text, const std::string& name,
                            const std::vector<std::string>& overrides, const EdgeOfBox& edge_of_box = {});

/// Components that are files, and where they are put: "1.position=50 kpc, 0, 0" is of the second file, and
/// what stands behind the point a key of initial_conditions.components. units: of bare numbers and of the
/// result. InputError: a file that is not there, or a key or value that cannot be.
std::vector<ComponentParameters> placed_files(const std::vector<std::string>& files,
                                              const std::vector<std::string>& settings, const Units& units);

/// A softening as gravity.softening takes it, a length or a map from type to length. option: that it was
/// given to, for messages. InputError.
Softening parse_softening(const std::string& text, const std::string& option, const Units& units);

/// The parameters as a file that read_parameters resolves to the same values, with the meaning of each line
/// as its comment.
std::string used_parameters(const Parameters& parameters);

/// The documentation page docs/parameters.md.
std::string parameter_documentation();

}  // namespace grove
