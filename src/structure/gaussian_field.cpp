#include "structure/gaussian_field.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "particles/models/random.hpp"

namespace grove {
namespace {

/// True for the one that is drawn of two modes that are conjugate to each other.
bool is_drawn(const Mode& m) { return m.z != 0 ? m.z > 0 : m.y != 0 ? m.y > 0 : m.x > 0; }

/// Three numbers of 21 bits.
std::uint64_t key_of(const Mode& m) {
  constexpr int bits = 21, middle = 1 << (bits - 1);
  const auto part = [](int number) { return static_cast<std::uint64_t>(number + middle); };
  return part(m.x) << (2 * bits) | part(m.y) << bits | part(m.z);
}

}  // namespace

Complex noise_of(const Mode& mode, const NoiseParameters& noise) {
  if (mode.square() == 0) return 0;
  const bool is_own = is_drawn(mode);
  RandomStream random(noise.seed, key_of(is_own ? mode : Mode{-mode.x, -mode.y, -mode.z}));
  const double phase = 2 * std::numbers::pi * random.uniform(), first = random.uniform();
  const double size = (noise.fixed ? 1 : std::sqrt(-std::log(first))) * (noise.paired ? -1 : 1);
  return {size * std::cos(phase), (is_own ? size : -size) * std::sin(phase)};
}

Array<Complex> gaussian_field(const MeshPart& part, const std::function<double(double)>& power, double box,
                              const NoiseParameters& noise) {
  const int most = (part.points - 1) / 2;  // of a mode number that is not Nyquist's
  const double volume = box * box * box;
  std::vector<double> amplitude(static_cast<std::size_t>(3) * most * most + 1, 0.0);
  for (std::size_t square = 1; square < amplitude.size(); ++square)
    amplitude[square] =
        std::sqrt(power(2 * std::numbers::pi / box * std::sqrt(static_cast<double>(square))) / volume);
  Array<Complex> modes(part.modes());
  part.for_each_mode([&](const Mode& mode, std::size_t index) {
    modes[index] = is_nyquist(part, mode)
                       ? 0
                       : amplitude[static_cast<std::size_t>(mode.square())] * noise_of(mode, noise);
  });
  return modes;
}

}  // namespace grove
