#include <fstream>
#include <sstream>

#include "base/bytes.h"
#include "import/onnx/wire_bytes.h"
#include "support/hex.h"
#include "support/temp_folder.h"
#include "support/thrown_by.h"
#include "tensor_io/npy.h"
#include "tensor_io/npy_header.h"
#include "tensor_io/tensor_file.h"

namespace ingot {
namespace {

std::string elements_text(const Tensor& t) {
  if (!t.is_string()) return hex_of({reinterpret_cast<const char*>(t.bytes().data()), t.bytes().size()});
  std::vector<std::string> items;
  for (const std::string& s : t.strings()) items.push_back(hex_of(s));
  return fmt::format("{}", fmt::join(items, ","));
}

std::string dims_text(const Shape& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

Tensor parse(const std::string& file, std::optional<DType> wanted = std::nullopt) {
  return parse_npy(bytes_of(file), nullptr, "a.npy", wanted);
}

// Calls visit(kind, type, dims, file, elements) for each line of testdata/arrays.txt, which
// tools/make_npy_testdata.py wrote with NumPy.
template <class Visit>
int for_each_array(Visit&& visit) {
  std::ifstream lines(INGOT_TENSOR_TESTDATA "/arrays.txt");
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    SCOPED_TRACE(line);
    std::string kind, type, dims, file, elements;
    std::istringstream(line) >> kind >> type >> dims >> file >> elements;
    visit(kind, *parse_dtype(type), dims, from_hex(file), elements == "-" ? "" : elements);
  }
  return count;
}

TEST(Npy, ReadsWhatNumPyWrites) {
  const int count = for_each_array(
      [](const auto& kind, DType type, const auto& dims, const auto& file, const auto& elements) {
        if (kind == "npz") return;
        const Tensor tensor = parse(file, type);
        EXPECT_EQ(tensor.dtype(), type);
        EXPECT_EQ(dims_text(tensor.shape()), dims);
        EXPECT_EQ(elements_text(tensor), elements);
      });
  EXPECT_GE(count, 80);
}

TEST(Npy, WritesTheBytesThatNumPyWrites) {
  TempFolder folder;
  for_each_array([&](const auto& kind, DType type, const auto&, const auto& file, const auto&) {
    if (kind != "npy") return;
    write_npy(parse(file, type), folder.file("out.npy"));
    EXPECT_EQ(hex_of(read_file(folder.file("out.npy"))), hex_of(file));
  });
}

TEST(Npy, ReadsMembersOfArchives) {
  TempFolder folder;
  for_each_array([&](const auto& kind, DType type, const auto& dims, const auto& file, const auto& elements) {
    if (kind != "npz") return;
    const std::string path = folder.write("a.npz", file);
    const Tensor tensor = read_datum_file(path, {"x", Type::unranked(type), {}}).tensor();
    EXPECT_EQ(dims_text(tensor.shape()), dims);
    EXPECT_EQ(elements_text(tensor), elements);
    const auto all = read_npz(path);
    EXPECT_EQ(all.size(), 2u);
    EXPECT_EQ(all.at("other").count(), 3);
    const Error e = thrown_by([&] { read_datum_file(path, {"y", Type::unranked(type), {}}); });
    EXPECT_EQ(e.code(), ErrorCode::not_found);
    EXPECT_EQ(e.parts().observed, "2 members: other.npy, x.npy");
  });
}

// Bytes changed and lengths cut everywhere: an error or an array, never more.
TEST(Npy, SurvivesDamage) {
  TempFolder folder;
  int tried = 0;
  for_each_array([&](const auto& kind, DType type, const auto&, const auto& file, const auto&) {
    const bool is_archive = kind == "npz";
    auto read = [&](const std::string& bytes) {
      ++tried;
      try {
        if (is_archive)
          read_npz(folder.write("a.npz", bytes));
        else
          parse(bytes, type);
      } catch (const Error& e) {
        EXPECT_NE(e.code(), ErrorCode::internal) << e.what();
      }
    };
    for (size_t i = 0; i < file.size(); i += is_archive ? 7 : 1) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
      read(changed);
      read(file.substr(0, i));
    }
  });
  EXPECT_GT(tried, 15000);
}

std::string npy(std::string_view dictionary, std::string_view data = "") {
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(dictionary.size());
  out += '\0';
  return out.append(dictionary).append(data);
}

std::string parse_error(std::string_view dictionary, std::string_view data = "") {
  return thrown_by([&] { parse(npy(dictionary, data)); }).what();
}

void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Npy, SaysWhatIsWrongInTheHeader) {
  EXPECT_STREQ(
      thrown_by([] { parse("PK"); }).what(),
      "NumPy file 'a.npy': expected the bytes \\x93NUMPY at the start, found something else. Write the "
      "file with numpy.save().");
  expect_contains(parse_error("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "12"),
                  "expected 3 elements of 4 bytes for shape [3], found 2 bytes after the header");
  expect_contains(parse_error("{'descr': '|O', 'fortran_order': False, 'shape': (3,)}"),
                  "found elements of type '|O'. Convert the array with astype()");
  expect_contains(parse_error("{'descr': '<c16', 'fortran_order': False, 'shape': (3,)}"), "'<c16'");
  expect_contains(parse_error("{'descr': '<f16', 'fortran_order': False, 'shape': (3,)}"), "'<f16'");
  expect_contains(parse_error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}"),
                  "a structure");
  expect_contains(parse_error("{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}"),
                  "expected True or False, found '0, 'shape': (3,)}' at character 34");
  expect_contains(parse_error("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}"),
                  "expected a size from 0 to 2^63 - 1, found '-3,)}'");
  expect_contains(parse_error("{'descr': '<f4', 'fortran_order': False}"), "one dictionary with");
  expect_contains(parse_error("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
                  "expected fewer than 2^62 elements");
  expect_contains(parse_error("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", "\x02"),
                  "expected booleans of 0 or 1, found 2 in element 0");
  expect_contains(parse_error("{'descr': '<V1', 'fortran_order': False, 'shape': (1,)}", "a"),
                  "expected a type that the file names, found '<V1', 1 bytes of a type that NumPy does");
}

TEST(TensorFile, RawFilesNeedTheirExactSize) {
  TempFolder folder;
  const std::string path = folder.write("x.raw", std::string("\x01\x00\x02\x00", 4));
  const Tensor fixed = read_datum_file(path, {"x", Type::tensor(DType::i16, {2}), {}}).tensor();
  EXPECT_EQ(fixed.data<int16_t>()[1], 2);
  const Type open = Type::tensor(DType::i16, {Dim::symbol("n")});
  EXPECT_EQ(read_datum_file(path, {"x", open, Shape{2}}).tensor().count(), 2);
  EXPECT_STREQ(
      thrown_by([&] {
        read_datum_file(path, {"x", open, {}});
      }).what(),
      fmt::format("raw file '{}': expected an input of fixed shape, found i16[n]. Give its shape: --shape "
                  "x=1x3x224x224.",
                  path)
          .c_str());
  EXPECT_EQ(thrown_by([&] {
              read_datum_file(path, {"x", open, Shape{3}});
            })
                .parts()
                .expected,
            "6 bytes for i16 of shape [3]");
}

TEST(TensorFile, ReadsOnnxTestData) {
  using namespace wire_bytes;
  TempFolder folder;
  const std::string tensor = number(2, 6) + number(1, 2) + block(9, std::string("\x01\0\0\0\x02\0\0\0", 8));
  const Type plain = Type::unranked(DType::i32);
  EXPECT_EQ(read_datum_file(folder.write("t.pb", tensor), {"x", plain, {}}).tensor().data<int32_t>()[1], 2);
  const std::string sequence = number(2, 1) + block(3, tensor) + block(3, tensor);
  const Datum list = read_datum_file(folder.write("s.pb", sequence), {"x", Type::sequence(plain), {}});
  EXPECT_EQ(list.sequence().size(), 2u);
  const std::string empty = folder.write("e.pb", "");
  EXPECT_TRUE(read_datum_file(empty, {"x", Type::optional(plain), {}}).is_none());
  EXPECT_EQ(read_datum_file(empty, {"x", Type::sequence(plain), {}}).sequence().size(), 0u);
}

TEST(TensorFile, NamesTheEndingsItKnows) {
  EXPECT_EQ(thrown_by([] {
              read_datum_file("x.csv", {"x", Type::unranked(DType::f32), {}});
            })
                .parts()
                .expected,
            "a name that ends in .npy, .npz, .pb or .raw");
}

}  // namespace
}  // namespace ingot
