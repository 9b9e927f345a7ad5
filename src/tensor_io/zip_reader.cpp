#include "tensor_io/zip_reader.h"

#include <zip.h>

#include "base/mapped_file.h"
#include "import/onnx/wire.h"
#include "ingot/error.h"

namespace ingot {
namespace {

// No deflate stream expands further than this, by the format: 258 bytes from two bits.
constexpr uint64_t kMostExpansion = 1032;

std::string text_of(int zip_code) {
  zip_error_t error;
  zip_error_init_with_code(&error, zip_code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

struct ZipReader::Archive {
  std::shared_ptr<const MappedFile> file;
  zip_t* zip = nullptr;
  ~Archive() {
    if (zip) zip_discard(zip);
  }
};

ZipReader::ZipReader(const std::string& path) : path_(path), archive_(std::make_unique<Archive>()) {
  archive_->file = MappedFile::open(path, "NumPy archive");
  const auto bytes = archive_->file->bytes();
  zip_error_t error;
  zip_error_init(&error);
  if (zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error)) {
    archive_->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (!archive_->zip) zip_source_free(source);
  }
  const std::string problem = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!archive_->zip)
    throw Error({.code = ErrorCode::corrupt,
                 .object = "NumPy archive",
                 .name = path,
                 .expected = "a zip archive",
                 .observed = problem,
                 .remedy = "Write it with numpy.savez()."});
  const zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive_->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_GUESS);
    names_.emplace_back(name ? name : "");
  }
}

ZipReader::~ZipReader() = default;

void ZipReader::fail(size_t index, std::string expected, std::string observed) const {
  throw Error({.code = ErrorCode::corrupt,
               .object = "NumPy archive",
               .name = path_,
               .expected = std::move(expected),
               .observed = fmt::format("{} (member '{}')", observed, printable(names_[index])),
               .remedy = "Write it again with numpy.savez()."});
}

std::shared_ptr<const std::vector<std::byte>> ZipReader::read(size_t index) const {
  zip_stat_t info;
  zip_stat_init(&info);
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_ENCRYPTION_METHOD | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(archive_->zip, index, 0, &info) != 0 || (info.valid & kNeeded) != kNeeded)
    fail(index, "a readable directory", text_of(zip_error_code_zip(zip_get_error(archive_->zip))));
  if (info.encryption_method != ZIP_EM_NONE ||
      (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE))
    throw Error({.code = ErrorCode::unsupported,
                 .object = "NumPy archive",
                 .name = path_,
                 .expected = "members stored or deflated, without encryption",
                 .observed = fmt::format("method {}, encryption {} (member '{}')", info.comp_method,
                                         info.encryption_method, printable(names_[index])),
                 .remedy = "Write it with numpy.savez or numpy.savez_compressed."});
  if (info.comp_size > archive_->file->size() || info.size / kMostExpansion > info.comp_size)
    fail(index, fmt::format("a size that {} bytes can expand to", info.comp_size),
         fmt::format("{}", info.size));
  auto content = std::make_shared<std::vector<std::byte>>(info.size);
  zip_file_t* member = zip_fopen_index(archive_->zip, index, 0);
  if (!member) fail(index, "a readable member", text_of(zip_error_code_zip(zip_get_error(archive_->zip))));
  // The end is read as well: only there is the checksum compared.
  std::byte extra;
  const zip_int64_t got = zip_fread(member, content->data(), info.size);
  const zip_int64_t more = got < 0 ? 0 : zip_fread(member, &extra, 1);
  const std::string problem = zip_error_strerror(zip_file_get_error(member));
  zip_fclose(member);
  if (got < 0 || more < 0) fail(index, "sound data", problem);
  if (static_cast<zip_uint64_t>(got) != info.size || more != 0)
    fail(index, fmt::format("{} bytes", info.size), fmt::format("{}", more ? "more" : std::to_string(got)));
  return content;
}

}  // namespace ingot
