#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "base/types.hpp"
#include "base/vec3.hpp"

namespace grove {

/// The particles of a glass, m^3 of them, that fills a periodic box `tiles` times along each edge.
class GlassSites {
 public:
  /// glass: places in a box of edge 1, sorted along x. Must outlive this.
  GlassSites(std::span<const Vec3d> glass, int tiles) : glass_(glass), tiles_(tiles) {}

  Count count() const { return static_cast<Count>(glass_.size()) * tiles_ * tiles_ * tiles_; }

  /// The place of a site, units of the box. Numbers rise with x.
  Vec3d place(Count number) const {
    const Count in_layer = static_cast<Count>(tiles_) * tiles_, row = number / in_layer;
    const auto layer = static_cast<Count>(glass_.size());
    const Vec3d& g = glass_[static_cast<std::size_t>(row % layer)];
    const auto at = [&](Count tile, double inside) { return (static_cast<double>(tile) + inside) / tiles_; };
    return {at(row / layer, g.x), at(number % in_layer / tiles_, g.y), at(number % tiles_, g.z)};
  }

 private:
  std::span<const Vec3d> glass_;
  int tiles_;
};

}  // namespace grove
