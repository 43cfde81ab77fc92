#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <span>

#include "base/array.hpp"
#include "base/vec3.hpp"
#include "comm/communicator.hpp"
#include "particles/particles.hpp"

namespace grove::python {

/// numpy's memory is taken as it is if it holds such numbers without gaps, else a copy of it.
template <class T>
using Input = pybind11::array_t<T, pybind11::array::c_style | pybind11::array::forcecast>;

/// An array of numpy on `count` numbers, or vectors, that `owner` keeps alive.
template <class T, class Owner>
pybind11::array view(const T* data, std::size_t count, const std::shared_ptr<Owner>& owner) {
  const pybind11::capsule base(new std::shared_ptr<const void>(owner),
                               [](void* p) { delete static_cast<std::shared_ptr<const void>*>(p); });
  return pybind11::array_t<T>({static_cast<pybind11::ssize_t>(count)}, {sizeof(T)}, data, base);
}
template <class T, class Owner>
pybind11::array view(const Vec3<T>* data, std::size_t count, const std::shared_ptr<Owner>& owner) {
  const pybind11::capsule base(new std::shared_ptr<const void>(owner),
                               [](void* p) { delete static_cast<std::shared_ptr<const void>*>(p); });
  return pybind11::array_t<T>({static_cast<pybind11::ssize_t>(count), pybind11::ssize_t{3}},
                              {sizeof(Vec3<T>), sizeof(T)}, &data->x, base);
}
template <class T>
pybind11::array handed_over(Array<T> values) {
  const auto owner = std::make_shared<Array<T>>(std::move(values));
  return view(owner->data(), owner->size(), owner);
}

/// By name, arrays on the memory of the particles, in their order. Those of gas are there if there is gas.
pybind11::dict arrays_of(Particles particles);

/// Particles of this rank, as a user of Python gives them.
struct ParticleInput {
  Input<double> positions, masses;
  std::optional<Input<double>> velocities;  ///< none: 0
  std::optional<pybind11::array> ids;       ///< whole numbers; none: counted from 1 over all ranks
  std::optional<pybind11::array> types;     ///< whole numbers; none: 1
  /// Per mass, of type 0, others have 0; none: particles of type 0 are no gas.
  std::optional<Input<double>> internal_energies{};
};

/// Collective. A copy of them, as Grove sorts its particles. InputError on all ranks together if the lengths
/// do not fit, types or ids are none, or internal energies are not those of gas.
Particles particles_of(const Communicator& comm, const ParticleInput& input);

}  // namespace grove::python
