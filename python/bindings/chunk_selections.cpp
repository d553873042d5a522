#include "chunk_selections.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

namespace zarrive::python {
namespace {

constinit Imported asarray("numpy", "asarray");

using Numbers = std::vector<std::uint64_t>;

// Lengths that do not go together.
[[noreturn]] void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }
// Selections that NumPy knows and we do not; nothing has been read or written by then.
[[noreturn]] void unknown(const std::string& message) { throw Error(ErrorCode::unsupported, message); }

// An array, as the buffer protocol has it.
class View {
 public:
  explicit View(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FULL_RO) != 0) throw nb::python_error();
  }
  ~View() { PyBuffer_Release(&view_); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  std::size_t ndim() const { return static_cast<std::size_t>(view_.ndim); }
  std::uint64_t extent(std::size_t d) const { return static_cast<std::uint64_t>(view_.shape[d]); }
  std::int64_t stride(std::size_t d) const { return view_.strides[d]; }
  const std::byte* data() const { return static_cast<const std::byte*>(view_.buf); }
  std::size_t item_size() const { return static_cast<std::size_t>(view_.itemsize); }
  // Its letter in the struct module, or 0 for types that have more.
  char letter() const {
    const char* format = view_.format ? view_.format : "B";
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    return std::strlen(format) == 1 ? *format : '\0';
  }

 private:
  Py_buffer view_ = {};
};

bool is_integer(nb::handle item) {
  return PyLong_Check(item.ptr()) || (PyIndex_Check(item.ptr()) && !PyObject_CheckBuffer(item.ptr()));
}

std::int64_t integer_of(nb::handle item) {
  const Py_ssize_t value = PyNumber_AsSsize_t(item.ptr(), PyExc_IndexError);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

// Negative positions count from the end; what is outside then is found out by the core.
std::uint64_t wrapped(std::int64_t position, std::uint64_t extent) {
  return position < 0 ? static_cast<std::uint64_t>(position) + extent : static_cast<std::uint64_t>(position);
}

}  // namespace

// Along one dimension, in the order of the result: a range, or a list.
struct PartMaker::Positions {
  std::uint64_t count = 0;
  std::uint64_t start = 0;
  std::int64_t step = 1;
  std::shared_ptr<const Numbers> list = {};

  bool goes_by_one() const { return !list && (step == 1 || count <= 1); }

  std::shared_ptr<const Numbers> numbers() const {
    if (list) return list;
    auto made = std::make_shared<Numbers>(static_cast<std::size_t>(count));
    for (std::uint64_t i = 0; i < count; ++i) (*made)[i] = start + static_cast<std::uint64_t>(step) * i;
    return made;
  }

