#pragma once

#include <cstddef>

/// Loops of host algorithms (the SIMD walk, the bisection, moments), so that their sources need neither
/// Kokkos' headers nor the compiler of a device: a Kokkos built for one wants all that includes it to go
/// through that compiler, which knows no vector registers of the host.
namespace grove {

/// A call of body(i), whatever the body's type.
struct HostBody {
  const void* body;
  void (*call)(const void* body, std::size_t i);
};

/// host_loop() below.
void run_host_loop(const char* label, std::size_t count, HostBody body);

/// Calls body(i) for i = 0 .. count - 1 on the threads of Kokkos' host execution space, in any order, and
/// waits for the last. The body is the host's: it may use whatever threads may share, and must not throw.
/// Cost: an indirect call per i, so i should be the number of a leaf or the like.
template <class Body>
void host_loop(const char* label, std::size_t count, const Body& body) {
  run_host_loop(label, count,
                {&body, [](const void* object, std::size_t i) { (*static_cast<const Body*>(object))(i); }});
}

}  // namespace grove
