#pragma once
#include <zip.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/npy.hpp"
#include "tilewright/checkpoint/read_bytes.hpp"
#include "tilewright/checkpoint/tensor_file.hpp"
#include "tilewright/checkpoint/write_durably.hpp"

namespace tilewright {

namespace detail {

struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
template <class T>
using ZipPointer = std::unique_ptr<T, CloseZip>;

/// Returns libzip's text for an error, and frees the error.
inline std::string zip_error_text(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

/// Reads an archive in memory. Checks entries before it allocates memory for them: a hostile archive costs at most
/// `most_expansion` times its own size.
class NpzReader {
 public:
  NpzReader(std::string_view function, std::string path, std::span<const std::byte> file)
      : function_(function), path_(std::move(path)), file_(file) {}

  TensorFile read() {
    if (file_.empty()) fail("", "0 bytes", "a .npz file");  // for libzip that is an archive without entries
    std::string error;
    const auto archive = open(ZIP_CHECKCONS, error);
    if (!archive) explain(error);

    TensorFile result(path_);
    for (zip_uint64_t i = 0; i < count(archive.get()); ++i) {
      const zip_stat_t entry = check_entry(archive.get(), i);
      std::string name = name_of(entry);
      const auto& bytes = result.keep(read_entry(archive.get(), i, entry, name));
      const auto [spec, elements] = parse_npy(
          bytes, [&](const std::string& found, const std::string& expected) { fail(name, found, expected); });
      result.add(std::move(name), spec, elements);
    }
    restore_float8(result);
    return result;
  }

  static constexpr std::string_view suffix = ".npy";

 private:
  /// Opens the archive. Returns null if it is not one; `error` then says why.
  ZipPointer<zip_t> open(zip_flags_t flags, std::string& error) const {
    zip_error_t problem;
    zip_error_init(&problem);
    ZipPointer<zip_source_t> source(zip_source_buffer_create(file_.data(), file_.size(), 0, &problem));
    ZipPointer<zip_t> archive(source ? zip_open_from_source(source.get(), static_cast<int>(ZIP_RDONLY | flags), &problem)
                                     : nullptr);
    if (!archive && zip_error_code_zip(&problem) == ZIP_ER_EXISTS) fail("", "a name twice", "each name once");
    if (archive) source.release();  // the archive has taken it
    error = zip_error_text(problem);
    return archive;
  }
  /// Throws for an inconsistent archive: the error of check_entry if it refuses an entry (libzip 1.11 and later refuse such
  /// entries first), otherwise libzip's text.
  [[noreturn]] void explain(const std::string& error) {
    std::string none;
    if (const auto archive = open(0, none))
      for (zip_uint64_t i = 0; i < count(archive.get()); ++i) check_entry(archive.get(), i);
    fail("", "no zip archive, or not a whole one (" + error + ")", "a .npz file");
  }
  static zip_uint64_t count(zip_t* archive) { return static_cast<zip_uint64_t>(zip_get_num_entries(archive, 0)); }
  static std::string name_of(const zip_stat_t& entry) {
    const std::string_view name = entry.name;
    return std::string(name.substr(0, name.size() - suffix.size()));
  }

  static constexpr std::uint64_t most_expansion = 1032;  // deflate's limit, https://zlib.net/zlib_tech.html

  /// Converts bytes back to float8 if the archive has a float8_scale_name for them.
  static void restore_float8(TensorFile& file) {
    for (std::size_t i = 0; i < file.tensors().size(); ++i) {
      for (const DType format : {float8_143, float8_152}) {
        HostTensor tensor = file.tensors()[i];
        if (tensor.spec.dtype != uint8) continue;
        tensor.spec.dtype = format;
        const std::string name = float8_scale_name(tensor);
        const HostTensor* const scale = file.find(name);
        if (!scale || scale->spec != TensorSpec{{}, int32}) continue;
        std::int32_t log2_scale = 0;
        std::memcpy(&log2_scale, scale->bytes.data(), sizeof(log2_scale));
        file.set_float8(i, format, log2_scale);
        const auto at = static_cast<std::size_t>(scale - file.tensors().data());
        file.remove(at);
        if (at < i) --i;
      }
    }
  }
  [[noreturn]] void fail(std::string_view tensor, std::string_view found, std::string_view expected) const {
    throw LoadError(function_, path_, tensor, found, expected);
  }
  /// Throws for an entry that does not describe an array, or that needs more memory than the file can fill.
  zip_stat_t check_entry(zip_t* archive, zip_uint64_t index) {
    zip_stat_t entry;
    zip_stat_init(&entry);
    constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                                    ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive, index, 0, &entry) != 0 || (entry.valid & needed) != needed)
      fail("", "a damaged entry", "a .npz file");
    if (!std::string_view(entry.name).ends_with(suffix))
      fail("", "entry '" + std::string(entry.name) + "'", "names that end with .npy");
    const std::string name = name_of(entry);
    if (!names_.insert(name).second) fail(name, "this name twice", "each name once");
    if (entry.encryption_method != ZIP_EM_NONE) fail(name, "an encrypted entry", "an entry that is not encrypted");
    if (entry.comp_method != ZIP_CM_STORE && entry.comp_method != ZIP_CM_DEFLATE)
      fail(name, "compression method " + std::to_string(entry.comp_method), "0 (stored) or 8 (deflated)");
    // entries may share compressed bytes: all together they may not have more than the file
    if (entry.comp_size > file_.size() - compressed_bytes_)
      fail(name, std::to_string(entry.comp_size) + " compressed bytes", "at most the file's " + std::to_string(file_.size()));
    compressed_bytes_ += entry.comp_size;
    const std::uint64_t expansion = entry.comp_method == ZIP_CM_STORE ? 1 : most_expansion;
    if (entry.size / expansion > entry.comp_size)
      fail(name, std::to_string(entry.size) + " bytes from " + std::to_string(entry.comp_size) + " compressed ones",
           "at most " + std::to_string(expansion) + " times as many");
    return entry;
  }
  std::vector<std::byte> read_entry(zip_t* archive, zip_uint64_t index, const zip_stat_t& entry, const std::string& name) const {
    const ZipPointer<zip_file_t> stream(zip_fopen_index(archive, index, 0));
    if (!stream) fail(name, "an entry that does not open", "a .npy file");
    std::vector<std::byte> bytes = bytes_for(
        entry.size, [&](const std::string& found, const std::string& expected) { fail(name, found, expected); });
    std::size_t size = 0;
    zip_int64_t count = 1;
    constexpr std::size_t most_at_once = std::size_t{1} << 30;  // zlib's sizes have 32 bits
    while (size < bytes.size() &&
           (count = zip_fread(stream.get(), bytes.data() + size, (std::min)(bytes.size() - size, most_at_once))) > 0)
      size += static_cast<std::size_t>(count);
    char more = 0;  // at the end of the entry its checksum is compared
    if (size != bytes.size() || zip_fread(stream.get(), &more, 1) != 0)
      fail(name, "an entry that is cut off or has another checksum", std::to_string(entry.size) + " whole bytes");
    return bytes;
  }

