// `grove validate`: each fault is found, and the first particle at fault is named by file, type, place and
// id.
#include "io/validate.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <string>

#include "base/errors.hpp"
#include "support/change_hdf5.hpp"
#include "support/foreign_formats.hpp"
#include "support/run_command.hpp"

namespace grove {
namespace {

constexpr Count n = 100;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

class Validate : public ::testing::Test {
 protected:
  /// The output of the command, on the master; empty if it finds no fault and `fault` is set, and vice versa.
  std::string told(const std::string& path, bool fault) {
    bool failed = false;
    ::testing::internal::CaptureStdout();
    try {
      testing::grove(comm, {"validate", path});
    } catch (const Agreed<std::runtime_error>&) {
      failed = true;
    }
    std::fflush(stdout);
    const std::string text = comm.broadcast(::testing::internal::GetCapturedStdout());
    EXPECT_EQ(failed, fault) << text;
    return text;
  }
  void expect_fault(const std::string& path, const std::string& line) {
    const std::string text = told(path, true);
    EXPECT_NE(text.find(line), std::string::npos) << line << " is not in:\n" << text;
  }
  void expect_fine(const std::string& path, const std::string& line) {
    const std::string text = told(path, false);
    EXPECT_NE(text.find(line), std::string::npos) << line << " is not in:\n" << text;
  }

  /// A set of files of which some particles are changed: change(particles, i) for each of this rank.
  template <class Change>
  std::string write(const std::string& name, int files, const Change& change) {
    Particles particles = testing::scattered_particles(comm, n);
    for (std::size_t i = 0; i < particles.size(); ++i) change(particles, i);
    write_snapshot(comm, folder / name, particles, {.units = Units::dimensionless(), .files = files});
    return snapshot_files(folder / name, files)[0];
  }
  /// One rank's file in GADGET's format 1; change(particles): sorted by type, then id.
  template <class Change>
  std::string write_gadget(double box, const Change& change) {
    const Communicator alone = comm.split(comm.rank());
    testing::put(comm, folder / "gadget", [&] {
      Particles particles = testing::foreign_particles(alone, n);
      change(particles);
      std::string bytes = testing::gadget_file(particles, {}, 0, 0, particles.size());
      std::memcpy(bytes.data() + 4 + 128, &box, sizeof(box));
      return bytes;
    });
    return folder / "gadget";
  }
  static void nothing(Particles&) {}

