#include "run/start/initial_conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "io/snapshot.hpp"
#include "particles/models/model.hpp"
#include "run/start/composition.hpp"
#include "run/start/initial_state.hpp"
#include "run/start/model_summary.hpp"
#include "support/foreign_formats.hpp"
#include "support/particles.hpp"

namespace grove {
namespace {

TEST(InitialConditions, are_the_same_particles_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const ModelInfo& info : model_infos()) {
    ModelParameters p;
    p.model = info.name;
    p.particles = info.name == "kepler" ? 2 : 1001;
    const Particles expected = make_particles(p);  // by one rank alone
    const Particles mine = make_initial_conditions(comm, p);
    const Count before = comm.exclusive_scan(static_cast<Count>(mine.size()));
    EXPECT_EQ(comm.sum(static_cast<Count>(mine.size())), make_model(p).count());
    for_each_field([&](const auto& field) {
      const auto& part = mine.*field.array;
      const auto& whole = expected.*field.array;
      if (part.empty()) return;
      EXPECT_EQ(std::memcmp(part.data(), whole.data() + before, part.size() * sizeof(part[0])), 0)
          << info.name << " " << field.info.name;
    });
  }
}

TEST(InitialConditions, have_samples_of_any_size) {
  const auto sampled = [](const char* name, double share, auto&& set) {
    ModelParameters p;
    p.model = name;
    set(p);
    return make_model(sample_of(p, share)).count();
  };
  // Rounded numbers of parts need not add up to the rounded sum.
  const auto parts = [](ModelParameters& p) {
    p.halo_particles = 1003, p.disk_particles = 503, p.bulge_particles = 103;
  };
  EXPECT_EQ(sampled("disk-galaxy", 0.5, parts), 502 + 252 + 52);
  const auto halo = [](ModelParameters& p) { p.halo_particles = 100000; };
  EXPECT_EQ(sampled("disk-galaxy", 0.1, halo), 10000 + 4000 + 1000)
      << "the disk's and the bulge's share of 100000";
  const auto minor = [](ModelParameters& p) { p.particles = 10000, p.mass_ratio = 0.01; };
  EXPECT_EQ(sampled("merger", 0.01, minor), 100) << "two of the second galaxy";
  EXPECT_EQ(sampled("kepler", 1e-6, [](ModelParameters&) {}), 2);
  EXPECT_EQ(sampled("disk-galaxy", 1e-6, [](ModelParameters&) {}), 16);
  EXPECT_EQ(sampled("plummer", 0.25, [](ModelParameters& p) { p.particles = 1000; }), 250);
}

/// Two models, of the second of which the particles are turned, moved and of another type.
InitialConditionsParameters two_spheres() {
  InitialConditionsParameters from;
  from.components.resize(2);
  ComponentParameters &host = from.components[0], &satellite = from.components[1];
  host.model.model = satellite.model.model = "plummer";
  host.model.particles = 101;
  satellite.model.particles = 57;
  satellite.model.seed = 2;
  satellite.placement.position = {10, 20, 30};
  satellite.placement.velocity = {0, 0, 0.5};
  satellite.placement.inclination = 90;
  satellite.placement.type.fill(4);
  return from;
}

CompositionOptions composition_options() {
  return {"components", Units::dimensionless(), Units::dimensionless()};
}

TEST(Composition, is_the_same_on_any_number_of_ranks_and_puts_components_where_they_belong) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const auto components = two_spheres().components;
  const Particles mine = compose(comm, components, composition_options()).particles;
  const Particles whole = compose(alone, components, composition_options()).particles;
  const Particles host = make_particles(components[0].model), satellite = make_particles(components[1].model);
  ASSERT_EQ(whole.size(), 158u);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole.id[i], i + 1);
    const bool is_host = i < host.size();
    const Vec3d x = is_host ? host.position[i] : satellite.position[i - host.size()];
    const Vec3d v = is_host ? host.velocity[i] : satellite.velocity[i - host.size()];
    // A quarter of a turn about x takes y to z and z to -y; the cosine of 90 degrees is 6e-17.
    const Vec3d position = is_host ? x : Vec3d{10 + x.x, 20 - x.z, 30 + x.y};
    const Vec3d velocity = is_host ? v : Vec3d{v.x, -v.z, 0.5 + v.y};
    EXPECT_LE(norm(whole.position[i] - position), is_host ? 0 : 1e-14) << i;
    EXPECT_LE(norm(whole.velocity[i] - velocity), is_host ? 0 : 1e-15) << i;
    EXPECT_EQ(whole.type[i], is_host ? 1 : 4);
  }
  EXPECT_EQ(comm.sum(static_cast<Count>(mine.size())), static_cast<Count>(whole.size()));
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::size_t k = mine.id[i] - 1;
    EXPECT_EQ(mine.position[i], whole.position[k]);
    EXPECT_EQ(mine.velocity[i], whole.velocity[k]);
    EXPECT_EQ(mine.mass[i], whole.mass[k]);
    EXPECT_EQ(mine.type[i], whole.type[k]);
  }
}