  static Positions of_slice(nb::handle slice, std::uint64_t extent) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) != 0) throw nb::python_error();
    const Py_ssize_t count = PySlice_AdjustIndices(static_cast<Py_ssize_t>(extent), &start, &stop, step);
    return {static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(start), step, {}};
  }

  template <class T>
  static Positions of_integers(const std::byte* data, std::int64_t stride, std::uint64_t count,
                               std::uint64_t extent) {
    const auto at = [&](std::uint64_t i) {
      T value;
      std::memcpy(&value, data + static_cast<std::int64_t>(i) * stride, sizeof value);
      if constexpr (std::is_signed_v<T>) return wrapped(value, extent);
      else return static_cast<std::uint64_t>(value);
    };
    Positions out;
    out.count = count;
    if (count == 0) return out;
    out.start = at(0);
    std::uint64_t i = 1;
    if (count > 1) {
      const std::uint64_t step = at(1) - at(0);
      out.step = static_cast<std::int64_t>(step);
      while (i < count && at(i) - at(i - 1) == step && step != 0) ++i;
    }
    if (i == count) return out;
    auto list = std::make_shared<Numbers>(static_cast<std::size_t>(count));
    for (std::uint64_t k = 0; k < count; ++k) (*list)[k] = at(k);
    out.list = std::move(list);
    return out;
  }

  static Positions of_flags(const std::byte* data, std::int64_t stride, std::uint64_t count,
                            std::uint64_t extent) {
    if (count != extent)
      throw nb::index_error(("an array of " + std::to_string(count) + " bools is no selection of " +
                             std::to_string(extent) + " positions")
                                .c_str());
    auto list = std::make_shared<Numbers>();
    for (std::uint64_t i = 0; i < count; ++i)
      if (data[static_cast<std::int64_t>(i) * stride] != std::byte{0}) list->push_back(i);
    return of_integers<std::uint64_t>(reinterpret_cast<const std::byte*>(list->data()), sizeof(std::uint64_t),
                                      list->size(), extent);
  }

  // Along one axis of an array.
  static Positions of_array(const View& array, std::size_t axis, std::uint64_t extent) {
    const std::byte* data = array.data();
    const std::uint64_t count = array.extent(axis);
    const std::int64_t stride = array.stride(axis);
    switch (array.letter()) {
      case '?': return of_flags(data, stride, count, extent);
      case 'b': return of_integers<std::int8_t>(data, stride, count, extent);
      case 'B': return of_integers<std::uint8_t>(data, stride, count, extent);
      case 'h': return of_integers<std::int16_t>(data, stride, count, extent);
      case 'H': return of_integers<std::uint16_t>(data, stride, count, extent);
      case 'i':
      case 'l':
      case 'q':
        return array.item_size() == 4 ? of_integers<std::int32_t>(data, stride, count, extent)
                                      : of_integers<std::int64_t>(data, stride, count, extent);
      case 'I':
      case 'L':
      case 'Q':
        return array.item_size() == 4 ? of_integers<std::uint32_t>(data, stride, count, extent)
                                      : of_integers<std::uint64_t>(data, stride, count, extent);
      default: unknown("arrays in selections have integers or bools in this machine's byte order");
    }
  }
};

// One entry of a selection.
struct PartMaker::Item {
  enum class Kind { integer, slice, array } kind = Kind::slice;
  Positions positions = {};
  std::size_t array_ndim = 0;  // of the array that it came from
  bool mesh = false;           // more than one dimension, all but the entry's own of length 1
};

PartMaker::PartMaker(Shape output, nb::handle drop_axes, bool scalar)
    : output_(std::move(output)), scalar_(scalar) {
  for (nb::handle axis : nb::iter(drop_axes)) {
    const std::int64_t d = integer_of(axis);
    if (d < 0 || d >= static_cast<std::int64_t>(max_dimensions))
      refuse("an axis to drop is none of the chunk's");
    drops_.resize(std::max(drops_.size(), static_cast<std::size_t>(d) + 1));
    drops_[static_cast<std::size_t>(d)] = true;
  }
}

