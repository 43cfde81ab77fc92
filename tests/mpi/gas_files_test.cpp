// Files with gas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "decomposition/migration.hpp"
#include "io/comoving.hpp"
#include "io/snapshot.hpp"
#include "particles/models/model.hpp"
#include "physics/run_fixture.hpp"
#include "run/start/initial_state.hpp"
#include "run/start/periodic_box.hpp"
#include "support/foreign_formats.hpp"
#include "support/particles.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

using testing::gathered_by_id;
using testing::share_of;

class GasFiles : public ::testing::Test {
 protected:
  /// more: sections of parameters.
  InitialState state_of(const std::string& source, const std::string& more = "") const {
    return initial_state(
        comm_, parse_parameters("units: {system: none}\ninitial_conditions: " + source +
                                    "\ngravity: {softening: 0.01}\ntime: {end: 1, step: 1}\n" + more,
                                "test", {}));
  }
  std::vector<std::string> remarks(const std::string& source, const std::string& more) const {
    return state_of(source, more).remarks;
  }

  Communicator comm_{MPI_COMM_WORLD}, alone_{MPI_COMM_SELF};
  testing::TestFolder folder_{comm_, "gas"};
};

TEST_F(GasFiles, keep_energies_and_results) {
  ModelParameters evrard;
  evrard.model = "evrard";
  evrard.particles = 500;
  Particles all = make_particles(evrard);
  for (std::size_t i = 0; i < all.size(); ++i)
    all.internal_energy[i] = 1 + static_cast<double>(i), all.density[i] = 2 + static_cast<double>(i);
  const std::string file = folder_ / "gas.hdf5";
  write_snapshot(comm_, file, share_of(comm_, all), {.units = Units::dimensionless()});
  const Snapshot read = read_snapshot(comm_, file);
  EXPECT_TRUE(read.header.has_gas);
  const Particles found = gathered_by_id(comm_, read.particles);
  EXPECT_EQ(found.internal_energy, all.internal_energy);
  EXPECT_EQ(found.density, Array<double>(all.size(), 0)) << "is found anew";
  if (comm_.is_master()) {
    for (const char* name : {"InternalEnergy", "Density", "SmoothingLength"})
      EXPECT_TRUE(std::any_of(read.header.fields.begin(), read.header.fields.end(),
                              [&](const StoredFieldInfo& field) { return field.name == name; }))
          << name;
  }
}

// Stored are comoving rho, a^power u and the pressure of these, with rates by the integral of dt / a. A
// product of some powers: 1e-14 or less.
TEST(ComovingGasFields, become_physical_by_the_powers_that_files_state) {
  constexpr double a = 0.3, h = 0.7, power = 1.2, stored = 1.7;
  const ComovingTime time{{}, h, a, power};
  const auto physical = [&](const auto& field, double lengths, double masses) {
    const ComovingScale scale = ComovingScale::of(field.info, time);
    const double in_file = scale.in_file * stored;  // in GADGET's units, of kpc / h and Msun / h
    EXPECT_EQ(scale.h_power, -lengths - masses) << field.info.name;
    return in_file * std::pow(a, scale.a_power) * std::pow(h, scale.h_power);
  };
  const double density = physical(fields::density, -3, 1), energy = physical(fields::internal_energy, 0, 0),
               pressure = physical(fields::pressure, -3, 1), heating = physical(fields::energy_rate, 0, 0);
  EXPECT_NEAR(density / (stored * std::pow(a, -3)), 1, 1e-14);
  EXPECT_NEAR(energy / (stored * std::pow(a, -power)), 1, 1e-14);
  EXPECT_EQ(ComovingScale::of(fields::internal_energy.info, time).a_power, 0);
  EXPECT_NEAR(pressure * stored / (density * energy), 1, 1e-14) << "P is as rho u";
  EXPECT_NEAR(heating / (energy / a), 1, 1e-14) << "by the integral of dt / a";
  EXPECT_NEAR(physical(fields::velocity_divergence, 0, 0) / (stored / a / a), 1, 1e-14)
      << "div p is a^2 div dx/dt";
}

TEST_F(GasFiles, without_energies_are_no_gas) {
  Particles all = testing::foreign_particles(alone_, 60);
  std::fill_n(all.type.begin(), 10, gas_type);
  const std::string file = folder_ / "plain.hdf5";
  write_snapshot(comm_, file, share_of(comm_, all), {.units = Units::dimensionless()});
  const InitialState state = state_of("{file: " + file + "}");
  EXPECT_FALSE(state.particles.has_gas);
  ASSERT_EQ(state.remarks.size(), 1u);
  EXPECT_NE(state.remarks[0].find("holds 10 particles of gas (type 0) without internal energies"),
            std::string::npos);
}

