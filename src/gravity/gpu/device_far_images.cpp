#include "gravity/gpu/device_far_images.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/cuda/particles/periodic.hpp"

namespace grove {

template <int order>
BoxMoments<order> box_moments(const Communicator& comm, const DeviceParticles& particles,
                              const Domain& domain, const FarUnits& units) {
  const cuda::LeafPieces pieces(domain.leaf_begin);
  const cuda::DeviceArray<BoxMoments<order>> on_device(pieces.count);
  cuda::sum_box_moments<order>(units, particles.values(fields::position), particles.values(fields::mass),
                               pieces, on_device.data());
  std::vector<BoxMoments<order>> of_pieces(pieces.count), leaves(pieces.leaves);
  std::vector<std::uint64_t> first(pieces.first.size());
  if (pieces.leaves > 0) {
    on_device.download(of_pieces);
    pieces.first.download(first);
  }
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    leaves[leaf] = of_pieces[first[leaf]];
    for (std::uint64_t piece = first[leaf] + 1; piece < first[leaf + 1]; ++piece)
      leaves[leaf] = leaves[leaf] + of_pieces[piece];
  }
  return united_moments<order>(comm, domain, leaves);
}

template BoxMoments<far_moments> box_moments(const Communicator&, const DeviceParticles&, const Domain&,
                                             const FarUnits&);
template BoxMoments<audit_far_moments> box_moments(const Communicator&, const DeviceParticles&, const Domain&,
                                                   const FarUnits&);

void add_far_images(const FarField<far_order>& field, const FarUnits& units, const DeviceParticles& particles,
                    int first_active) {
  cuda::add_far_images(units, field, particles.size(), particles.values(fields::rung), first_active,
                       particles.values(fields::position), particles.values(fields::acceleration),
                       particles.values(fields::potential));
}

}  // namespace grove
