// Takes the place of nccl_group.cu where there is no NCCL.
#include <stdexcept>

#include "kernels/cuda/device/nccl_group.hpp"

namespace grove::cuda {

struct NcclGroup::Impl {};

bool has_nccl() { return false; }
std::string nccl_version() { return {}; }

NcclId NcclGroup::make_id() { throw std::logic_error("built without NCCL"); }
NcclGroup::NcclGroup(const NcclId&, int, int) { make_id(); }
NcclGroup::~NcclGroup() = default;
NcclGroup::NcclGroup(NcclGroup&&) noexcept = default;
void NcclGroup::exchange(std::span<const Transfer>) const { make_id(); }

}  // namespace grove::cuda