std::vector<PartMaker::Item> PartMaker::items_of(nb::handle selection, const Shape& extents) const {
  const nb::object held =
      PyTuple_Check(selection.ptr()) ? nb::borrow(selection) : nb::object(nb::make_tuple(selection));
  const Py_ssize_t given = PyTuple_GET_SIZE(held.ptr());
  std::vector<Item> items;
  items.reserve(extents.size());
  const auto add_whole = [&] {
    const std::uint64_t extent = extents[items.size()];
    items.emplace_back().positions.count = extent;
  };
  for (Py_ssize_t i = 0; i < given; ++i) {
    const nb::handle entry = PyTuple_GET_ITEM(held.ptr(), i);
    if (entry.ptr() == Py_Ellipsis) {
      const auto behind = static_cast<std::size_t>(given - i - 1);
      while (items.size() + behind < extents.size()) add_whole();
      continue;
    }
    const std::size_t d = items.size();
    if (d == extents.size())
      throw nb::index_error(("a selection of " + std::to_string(given) + " entries is too long for " +
                             std::to_string(d) + " dimensions")
                                .c_str());
    Item& item = items.emplace_back();
    if (PySlice_Check(entry.ptr())) {
      item.positions = Positions::of_slice(entry, extents[d]);
      continue;
    }
    if (is_integer(entry)) {
      item.kind = Item::Kind::integer;
      item.positions = {1, wrapped(integer_of(entry), extents[d]), 1, {}};
      continue;
    }
    const nb::object array = PyObject_CheckBuffer(entry.ptr()) ? nb::borrow(entry) : asarray(entry);
    const View view(array);
    item.array_ndim = view.ndim();
    if (view.ndim() == 0) {
      item.kind = Item::Kind::integer;
      item.positions = {1, wrapped(integer_of(array), extents[d]), 1, {}};
      continue;
    }
    item.kind = Item::Kind::array;
    std::size_t axis = 0;
    if (view.ndim() > 1) {
      item.mesh = view.ndim() == extents.size() && view.letter() != '?';
      axis = d;
      for (std::size_t k = 0; item.mesh && k < view.ndim(); ++k) item.mesh = k == axis || view.extent(k) == 1;
      if (!item.mesh) unknown("arrays of several dimensions in a selection are those of numpy.ix_");
    }
    item.positions = Positions::of_array(view, axis, extents[d]);
  }
  while (items.size() < extents.size()) add_whole();
  return items;
}

ChunkPart PartMaker::part(nb::handle chunk_selection, nb::handle output_selection, const Shape& chunk) {
  std::vector<Item> items = items_of(chunk_selection, chunk);
  const auto count = [&](auto&& is) { return std::count_if(items.begin(), items.end(), is); };
  const auto arrays = count([](const Item& item) { return item.kind == Item::Kind::array; });
  const auto meshes = count([](const Item& item) { return item.mesh; });
  const auto slices = count([](const Item& item) { return item.kind == Item::Kind::slice; });
  if (meshes > 0 && meshes != static_cast<std::ptrdiff_t>(items.size()))
    unknown("a selection that has an array of several dimensions has one for each dimension");
  if (arrays > 1 && meshes == 0) {
    if (slices > 0) unknown("several arrays and slices together are written as an open mesh, numpy.ix_");
    return points(std::move(items), output_selection);
  }
  if (arrays == 1 && meshes == 0 && slices > 0) {
    // NumPy puts the array's dimension first when a slice stands between it and an integer.
    const auto advanced = [](const Item& item) { return item.kind != Item::Kind::slice; };
    const auto first = std::find_if(items.begin(), items.end(), advanced);
    const auto last = std::find_if(items.rbegin(), items.rend(), advanced).base();
    if (!std::all_of(first, last, advanced))
      unknown("an integer and an array with a slice between them are an open mesh");
  }
  return product(std::move(items), output_selection, chunk.size());
}

namespace {

struct Lists {
  std::vector<std::shared_ptr<const Numbers>> lists;
};

}  // namespace

ChunkPart PartMaker::points(std::vector<Item> items, nb::handle output_selection) {
  points_ = true;
  std::uint64_t count = 1;
  for (const Item& item : items)
    if (item.positions.count != 1) count = item.positions.count;
  auto owner = std::make_shared<Lists>();
  std::vector<PartDimension> dimensions;
  for (std::size_t d = 0; d < items.size(); ++d) {
    Positions& positions = items[d].positions;
    if (positions.count == 1 && count != 1) {
      positions.list = std::make_shared<const Numbers>(static_cast<std::size_t>(count), positions.start);
      positions.count = count;
    }
    if (positions.count != count)
      throw nb::index_error(("arrays of " + std::to_string(count) + " and " +
                             std::to_string(positions.count) + " positions do not go together")
                                .c_str());
    owner->lists.push_back(positions.numbers());
    PartDimension& dimension = dimensions.emplace_back();
    dimension.positions = owner->lists.back()->data();
    dimension.count = count;
  }
  if (scalar_) {
    counts_.resize(1);
    counts_[0] = std::max(counts_[0], count);
    return ChunkPart::points(std::move(dimensions), nullptr, count, std::move(owner));
  }
  if (output_.size() != 1)
    unknown("points go to an output of one dimension, this has " + std::to_string(output_.size()));
  const std::vector<Item> places = items_of(output_selection, output_);
  const Positions& to = places[0].positions;
  if (to.count != count)
    refuse(std::to_string(count) + " points do not go to " + std::to_string(to.count) + " places");
  if (to.goes_by_one())
    return ChunkPart::points(std::move(dimensions), nullptr, count, std::move(owner), to.start);
  owner->lists.push_back(to.numbers());
  const std::uint64_t* outputs = owner->lists.back()->data();
  return ChunkPart::points(std::move(dimensions), outputs, count, std::move(owner));
}