/// The message of the InputError that all ranks throw; empty if there is none.
std::string fault_of(const Communicator& comm, const std::vector<ComponentParameters>& components) {
  try {
    compose(comm, components, composition_options());
  } catch (const Agreed<InputError>& error) {
    return error.what();
  }
  return "";
}

TEST(Composition, keeps_ids_apart_or_says_whose_clash) {
  const Communicator comm(MPI_COMM_WORLD);
  auto components = two_spheres().components;
  components[1].placement.id_offset = 1000;
  const Particles far = compose(comm, components, composition_options()).particles;
  ParticleId greatest = 0;
  for (const ParticleId id : far.id) greatest = std::max(greatest, id);
  EXPECT_EQ(comm.max(greatest), 1057u);
  components[1].placement.id_offset = 100;
  const std::string clash = fault_of(comm, components);
  EXPECT_NE(clash.find("components[0] has ids 1 to 101, components[1] 101 to 157"), std::string::npos)
      << clash;
  EXPECT_NE(clash.find("101: occurs more than once"), std::string::npos) << clash;
  components[1].placement.id_offset = ~std::uint64_t{0};
  EXPECT_NE(fault_of(comm, components).find("components[1]: its greatest id is 57"), std::string::npos);
}

TEST(Composition, ids_of_files_may_cross_where_none_is_the_same_and_start_from_0) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "crossing");
  Particles even = testing::foreign_particles(alone, 40), odd = even;
  for (std::size_t i = 0; i < even.size(); ++i) even.id[i] = 2 * i, odd.id[i] = 2 * i + 1;
  const auto put = [&](const std::string& name, const Particles& particles) {
    testing::put(comm, folder / name,
                 [&] { return testing::gadget_file(particles, {}, 0, 0, particles.size()); });
  };
  put("even", even);
  put("odd", odd);
  std::vector<ComponentParameters> components(2);
  components[0].file = folder / "even";
  components[1].file = folder / "odd";
  components[1].placement.id_offset = 0;
  EXPECT_EQ(fault_of(comm, components), "");
  components[1].file = folder / "even";
  EXPECT_NE(fault_of(comm, components).find("occurs more than once"), std::string::npos);
  components[1].placement.id_offset.reset();
  EXPECT_EQ(fault_of(comm, components), "") << "0 comes after the greatest id, not upon it";
}

TEST(Composition, faults_name_the_component) {
  const Communicator comm(MPI_COMM_WORLD);
  auto components = two_spheres().components;
  components[1].model.rmax = -1;
  EXPECT_NE(fault_of(comm, components).find("components[1]: rmax"), std::string::npos);
  components[1] = {};
  components[1].file = "nowhere.hdf5";
  const std::string missing = fault_of(comm, components);
  EXPECT_NE(missing.find("components[1]: nowhere.hdf5"), std::string::npos) << missing;
}

TEST(InitialConditions, of_components_begin_at_time_0) {
  const Communicator comm(MPI_COMM_WORLD);
  const Parameters parameters = parse_parameters(
      "units: {system: none}\ninitial_conditions: {components: [{model: plummer, n: 50}, {model: nfw, n: "
      "60}]}\n"
      "gravity: {softening: 0.01}\ntime: {end: 1, step: 1}\n",
      "test", {});
  const InitialState state = initial_state(comm, parameters);
  EXPECT_EQ(comm.sum(static_cast<Count>(state.particles.size())), 110);
  EXPECT_EQ(state.time, 0);
}