TEST_F(GasFiles, of_gadget_s_binary_formats_have_energies_in_block_u) {
  Particles all = testing::foreign_particles(alone_, 60);
  constexpr std::size_t gas = 10;
  std::fill_n(all.type.begin(), gas, gas_type);
  std::fill(all.type.begin() + gas, all.type.end(), std::uint8_t{1});
  for (const int format : {1, 2})
    for (const bool swapped : {false, true}) {
      const testing::GadgetStyle style{.format = format, .swapped = swapped};
      const std::string file = folder_ / "gas.dat";
      testing::put(comm_, file, [&] {
        testing::Bytes energy(swapped);
        for (std::size_t i = 0; i < gas; ++i) energy.add(0.5f + static_cast<float>(i));
        return testing::gadget_file(all, style, 0, 0, all.size()) +
               testing::gadget_block(style, "U   ", energy.text());
      });
      const InitialState state = state_of("{file: " + file + "}");
      ASSERT_TRUE(state.particles.has_gas);
      const Particles found = gathered_by_id(comm_, state.particles);
      for (std::size_t i = 0; i < gas; ++i) {
        const auto at = static_cast<std::size_t>(std::find(found.id.begin(), found.id.end(), all.id[i]) -
                                                 found.id.begin());
        EXPECT_EQ(found.internal_energy[at], 0.5 + static_cast<double>(i));
      }
      comm_.barrier();
    }
}

/// A file of tipsy whose first ten particles are gas.
class TipsyGas : public GasFiles {
 protected:
  static constexpr std::size_t gas = 10;
  TipsyGas() {
    std::fill_n(all_.type.begin(), gas, gas_type);
    std::fill(all_.type.begin() + gas, all_.type.end(), std::uint8_t{1});
  }
  std::string file(bool swapped) const {
    const std::string path = folder_ / "gas.tipsy";
    testing::put(comm_, path, [&] { return testing::tipsy_file(all_, swapped, true, 0); });
    return path;
  }
  InitialState in_units(const std::string& units, const std::string& source) const {
    return initial_state(comm_, parse_parameters("units: " + units + "\ninitial_conditions: " + source +
                                                     "\ngravity: {softening: 0.01}\ntime: {end: 1, step: 1}\n"
                                                     "gas: {adiabatic_index: 1.4}\n",
                                                 "test", {}));
  }
  Particles all_ = testing::foreign_particles(alone_, 60);
};

TEST_F(TipsyGas, has_temperatures_that_become_energies) {
  // u = k T / ((gamma - 1) mu m_p) = T x 8254.40 m^2/s^2/K x 1 / (0.4 x 0.6) in (km/s)^2, divided by that of
  // 2 km/s. Six digits of k / m_p; temperatures are floats, and exact.
  const double per_kelvin = 8254.40 * 1e-6 / (0.4 * 0.6) / 4;
  for (const bool swapped : {false, true})
    for (const bool is_component : {false, true}) {
      const std::string path = file(swapped);
      const std::string source = is_component ? "components: [{file: " + path + "}]" : "file: " + path;
      const InitialState state = in_units("{length: 1 kpc, mass: 1e10 Msun, velocity: 2 km/s}",
                                          "{" + source + ", molecular_weight: 0.6}");
      ASSERT_TRUE(state.particles.has_gas);
      Count found = 0;
      for (std::size_t i = 0; i < state.particles.size(); ++i) {
        if (state.particles.type[i] != gas_type) continue;
        // Ids are 1, 2, ... in the order of the file, as in all_.
        const double kelvin = testing::tipsy_temperature(all_.id[state.particles.id[i] - 1]);
        EXPECT_NEAR(state.particles.internal_energy[i] / (kelvin * per_kelvin), 1, 1e-5);
        ++found;
      }
      EXPECT_EQ(comm_.sum(found), static_cast<Count>(gas));
      comm_.barrier();
    }
}

TEST_F(TipsyGas, moves_by_gravity_alone_without_a_molecular_weight) {
  const InitialState state = in_units("{system: none}", "{file: " + file(false) + "}");
  EXPECT_FALSE(state.particles.has_gas);
  ASSERT_EQ(state.remarks.size(), 3u);
  EXPECT_NE(state.remarks[1].find("with initial_conditions.molecular_weight these follow"),
            std::string::npos);
  EXPECT_NE(state.remarks[2].find("gas.adiabatic_index does nothing"), std::string::npos);
}

TEST_F(TipsyGas, needs_physical_units) {
  const std::string source = "{file: " + file(false) + ", molecular_weight: 0.6}";
  EXPECT_THROW(in_units("{system: none}", source), Agreed<InputError>);
}

