#include "runtime.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/errors.hpp"
#include "base/pages.hpp"
#include "comm/process.hpp"
#include "kernels/kokkos/runtime.hpp"

namespace py = pybind11;

namespace grove::python {

struct Runtime::State {
  bool owns_mpi = false;
  std::optional<KokkosRuntime> kokkos;
  std::optional<Communicator> world;
};

namespace {

/// Returns whether it was this that started MPI.
bool ensure_mpi() {
  if (mpi_has_ended()) throw std::runtime_error("MPI has been finalized already");
  if (mpi_has_started()) return false;
  if (const std::string fault = start_mpi(); !fault.empty()) throw std::runtime_error(fault);
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
    state->owns_mpi = ensure_mpi();
    state->kokkos.emplace();
    state->world.emplace(MPI_COMM_WORLD);  // as in main(), which a module does not have
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
  if (state_->owns_mpi) end_mpi();
}

void Runtime::abort() {
  if (state_ && !mpi_has_ended() && state_->world && state_->world->size() > 1)
    abort_mpi(*state_->world, static_cast<int>(ExitStatus::failed));
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
