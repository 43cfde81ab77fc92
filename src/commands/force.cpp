#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "base/console.hpp"
#include "base/errors.hpp"
#include "comm/joint_reduction.hpp"
#include "commands/backend_options.hpp"
#include "commands/choice.hpp"
#include "commands/commands.hpp"
#include "commands/count.hpp"
#include "commands/force_report.hpp"
#include "gravity/force_hash.hpp"
#include "gravity/suggested_softening.hpp"
#include "io/file.hpp"
#include "io/parameters.hpp"
#include "io/schema.hpp"
#include "io/snapshot.hpp"
#include "io/validate.hpp"
#include "io/words.hpp"
#include "run/start/initial_state.hpp"

namespace grove {
namespace {

struct ForceOptions {
  std::string file, output, json, errors, softening, box, unstated_units = "galactic";
  GravityParameters gravity;
  std::optional<Order> order;  ///< none: the usual one
  BackendChoice backend;
  CutRule rule = DecompositionParameters().rule;
  Count leaf_size = 0, domain_cell = 0, audit = 1000;
  int repeat = 1;
  bool direct = false;
  std::vector<int> tracers;

  std::uint8_t tracer_mask() const {
    unsigned mask = 0;
    for (const int type : tracers) mask |= 1u << type;
    return static_cast<std::uint8_t>(mask);
  }
};

const std::map<std::string, Criterion> criteria = values_by_word<Criterion>();
const std::map<std::string, Order> orders = values_by_word<Order>();
const std::map<std::string, CutRule> cut_rules = values_by_word<CutRule>();
const std::map<std::string, LocalTreeKind> trees = values_by_word<LocalTreeKind>();
const std::map<std::string, Curve> curves = values_by_word<Curve>();
const std::map<std::string, KdSplit> splits = values_by_word<KdSplit>();
const std::map<std::string, FirstForces> first_forces = values_by_word<FirstForces>();
const std::map<std::string, WalkKind> walks = values_by_word<WalkKind>();
const std::map<std::string, SofteningKernel> kernels = values_by_word<SofteningKernel>();

/// The numbers that the parameter file takes under this name.
CLI::Validator in_range_of(const std::string& name) {
  const auto& rows = schema::rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name() == name; });
  const auto check = [range = row->range](const std::string& text) {
    double value = 0;
    const bool fine = CLI::detail::lexical_cast(text, value) && range.holds(value);
    return fine ? std::string()
                : fmt::format("{} is out of range; expected a number, {}", text, range.text());
  };
  return {check, ""};
}

/// Memory that this process has used at most so far, in bytes.
double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// Decomposes and evaluates once. domain (in/out): of the last pass, of this one.
MeasuredPass measure(const Communicator& comm, Backend& backend, Domain& domain,
                     const DecompositionParameters& decomposition) {
  MeasuredPass pass;
  PhaseTimers timers;
  comm.barrier();
  {
    const auto total = timers.time("total");
    DecompositionReport report;
    domain = backend.decompose(decomposition, domain, report);
    const PhaseTimers::Cost sort = report.sort(), wait = report.timers.cost("wait");
    timers.add("sort", sort);
    timers.add("wait", wait);
    timers.add("decompose", report.timers.cost("total") - sort - wait);
    pass.report = backend.gravity().evaluate(domain, {}, timers);
    pass.tables = report.tables;
  }
  pass.tables += domain.tables();
  pass.tables += backend.gravity().tables();
  for (const char* phase : force_phases) pass.seconds[phase] = timers.seconds(phase);
  pass.counts = StepCounts(timers.cost("total").activity, timers,
                           std::span(force_phases).first(std::size(force_phases) - 1));
  JointReduction reduction;
  for (auto& [phase, seconds] : pass.seconds) reduction.max(seconds);
  reduction.max(pass.counts.values()).max(pass.tables.values()).apply(comm);
  return pass;
}

