#pragma once

#include <Kokkos_Core.hpp>
#include <vector>

/// Arrays in the memory of Kokkos' device, which is the host where this Kokkos has none.
namespace grove::test {

using Device = Kokkos::DefaultExecutionSpace;

template <class T>
using HostView = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T>
using DeviceView = Kokkos::View<T*, Device::memory_space>;

template <class Container>
DeviceView<typename Container::value_type> copy(const Container& host) {
  using T = typename Container::value_type;
  DeviceView<T> view("copy", host.size());
  Kokkos::deep_copy(view, HostView<const T>(host.data(), host.size()));
  return view;
}

template <class T>
std::vector<T> fetch(const DeviceView<T>& view) {
  std::vector<T> host(view.size());
  Kokkos::deep_copy(HostView<T>(host.data(), host.size()), view);
  return host;
}

}  // namespace grove::test
