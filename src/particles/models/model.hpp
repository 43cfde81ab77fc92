#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.hpp"
#include "base/vec3.hpp"
#include "particles/models/parameters.hpp"
#include "particles/models/random.hpp"
#include "particles/particles.hpp"

namespace grove {

struct PhasePoint {
  Vec3d position, velocity;
  double internal_energy = 0;  ///< of gas, per mass
};

/// The source of the particles of one component.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Particle `number` of the component, from 0 on.
  virtual PhasePoint particle(Count number, RandomStream& random) const = 0;
  virtual double reach() const = 0;    ///< no position is farther from the origin
  virtual double fastest() const = 0;  ///< no velocity is larger
};

/// Independent draws of position and velocity.
class RandomSampler : public Sampler {
 public:
  PhasePoint particle(Count, RandomStream& random) const final { return sample(random); }
  virtual PhasePoint sample(RandomStream& random) const = 0;
};

/// Turns vectors from a component's own frame into the model's: rows of an orthogonal matrix.
struct Rotation {
  Vec3d x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};

  /// About the x axis by `inclination`, then about the z axis by `node`; radians.
  static Rotation inclined(double inclination, double node);
  Vec3d operator()(const Vec3d& v) const { return {dot(x, v), dot(y, v), dot(z, v)}; }
};

/// Particles of equal mass and type from one sampler.
struct Component {
  std::shared_ptr<const Sampler> sampler;
  Count count = 0;
  double mass = 0;  ///< of all its particles together
  std::uint8_t type = 1;
  bool centred =
      true;  ///< its centre of mass comes to rest at `origin` (see Model), else draws stay as they are
  Rotation rotation{};
  PhasePoint origin{{0, 0, 0}, {0, 0, 0}};
  bool is_gas = false;   ///< then it is of type 0
  bool rotates = false;  ///< what is centred keeps the angular momentum of its draws, else it has none
  std::string name{};    ///< "halo", for people; empty: it is all of the model
};

/// A set of initial conditions of which any rank makes any range of particles. Particle i is a function of
/// the parameters, the seed and i alone, except for the centring:
///
/// The draws of a centred component have means of order 1/sqrt(n) in position and velocity. To remove them,
/// every rank adds up its own range (`sums`), the integers are added over ranks, and all get the total
/// (`centre`). Then each velocity loses the mean velocity, and each position the mean position times r over
/// the mean of r: in a model of a cusp and a wide halo the outskirts make the mean, and a common shift would
/// take the cusp from the origin. A component that does not rotate then loses its angular momentum L: each
/// velocity the rotation as of a rigid body, omega x position with omega = I^-1 L and the tensor of inertia
/// I, which adds no momentum. That is of order 1/sqrt(n) of the speeds at the outskirts, which make L, and
/// less within: energies change by 1/n of their sum, and particles stay independent but for these means.
/// (Mirrored pairs would have no angular momentum either, and the exact distribution of each particle, but
/// only n / 2 independent radii: twice the noise in the profile.) Sums are of fixed-point numbers of 62 -
/// log2(n) bits, so they are the same in any order; what remains of the means is of order n 2^-62 of the
/// component's reach and greatest speed, or rounding.
class Model {
 public:
  Model(std::vector<Component> components, std::uint64_t seed);

  static constexpr std::size_t sums_per_component = 23;

  Count count() const { return offsets_.back(); }
  bool has_gas() const;
  const std::vector<Component>& components() const { return components_; }

  /// The first particle of a component; count() for the one behind the last.
  Count first_of(std::size_t component) const { return offsets_[component]; }

  /// First and second moments of position, radius and velocity over particles [first, last),
  /// sums_per_component integers for each component.
  std::vector<std::int64_t> sums(Count first, Count last) const;
  /// Takes the sums over all particles; call once, before `make`.
  void centre(std::span<const std::int64_t> total);

  /// Replaces `out` by particles [first, last): position, velocity, mass, type, energy of gas, and id = index
  /// + 1; the other fields are zero. Components follow one another in the order of components().
  void make(Count first, Count last, Particles& out) const;

 private:
  /// Subtracted from particles.
  struct Means {
    Vec3d position{0, 0, 0};  ///< mean position over mean radius
    Vec3d velocity{0, 0, 0};
    Vec3d rotation{0, 0, 0};  ///< angular velocity
  };

  std::size_t component_of(Count index) const;
  PhasePoint draw(std::size_t component, Count index) const;

  std::vector<Component> components_;
  std::vector<Count> offsets_;  ///< first particle of each component, and the total
  std::vector<Means> means_;    ///< of each component
  std::uint64_t seed_;
};

/// The models' names, what they are, which of the values of ModelParameters they depend on, and whether they
/// have halo, disk and bulge, of which the numbers can be chosen.
struct ModelInfo {
  std::string_view name;
  std::string_view description;
  std::span<double ModelParameters::*const> takes;
  bool has_parts = false;
  bool fills_box = false;      ///< a cube from 0 to scale, which is to be periodic
  double adiabatic_index = 0;  ///< gamma that its energies of gas are of; 0: any
};
std::span<const ModelInfo> model_infos();
/// That of a name; nullptr: there is none.
const ModelInfo* find_model_info(std::string_view name);

/// The model that the parameters describe, not yet centred. InputError: an unknown model, or a parameter out
/// of its range.
Model make_model(const ModelParameters& parameters);

/// All particles of a model, centred; for one rank alone.
Particles make_particles(const ModelParameters& parameters);

}  // namespace grove