/// The pass of median duration; the same on every rank.
MeasuredPass median_of(std::vector<MeasuredPass> passes) {
  const auto middle = passes.begin() + static_cast<std::ptrdiff_t>((passes.size() - 1) / 2);
  std::nth_element(passes.begin(), middle, passes.end(), [](const MeasuredPass& a, const MeasuredPass& b) {
    return a.seconds.at("total") < b.seconds.at("total");
  });
  return *middle;
}

/// A snapshot with positions that forces can be computed of. Those of comoving files are comoving, without h;
/// they must be periodic, as in open space the background's density would be missing.
Snapshot read(const Communicator& comm, const ForceOptions& options) {
  ReadOptions read{.unstated = options.unstated_units == "none" ? Units::dimensionless() : Units::galactic(),
                   .comoving = true};
  const SnapshotHeader header = read_snapshot_header(comm, options.file, read);
  if (comm.is_master())
    if (const std::string remark = remark_on_units(options.file, header); !remark.empty())
      say("note: {}; --units says which\n", remark);
  const bool is_periodic = header.is_periodic || !options.box.empty();
  const double h = comm.broadcast(header.comoving.empty() || !is_periodic ? 0.0
                                  : header.h > 0                          ? header.h
                                                                          : 1.0);
  read.comoving = false;
  if (h > 0) read.h = h;
  comm.together([&] {
    if (h > 0 && !options.output.empty())
      throw InputError(fmt::format("{}: is comoving, of which -o writes no file", options.file));
  });
  return read_snapshot(comm, options.file, read);
}

/// The images of the box that the user or the file say to be periodic.
Images images_of(const ForceOptions& options, const SnapshotHeader& header) {
  if (!options.box.empty()) {
    const double edge = header.units.parse(options.box, dimension::length);
    if (!(edge > 0)) throw InputError(fmt::format("--box-size: {} must be a positive length", options.box));
    return {edge};
  }
  if (!header.is_periodic) return {};
  const Vec3d& box = header.box_size;
  if (!(box.x > 0 && box.x == box.y && box.x == box.z))
    throw InputError(fmt::format("{}: its periodic box is {} wide; only cubes are computed", options.file,
                                 text_of_box(box)));
  return {box.x};
}

/// Fills in the box, softening and G from the file, the user, or the particles.
void complete(const Communicator& comm, const ForceOptions& options, const Snapshot& snapshot,
              ForceResult& result) {
  result.units = snapshot.header.units;
  result.gravity = options.gravity;
  if (options.direct) result.gravity.direct_below = std::numeric_limits<Count>::max();
  result.gravity.gravitational_constant = result.units.gravitational_constant;
  comm.together([&] { result.gravity.images = images_of(options, snapshot.header); });
  result.gravity.order = options.order.value_or(result.gravity.usual_order());
  result.softening_suggested = options.softening.empty();
  Softening softening;
  if (result.softening_suggested)
    softening.length.fill(suggested_softening(comm, snapshot.particles));
  else
    comm.together([&] { softening = parse_softening(options.softening, "--softening", result.units); });
  result.gravity.softening = softening.length;
  result.softened = softening.types;
  comm.together([&] {
    if (!result.gravity.softening_fits_box())
      throw InputError("--softening: is more than a sixteenth of the periodic box; give less");
  });
}

/// A whole snapshot, with what the evaluation found.
void write_forces(const Communicator& comm, const std::string& path, const SnapshotHeader& header,
                  const Particles& particles, Count leaf_size) {
  WriteOptions options;
  options.time = header.time;
  options.units = header.units;
  options.fields = {"Coordinates", "Velocities", "Masses", "Acceleration", "Potential"};
  options.leaf_size = leaf_size;
  write_snapshot(comm, path, particles, options);
}

/// InputError if something cannot be written, or would be empty.
void require_outputs(const ForceOptions& options) {
  require_output(options.output, {options.file});
  require_output(options.json, {options.file, options.output});
  require_output(options.errors, {options.file, options.output, options.json});
  if (!options.errors.empty() && options.audit == 0)
    throw InputError("--errors lists the particles of an audit: give --audit more than 0");
}

