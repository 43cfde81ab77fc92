#include "halos/halo_members.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "halos/deepest_member.hpp"
#include "kernels/math/nearest_image.hpp"

namespace grove {
namespace {

/// As a part of the linking length: far below the distance of most members, and above that of chance pairs.
constexpr double softening_of_length = 0.1;

/// Circular speeds count from so many members within a radius on: fewer are noise.
constexpr std::size_t least_within = 10;

Vec3d in_box(const Vec3d& place, const Images& images) {
  return images.are_open() ? place : Box::periodic(images.edge).wrapped(place);
}

struct MemberView {
  std::size_t first, count;
  std::vector<Vec3d> place;  ///< from the first member, the nearest images
};

MemberView view_of(const GroupMembers& members, std::size_t group, const Images& images) {
  MemberView view{static_cast<std::size_t>(members.begin[group]),
                  static_cast<std::size_t>(members.begin[group + 1] - members.begin[group]),
                  {}};
  const NearestImage nearest = NearestImage::of(images);
  for (std::size_t i = view.first; i < view.first + view.count; ++i)
    view.place.push_back(nearest(members.position[i] - members.position[view.first]));
  return view;
}

void sum_members(const GroupMembers& members, const MemberView& view, const Images& images, Halo& halo) {
  Vec3d places{}, velocities{};
  for (std::size_t i = 0; i < view.count; ++i) {
    const std::size_t at = view.first + i, type = members.type[at];
    halo.mass += members.mass[at];
    ++halo.length_by_type[type];
    halo.mass_by_type[type] += members.mass[at];
  }
  const bool has_mass = halo.mass > 0;
  for (std::size_t i = 0; i < view.count; ++i) {
    const double weight = has_mass ? members.mass[view.first + i] : 1;
    places += weight * view.place[i];
    velocities += weight * members.velocity[view.first + i];
  }
  const double per_weight = 1 / (has_mass ? halo.mass : static_cast<double>(view.count));
  halo.centre_of_mass = in_box(members.position[view.first] + per_weight * places, images);
  halo.velocity = per_weight * velocities;
}

void find_vmax(const GroupMembers& members, const MemberView& view, const Vec3d& centre,
               const HaloOptions& options, Halo& halo) {
  std::vector<double> r2(view.count);
  for (std::size_t i = 0; i < view.count; ++i) r2[i] = squared_length(view.place[i] - centre);
  std::vector<std::size_t> order(view.count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return r2[a] < r2[b]; });
  double mass = 0, most = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    mass += members.mass[view.first + order[k]];
    const double r = std::sqrt(r2[order[k]]);
    if (k + 1 < least_within || !(mass > most * r)) continue;
    most = mass / r;
    halo.rmax = r;
  }
  halo.vmax = std::sqrt(options.gravitational_constant * most / options.scale_factor);
}

}  // namespace

Halo measure_members(const Communicator& alone, const GroupMembers& members, std::size_t group,
                     const HaloOptions& options) {
  const MemberView view = view_of(members, group, options.images);
  Halo halo{};
  halo.label = members.label[group];
  halo.length = static_cast<Count>(view.count);
  sum_members(members, view, options.images, halo);
  const std::size_t deepest =
      deepest_member(alone, view.place, std::span(members.mass).subspan(view.first, view.count),
                     softening_of_length * options.length);
  halo.most_bound = members.id[view.first + deepest];
  halo.centre = in_box(members.position[view.first + deepest], options.images);
  find_vmax(members, view, view.place[deepest], options, halo);
  return halo;
}

}  // namespace grove
