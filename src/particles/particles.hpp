#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"
#include "particles/field.hpp"

namespace grove {

/// The particles of one rank, a structure of arrays; host memory, owned here. All have equal lengths, but
/// those of gas are empty where there is none.
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

  bool has_gas = false;              ///< particles of type 0, on any rank, are gas; the same on every rank
  Array<double> internal_energy;     ///< u, per mass; with block steps that of the middle of its step, as
                                     ///< velocity; where space expands times a power of a (GasSpace)
  Array<double> energy_rate;         ///< du/dt of the last evaluation of its forces
  Array<double> density;             ///< rho; between its evaluations as it is expected to change
  Array<double> smoothing_length;    ///< H, beyond which the kernel is 0; the same; 0: not known yet
  Array<double> pressure;            ///< of the last evaluation, as the next
  Array<Vec3f> hydro_acceleration;   ///< part of `acceleration`
  Array<float> velocity_divergence;  ///< of the flow
  Array<float> balsara;           ///< factor of viscosity: 1 where the flow is compressed, 0 where it shears
  Array<float> density_response;  ///< f = 1 / (1 + (H / 3 rho) d rho / dH)
  Array<float> signal_speed;      ///< largest among its neighbours

  std::size_t size() const { return position.size(); }
  bool empty() const { return position.empty(); }
  /// False for fields of gas where there is none: their arrays are empty.
  bool holds(const FieldInfo& info) const { return has_gas || !info.of_gas; }
  /// From now on these are particles with gas, of which all fields are 0.
  void hold_gas();
  /// From now on there is no gas.
  void forget_gas();

  /// Changes the length of all fields that are held; new elements are uninitialised.
  void resize(std::size_t count);
  /// Changes the length of all fields that are held and sets all elements to 0.
  void reset(std::size_t count);

  /// Element i of every field becomes what was element order[i]. Length of order: the new length of the
  /// fields. Cost: one gather per field, one field's memory on top.
  void reorder(std::span<const std::uint32_t> order);
  /// Element first + i of every field becomes what was element order[i], one of these, each once. Cost: as
  /// above, of so many elements.
  void permute(std::size_t first, std::span<const std::uint32_t> order);
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
inline constexpr Field<double> internal_energy{
    &Particles::internal_energy,
    {"InternalEnergy", dimension::potential, gas_types, true, true, true, true, true, true}};
inline constexpr Field<double> energy_rate{
    &Particles::energy_rate,
    {"RateOfChangeOfInternalEnergy", dimension::heating, gas_types, false, true, true, true, false, true}};
inline constexpr Field<double> density{
    &Particles::density, {"Density", dimension::density, gas_types, false, true, true, true, true, true}};
inline constexpr Field<double> smoothing_length{
    &Particles::smoothing_length,
    {"SmoothingLength", dimension::length, gas_types, false, true, true, true, true, true}};
inline constexpr Field<double> pressure{
    &Particles::pressure, {"Pressure", dimension::pressure, gas_types, false, true, true, true, false, true}};
inline constexpr Field<Vec3f> hydro_acceleration{
    &Particles::hydro_acceleration,
    {"HydroAcceleration", dimension::acceleration, gas_types, false, true, true, true, false, true}};
inline constexpr Field<float> velocity_divergence{
    &Particles::velocity_divergence,
    {"VelocityDivergence", dimension::frequency, gas_types, false, true, true, true, false, true}};
inline constexpr Field<float> balsara{
    &Particles::balsara,
    {"BalsaraFactor", dimension::none, gas_types, false, true, true, false, false, true}};
inline constexpr Field<float> density_response{
    &Particles::density_response,
    {"DensityResponse", dimension::none, gas_types, false, true, true, false, false, true}};
inline constexpr Field<float> signal_speed{
    &Particles::signal_speed,
    {"SignalSpeed", dimension::velocity, gas_types, false, true, true, false, false, true}};
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
  visit(fields::internal_energy);
  visit(fields::energy_rate);
  visit(fields::density);
  visit(fields::smoothing_length);
  visit(fields::pressure);
  visit(fields::hydro_acceleration);
  visit(fields::velocity_divergence);
  visit(fields::balsara);
  visit(fields::density_response);
  visit(fields::signal_speed);
}

/// Bytes of a particle in the fields for which chosen(FieldInfo) is true.
template <class Choice>
constexpr std::size_t bytes_of_fields(const Choice& chosen) {
  std::size_t bytes = 0;
  for_each_field([&]<class T>(const Field<T>& field) { bytes += chosen(field.info) ? sizeof(T) : 0; });
  return bytes;
}
/// And in all, with gas or without.
constexpr std::size_t bytes_of_fields(bool has_gas = false) {
  return bytes_of_fields([=](const FieldInfo& info) { return has_gas || !info.of_gas; });
}

}  // namespace grove
