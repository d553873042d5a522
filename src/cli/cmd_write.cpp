// zarrive write: elements from a NumPy file, raw bytes, JSON or one value, into a new array or a part of one.
#include <algorithm>
#include <fstream>
#include <istream>

#include "cli/commands.hpp"
#include "cli/creation.hpp"
#include "cli/npy.hpp"
#include "cli/slabs.hpp"
#include "cli/text.hpp"
#include "cli/undo.hpp"
#include "zarrive/error.hpp"
#include "zarrive/fill_value.hpp"

namespace zarrive::cli {

namespace {

struct WriteArguments {
  NodeArguments node = {};
  std::string input = "-";
  std::string select = {};
  std::optional<std::string> shape = {};
  std::string dtype = {};
  bool raw = false;
  bool json = false;
  std::optional<std::string> value = {};
  bool convert = false;
  bool write_empty_chunks = false;
  CreationArguments creation = {};
};

// Elements that arrive one after the other.
struct Source {
  std::istream& in;
  std::string name;
  DataType type;
  bool fortran_order = false;
  Shape shape = {};
};

// Bytes of another order to ours; bool to 0 and 1 (C++ allows nothing else).
void to_native(const DataType& type, std::byte* data, std::uint64_t count) {
  if (type.id() == TypeId::boolean) {
    for (std::uint64_t i = 0; i < count; ++i) data[i] = std::byte{data[i] != std::byte{0}};
    return;
  }
  for (const DataType::Leaf& leaf : type.leaves()) {
    if (leaf.order != ByteOrder::big) continue;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::byte* unit = data + i * type.item_size() + leaf.offset;
      for (std::size_t u = 0; u < leaf.count; ++u, unit += leaf.unit) std::reverse(unit, unit + leaf.unit);
    }
  }
}

void read_bytes(const Source& source, std::byte* to, std::size_t size) {
  source.in.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(size));
  if (static_cast<std::size_t>(source.in.gcount()) == size) return;
  throw Error(ErrorCode::invalid_argument,
              "the input ends too early: " + grouped(byte_count(source.shape, source.type.item_size())) +
                  " bytes are needed for " + shape_text(source.shape) + " elements of " + source.type.name(),
              {.store = source.name});
}

void check_end(const Source& source) {
  if (source.in.peek() != std::istream::traits_type::eof()) {
    throw Error(ErrorCode::invalid_argument,
                "the input goes on after " + grouped(byte_count(source.shape, source.type.item_size())) +
                    " bytes, which are " + shape_text(source.shape) + " elements of " + source.type.name() +
                    "; is --shape or --select right?",
                {.store = source.name});
  }
}

// In slabs of the source's own order: a Fortran-order file is walked from its last dimension.
void write_source(Session& session, Array& array, const Selection& selection, const Source& source,
                  const WriteOptions& options) {
  const ResolvedSelection resolved = resolve(selection, array.shape());
  const std::size_t ndim = array.ndim();
  std::vector<std::size_t> order(ndim);
  for (std::size_t i = 0; i < ndim; ++i) order[i] = source.fortran_order ? ndim - 1 - i : i;
  NDArray memory;
  for_each_slab(resolved, array.metadata().chunk_grid, source.type.item_size(), slab_bytes, order,
                [&](const Slab& slab) {
                  session.check_stop();
                  Shape stored;  // as the elements lie in the input
                  for (const std::size_t d : order) stored.push_back(slab.extent[d]);
                  if (memory.view().data == nullptr || memory.size() < element_count(stored)) {
                    memory = {};
                    memory = NDArray::allocate(source.type, stored);
                  }
                  const ArrayView dense(memory.view().data, source.type, stored);
                  read_bytes(source, dense.data, dense.nbytes());
                  to_native(source.type, dense.data, dense.size());
                  array.write(slab.selection, dense.transposed(order), options);
                });
  check_end(source);
}

