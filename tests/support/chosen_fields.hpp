#pragma once

#include <type_traits>

#include "particles/particles.hpp"

namespace grove::testing {

/// The particles as Backend::show() hands them out from a GPU: no other fields are there.
template <class IsRead>
Particles with_only(Particles particles, const IsRead& is_read) {
  for_each_field([&](const auto& field) {
    using Value = typename std::remove_cvref_t<decltype(field)>::Value;
    if (!is_read(field.info)) particles.*field.array = Array<Value>();  // whose memory is freed
  });
  return particles;
}

}  // namespace grove::testing