ChunkPart PartMaker::product(std::vector<Item> items, nb::handle output_selection, std::size_t ndim) {
  std::vector<bool> kept(ndim);
  for (std::size_t d = 0; d < ndim; ++d) {
    const bool drop = d < drops_.size() && drops_[d];
    if (drop && items[d].positions.count != 1)
      refuse("an axis to drop has " + std::to_string(items[d].positions.count) + " positions");
    kept[d] = !drop && items[d].kind != Item::Kind::integer;
  }
  keep(kept);
  std::vector<Item> places;
  if (!scalar_) places = items_of(output_selection, output_);
  else counts_.resize(ndim, 1);
  auto owner = std::make_shared<Lists>();
  std::vector<PartDimension> dimensions;
  std::size_t k = 0;  // dimension of the output
  for (std::size_t d = 0; d < ndim; ++d) {
    const Positions& from = items[d].positions;
    Positions to;
    to.count = from.count;
    if (scalar_) counts_[d] = std::max(counts_[d], from.count);
    else if (kept[d]) to = places[k++].positions;
    if (to.count != from.count)
      refuse("along dimension " + std::to_string(d) + " of a chunk " + std::to_string(from.count) +
             " positions are selected, and " + std::to_string(to.count) + " places for them");
    PartDimension& dimension = dimensions.emplace_back();
    dimension.count = from.count;
    if (!from.list && to.goes_by_one()) {
      dimension.start = from.start;
      dimension.step = from.step;
      dimension.output_start = to.start;
      continue;
    }
    owner->lists.push_back(from.numbers());
    dimension.positions = owner->lists.back()->data();
    if (to.goes_by_one()) {
      dimension.output_start = to.start;
    } else {
      owner->lists.push_back(to.numbers());
      dimension.outputs = owner->lists.back()->data();
    }
  }
  return owner->lists.empty() ? ChunkPart(std::move(dimensions))
                              : ChunkPart(std::move(dimensions), std::move(owner));
}

void PartMaker::keep(const std::vector<bool>& kept) {
  if (!scalar_ && static_cast<std::size_t>(std::count(kept.begin(), kept.end(), true)) != output_.size())
    refuse("the selection of a chunk has " + std::to_string(std::count(kept.begin(), kept.end(), true)) +
           " dimensions, the output " + std::to_string(output_.size()));
  if (kept_ && *kept_ != kept) unknown("the selections of two chunks leave out different dimensions");
  kept_ = kept;
}

ArrayView PartMaker::seen_by_parts(const ArrayView& output) const {
  if (scalar_ && points_ && kept_) unknown("points and other selections of chunks are together");
  ArrayView view = output;
  if (scalar_) {
    view.shape = counts_;
    view.strides.assign(counts_.size(), 0);
    return view;
  }
  if (!kept_) return view;
  view.shape.clear();
  view.strides.clear();
  std::size_t k = 0;
  for (const bool kept : *kept_) {
    view.shape.push_back(kept ? output.shape[k] : 1);
    view.strides.push_back(kept ? output.strides[k] : 0);
    k += kept;
  }
  return view;
}

}  // namespace zarrive::python
