#include "cli/print.hpp"

#include <ostream>
#include <string>
#include <vector>

#include "cli/element_text.hpp"
#include "cli/slabs.hpp"
#include "cli/text.hpp"
#include "zarrive/error.hpp"

namespace zarrive::cli {

namespace {

constexpr std::uint64_t print_whole = 1000;     // elements; NumPy's threshold
constexpr std::uint64_t print_at_most = 50000;  // elements, for arrays of many dimensions
constexpr std::size_t line_width = 75;          // NumPy's

// What is shown of each dimension: all of it, or `edge` elements at both ends.
struct Excerpt {
  ResolvedSelection selection;
  std::uint64_t edge = 0;  // 0: everything is shown
  Shape shape = {};        // of what is shown, dropped dimensions with extent 1

  bool cut(std::size_t d) const { return edge > 0 && selection.dimensions[d].count > 2 * edge; }
};

Excerpt excerpt_of(const ResolvedSelection& selection) {
  Excerpt excerpt{.selection = selection, .edge = 0, .shape = selection.full_shape()};
  if (element_count(excerpt.shape) <= print_whole) return excerpt;
  for (std::uint64_t edge = 3; edge > 0; --edge) {
    excerpt.edge = edge;
    excerpt.shape = selection.full_shape();
    std::optional<std::uint64_t> total = 1;
    for (std::uint64_t& extent : excerpt.shape) {
      if (extent > 2 * edge) extent = 2 * edge;
      total = total ? checked_multiply(*total, extent) : total;
    }
    if (total && *total <= print_at_most) return excerpt;
  }
  throw Error(ErrorCode::resource_limit, "the selection has too many dimensions to print (" +
                                             std::to_string(selection.dimensions.size()) +
                                             "); pick some with --select, or use --json");
}

// Reads the corners that are shown, each into its place.
class CornerReader {
 public:
  CornerReader(const Array& array, const Excerpt& excerpt, const ArrayView& into, const ReadOptions& options)
      : array_(array), excerpt_(excerpt), into_(into), options_(options), part_(excerpt.selection) {
    for (ResolvedDimension& dimension : part_.dimensions) dimension.dropped = false;
    start_.resize(into.shape.size());
    extent_ = into.shape;
  }

  void read() {
    if (!part_.empty()) read(0);
  }

 private:
  void read(std::size_t d) {
    if (d == start_.size()) {
      array_.read_into(to_selection(part_), into_.box(start_, extent_), options_);
      return;
    }
    const ResolvedDimension whole = part_.dimensions[d];
    if (!excerpt_.cut(d)) {
      read(d + 1);
      return;
    }
    const std::uint64_t edge = excerpt_.edge;
    extent_[d] = edge;
    for (const bool last : {false, true}) {
      const std::uint64_t first = last ? whole.count - edge : 0;
      start_[d] = last ? edge : 0;
      part_.dimensions[d] = whole.part(first, edge);
      read(d + 1);
    }
    part_.dimensions[d] = whole;
    start_[d] = 0;
    extent_[d] = 2 * edge;
  }

  const Array& array_;
  const Excerpt& excerpt_;
  const ArrayView& into_;
  const ReadOptions& options_;
  ResolvedSelection part_;
  Index start_;
  Shape extent_;
};

// Writes nested brackets around the texts of the elements.
class Brackets {
 public:
  Brackets(std::ostream& out, const Excerpt& excerpt, std::vector<std::string> texts)
      : out_(out), texts_(std::move(texts)) {
    for (std::size_t d = 0; d < excerpt.shape.size(); ++d) {
      if (excerpt.selection.dimensions[d].dropped) continue;
      shape_.push_back(excerpt.shape[d]);
      cut_at_.push_back(excerpt.cut(d) ? excerpt.edge : 0);
    }
  }

  void write() {
    if (shape_.empty()) out_ << texts_[0];
    else level(0);
    out_ << '\n';
  }

 private:
  void level(std::size_t d) {
    out_ << '[';
    if (d + 1 == shape_.size()) row(d);
    else block(d);
    out_ << ']';
  }

  void block(std::size_t d) {
    const std::string between = std::string(shape_.size() - d - 1, '\n') + std::string(d + 1, ' ');
    for (std::uint64_t i = 0; i < shape_[d]; ++i) {
      if (i) out_ << between;
      if (cut_at_[d] && i == cut_at_[d]) out_ << "..." << between;
      level(d + 1);
    }
  }

  void row(std::size_t d) {
    std::size_t column = d + 1;
    for (std::uint64_t i = 0; i < shape_[d]; ++i) {
      if (cut_at_[d] && i == cut_at_[d]) word("...", d, column, false);
      word(texts_[next_++], d, column, i == 0);
    }
  }

  void word(const std::string& text, std::size_t d, std::size_t& column, bool first) {
    const std::size_t width = display_width(text);
    if (!first && column + 1 + width > line_width) {
      out_ << '\n' << std::string(d + 1, ' ');
      column = d + 1;
    } else if (!first) {
      out_ << ' ';
      ++column;
    }
    out_ << text;
    column += width;
  }

  std::ostream& out_;
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
  Shape shape_;
  std::vector<std::uint64_t> cut_at_;
};

}  // namespace

void print_array(std::ostream& out, const Array& array, const Selection& selection, const DataType& type,
                 const ReadOptions& options) {
  const Excerpt excerpt = excerpt_of(resolve(selection, array.shape()));
  const NDArray shown = NDArray::allocate(type, excerpt.shape);
  CornerReader(array, excerpt, shown.view(), options).read();
  Brackets(out, excerpt, element_texts(shown.view())).write();
}

}  // namespace zarrive::cli
