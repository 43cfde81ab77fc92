#include "runtime.hpp"

#include <mpi.h>

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>

#include "base/errors.hpp"
#include "base/pages.hpp"
#include "kernels/kokkos/runtime.hpp"

namespace py = pybind11;

namespace grove::python {

struct Runtime::State {
  bool owns_mpi = false;
  std::optional<KokkosRuntime> kokkos;
  std::optional<Communicator> world;
};

namespace {

bool mpi_has_ended() {
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  return has_ended;
}

/// Returns whether it was this that started MPI.
bool start_mpi() {
  int is_started = 0, provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&is_started);
  if (mpi_has_ended()) throw std::runtime_error("MPI has been finalized already");
  if (is_started) return false;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    throw std::runtime_error("MPI cannot be initialised");
  return true;
}

void set_agreed(const py::handle& type, const char* text) {
  const py::object error = type(text);
  error.attr("agreed") = true;
  PyErr_SetObject(type.ptr(), error.ptr());
}

}  // namespace

Resource::Resource() { Runtime::instance().add(this); }
Resource::~Resource() { Runtime::instance().remove(this); }

Runtime& Runtime::instance() {
  static Runtime runtime;
  return runtime;
}

const Communicator& Runtime::world() {
  if (has_ended_) throw std::runtime_error("Python is about to end; Grove has ended already");
  if (!state_) {
    keep_freed_memory();
    auto state = std::make_unique<State>();
    state->owns_mpi = start_mpi();
    state->kokkos.emplace();
    state->world.emplace(MPI_COMM_WORLD);
    state_ = state.release();
  }
  return *state_->world;
}

void Runtime::end() {
  has_ended_ = true;
  if (!state_ || mpi_has_ended()) return;
  for (Resource* resource : resources_) resource->release();
  state_->world.reset();
  state_->kokkos.reset();
  if (state_->owns_mpi) MPI_Finalize();
}

void Runtime::abort() {
  if (state_ && !mpi_has_ended() && state_->world && state_->world->size() > 1)
    MPI_Abort(state_->world->get(), static_cast<int>(ExitStatus::failed));
}

void check_interrupt() {
  const bool here = PyErr_CheckSignals() != 0;
  const Communicator& comm = Runtime::instance().world();
  if (!(comm.size() > 1 ? comm.max(here ? 1 : 0) > 0 : here)) return;
  if (!here) PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw py::error_already_set();
}

void add_exceptions(py::module_& module) {
  static py::exception<InputError> input_error(module, "InputError", PyExc_ValueError);
  static py::exception<Stopped> stopped(module, "Stopped", PyExc_RuntimeError);
  input_error.doc() = "The input is at fault; the message says where, and what would be right.";
  stopped.doc() = "The run was stopped early and can be resumed.";
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const Agreed<InputError>& e) {
      set_agreed(input_error, e.what());
    } catch (const InputError& e) {
      input_error(e.what());
    } catch (const Agreed<Stopped>& e) {
      set_agreed(stopped, e.what());
    } catch (const Agreed<std::runtime_error>& e) {
      set_agreed(PyExc_RuntimeError, e.what());
    }
  });
}

}  // namespace grove::python
