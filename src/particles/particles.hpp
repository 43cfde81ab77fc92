#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "particles/field.hpp"

namespace grove {

/// The particles of one rank, a structure of arrays of equal length; host memory, owned here.
struct Particles {
  Array<Vec3d> position;          ///< length
  Array<Vec3d> velocity;          ///< velocity
  Array<double> mass;             ///< mass
  Array<ParticleId> id;           ///< unique over all ranks
  Array<std::uint8_t> type;       ///< 0 .. particle_types - 1
  Array<Vec3f> acceleration;      ///< of the last force evaluation; times G already
  Array<float> potential;         ///< of the last force evaluation, without the particle's own; times G
  Array<float> old_acceleration;  ///< |acceleration| of the last force evaluation; 0 before the first
  Array<std::uint32_t> work;      ///< interactions per longest time step: of the last force evaluation, times
                                  ///< the steps of the rung, at most 2^32 - 1; 0 before the first
  Array<std::uint8_t> rung;       ///< of its time step (kernels/math/block_steps.hpp)
  Array<Vec3f> previous_acceleration;  ///< at the beginning of that step; 0 before the first

  std::size_t size() const { return position.size(); }
  bool empty() const { return position.empty(); }

  /// Changes the length of all fields; new elements are uninitialised.
  void resize(std::size_t count);
  /// Changes the length of all fields and sets all elements to 0.
  void reset(std::size_t count);

  /// Element i of every field becomes what was element order[i]. Length of order: the new length of the
  /// fields. Cost: one gather per field, one field's memory on top.
  void reorder(std::span<const std::uint32_t> order);
};

/// A field: its array in `Particles`, and its description.
template <class T>
struct Field {
  using Value = T;
  Array<T> Particles::*array;
  FieldInfo info;
};

/// The table of fields. A new property of particles is a member above and a row here (and in for_each_field).
namespace fields {
inline constexpr Field<Vec3d> position{
    &Particles::position, {"Coordinates", dimension::length, all_types, true, true, true, true, true}};
inline constexpr Field<Vec3d> velocity{
    &Particles::velocity, {"Velocities", dimension::velocity, all_types, true, true, true, true, true}};
inline constexpr Field<double> mass{&Particles::mass,
                                    {"Masses", dimension::mass, all_types, true, true, true, true, true}};
inline constexpr Field<ParticleId> id{
    &Particles::id, {"ParticleIDs", dimension::none, all_types, true, true, true, true, true}};
inline constexpr Field<std::uint8_t> type{
    &Particles::type, {"Type", dimension::none, all_types, false, true, true, false, false}};
inline constexpr Field<Vec3f> acceleration{
    &Particles::acceleration,
    {"Acceleration", dimension::acceleration, all_types, false, true, true, true, false}};
inline constexpr Field<float> potential{
    &Particles::potential, {"Potential", dimension::potential, all_types, false, true, true, true, false}};
inline constexpr Field<float> old_acceleration{
    &Particles::old_acceleration,
    {"OldAcceleration", dimension::acceleration, all_types, false, true, true, false, false}};
inline constexpr Field<std::uint32_t> work{
    &Particles::work, {"Work", dimension::none, all_types, false, true, true, false, false}};
inline constexpr Field<std::uint8_t> rung{
    &Particles::rung, {"TimeStepRung", dimension::none, all_types, false, true, true, true, false}};
inline constexpr Field<Vec3f> previous_acceleration{
    &Particles::previous_acceleration,
    {"PreviousAcceleration", dimension::acceleration, all_types, false, true, true, false, false}};
}  // namespace fields

/// Calls visit(field) for every row of the table, in a fixed order.
template <class Visitor>
constexpr void for_each_field(Visitor&& visit) {
  visit(fields::position);
  visit(fields::velocity);
  visit(fields::mass);
  visit(fields::id);
  visit(fields::type);
  visit(fields::acceleration);
  visit(fields::potential);
  visit(fields::old_acceleration);
  visit(fields::work);
  visit(fields::rung);
  visit(fields::previous_acceleration);
}

/// Bytes of a particle in the fields for which chosen(FieldInfo) is true.
template <class Choice>
constexpr std::size_t bytes_of_fields(const Choice& chosen) {
  std::size_t bytes = 0;
  for_each_field([&]<class T>(const Field<T>& field) { bytes += chosen(field.info) ? sizeof(T) : 0; });
  return bytes;
}
/// And in all.
constexpr std::size_t bytes_of_fields() {
  return bytes_of_fields([](const FieldInfo&) { return true; });
}

}  // namespace grove
