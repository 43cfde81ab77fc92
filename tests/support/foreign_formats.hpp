#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "support/particles.hpp"

/// Writers of the foreign formats, made from their published descriptions alone, for tests of the readers.
namespace grove::testing {

/// Bytes of numbers in a chosen order.
class Bytes {
 public:
  explicit Bytes(bool swapped) : swapped_(swapped) {}

  template <class T>
  Bytes& add(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    if (swapped_) std::reverse(raw, raw + sizeof(T));
    text_.append(raw, sizeof(T));
    return *this;
  }
  Bytes& add_text(const std::string& text) { return text_ += text, *this; }
  Bytes& pad(std::size_t size) { return text_.resize(size, '\0'), *this; }
  const std::string& text() const { return text_; }

 private:
  bool swapped_;
  std::string text_;
};

/// How a GADGET binary file is to be written.
struct GadgetStyle {
  int format = 1;
  bool swapped = false;
  bool wide_numbers = false;  ///< double instead of float
  bool wide_ids = false;      ///< 64 instead of 32 bits
  bool ids = true;            ///< format 2 can do without
  bool mass_table = false;    ///< mass of type 1 (then 0.5 for all of it) in the header
  double redshift = 0, box_size = 0, h = 0;
  int files = 1;
  std::uint8_t velocity_types = all_types;  ///< bit t set: velocities of type t are there
};

/// The particles of scattered_particles as one rank of one has them, sorted by type, then id; values rounded
/// to float, so that every number type holds them. With mass_table, those of type 1 have mass 0.5.
inline Particles foreign_particles(const Communicator& alone, Count n, bool mass_table = false) {
  Particles particles = scattered_particles(alone, n);
  std::vector<std::uint32_t> order(particles.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(particles.type[a], particles.id[a]) < std::pair(particles.type[b], particles.id[b]);
  });
  particles.reorder(order);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    particles.position[i] = particles.position[i].as<float>().as<double>();
    particles.velocity[i] = particles.velocity[i].as<float>().as<double>();
    particles.mass[i] = mass_table && particles.type[i] == 1 ? 0.5 : static_cast<float>(particles.mass[i]);
  }
  return particles;
}

inline std::array<int, 6> counts_of(const Particles& particles, std::size_t begin, std::size_t end) {
  std::array<int, 6> counts{};
  for (std::size_t i = begin; i < end; ++i) ++counts[particles.type[i]];
  return counts;
}

inline std::string gadget_header(const GadgetStyle& style, const std::array<int, 6>& here,
                                 const std::array<int, 6>& total, double time) {
  Bytes header(style.swapped);
  for (const int count : here) header.add(count);
  for (int type = 0; type < 6; ++type) header.add(style.mass_table && type == 1 ? 0.5 : 0.0);
  header.add(time).add(style.redshift).add(0).add(0);
  for (const int count : total) header.add(count);
  header.add(0).add(style.files).add(style.box_size).add(0.3).add(0.7).add(style.h);
  return header.pad(256).text();
}

/// A Fortran record, behind its label in format 2.
inline std::string gadget_block(const GadgetStyle& style, const std::string& label,
                                const std::string& contents) {
  Bytes block(style.swapped);
  const auto size = static_cast<std::uint32_t>(contents.size());
  if (style.format == 2) block.add(8).add_text(label).add(size + 8).add(8);
  return block.add(size).add_text(contents).add(size).text();
}

/// Particles [begin, end) of a file; they stand in the order of their types.
inline std::string gadget_file(const Particles& p, const GadgetStyle& style, double time, std::size_t begin,
                               std::size_t end) {
  Bytes position(style.swapped), velocity(style.swapped), mass(style.swapped), id(style.swapped),
      energy(style.swapped);
  const auto add = [&](Bytes& to, double value) {
    style.wide_numbers ? to.add(value) : to.add(static_cast<float>(value));
  };
  for (std::size_t i = begin; i < end; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      add(position, p.position[i][axis]);
      if (style.velocity_types >> p.type[i] & 1) add(velocity, p.velocity[i][axis]);
    }
    style.wide_ids ? id.add(p.id[i]) : id.add(static_cast<std::uint32_t>(p.id[i]));
    if (!(style.mass_table && p.type[i] == 1)) add(mass, p.mass[i]);
    energy.add(0.0f);
  }
  const std::string header = gadget_header(style, counts_of(p, begin, end), counts_of(p, 0, p.size()), time);
  std::string file = gadget_block(style, "HEAD", header) + gadget_block(style, "POS ", position.text()) +
                     gadget_block(style, "VEL ", velocity.text());
  if (style.ids) file += gadget_block(style, "ID  ", id.text());
  // A block that readers do not know lies between (format 2 only: in format 1 the order is fixed).
  if (style.format == 2) file += gadget_block(style, "POT ", energy.text());
  return file + gadget_block(style, "MASS", mass.text());
}

/// The temperature of a particle of gas in such a file, K.
inline float tipsy_temperature(ParticleId id) { return 1e4f + 10 * static_cast<float>(id); }

/// tipsy: gas, dark matter and stars from types 0, 1, 4; other types are left out.
inline std::string tipsy_file(const Particles& p, bool swapped, bool padded, double time) {
  std::array<std::string, 3> kinds;
  std::array<int, 3> counts{};
  constexpr std::array<int, 3> extra{5, 2, 4};  // floats that follow mass, position and velocity
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t kind = p.type[i] == 0 ? 0 : p.type[i] == 1 ? 1 : 2;
    if (p.type[i] == 2) continue;
    Bytes particle(swapped);
    particle.add(static_cast<float>(p.mass[i]));
    for (int axis = 0; axis < 3; ++axis) particle.add(static_cast<float>(p.position[i][axis]));
    for (int axis = 0; axis < 3; ++axis) particle.add(static_cast<float>(p.velocity[i][axis]));
    for (int k = 0; k < extra[kind]; ++k)  // density, temperature, ... of gas
      particle.add(kind == 0 && k == 1 ? tipsy_temperature(p.id[i]) : 1e-3f);
    kinds[kind] += particle.text();
    ++counts[kind];
  }
  Bytes header(swapped);
  header.add(time).add(counts[0] + counts[1] + counts[2]).add(3);
  for (const int count : counts) header.add(count);
  if (padded) header.add(0);
  return header.text() + kinds[0] + kinds[1] + kinds[2];
}

/// Writes a file from the master alone and waits until it is there.
inline void put(const Communicator& comm, const std::string& path,
                const std::function<std::string()>& bytes) {
  if (comm.is_master()) std::ofstream(path, std::ios::binary) << bytes();
  comm.barrier();
}

}  // namespace grove::testing