  std::string_view function_;
  std::string path_;
  std::span<const std::byte> file_;
  std::unordered_set<std::string> names_;  // of entries that were checked
  std::uint64_t compressed_bytes_ = 0;  // theirs
};

/// Writes an uncompressed archive of arrays in memory. Equal tensors give equal bytes.
class NpzWriter {
 public:
  explicit NpzWriter(std::span<const HostTensor> tensors) {
    zip_error_t error;
    zip_error_init(&error);
    buffer_.reset(zip_source_buffer_create(nullptr, 0, 0, &error));
    if (buffer_) zip_source_keep(buffer_.get());  // the archive takes one count, and we keep one
    archive_.reset(buffer_ ? zip_open_from_source(buffer_.get(), ZIP_TRUNCATE, &error) : nullptr);
    if (!archive_) throw std::runtime_error("save_npz: " + zip_error_text(error));
    zip_error_fini(&error);
    headers_.reserve(2 * tensors.size());
    for (const HostTensor& tensor : tensors) {
      add(tensor);
      if (!is_float8(tensor.spec.dtype)) continue;
      const auto& [scale, name] = scales_.emplace_back(tensor.log2_scale, float8_scale_name(tensor));
      add({name, {{}, int32}, std::as_bytes(std::span(&scale, 1))});
    }
  }