TEST_F(GasFiles, of_a_shock_tube_say_which_box_and_gas_they_are_of) {
  const std::string model = "{model: sod, n: 200, scale: 1.5}", gamma = "gas: {adiabatic_index: 1.4}\n",
                    box = "box: {periodic: true, size: 1.5}\n";
  EXPECT_EQ(remarks(model, gamma + box), std::vector<std::string>{});
  const std::vector<std::string> of_box = remarks(model, gamma), of_gamma = remarks(model, box);
  ASSERT_EQ(of_box.size(), 1u);
  EXPECT_NE(of_box[0].find("give box: {periodic: true, size: 1.5}"), std::string::npos) << of_box[0];
  ASSERT_EQ(of_gamma.size(), 1u);
  // (5/3 - 1) / (1.4 - 1)
  EXPECT_NE(
      of_gamma[0].find("gas.adiabatic_index is 1.667, with which its pressures are 1.67 times as large"),
      std::string::npos)
      << of_gamma[0];
  // `grove ic` writes the box into the file.
  const std::string file = folder_ / "sod.hdf5";
  testing::grove(comm_, {"ic", "sod", "-n", "200", "--scale", "1.5", "-o", file});
  comm_.barrier();
  EXPECT_EQ(remarks("{file: " + file + "}", gamma + box), std::vector<std::string>{});
  EXPECT_EQ(remarks("{file: " + file + "}", gamma), std::vector<std::string>{}) << "more than a remark";
  const std::vector<std::string> of_file = state_of("{file: " + file + "}", gamma).warnings;
  ASSERT_EQ(of_file.size(), 1u);
  EXPECT_NE(of_file[0].find("states a periodic box of 1.5; space is taken to be open; for a box that is "
                            "periodic give box: {periodic: true}"),
            std::string::npos)
      << of_file[0];
  for (const Vec3d& edges : {Vec3d{1, 2, 3}, Vec3d{}}) {
    SnapshotHeader header;
    header.box_size = edges;
    header.is_periodic = true;
    const std::string remark = remark_on_box(Parameters{}, "file", header);
    EXPECT_TRUE(remark.ends_with("give box: {periodic: true, size: ...}")) << "no cube: " << remark;
  }
}

TEST_F(GasFiles, of_less_gas_than_a_kernel_takes_or_none_are_remarked_on) {
  EXPECT_EQ(remarks("{model: evrard, n: 100}", ""), std::vector<std::string>{});
  const std::vector<std::string> few = remarks("{model: evrard, n: 99}", "");
  ASSERT_EQ(few.size(), 1u);
  EXPECT_NE(few[0].find("there are 99 particles of gas, fewer than the 100 neighbours"), std::string::npos);
  EXPECT_NE(remarks("{model: evrard, n: 1}", "").at(0).find("there is 1 particle of gas"), std::string::npos);
  EXPECT_EQ(remarks("{model: evrard, n: 99}", "gas: {kernel: cubic_spline}\n"), std::vector<std::string>{});
  EXPECT_EQ(remarks("{model: plummer, n: 99}", "gas: {viscosity: 1}\n"), std::vector<std::string>{})
      << "as used-parameters.yml has it";
  const std::vector<std::string> none =
      remarks("{model: plummer, n: 99}", "gas: {viscosity: 0.5, courant: 0.1}\n");
  ASSERT_EQ(none.size(), 1u);
  EXPECT_NE(
      none[0].find("there is no gas, which is particles of type 0 with internal energies: gas.viscosity, "
                   "gas.courant do nothing"),
      std::string::npos)
      << none[0];
}

TEST_F(GasFiles, components_of_other_types_are_no_gas) {
  EXPECT_TRUE(state_of("{components: [{model: plummer, n: 50}, {model: evrard, n: 100}]}").particles.has_gas);
  const Particles found =
      state_of("{components: [{model: plummer, n: 50}, {model: evrard, n: 100, type: {0: 2}}]}").particles;
  EXPECT_FALSE(found.has_gas);
  EXPECT_TRUE(found.internal_energy.empty());
}

TEST_F(GasFiles, refuse_energies_that_no_gas_has) {
  Particles all = testing::foreign_particles(alone_, 20);
  std::fill(all.type.begin(), all.type.end(), gas_type);
  all.hold_gas();
  std::fill(all.internal_energy.begin(), all.internal_energy.end(), 1.0);
  all.internal_energy[7] = -1;
  const std::string file = folder_ / "bad.hdf5";
  write_snapshot(comm_, file, share_of(comm_, all), {.units = Units::dimensionless()});
  EXPECT_THROW(state_of("{file: " + file + "}"), Agreed<InputError>);
}

}  // namespace
}  // namespace grove
