// Selections meet an array: block selections its chunk grid, fields its data type.
#pragma once

#include <string>

#include "zarrive/metadata.hpp"
#include "zarrive/selection.hpp"

namespace zarrive {

// As resolve(selection, shape), of every kind: block selections become ranges, `subarray` is that of the chosen field.
// Error(invalid_argument) for fields that the type does not have.
ResolvedSelection resolve(const Selection& selection, const ArrayMetadata& metadata);

// What the elements of a selection are: the array's own type, a field's, or a structured type of some fields.
DataType selected_type(const Selection& selection, const DataType& type);

// The field of a structured type. Error(invalid_argument) names those that are there.
const StructField& field_of(const DataType& type, const std::string& name);

}  // namespace zarrive