  std::vector<std::byte> bytes() {
    if (tensors_ == 0) {  // libzip removes archives without entries: this is the end record of one
      std::vector<std::byte> empty(22);
      constexpr std::string_view signature = "PK\5\6";
      for (std::size_t i = 0; i < signature.size(); ++i) empty[i] = static_cast<std::byte>(signature[i]);
      return empty;
    }
    if (zip_close(archive_.get()) != 0) fail();
    archive_.release();
    zip_stat_t stat;
    zip_source_t* const source = buffer_.get();
    if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0) throw std::runtime_error("save_npz: no memory");
    std::vector<std::byte> result(static_cast<std::size_t>(stat.size));
    std::size_t size = 0;
    zip_int64_t count = 1;
    while (size < result.size() && (count = zip_source_read(source, result.data() + size, result.size() - size)) > 0)
      size += static_cast<std::size_t>(count);
    zip_source_close(source);
    if (size != result.size()) throw std::runtime_error("save_npz: no memory");
    return result;
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error(std::string("save_npz: ") + zip_strerror(archive_.get())); }
  void add(const HostTensor& tensor) {
    std::string& header = headers_.emplace_back(npy_header(tensor.spec));
    auto* const header_bytes = reinterpret_cast<zip_uint8_t*>(header.data());
    // libzip only reads the fragments, but its type says otherwise
    auto* const elements = reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(tensor.bytes.data()));
    const std::array<zip_buffer_fragment_t, 2> fragments{{{header_bytes, header.size()}, {elements, tensor.bytes.size()}}};
    zip_error_t error;
    zip_error_init(&error);
    ZipPointer<zip_source_t> source(zip_source_buffer_fragment_create(fragments.data(), tensor.bytes.empty() ? 1 : 2, 0, &error));
    if (!source) throw std::runtime_error("save_npz: " + zip_error_text(error));
    zip_error_fini(&error);
    const std::string name = std::string(tensor.name) + std::string(NpzReader::suffix);
    if (name.find('\0') != name.npos) throw std::invalid_argument("save_npz: a name with a zero byte: none expected");
    const auto index = zip_file_add(archive_.get(), name.c_str(), source.get(), ZIP_FL_ENC_UTF_8);
    if (index < 0) fail();
    source.release();  // the archive has taken it
    constexpr zip_uint16_t first_of_january_1980 = 1 << 5 | 1;
    if (zip_set_file_compression(archive_.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive_.get(), static_cast<zip_uint64_t>(index), 0, first_of_january_1980, 0) != 0)
      fail();
    ++tensors_;
  }

  std::vector<std::string> headers_;  // they must outlive the archive
  std::deque<std::pair<std::int32_t, std::string>> scales_;  // of float8; so must they
  ZipPointer<zip_source_t> buffer_;
  ZipPointer<zip_t> archive_;
  std::size_t tensors_ = 0;
};

}  // namespace detail

/// Parses tensors from the bytes of a .npz file; `name` replaces its path in errors.
[[nodiscard]] inline TensorFile parse_npz(std::span<const std::byte> bytes, std::string name) {
  return detail::NpzReader("load_npz", std::move(name), bytes).read();
}

/// Loads all arrays of a .npz file that numpy.savez or numpy.savez_compressed wrote: row-major, little-endian arrays of supported
/// dtypes with at most six axes. The entry "fc1.weight.npy" becomes the tensor fc1.weight. Throws LoadError for anything else.
[[nodiscard]] inline TensorFile load_npz(const std::filesystem::path& path) {
  return parse_npz(detail::read_bytes("load_npz", path), path.string());
}

/// Writes tensors by write_durably() as an uncompressed .npz file, which numpy.load reads. float8 tensors are written as bytes,
/// uint8. A scalar int32 <name>.float8_143 or <name>.float8_152 holds the log2_scale, from which load_npz restores them. Throws
/// std::invalid_argument for bytes that do not fit their spec and names that occur twice, std::runtime_error for names that are
/// not UTF-8, and std::filesystem::filesystem_error.
inline void save_npz(const std::filesystem::path& path, std::span<const HostTensor> tensors) {
  detail::check_tensors("save_npz", tensors);
  const auto bytes = detail::NpzWriter(tensors).bytes();
  const std::array parts{std::span<const std::byte>(bytes)};
  write_durably(path, parts);
}

}  // namespace tilewright
