#pragma once

#include "kernels/math/field_list.hpp"
#include "kernels/math/walk_views.hpp"

/// The arrays of SourceTree, by node and by particle, that travel with locally essential trees beside their
/// links. One more is a member there and a row here. An array that the trees of a run have not got is nullptr
/// in all of them, on every rank, and does not travel. Those of GPUs: kernels/cuda/let/let_fields.hpp.
/// LastingOfParticles are the same as long as trees keep their shape; all others change when particles move.
namespace grove::let_fields {

using OfNodes = FieldList<ArrayField<&SourceTree::core>, ArrayField<&SourceTree::moments>,
                          ArrayField<&SourceTree::boxes>>;
using OfParticles = FieldList<ArrayField<&SourceTree::particles>>;
using LastingOfParticles = FieldList<ArrayField<&SourceTree::types>>;

}  // namespace grove::let_fields
