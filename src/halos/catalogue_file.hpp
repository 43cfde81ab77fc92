#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/types.hpp"
#include "base/units.hpp"
#include "comm/communicator.hpp"
#include "halos/find_halos.hpp"
#include "halos/halo.hpp"

namespace grove {

/// The attributes of a catalogue: all that it says besides its groups.
struct CatalogueHeader {
  double time = 0;  ///< of the snapshot; the scale factor, if space expands
  double redshift = 0;
  double box = 0;                   ///< edge of the periodic box; 0: open
  Units units = Units::galactic();  ///< of the numbers, but for what h_power says
  bool is_comoving = false;
  double h = 1, omega_matter = 0, omega_lambda = 0;  ///< as the snapshot says them
  int h_power = 0;                                   ///< 1: lengths and masses are in units over h
};

/// The place of each of this rank's halos in the catalogue, those with most members first, of several the one
/// with the least id; and the number of members of all before it.
struct CatalogueOrder {
  std::vector<Count> row, first_member;
  Count groups = 0, members = 0;  ///< over all ranks
  /// Collective. Cost: 16 bytes for each halo go to all ranks.
  static CatalogueOrder of(const Communicator& comm, const std::vector<Halo>& halos);
};

/// Writes halos in the layout of GADGET-4's group catalogues (docs/halos.md). The datasets are the same, byte
/// for byte, on any number of ranks. Collective; either a complete file appears, or InputError is thrown on
/// all ranks and nothing is left.
void write_catalogue(const Communicator& comm, const std::string& path, const FoundHalos& found,
                     const CatalogueOrder& order, const CatalogueHeader& header, const HaloOptions& options);

}  // namespace grove
