#include "stop_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <span>
#include <system_error>
#include <utility>

#include "slurm_time.hpp"

namespace grove {
namespace {

/// Who can ask for a stop. Ranks agree on the largest.
enum Source : int { nobody, by_terminate, by_interrupt, by_user_signal, by_file, by_wall_clock, by_slurm };

// Set by handlers, which may run on any thread at any time: nothing but lock-free atomics is allowed there.
std::atomic<int> stop_source{nobody};
std::atomic<int> snapshot_asked{0}, interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_interrupt(int) {
  stop_source = by_interrupt;
  if (interrupts++ == 0) return;
  // The user means it: what a SIGINT does by itself, as soon as this handler returns.
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}
extern "C" void on_terminate(int) { stop_source = by_terminate; }
extern "C" void on_user_signal(int) { stop_source = by_user_signal; }
extern "C" void on_snapshot(int) { snapshot_asked = 1; }

struct Handled {
  int signal;
  void (*handler)(int);
};
constexpr Handled handled[] = {
    {SIGINT, on_interrupt}, {SIGTERM, on_terminate}, {SIGUSR1, on_user_signal}, {SIGUSR2, on_snapshot}};

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // files and MPI must not see their calls interrupted
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

constexpr bool is_kept_early(int signal) { return signal != SIGINT; }

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The longest of recent times: old ones count less and less, half after some 700 others.
double longest_recent(double longest, double now) { return std::max(now, 0.999 * longest); }

}  // namespace

double lead_time(double step_seconds, double checkpoint_seconds) {
  // Half as much again for what varies (load, file system), and a second in which ranks end.
  return 1.5 * (step_seconds + checkpoint_seconds) + 1;
}

void keep_requests() {
  for (const auto& [signal, handler] : handled)
    if (is_kept_early(signal)) handle(signal, handler);
}

void drop_requests() {
  for (const auto& [signal, handler] : handled)
    if (is_kept_early(signal)) handle(signal, SIG_DFL);
}

StopRequests::StopRequests(const Communicator& comm, std::filesystem::path folder, double wall_clock)
    : comm_(comm), file_(std::move(folder) / "stop") {
  for (const auto& [signal, handler] : handled) handle(signal, handler);
  last_poll_ = Clock::now();
  if (wall_clock > 0) set_deadline(wall_clock, by_wall_clock);
  if (!comm_.is_master()) return;
  drop_old_file();
  const SlurmTime job = slurm_time_left();
  if (job.seconds) set_deadline(*job.seconds, by_slurm);
  if (!job.fault.empty())
    fmt::print(stderr, "SLURM's time limit is not known: {}; limits.wall_clock can stand in for it\n",
               job.fault);
}

StopRequests::~StopRequests() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, reason_.empty() ? SIG_DFL : SIG_IGN);
  for (const int polite : {SIGUSR1, SIGUSR2}) handle(polite, SIG_IGN);
  stop_source = nobody;
  snapshot_asked = interrupts = 0;
}

/// One that a run did not live to see would end this one after its first step. A minute is room for what
/// comes while a job starts, and for clocks that differ.
void StopRequests::drop_old_file() const {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file_, error);
  if (error || written > decltype(written)::clock::now() - std::chrono::minutes(1)) return;
  if (std::filesystem::remove(file_, error))
    fmt::print(stderr,
               "warning: {} is older than this run, so it is removed; touch it again to stop the run\n",
               file_.string());
}

void StopRequests::set_deadline(double seconds, int source) {
  const auto when = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(std::min(seconds, 1e9)));
  if (!deadline_ || when < deadline_->when) deadline_ = {when, source};
}

void StopRequests::steps_go_on(const CheckpointTime& checkpoint) {
  last_poll_ = Clock::now();
  checkpoint_ = checkpoint;
}

Request StopRequests::poll(bool checkpoint_due) {
  Heard asked = heard(checkpoint_due);
  comm_.max(std::span<int>(asked));
  return answer(asked);
}

StopRequests::Heard StopRequests::heard(bool checkpoint_due) {
  const auto now = Clock::now();
  step_seconds_ = longest_recent(step_seconds_, seconds_between(last_poll_, now));
  last_poll_ = now;
  return {snapshot_asked.exchange(0), asker(), comm_.is_master() && checkpoint_due ? 1 : 0};
}

Request StopRequests::answer(const Heard& asked) {
  if (asked[0] > 0) return Request::snapshot;
  if (asked[1] == nobody) return asked[2] > 0 ? Request::checkpoint : Request::none;
  if (!checkpoint_.is_measured && (asked[1] == by_wall_clock || asked[1] == by_slurm))
    return Request::checkpoint;
  obey(asked[1]);
  return Request::stop;
}

bool StopRequests::poll_stop() {
  last_poll_ = Clock::now();
  const int source = comm_.max(asker());
  if (source != nobody) obey(source);
  return source != nobody;
}

/// Who asks this rank to stop.
int StopRequests::asker() {
  const int asked = stop_source;
  return comm_.is_master() ? std::max(asked, asked_of_master()) : asked;
}

void StopRequests::obey(int source) {
  reason_ = name_of(source);
  std::error_code error;
  if (comm_.is_master()) std::filesystem::remove(file_, error);  // it may not be there
}

int StopRequests::asked_of_master() {
  if (deadline_ &&
      seconds_between(Clock::now(), deadline_->when) < lead_time(step_seconds_, checkpoint_.seconds))
    return deadline_->source;
  return finds_file() ? by_file : nobody;
}

bool StopRequests::finds_file() {
  // A look costs a parallel file system a message to its server.
  if (seconds_between(last_look_, last_poll_) < 1) return false;
  last_look_ = last_poll_;
  std::error_code error;
  return std::filesystem::exists(file_, error);
}

std::string StopRequests::name_of(int source) const {
  switch (source) {
    case by_terminate:
      return "signal SIGTERM";
    case by_interrupt:
      return "signal SIGINT";
    case by_user_signal:
      return "signal SIGUSR1";
    case by_file:
      return fmt::format("the file {}", file_.string());
    case by_wall_clock:
      return "limits.wall_clock";
    default:
      return "the end of the time that SLURM gives";
  }
}

}  // namespace grove
