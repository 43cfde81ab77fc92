#include "run_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "environment.hpp"
#include "initial_conditions.hpp"
#include "run_needs.hpp"

namespace grove {
namespace {

/// Prints needs and keeps what does not fit.
class Verdict {
 public:
  explicit Verdict(const Communicator& comm) : comm_(comm) {}
  void line(const std::string& name, const std::string& text) const {
    if (comm_.is_master()) fmt::print("{:<12} {}\n", name, text);
  }
  void add(const Need& need) {
    line(need.name, need.text() + (need.fits() ? "" : ": DOES NOT FIT"));
    if (!need.fits()) faults_.push_back(fmt::format("{}: {}; {}", need.name, need.text(), need.remedy));
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  const Communicator& comm_;
  std::vector<std::string> faults_;
};

/// Seconds of a second evaluation of all forces, trees included, on the slowest rank.
double measured_pass(const Communicator& comm, Backend& backend, Count particles) {
  DecompositionParameters decomposition;
  decomposition.leaf_size = default_leaf_size(particles);
  DecompositionReport report;
  PhaseTimers timers;
  std::optional<Box> box;
  double seconds = 0;
  for (int pass = 0; pass < 3; ++pass) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    const Domain domain = backend.decompose(decomposition, box, report);
    backend.evaluate(domain, {}, timers);
    box = domain.box;
    seconds = comm.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return seconds;
}

/// Forces on a Plummer sphere of so many particles stand for those of the run, as walks of trees or as direct
/// sums: interactions per particle differ by a third from model to model.
std::unique_ptr<Backend> sample_backend(const Communicator& comm, const Parameters& parameters,
                                        const BackendChoice& choice, Count sample, bool is_direct) {
  ModelParameters sphere;
  sphere.model = "plummer";
  sphere.particles = sample;
  GravityParameters gravity = parameters.gravity;
  gravity.gravitational_constant = 1;
  gravity.critical_separation = 0;
  gravity.direct_below = is_direct ? sample + 1 : 0;
  gravity.softening.fill(1 / std::sqrt(static_cast<double>(sample)));
  return make_backend(comm, choice, make_initial_conditions(comm, sphere), gravity);
}

/// How many times as long all particles take as a sample of them: direct sums grow as the square of their
/// number, walks of trees as that times its logarithm.
double growth(double sample, double all, bool is_direct) {
  const double more = all / sample;
  return is_direct ? more * more : more * std::max(1.0, std::log(all) / std::log(sample));
}

std::string text_of_time(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  return seconds < 7200 ? fmt::format("{:.3g} min", seconds / 60) : fmt::format("{:.3g} h", seconds / 3600);
}

/// `is_direct`: how the run gets its forces.
void check_time(const Communicator& comm, const RunAhead& ahead, Backend& backend, Count sample,
                bool is_direct, const Verdict& verdict) {
  const double measured = measured_pass(comm, backend, sample);
  const double pass =
      measured * growth(static_cast<double>(sample), static_cast<double>(ahead.particles), is_direct);
  verdict.line("time", fmt::format("{} for forces on all particles, {}, from {} of a Plummer sphere "
                                   "measured here in {}",
                                   text_of_time(pass), is_direct ? "by direct sums" : "trees included",
                                   sample, text_of_time(measured)));
  verdict.line(
      "", fmt::format(
              "{} for {:.0f} longest steps{}", text_of_time(pass * ahead.steps), ahead.steps,
              ahead.steps_each > 1 ? ", and more for shorter ones, of the particles that need them" : ""));
}

/// Steps are told in advance only where all are alike.
std::string text_of_logs(const RunAhead& ahead) {
  const std::string size = fmt::format("{:.3g} MB", 1e-6 * log_bytes(ahead));
  if (ahead.steps_each <= 1) return size;
  const std::string text = fmt::format("{} for {:.0f} steps in each longest one", size, ahead.steps_each);
  if (!ahead.is_guess) return text + ", as there were so far";
  return fmt::format("{}, a guess: how short steps become nobody knows before; for one in each {:.3g} MB",
                     text, 1e-6 * known_log_bytes(ahead));
}

}  // namespace

void check_run(const Communicator& comm, const Parameters& parameters, const BackendChoice& choice,
               const Checkpoint* from) {
  const RunAhead ahead = run_ahead(comm, parameters, from);
  const std::size_t hosts = environment(comm).hosts.size();
  Verdict verdict(comm);
  if (from)
    verdict.line("goes on",
                 fmt::format("after step {}, time {}: {}", from->run.steps_done,
                             parameters.shown.text(from->manifest.time, dimension::time), from->path));
  verdict.line("particles", fmt::format("{}", ahead.particles));
  verdict.line("ranks", fmt::format("{} on {} {}, backend {}", comm.size(), hosts,
                                    hosts == 1 ? "host" : "hosts", choice.name));
  verdict.line("steps", fmt::format("{:.0f} longest ones{}, {:.0f} snapshots", ahead.steps,
                                    from ? " are left" : "", ahead.snapshots));
  verdict.line("logs", text_of_logs(ahead));
  verdict.add(host_need(comm, ahead.particles, parameters.output.render));
  const bool is_direct = parameters.gravity.is_direct(ahead.particles);
  const Count most = (choice.name == "cuda" ? Count{1} << 20 : Count{20000}) * comm.size();
  const Count sample = std::clamp<Count>(ahead.particles, 1000, most);
  const auto backend = sample_backend(comm, parameters, choice, sample, is_direct);
  if (const auto need = device_need(comm, *backend, ahead.particles)) verdict.add(*need);
  // The same work, not the same number: of a galaxy on two ranks one has had three quarters of the particles.
  if (comm.size() > 1 && ahead.steps_each > 1)
    verdict.line(
        "",
        "for equal numbers of particles on all ranks; with block steps those whose particles take long "
        "steps hold more, half as much again is usual");
  verdict.add(disk_need(comm, parameters, ahead));
  check_time(comm, ahead, *backend, sample, is_direct, verdict);
  if (!verdict.faults().empty())
    throw Agreed<InputError>(fmt::format("the run does not fit: {}", fmt::join(verdict.faults(), "; ")));
}

}  // namespace grove