ModelSummary summary_of(const Communicator& comm, const ModelParameters& p) {
  return model_summary(comm, make_model(p), make_initial_conditions(comm, p), p.gravitational_constant);
}

TEST(ModelSummary, of_a_sphere_is_that_of_its_formulas_and_the_same_on_any_number_of_ranks) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  ModelParameters p;
  p.particles = 4000;
  const ModelSummary summary = summary_of(comm, p), same = summary_of(alone, p);
  EXPECT_EQ(summary.text(DisplayUnits(Units::dimensionless())),
            same.text(DisplayUnits(Units::dimensionless())));
  EXPECT_EQ(summary.virial_ratio, same.virial_ratio);
  ASSERT_EQ(summary.parts.size(), 1u);
  const PartSummary& part = summary.parts[0];
  EXPECT_DOUBLE_EQ(part.mass, 0.999);
  EXPECT_EQ(part.count, 4000);
  // M(r) = r^3 / (1 + r^2)^1.5 is 0.4995 at r = 1.3039; there dM/dr is 0.21, and the mass within that radius
  // is known to 0.5 / sqrt(n): four of these.
  EXPECT_NEAR(part.half_mass_radius, 1.3039, 4 * 0.5 / std::sqrt(4000.0) / 0.21);
  ASSERT_EQ(part.circular_speed.size(), 4u);
  EXPECT_NEAR(part.circular_speed[2].second, std::sqrt(0.4995 / part.half_mass_radius), 2e-4)
      << "of half of all";
  // v^2 has a relative deviation of 0.8 in Plummer's sphere, and |W| as a sum over pairs 1.2 / sqrt(n): four
  // times their sum, squared.
  EXPECT_NEAR(summary.virial_ratio.value(), 1, 4 * std::hypot(0.8, 1.2) / std::sqrt(4000.0));
}

TEST(ModelSummary, of_a_galaxy_tells_parts_stability_and_speeds) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  ModelParameters p;
  p.model = "disk-galaxy";
  p.disk_particles = 70000;  // of which not all are taken for the virial ratio
  p.halo_particles = p.bulge_particles = 500;
  const ModelSummary summary = summary_of(comm, p);
  EXPECT_EQ(summary.virial_ratio, summary_of(alone, p).virial_ratio);
  ASSERT_EQ(summary.parts.size(), 3u);
  const PartSummary& disk = summary.parts[1];
  EXPECT_EQ(disk.name, "disk");
  EXPECT_NEAR(disk.disk->least, 1.5, 0.01)
      << "the smallest Q asked for; radii tried are 5 % of a scale apart";
  EXPECT_GE(disk.disk->at_two_scales, disk.disk->least);
  // Half of an exponential disk's mass is within 1.678 scale lengths, where its surface density is such that
  // 0.5 / sqrt(n) of the mass takes 0.7 / sqrt(n) of a scale length.
  EXPECT_NEAR(disk.half_mass_radius, 1.678 * 0.2, 0.2 * (4 * 1.6 / std::sqrt(70000.0) + 0.005));
  EXPECT_EQ(disk.circular_speed.size(), 5u);
  const std::string text = summary.text(DisplayUnits(Units::galactic()));
  for (const char* told :
       {"halo: type 1, 500 particles: mass ", " Msun", "disk: Toomre Q 1.50 at least, at ",
        "at 2 scale lengths, 0.4 kpc", "disk: circular speed ", " km/s at 0.2 kpc", "virial ratio 2T/|W| "})
    EXPECT_NE(text.find(told), std::string::npos) << told << " in\n" << text;
}

