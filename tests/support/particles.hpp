#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "particles/particles.hpp"

/// Particles for tests of input and output: values that follow from the id alone, spread over ranks without
/// order.
namespace grove::testing {

/// The particle with this id; types 1, 2 and 4 occur, unequally often.
inline void set_particle(Particles& particles, std::size_t at, ParticleId id) {
  const auto number = [id](int k) { return std::sin(static_cast<double>(id) * (1.37 + 0.71 * k)); };
  particles.position[at] = {10 * number(0), 10 * number(1), 10 * number(2)};
  particles.velocity[at] = {number(3), number(4), number(5)};
  particles.mass[at] = 0.5 + 0.25 * number(6);
  particles.id[at] = id;
  particles.type[at] = id % 7 == 0 ? 4 : id % 3 == 0 ? 2 : 1;
  particles.acceleration[at] = Vec3d{number(7), number(8), number(9)}.as<float>();
  particles.potential[at] = static_cast<float>(number(10));
  particles.old_acceleration[at] = 0;
  particles.work[at] = 0;
  particles.rung[at] = 0;
}

/// The share of one rank of particles with ids step, 2 step, ..., n step; rank 1 of several holds none.
inline Particles scattered_particles(const Communicator& comm, Count n, ParticleId step = 1) {
  std::vector<ParticleId> mine;
  for (Count i = 1; i <= n; ++i) {
    int owner = static_cast<int>((i * 7919) % comm.size());
    if (owner == 1) owner = 0;
    if (owner == comm.rank()) mine.push_back(static_cast<ParticleId>(i) * step);
  }
  std::reverse(mine.begin(), mine.end());
  Particles particles;
  particles.resize(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) set_particle(particles, i, mine[i]);
  return particles;
}

/// A folder of its own for a test, the same on all ranks, emptied at the beginning and removed at the end.
class TestFolder {
 public:
  TestFolder(const Communicator& comm, const std::string& name) : comm_(comm) {
    const auto process = comm.broadcast(static_cast<long>(::getpid()));
    path_ = std::filesystem::temp_directory_path() / ("grove-" + name + "-" + std::to_string(process));
    if (comm.is_master()) {
      std::filesystem::remove_all(path_);
      std::filesystem::create_directories(path_);
    }
    comm.barrier();
  }
  ~TestFolder() {
    comm_.barrier();
    if (comm_.is_master()) std::filesystem::remove_all(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  /// Names of the files in it, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  const Communicator& comm_;
  std::filesystem::path path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace grove::testing