// A flat JSON list, whole in memory: the way for elements of variable length.
void write_json(Array& array, const Selection& selection, std::istream& in, const WriteOptions& options) {
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const Json json = Json::parse(text);
  if (!json.is_array())
    throw Error(ErrorCode::invalid_argument, "--json takes one flat JSON list of elements");
  const JsonArray& list = json.as_array();
  const Shape shape = array.result_shape(selection);
  if (list.size() != element_count(shape)) {
    throw Error(ErrorCode::invalid_argument, "the list has " + counted(list.size(), "element") +
                                                 ", the selection " + shape_text(shape) + " has " +
                                                 grouped(element_count(shape)));
  }
  const NDArray elements = NDArray::allocate(array.data_type(), shape);
  const std::size_t item_size = array.data_type().item_size();
  for (std::size_t i = 0; i < list.size(); ++i)
    element_from_json(array.data_type(), list[i], elements.view().data + i * item_size);
  array.write(selection, elements.view(), options);
}

bool is_raw(const WriteArguments& arguments) {
  return arguments.raw || (!arguments.dtype.empty() && !arguments.json && !arguments.value);
}

void check_usage(const WriteArguments& arguments) {
  if (arguments.raw + arguments.json + arguments.value.has_value() > 1)
    throw UsageError("--raw, --json and --value exclude each other");
  if (!arguments.select.empty() && arguments.creation.overwrite)
    throw UsageError("--select writes into an array that is there; --overwrite makes a new one");
}

// What the input is: a NumPy file says so itself, for raw bytes the command line or the array does.
Source source_of(const WriteArguments& arguments, std::istream& in, const Array* array) {
  const std::string name = arguments.input == "-" ? "standard input" : arguments.input;
  if (!is_raw(arguments)) {
    const NpyHeader header = read_npy_header(in, name);
    return {.in = in,
            .name = name,
            .type = header.type,
            .fortran_order = header.fortran_order,
            .shape = header.shape};
  }
  if (!array && (arguments.dtype.empty() || !arguments.shape))
    throw UsageError("raw bytes for a new array need --shape and --dtype");
  Source source{.in = in, .name = name, .type = DataType(), .shape = {}};
  source.type = arguments.dtype.empty() ? array->data_type().with_byte_order(ByteOrder::little)
                                        : DataType::parse(arguments.dtype);
  if (source.type.is_variable())
    throw UsageError("elements of type " + source.type.name() + " vary in length; write them with --json");
  source.shape = arguments.shape ? parse_shape(*arguments.shape, "--shape")
                                 : array->result_shape(Selection(arguments.select));
  return source;
}

void check_shape(const Array& array, const Selection& selection, const Source& source) {
  const Shape wanted = array.result_shape(selection);
  if (wanted == source.shape) return;
  throw Error(ErrorCode::invalid_argument,
              "the input has shape " + shape_text(source.shape) + ", the selection " + shape_text(wanted) +
                  "; they must be equal",
              {.store = source.name});
}

// The array to write to when it is there and stays there.
std::optional<Array> existing_array(Session& session, const WriteArguments& arguments,
                                    const std::shared_ptr<Store>& store) {
  if (arguments.creation.overwrite) return std::nullopt;
  try {
    Array array = open_array(store, arguments.node.node, session.open_options());
    if (describes_array(arguments.creation))
      throw UsageError(
          "the array is there already; --chunks, --codecs and the like are for a new one (--overwrite makes "
          "one)");
    return array;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found || !arguments.select.empty()) throw;
    return std::nullopt;
  }
}

void write_into(Session& session, const WriteArguments& arguments, Array& array, std::istream& in,
                const WriteOptions& options) {
  const Selection selection(arguments.select);
  if (arguments.value) return array.write_value(selection, parse_value(*arguments.value), options);
  if (arguments.json) return write_json(array, selection, in, options);
  Source source = source_of(arguments, in, &array);
  check_shape(array, selection, source);
  write_source(session, array, selection, source, options);
}

