// Section `box`.
#include "io/schema.hpp"
#include "io/schema_slots.hpp"

namespace grove::schema {

std::vector<Row> box_rows() {
  using B = BoxParameters;
  constexpr auto in = &Parameters::box;
  return {
      {"box", "periodic", at(in, &B::periodic), dimension::none, any, optional,
       "true: space is a cube whose opposite faces are the same, from 0 to `size` on each axis"},
      {"box", "size", at(in, &B::size), dimension::length, positive, optional,
       "its edge, comoving where space expands, without h; unset: that of the box that "
       "`initial_conditions.file` states, or of a model that fills its box"},
  };
}

}  // namespace grove::schema
