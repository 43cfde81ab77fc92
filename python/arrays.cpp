#include "arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"

namespace py = pybind11;

namespace grove::python {
namespace {

void require_shape(const py::array& array, const char* name, std::vector<py::ssize_t> expected) {
  const std::vector<py::ssize_t> shape(array.shape(), array.shape() + array.ndim());
  if (shape != expected)
    throw InputError(fmt::format("{}: has shape ({}); expected ({})", name, fmt::join(shape, ", "),
                                 fmt::join(expected, ", ")));
}

void check_shapes(const ParticleInput& input) {
  const py::array& x = input.positions;
  if (x.ndim() != 2 || x.shape(1) != 3)
    throw InputError(fmt::format("positions: expected an array of shape (N, 3), not of {} dimensions{}",
                                 x.ndim(), x.ndim() == 2 ? fmt::format(" and {} columns", x.shape(1)) : ""));
  const py::ssize_t n = x.shape(0);
  require_shape(input.masses, "masses", {n});
  if (input.velocities) require_shape(*input.velocities, "velocities", {n, 3});
  if (input.ids) require_shape(*input.ids, "ids", {n});
  if (input.types) require_shape(*input.types, "types", {n});
  if (input.internal_energies) require_shape(*input.internal_energies, "internal_energies", {n});
}

/// from: of this type; T: holds what is at most `most`.
template <class Given, class T>
void copy_within(const py::array& from, const char* name, std::uint64_t most, Array<T>& to) {
  const auto given = Input<Given>::ensure(from);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const Given value = given.data()[i];
    if (std::cmp_less(value, 0) || std::cmp_greater(value, most))
      throw InputError(fmt::format("{}: {} of particle {}; expected 0 to {}", name, value, i, most));
    to[i] = static_cast<T>(value);
  }
}

/// A conversion by numpy would make 1 of 257 and of 1.7.
template <class T>
void copy_whole(const py::array& from, const char* name, std::uint64_t most, Array<T>& to) {
  if (to.empty()) return;  // an empty list is an array of floats
  switch (from.dtype().kind()) {
    case 'u':
      return copy_within<std::uint64_t>(from, name, most, to);
    case 'i':
      return copy_within<std::int64_t>(from, name, most, to);
    default:
      throw InputError(fmt::format("{}: has elements of type {}; expected whole numbers", name,
                                   py::str(from.dtype()).cast<std::string>()));
  }
}

template <class T>
void copy(const py::array& from, Array<T>& to) {
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size() * sizeof(T));
}

void check_energy(double energy, int type, std::size_t particle) {
  const auto fail = [&](const char* expected) {
    throw InputError(fmt::format("internal_energies: {} of particle {}, which is of type {}; expected {}",
                                 energy, particle, type, expected));
  };
  if (!std::isfinite(energy) || energy < 0) fail("a finite number that is not negative");
  if (energy != 0 && type != gas_type) fail("0, as only particles of type 0 are gas");
}

/// Collective. Particles of type 0 become gas if there are any, on any rank, and they have internal energies.
void take_gas(const Communicator& comm, const ParticleInput& input, Particles& particles) {
  const bool has_type =
      std::find(particles.type.begin(), particles.type.end(), gas_type) != particles.type.end();
  const bool is_given = comm.max(has_type && input.internal_energies ? 1 : 0) != 0;
  comm.together([&] {
    if (is_given && has_type && !input.internal_energies)
      throw InputError(
          "internal_energies: given on another rank alone; expected on each with particles of type 0");
    for (std::size_t i = 0; input.internal_energies && i < particles.size(); ++i)
      check_energy(input.internal_energies->data()[i], particles.type[i], i);
  });
  if (!is_given) return;
  particles.hold_gas();
  if (input.internal_energies) copy(*input.internal_energies, particles.internal_energy);
}

}  // namespace

py::dict arrays_of(Particles particles) {
  const auto owner = std::make_shared<Particles>(std::move(particles));
  const std::size_t n = owner->size();
  py::dict arrays;
  arrays["positions"] = view(owner->position.data(), n, owner);
  arrays["velocities"] = view(owner->velocity.data(), n, owner);
  arrays["masses"] = view(owner->mass.data(), n, owner);
  arrays["ids"] = view(owner->id.data(), n, owner);
  arrays["types"] = view(owner->type.data(), n, owner);
  arrays["accelerations"] = view(owner->acceleration.data(), n, owner);
  arrays["potentials"] = view(owner->potential.data(), n, owner);
  if (owner->has_gas) {
    arrays["internal_energies"] = view(owner->internal_energy.data(), n, owner);
    arrays["densities"] = view(owner->density.data(), n, owner);
    arrays["smoothing_lengths"] = view(owner->smoothing_length.data(), n, owner);
  }
  return arrays;
}

Particles particles_of(const Communicator& comm, const ParticleInput& input) {
  comm.together([&] { check_shapes(input); });
  Particles particles;
  particles.reset(static_cast<std::size_t>(input.positions.shape(0)));
  copy(input.positions, particles.position);
  copy(input.masses, particles.mass);
  if (input.velocities) copy(*input.velocities, particles.velocity);
  std::fill(particles.type.begin(), particles.type.end(), std::uint8_t{1});
  comm.together([&] {
    if (input.types) copy_whole(*input.types, "types", particle_types - 1, particles.type);
    if (input.ids) copy_whole(*input.ids, "ids", std::numeric_limits<ParticleId>::max(), particles.id);
  });
  take_gas(comm, input, particles);
  if (!input.ids) {
    const std::vector<Count> counts = comm.all_gather(static_cast<Count>(particles.size()));
    const Count before = std::accumulate(counts.begin(), counts.begin() + comm.rank(), Count{0});
    std::iota(particles.id.begin(), particles.id.end(), static_cast<ParticleId>(before + 1));
  }
  return particles;
}

}  // namespace grove::python