/// All passes, and how accurate the forces are.
void evaluate(const Communicator& comm, const ForceOptions& options, Backend& backend, Count leaf_size,
              ForceResult& result) {
  DecompositionParameters decomposition;
  result.rule = decomposition.rule = options.rule;
  decomposition.leaf_size = leaf_size;
  decomposition.domain_cell = options.domain_cell;
  decomposition.period = result.gravity.images.edge;
  Domain domain;
  result.first = measure(comm, backend, domain, decomposition);
  std::vector<MeasuredPass> passes;
  for (int i = 0; i < options.repeat; ++i) passes.push_back(measure(comm, backend, domain, decomposition));
  result.second = median_of(std::move(passes));
  result.leaves = domain.leaves();
  result.peak_bytes = comm.max(peak_memory());
  result.peak_device_bytes = static_cast<double>(comm.max(peak_device_memory()));
  if (options.audit > 0) result.audit = backend.audit(domain, options.audit);
}

void run_force(const Communicator& comm, const ForceOptions& options) {
  comm.together([&] {
    if (comm.is_master()) require_outputs(options);
  });
  BackendChoice choice = options.backend;
  ForceResult result;
  result.no_gpu = resolve(comm, choice);
  result.backend = choice.name;
  Snapshot snapshot = read(comm, options);
  result.file = options.file;
  result.ranks = comm.size();
  complete(comm, options, snapshot, result);
  validate(comm, snapshot.particles,
           {.source = options.file,
            .tracer = options.tracer_mask(),
            .softening = result.gravity.softening,
            .softened = result.softened,
            .leaves = 0,
            .header = &snapshot.header,
            .softening_option = "--softening",
            .tracer_option = "--tracer"});

  snapshot.particles.forget_gas();  // gravity is all that is asked for
  const std::unique_ptr<Backend> backend =
      make_backend(comm, choice, std::move(snapshot.particles), result.gravity);
  if (!result.gravity.images.are_open()) backend->wrap(Box::periodic(result.gravity.images.edge));
  result.devices = backend->traits().devices;
  const Count leaf_size = options.leaf_size > 0           ? options.leaf_size
                          : snapshot.header.leaf_size > 0 ? snapshot.header.leaf_size
                                                          : default_leaf_size(snapshot.header.count());
  evaluate(comm, options, *backend, leaf_size, result);
  backend->show(0, [&](const Particles& particles) {
    result.forces_hash = force_hash(comm, particles);
    if (!options.output.empty()) write_forces(comm, options.output, snapshot.header, particles, leaf_size);
  });
  if (comm.is_master()) fmt::print("{}", force_table(result));
  comm.together([&] {
    if (!comm.is_master()) return;
    if (!options.json.empty()) write_text(options.json, force_json(result));
    if (!options.errors.empty()) write_text(options.errors, errors_table(result));
  });
}

/// The options of trees, which say nothing of others.
class TreeOptions {
 public:
  TreeOptions(CLI::App& force, GravityParameters& gravity) : gravity_(gravity) {
    add_choice(force, "--tree", gravity.tree, trees, "What stands in each leaf");
    curve_ = add_choice(force, "--curve", gravity.curve, curves, "Order of an octree's cells");
    split_ = add_choice(force, "--split", gravity.split, splits,
                        "Where a kd-tree cuts nodes of fewer than 256 particles; of --tree kd");
    bucket_ =
        force
            .add_option("--bucket", gravity.bucket,
                        "Largest number of particles of a node that --tree octree or kd does not divide")
            ->check(CLI::Range(1, group_size))
            ->capture_default_str();
    add_choice(
        force, "--walk", gravity.walk, walks,
        "What goes through the trees: groups of particles, or each along the links of the nodes (rope)");
  }
  /// Once all are read: an option of trees that are not asked for would do nothing.
  void check() const {
    require(*bucket_, !follows_from_counts(gravity_.tree), "--tree octree or kd");
    require(*curve_, gravity_.tree == LocalTreeKind::octree, "--tree octree");
    require(*split_, gravity_.tree == LocalTreeKind::kd, "--tree kd");
  }