  const Communicator comm{MPI_COMM_WORLD};
  const testing::TestFolder folder{comm, "validate"};
};

TEST_F(Validate, finds_no_fault_in_what_grove_writes) {
  const auto same = [](Particles&, std::size_t) {};
  for (const int files : {1, 3}) expect_fine(write("good.hdf5", files, same), "checksum   right");
}

// The last 32 bytes are the checksum, and begin with 16 that mark it.
TEST_F(Validate, misses_the_checksum_of_what_grove_wrote) {
  const auto shortened = [&](int files, std::uintmax_t missing) {
    const std::string path = write("a.hdf5", files, [](Particles&, std::size_t) {});
    if (comm.is_master()) std::filesystem::resize_file(path, std::filesystem::file_size(path) - missing);
    comm.barrier();
    return path;
  };
  const std::string warning =
      "checksum   warning: written by Grove, but its checksum is missing; its end was cut off";
  for (const int files : {1, 2}) {
    expect_fine(shortened(files, 32), warning);
    for (const std::uintmax_t missing : {1, 16, 24})
      expect_fault(shortened(files, missing), "its end was cut off, in");
    expect_fault(shortened(files, 40), "structure  ");
  }
  const std::string changed = write("a.hdf5", 1, [](Particles&, std::size_t) {});
  if (comm.is_master()) testing::set_attribute(changed, "Header", "Time", 3);
  comm.barrier();
  expect_fine(changed, warning);
}

TEST_F(Validate, says_which_units_there_are) {
  expect_fine(write("a.hdf5", 1, [](Particles&, std::size_t) {}), "units      dimensionless, with G = 1");
  write_snapshot(comm, folder / "b.hdf5", testing::scattered_particles(comm, n), {});
  expect_fine(folder / "b.hdf5", "units      stated, with Newton's constant");
  expect_fine(write_gadget(0, nothing), "units      none stated");
}

// Types 1, 2 and 4 hold the ids that set_particle() says, in their order: of type 1 ids 1, 2, 4, 5, 8, 10,
// ...; of type 4 ids 7, 14, 21, ..., 98.
TEST_F(Validate, names_the_first_particle_at_fault) {
  const auto damage = [](Particles& p, std::size_t i) {
    if (p.id[i] == 7) p.position[i].x = not_a_number;   // type 4, first
    if (p.id[i] == 88) p.mass[i] = -1;                  // type 1
    if (p.id[i] == 10) p.velocity[i].z = not_a_number;  // type 1, sixth
    if (p.id[i] == 3) p.mass[i] = -2;                   // type 2, first
  };
  expect_fault(write("a.hdf5", 1, damage),
               "values     " + folder / "a.hdf5" + ": dataset PartType1/Velocities, particle 5, id 10: (");
}

TEST_F(Validate, names_the_file_of_a_set) {
  // Type 4 has 14 particles, so three files hold 4, 5 and 5 of them: the seventh is number 2 of the second
  // file.
  const auto damage = [](Particles& p, std::size_t i) {
    if (p.id[i] == 49 || p.id[i] == 98) p.mass[i] = not_a_number;
  };
  expect_fault(write("a.hdf5", 3, damage),
               folder / "a.1.hdf5" + ": dataset PartType4/Masses, particle 2, id 49: a mass");
}

TEST_F(Validate, names_the_first_repeated_id) {
  const std::string file = write_gadget(0, [](Particles& p) {
    p.id[99] = p.id[0];  // type 4, the last
    p.id[60] = p.id[1];  // type 2
    p.id[59] = p.id[1];  // type 2, before it
  });
  // 57 particles of type 1 stand before those of type 2.
  expect_fault(file, "ids        " + file +
                         ": dataset PartType2/ParticleIDs, particle 2, id 2: occurs more than once");
}

// GADGET's binary format cannot say that a box is periodic, and a run takes these files.
TEST_F(Validate, warns_of_particles_outside_of_a_box_that_is_not_periodic) {
  expect_fine(write_gadget(0, nothing), "box        open");
  const auto into_the_box = [](Particles& p) {
    for (Vec3d& x : p.position) x = {10 + 0.5 * x.x, 10 + 0.5 * x.y, 10 + 0.5 * x.z};
  };
  expect_fine(write_gadget(20, into_the_box), "from 0 to 20");
  const std::string file = write_gadget(20, [&](Particles& p) {
    into_the_box(p);
    p.position[3].y = 20.5;
    p.position[70].z = -1;
  });
  expect_fine(file, "warning: " + file + ": dataset PartType1/Coordinates, particle 3, id 5: (");
  expect_fine(file, "outside of the box from 0 to 20; the file does not say that it is periodic");
  expect_fault(write_gadget(not_a_number, nothing), "box size nan");
}

TEST_F(Validate, finds_units_that_contradict_newton) {
  const auto set = [&](const char* name, double value) {
    const std::string path = folder / "a.hdf5";
    write_snapshot(comm, path, testing::scattered_particles(comm, n), {});
    if (comm.is_master()) testing::set_attribute(path, "Units", name, value);
    comm.barrier();
    return path;
  };
  expect_fine(set("GravityConstantInternal", 0), "stated");  // GADGET's way to ask for the physical one
  expect_fault(set("GravityConstantInternal", 4.4e4), "the constant of gravity is 44000");
  expect_fault(set("UnitLength_in_cm", not_a_number), "a unit of nan");
  expect_fault(set("UnitMass_in_g", -1), "a unit of -1");
}

TEST_F(Validate, looks_at_checkpoints) {
  testing::put(comm, folder / "run.yml", [&] {
    return "units: {system: none}\ninitial_conditions: {model: plummer, n: 500}\ngravity: {softening: 0.1}\n"
           "time: {end: 0.02, step: 0.01}\noutput: {render: false, folder: " +
           folder / "output}" + "\n";
  });
  testing::grove(comm, {"run", folder / "run.yml", "--backend", "kokkos"});
  comm.barrier();
  std::string checkpoint;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "output/checkpoints"))
    checkpoint = entry.path();
  expect_fine(checkpoint, "time 0.02: 500 particles");
  const std::string piece = checkpoint + "/state.hdf5";
  if (comm.is_master()) std::filesystem::resize_file(piece, std::filesystem::file_size(piece) - 1);
  comm.barrier();
  expect_fault(checkpoint, "state.hdf5");
  expect_fault(folder / "output", "manifest.json");
}

TEST_F(Validate, finds_headers_without_a_time) {
  const auto file = write("a.hdf5", 1, [](Particles&, std::size_t) {});
  if (comm.is_master()) testing::set_attribute(file, "Header", "Time", not_a_number);
  comm.barrier();
  expect_fault(file, "says time nan");
}

}  // namespace
}  // namespace grove