void write_new(Session& session, const WriteArguments& arguments, const std::shared_ptr<Store>& store,
               std::istream& in, const WriteOptions& options) {
  std::optional<Source> source;
  if (!arguments.json && !arguments.value) source.emplace(source_of(arguments, in, nullptr));
  else if (arguments.dtype.empty() || !arguments.shape)
    throw UsageError("a new array needs --shape and --dtype");
  const Shape shape = source ? source->shape : parse_shape(*arguments.shape, "--shape");
  const DataType type = arguments.dtype.empty() ? source->type.with_byte_order(ByteOrder::little)
                                                : DataType::parse(arguments.dtype);
  const CreateOptions create = creation_options(arguments.creation, shape, type, session);
  make_metadata(create);  // what cannot be is found before anything is deleted

  const std::string path = normalize_path(arguments.node.node);
  NewNode undo(store, path, create.overwrite);
  Array array = create_array(store, arguments.node.node, create);
  if (source) write_source(session, array, {}, *source, options);
  else if (arguments.json) write_json(array, {}, in, options);
  else array.write_value({}, parse_value(*arguments.value), options);
  undo.keep();
  warn_about_consolidated(session, *store, path);
}

void write(Session& session, const WriteArguments& arguments) {
  check_usage(arguments);
  std::ifstream file;
  const bool from_file = arguments.input != "-" && !arguments.value;
  if (from_file) {
    file.open(arguments.input, std::ios::binary);
    if (!file)
      throw Error(ErrorCode::not_found, "the input file cannot be opened", {.store = arguments.input});
  }
  std::istream& in = from_file ? file : session.in();
  WriteOptions options = session.write_options();
  options.convert = arguments.convert;
  options.write_empty_chunks = arguments.write_empty_chunks;
  const auto store = open_to_create(arguments.node.store);
  if (std::optional<Array> array = existing_array(session, arguments, store))
    write_into(session, arguments, *array, in, options);
  else write_new(session, arguments, store, in, options);
  store->flush();
}

}  // namespace

void add_write(Commands& commands) {
  CLI::App* command = commands.add("write", "writes elements into a new array, or into a part of one",
                                   R"(  zarrive write out.zarr speed -i speed.npy --chunks 1,721,1440
  zarrive write out.zarr speed -i day.npy --select "0"
  zarrive write out.zarr speed --raw --select "1, 0:2, 0:2" < four_floats.bin
  zarrive write out.zarr mask -i mask.bin --shape 721,1440 --dtype uint8
  zarrive write out.zarr names --json --shape 2 --dtype string <<< '["north", "south"]'
  zarrive write out.zarr speed --select "..., 0" --value 0

An array that is not there is created, with the options of `zarrive create`.)");
  auto arguments = std::make_shared<WriteArguments>();
  add_node_arguments(command, arguments->node);
  command
      ->add_option("-i,--input", arguments->input,
                   "a .npy file, or raw bytes with --raw or --dtype; - is standard input")
      ->type_name("FILE");
  command->add_option("-s,--select", arguments->select, "the part of the array to write")
      ->type_name("SELECTION");
  command->add_option("--shape", arguments->shape, "of raw input, or of a new array")->type_name("SHAPE");
  command->add_option("--dtype", arguments->dtype, "of raw input, or of a new array; '>f4' for big-endian")
      ->type_name("TYPE");
  command->add_flag("--raw", arguments->raw, "the input is bytes in C order, little-endian");
  command->add_flag("--json", arguments->json, "the input is a flat JSON list, as `read --json` writes it");
  command->add_option("--value", arguments->value, "this element everywhere, no input")->type_name("VALUE");
  command->add_flag("--convert", arguments->convert, "convert elements to the array's type");
  command->add_flag("--write-empty-chunks", arguments->write_empty_chunks,
                    "store chunks that hold nothing but the fill value");
  add_creation_options(command, arguments->creation);
  commands.on(command, arguments, write);
}

}  // namespace zarrive::cli
