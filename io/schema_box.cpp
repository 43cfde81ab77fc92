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
       "its edge, comoving where space expands; unset: `initial_conditions.box_size` of the model "
       "cosmological-box"},
  };
}

}  // namespace grove::schema
