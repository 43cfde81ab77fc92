#include "structure/power_estimator.hpp"

#include <utility>

#include "structure/mass_mesh.hpp"
#include "structure/shell_tables.hpp"

namespace grove {

std::vector<ShellTotals> HostPower::totals(const Communicator& comm, std::span<const Vec3d> position,
                                           std::span<const double> mass, const PowerMesh& mesh) const {
  std::vector<ShellTotals> totals(mesh.shells());
  const MeshTransform transform(comm, mesh.points);
  const auto modes_at = [&](double offset) {
    return transform.forward(density_mesh(transform, position, mass, mesh.mass, offset));
  };
  const Array<Complex> plain = modes_at(PowerMesh::offsets[0]),
                       shifted = mesh.interlaced ? modes_at(PowerMesh::offsets[1]) : Array<Complex>();
  const ShellTables tables(mesh.mass.assignment, mesh.points);
  const ModeShells shells = tables.shells(mesh.first, mesh.last, mesh.interlaced);
  const auto field_mode = [](const Complex& mode) { return FieldMode{mode.real(), mode.imag()}; };
  transform.part().for_each_mode([&](const Mode& mode, std::size_t i) {
    shells.terms(mode.x, mode.y, mode.z, field_mode(plain[i]),
                 mesh.interlaced ? field_mode(shifted[i]) : FieldMode{},
                 [&](int shell, int modes, double wavenumber, double power, double noise) {
                   ShellTotals& of_shell = totals[static_cast<std::size_t>(shell)];
                   of_shell.modes += modes;
                   of_shell.wavenumber.add(wavenumber);
                   of_shell.power.add(power);
                   of_shell.noise.add(noise);
                 });
  });
  sum_over_ranks(comm, totals);
  return totals;
}

void sum_over_ranks(const Communicator& comm, std::span<ShellTotals> totals) {
  static_assert(sizeof(ShellTotals) == (1 + 3 * WideSum::limbs) * sizeof(std::int64_t));
  comm.sum(
      std::span(reinterpret_cast<std::int64_t*>(totals.data()), totals.size_bytes() / sizeof(std::int64_t)));
}

}  // namespace grove
