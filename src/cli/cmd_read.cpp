// zarrive read: elements as text, JSON, raw bytes or a NumPy file.
#include <ostream>

#include "cli/commands.hpp"
#include "cli/elements.hpp"
#include "cli/npy.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "cli/slabs.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {

namespace {

struct ReadArguments {
  NodeArguments node = {};
  std::string select = {};
  std::string output = {};
  std::string as = {};
  bool raw = false;
  bool json = false;
  bool npy = false;
};

enum class Form : std::uint8_t { text, json, raw, npy };

struct Reading {
  Session& session;
  const Array& array;
  Selection selection;
  DataType type;  // of what is given out
  ReadOptions options;
};

Form form_of(const ReadArguments& arguments) {
  if (arguments.raw + arguments.json + arguments.npy > 1)
    throw UsageError("--raw, --json and --npy exclude each other");
  if (arguments.raw) return Form::raw;
  if (arguments.json) return Form::json;
  if (arguments.npy || arguments.output.ends_with(".npy")) return Form::npy;
  if (!arguments.output.empty())
    throw UsageError("-o takes a name that ends in .npy; for another, add --npy, --raw or --json");
  return Form::text;
}

void check_fixed_size(const DataType& type) {
  if (type.is_variable()) {
    throw Error(ErrorCode::unsupported,
                "elements of type " + type.name() + " vary in length and have no raw form; use --json");
  }
}

// The selection in slabs, each read into the same memory.
void for_each_read(const Reading& reading, std::uint64_t max_bytes,
                   const std::function<void(const ArrayView& dense)>& use) {
  const ResolvedSelection resolved = resolve(reading.selection, reading.array.shape());
  NDArray memory;
  for_each_slab(resolved, reading.array.metadata().chunk_grid, reading.type.item_size(), max_bytes, {},
                [&](const Slab& slab) {
                  if (memory.size() < element_count(slab.extent) || memory.view().data == nullptr) {
                    memory = {};  // first: two slabs at one time would be twice the bound
                    memory = NDArray::allocate(reading.type, slab.extent);
                  }
                  const ArrayView dense(memory.view().data, reading.type, slab.extent);
                  reading.array.read_into(slab.selection, dense, reading.options);
                  use(dense);
                });
}

void write_bytes(const Reading& reading, std::ostream& out) {
  for_each_read(reading, slab_bytes, [&](const ArrayView& dense) {
    out.write(reinterpret_cast<const char*>(dense.data), static_cast<std::streamsize>(dense.nbytes()));
  });
}

void write_json(const Reading& reading, std::ostream& out) {
  out << '[';
  bool first = true;
  for_each_read(reading, slab_bytes / 8, [&](const ArrayView& dense) {
    const auto append = [&](std::string& text, std::uint64_t index, const std::byte* element) {
      if (index > 0 || !first) text += ", ";
      append_json(text, dense.type, element);
    };
    format_elements(dense, reading.session.jobs, append, [&](const std::string& text) { out << text; });
    first = false;
    reading.session.check_stop();
  });
  out << "]\n";
}

// Into a new file all at once, one plan and one batch, where the file can be mapped; else in slabs.
void write_bytes_to(const Reading& reading, const std::string& header, OutputFile& file) {
  const Shape shape = reading.array.result_shape(reading.selection);
  const std::size_t bytes = byte_count(shape, reading.type.item_size());
  // Elements keep their alignment in the mapping: headers are multiples of 64 bytes.
  if (std::byte* const mapped = file.map(header.size() + bytes)) {
    std::copy(header.begin(), header.end(), reinterpret_cast<char*>(mapped));
    reading.array.read_into(reading.selection, ArrayView(mapped + header.size(), reading.type, shape),
                            reading.options);
    return;
  }
  file.stream() << header;
  write_bytes(reading, file.stream());
}

void write_to_file(const Reading& reading, Form form, const std::string& header, const std::string& path) {
  OutputFile file(path, reading.session.stop());
  if (form == Form::json) write_json(reading, file.stream());
  else write_bytes_to(reading, header, file);
  reading.session.check_stop();
  file.commit();
}

void write_to_stream(const Reading& reading, Form form, const std::string& header, std::ostream& out) {
  if (form == Form::text) {
    print_array(out, reading.array, reading.selection, reading.type, reading.options);
  } else if (form == Form::json) {
    write_json(reading, out);
  } else {
    out << header;
    write_bytes(reading, out);
  }
}

void read(Session& session, const ReadArguments& arguments) {
  const Form form = form_of(arguments);
  const bool binary = form == Form::raw || form == Form::npy;
  if (binary && arguments.output.empty() && session.streams().out_is_terminal) {
    throw UsageError("bytes are not for a terminal; name a file with -o, or send them to a program");
  }
  const Array array =
      open_array(open_to_read(arguments.node.store), arguments.node.node, session.open_options());
  Reading reading{.session = session,
                  .array = array,
                  .selection = Selection(arguments.select),
                  .type = arguments.as.empty() ? array.data_type() : DataType::parse(arguments.as),
                  .options = session.read_options()};
  reading.options.convert = !arguments.as.empty();
  if (binary) check_fixed_size(reading.type);
  const std::string header =
      form == Form::npy ? npy_header(reading.type, array.result_shape(reading.selection)) : "";
  if (!arguments.output.empty() && arguments.output != "-")
    write_to_file(reading, form, header, arguments.output);
  else write_to_stream(reading, form, header, session.out());
}

}  // namespace

void add_read(Commands& commands) {
  CLI::App* command = commands.add("read", "prints elements, or writes them as a file",
                                   R"(  zarrive read era5.zarr surface/t2m --select "0, 100:110, ::-2"
  zarrive read era5.zarr surface/t2m --select "..., 0" -o first.npy
  zarrive read era5.zarr surface/t2m --json | jq length
  zarrive read era5.zarr surface/t2m --raw | sha256sum

Text is for people: large arrays are cut short. --json is one flat list in C order, each element exact, in the JSON form of a fill
value. --raw is C order, little-endian.)");
  auto arguments = std::make_shared<ReadArguments>();
  add_node_arguments(command, arguments->node);
  command->add_option("-s,--select", arguments->select, "what to read, as between NumPy's brackets")
      ->type_name("SELECTION");
  command->add_option("-o,--output", arguments->output, "the file to write; it appears when it is whole")
      ->type_name("FILE");
  command->add_flag("--json", arguments->json, "a flat JSON list");
  command->add_flag("--raw", arguments->raw, "the bytes of the elements");
  command->add_flag("--npy", arguments->npy, "a NumPy file; also what -o FILE.npy means");
  command->add_option("--as", arguments->as, "convert the elements to this type")->type_name("TYPE");
  commands.on(command, arguments, read);
}

}  // namespace zarrive::cli