// Each rank makes its share in parts of 2^17, twice.
TEST(InitialConditions, can_be_ended_while_they_are_made) {
  const Communicator comm(MPI_COMM_WORLD);
  ModelParameters p;
  p.particles = (Count{1} << 17) * comm.size() + 1;
  int pauses = 0;
  const auto make = [&](int most) {
    pauses = 0;
    return make_initial_conditions(comm, p, [&] {
      if (++pauses == most) throw Agreed<Stopped>("enough");
    });
  };
  EXPECT_THROW(make(3), Agreed<Stopped>);
  EXPECT_EQ(pauses, 3);
  EXPECT_EQ(comm.sum(static_cast<Count>(make(0).size())), p.particles);
  EXPECT_EQ(pauses, 4);
}

TEST(InitialConditions, bad_parameters_are_refused_on_all_ranks) {
  const Communicator comm(MPI_COMM_WORLD);
  ModelParameters p;
  p.model = "hernquist";
  p.rmax = -1;
  EXPECT_THROW(make_initial_conditions(comm, p), Agreed<InputError>);
}

TEST(InitialConditions, of_a_file_with_gas_or_without_units_are_remarked_on) {
  const Communicator comm(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  const testing::TestFolder folder(comm, "remarks");
  Particles particles = testing::foreign_particles(alone, 60);
  constexpr Count gas = 10;
  std::fill_n(particles.type.begin(), gas, std::uint8_t{0});  // they are in the order of their types
  const auto remarks = [&](const std::string& name, const std::string& units) {
    Parameters parameters =
        parse_parameters("units: {system: " + units + "}\ninitial_conditions: {file: " + folder.path() + "/" +
                             name + "}\ngravity: {softening: 0.01}\ntime: {end: 1, step: 1}\n",
                         "test", {});
    return initial_state(comm, parameters).remarks;
  };
  testing::put(comm, folder / "bare.dat",
               [&] { return testing::gadget_file(particles, {}, 0, 0, particles.size()); });
  const std::vector<std::string> found = remarks("bare.dat", "galactic");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("states no units; its numbers are taken to be in kpc, 1e10 Msun, km/s"),
            std::string::npos)
      << found[0];
  EXPECT_NE(found[1].find("holds " + std::to_string(gas) + " particles of gas"), std::string::npos)
      << found[1];
  EXPECT_NE(remarks("bare.dat", "none").at(0).find("G = 1"), std::string::npos);

  const Particles stars = make_initial_conditions(comm, {});
  write_snapshot(comm, folder / "own.hdf5", stars, {});
  EXPECT_TRUE(remarks("own.hdf5", "galactic").empty()) << "it states units, and holds no gas";
}

TEST(InitialConditions, of_gas_that_components_put_into_open_space_are_remarked_on) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto remarks = [&](const std::string& type) {
    return initial_state(
               comm, parse_parameters("units: {system: none}\ninitial_conditions: {components: [{model: sod, "
                                      "n: 500" +
                                          type +
                                          "}, {model: plummer, n: 50}]}\n"
                                          "gravity: {softening: 0.01}\ntime: {end: 1, step: 1}\n",
                                      "test", {}))
        .remarks;
  };
  const std::vector<std::string> found = remarks("");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].find("the model sod fills a cube of 1"), std::string::npos) << found[0];
  EXPECT_NE(found[1].find("the model sod is of gas of gamma 1.4"), std::string::npos) << found[1];
  EXPECT_TRUE(remarks(", type: 1").empty()) << "it is no gas";
}

TEST(InitialConditions, of_components_of_type_0_without_energies_are_gas_beside_gas_alone) {
  const Communicator comm(MPI_COMM_WORLD);
  const auto state = [&](int type) {
    return initial_state(
        comm, parse_parameters(
                  "units: {system: none}\ninitial_conditions: {components: [{model: evrard, n: 200, type: " +
                      std::to_string(type) +
                      "}, {model: plummer, n: 150, type: 0}]}\n"
                      "gravity: {softening: 0.01}\ntime: {end: 1, step: 1}\n",
                  "test", {}));
  };
  const InitialState beside = state(0), alone = state(4);
  EXPECT_TRUE(beside.particles.has_gas);
  ASSERT_EQ(beside.remarks.size(), 1u);
  EXPECT_NE(beside.remarks[0].find("model plummer: gives 150 particles of type 0 without internal energies"),
            std::string::npos)
      << beside.remarks[0];
  EXPECT_FALSE(alone.particles.has_gas);
}

}  // namespace
}  // namespace grove
