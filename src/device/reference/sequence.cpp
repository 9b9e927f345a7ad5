#include "device/reference/elements.h"
#include "device/reference/kernel.h"
#include "device/reference/slices.h"

namespace ingot::reference {
namespace {

int64_t scalar_index(KernelContext& c, size_t i) {
  if (c.in(i).count() != 1) c.fail("one position", to_string(Type::of(c.in(i))));
  return load<int64_t>(c.in(i))[0];
}

// Operand `i` as a position in [0, last]; negative positions count from `length`.
int64_t position(KernelContext& c, size_t i, int64_t length, int64_t last) {
  int64_t given = scalar_index(c, i);
  if (given < -length || given > last)
    c.fail(fmt::format("a position in [{}, {}]", -length, last), fmt::format("{}", given));
  return given < 0 ? given + length : given;
}

int64_t length_of(const Sequence& s) { return static_cast<int64_t>(s.size()); }

void sequence_construct(KernelContext& c) {
  Sequence out;
  for (size_t i = 0; i < c.operand_count(); ++i) out.push_back(c.in(i));
  c.set(0, std::move(out));
}

void sequence_empty(KernelContext& c) { c.set(0, Sequence{}); }

void sequence_at(KernelContext& c) {
  const Sequence& s = c.datum(0).sequence();
  c.set(0, s[static_cast<size_t>(position(c, 1, length_of(s), length_of(s) - 1))]);
}

void sequence_insert(KernelContext& c) {
  Sequence s = c.datum(0).sequence();
  int64_t at = c.has(2) ? position(c, 2, length_of(s), length_of(s)) : length_of(s);
  if (!s.empty() && s[0].dtype() != c.in(1).dtype())
    c.fail(fmt::format("an element of {}", to_string(s[0].dtype())), std::string(to_string(c.in(1).dtype())));
  s.insert(s.begin() + at, c.in(1));
  c.set(0, std::move(s));
}

void sequence_erase(KernelContext& c) {
  Sequence s = c.datum(0).sequence();
  if (s.empty()) c.fail("a sequence that is not empty", "an empty one");
  s.erase(s.begin() + (c.has(1) ? position(c, 1, length_of(s), length_of(s) - 1) : length_of(s) - 1));
  c.set(0, std::move(s));
}

void sequence_length(KernelContext& c) {
  c.set(0, Tensor::of<int64_t>({}, {length_of(c.datum(0).sequence())}));
}

// How long each piece is: ones, equal pieces of a given length of which the last may be shorter, or given
// lengths.
std::vector<int64_t> piece_lengths(KernelContext& c, int64_t size) {
  if (!c.has(1)) return std::vector<int64_t>(static_cast<size_t>(size), 1);
  std::vector<int64_t> lengths = load<int64_t>(c.in(1));
  if (c.in(1).rank() == 0) {
    if (lengths[0] < 1) c.fail("a piece length of at least 1", fmt::format("{}", lengths[0]));
    std::vector<int64_t> equal(static_cast<size_t>(size / lengths[0]), lengths[0]);
    if (size % lengths[0] != 0) equal.push_back(size % lengths[0]);
    return equal;
  }
  int64_t left = size;
  for (int64_t n : lengths) {
    if (n < 0 || n > left)
      c.fail(fmt::format("lengths that add up to {}", size), fmt::format("[{}]", fmt::join(lengths, ", ")));
    left -= n;
  }
  if (left != 0)
    c.fail(fmt::format("lengths that add up to {}", size), fmt::format("[{}]", fmt::join(lengths, ", ")));
  return lengths;
}

void split_to_sequence(KernelContext& c) {
  const auto& a = c.attrs<SplitToSequenceAttrs>();
  const Tensor& x = c.in(0);
  int64_t axis = axis_of(c, a.axis, x.rank());
  Sequence out;
  int64_t begin = 0;
  for (int64_t length : piece_lengths(c, x.shape()[static_cast<size_t>(axis)])) {
    Tensor piece = slice(x, axis, begin, length);
    if (!a.keep_axis && !c.has(1)) {
      Shape shape = piece.shape();
      shape.erase(shape.begin() + axis);
      piece = piece.reshaped(std::move(shape));
    }
    out.push_back(std::move(piece));
    begin += length;
  }
  c.set(0, std::move(out));
}

void concat_from_sequence(KernelContext& c) {
  const auto& a = c.attrs<ConcatFromSequenceAttrs>();
  const Sequence& s = c.datum(0).sequence();
  if (s.empty()) c.fail("a sequence that is not empty", "an empty one");
  int64_t axis = axis_of(c, a.axis, s[0].rank() + (a.new_axis ? 1 : 0));
  c.set(0, a.new_axis ? stack(c, s, axis) : join(c, s, axis));
}

void optional_of(KernelContext& c) { c.set(0, c.has(0) ? c.datum(0) : Datum()); }
void optional_empty(KernelContext& c) { c.set(0, Datum()); }

void optional_get(KernelContext& c) {
  if (!c.has(0)) c.fail("an optional that holds something", "an empty one");
  c.set(0, c.datum(0));
}

void optional_has(KernelContext& c) {
  Tensor t = Tensor::allocate(DType::boolean, {});
  t.mutable_data<bool>()[0] = c.has(0);
  c.set(0, std::move(t));
}

}  // namespace

void add_sequence_kernels(KernelTable& t) {
  t[Op::SequenceConstruct] = sequence_construct;
  t[Op::SequenceEmpty] = sequence_empty;
  t[Op::SequenceAt] = sequence_at;
  t[Op::SequenceInsert] = sequence_insert;
  t[Op::SequenceErase] = sequence_erase;
  t[Op::SequenceLength] = sequence_length;
  t[Op::SplitToSequence] = split_to_sequence;
  t[Op::ConcatFromSequence] = concat_from_sequence;
  t[Op::OptionalOf] = optional_of;
  t[Op::OptionalEmpty] = optional_empty;
  t[Op::OptionalGet] = optional_get;
  t[Op::OptionalHas] = optional_has;
}

}  // namespace ingot::reference
