#pragma once

#include <pybind11/pybind11.h>

#include <set>

#include "comm/communicator.hpp"

namespace grove::python {

/// A resource that has to be let go before MPI ends.
class Resource {
 public:
  Resource();
  virtual ~Resource();
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;
  virtual void release() = 0;
};

/// MPI and Kokkos, from the first use on: mpi4py's MPI if it has been started, else one of its own. They end
/// with Python.
class Runtime {
 public:
  static Runtime& instance();
  const Communicator& world();

  void add(Resource* resource) { resources_.insert(resource); }
  void remove(Resource* resource) { resources_.erase(resource); }
  /// Ends all ranks, if there are several: an error ends this one, and the others may wait for it.
  void abort();
  /// When Python ends.
  void end();

 private:
  struct State;
  State* state_ = nullptr;
  std::set<Resource*> resources_;
  bool has_ended_ = false;
};

/// Runs the work without Python's lock; what it may print or compute must not touch Python.
template <class Work>
auto unlocked(const Work& work) {
  const pybind11::gil_scoped_release release;
  return work();
}

/// Collective. Ctrl-C, on any rank, becomes KeyboardInterrupt on all.
void check_interrupt();

/// Makes exceptions of Python out of Grove's, with the same texts. Those that all ranks met together have an
/// attribute `agreed`.
void add_exceptions(pybind11::module_& module);

}  // namespace grove::python