 private:
  static void require(const CLI::Option& option, bool has_it, const std::string& right) {
    if (option.count() > 0 && !has_it)
      throw CLI::ValidationError(option.get_name(), "says nothing here; give " + right + ", or leave it out");
  }

  const GravityParameters& gravity_;
  const CLI::Option *curve_, *split_, *bucket_;
};

/// When a node acts, and how.
void add_expansion_options(CLI::App& force, GravityParameters& gravity, std::optional<Order>& order) {
  add_choice(force, "--criterion", gravity.criterion, criteria, "When a node may stand for its particles");
  force.add_option("--theta", gravity.theta, "Opening angle; also of the first pass")
      ->check(in_range_of("gravity.theta"))
      ->capture_default_str();
  force.add_option("--delta", gravity.delta, "Accuracy of `acceleration`, `multipole` and `relative_edge`")
      ->check(in_range_of("gravity.delta"))
      ->capture_default_str();
  add_choice(force, "--first", gravity.first, first_forces,
             "First pass of a criterion that needs accelerations: by the opening angle, or direct sums");
  add_optional_choice(
      force, "--order", order, orders,
      "Terms of the expansion of a node's force; default: quadrupole, in a periodic box octupole, with the "
      "criterion `acceleration`, the kernel `spline` and the walk `groups`");
  add_choice(force, "--kernel", gravity.kernel, kernels, "Shape of softened particles");
}

}  // namespace

void add_force(CLI::App& app, Action& action) {
  CLI::App* force =
      app.add_subcommand("force", "Evaluate forces once: rates, and the error against direct summation");
  auto options = std::make_shared<ForceOptions>();
  force->add_option("file", options->file, "Snapshot, of any format that `grove info` knows")->required();
  force->add_option("-o,--output", options->output,
                    "Write a snapshot with accelerations and potentials (HDF5)");
  force->add_option(
      "--softening", options->softening,
      "Plummer-equivalent length, such as 0.1 or '100 pc', or one by type, such as '{1: 0.1, 2: 30 pc}', as "
      "gravity.softening of a run; default: half of r / N^(1/3), r the radius of half of the particles");
  add_expansion_options(*force, options->gravity, options->order);
  const TreeOptions of_trees(*force, options->gravity);
  force->add_option("--box-size", options->box,
                    "Edge of a periodic box [the file's, if it says that its box is periodic]");
  force
      ->add_option("--units", options->unstated_units,
                   "Units of a file that states none: kpc, 1e10 Msun, km/s, or G = 1")
      ->check(CLI::IsMember({"galactic", "none"}))
      ->capture_default_str();
  add_choice(*force, "--rule", options->rule, cut_rules, "Where the cells above the leaves are cut");
  add_count(*force, "--leaf", options->leaf_size, Count{1},
            "Particles per leaf; default: as the file says, else 4096, fewer for few particles")
      ->check(CLI::Range(Count{1}, Count{1} << 30));
  add_count(
      *force, "--domain-cell", options->domain_cell, Count{1},
      "Under `domains`: particles in a domain cell; default: 32 leaves, at most a 256th of all particles");
  force->add_option("--tracer", options->tracers, "Types whose particles may have no mass")
      ->check(CLI::Range(0, particle_types - 1));
  add_count(*force, "--audit", options->audit, Count{0},
            "Particles to compare with direct summation; 0: none")
      ->capture_default_str();
  force->add_option("--errors", options->errors,
                    "Write the errors of the audited particles to this table (CSV), the largest last");
  force->add_flag("--direct", options->direct, "Sum directly, without a tree");
  add_count(*force, "--repeat", options->repeat, 1,
            "Passes after the first one, of which the one of median duration is reported; default: 1");
  add_backend_options(*force, options->backend);
  force->add_option("--json", options->json, "Write the results to this file");
  force->callback([&action, options, of_trees] {
    of_trees.check();
    action = [options](const Communicator& comm) { run_force(comm, *options); };
  });
}

}  // namespace grove
