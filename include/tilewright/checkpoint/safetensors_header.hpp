#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/metadata.hpp"
#include "tilewright/core/shape.hpp"

namespace tilewright::detail {

/// The key in the header whose value is not a tensor but the metadata: texts by name.
inline constexpr char metadata_key[] = "__metadata__";

/// A tensor in the header of a .safetensors file.
struct SafetensorsEntry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<std::uint64_t>> shape, data_offsets;
};

/// Parses the header's JSON as events of nlohmann::json::sax_parse. An invalid header stops at its first wrong event, so deep
/// nesting, long arrays and repeated keys cost nothing. All entries are complete. Fail(tensor, found, expected) must not return.
template <class Fail>
class SafetensorsHeader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit SafetensorsHeader(const Fail& fail) : fail_(fail) {}
  std::vector<SafetensorsEntry> entries;
  Metadata metadata;

  bool null() { return wrong("null"); }
  bool boolean(bool) { return wrong("a boolean"); }
  bool number_integer(number_integer_t) { return wrong("a negative number"); }
  bool number_float(number_float_t, const string_t&) { return wrong("a number that is no integer below 2^64"); }
  bool binary(binary_t&) { return wrong("binary data"); }
  bool number_unsigned(number_unsigned_t number) {
    if (place_ != Place::numbers) return wrong("a number");
    if (numbers_->size() == most_numbers_)
      fail_(tensor(), field_ + " of more than " + std::to_string(most_numbers_) + " numbers", expected_numbers());
    numbers_->push_back(number);
    return true;
  }
  bool string(string_t& text) {
    if (place_ == Place::metadata_value) {
      metadata.set(field_, std::move(text));
      place_ = Place::metadata;
    } else if (place_ == Place::value && field_ == "dtype") {
      entries.back().dtype = std::move(text);
      place_ = Place::tensor;
    } else {
      return wrong("a text");
    }
    return true;
  }
  bool start_object(std::size_t) {
    if (place_ == Place::start) place_ = Place::header;
    else if (place_ == Place::entry && tensor() == metadata_key) place_ = Place::metadata;
    else if (place_ == Place::entry) place_ = Place::tensor;
    else return wrong("an object");
    return true;
  }
  bool key(string_t& name) {
    if (place_ == Place::header) {
      if (!names_.insert(name).second) fail_(name, "this name twice", "each name once");
      name_ = name;
      if (name != metadata_key) entries.push_back({std::move(name), {}, {}, {}});
      place_ = Place::entry;
    } else if (place_ == Place::metadata) {
      if (metadata.get<std::string>(name)) fail_(metadata_key, "'" + name + "' twice", "each name once");
      field_ = std::move(name);
      place_ = Place::metadata_value;
    } else {  // a tensor's
      SafetensorsEntry& entry = entries.back();
      field_ = std::move(name);
      place_ = Place::value;
      const bool known = field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
      if (!known) fail_(tensor(), "the key '" + field_ + "'", "dtype, shape and data_offsets");
      if (field_ == "dtype"   ? entry.dtype.has_value()
          : field_ == "shape" ? entry.shape.has_value()
                              : entry.data_offsets.has_value())
        fail_(tensor(), field_ + " twice", "each key once");
    }
    return true;
  }
  bool end_object() {
    if (place_ == Place::tensor) {
      const SafetensorsEntry& entry = entries.back();
      if (!entry.dtype || !entry.shape || !entry.data_offsets)
        fail_(tensor(), "an incomplete entry", "dtype, shape and data_offsets");
    }
    place_ = place_ == Place::header ? Place::end : Place::header;
    return true;
  }
  bool start_array(std::size_t) {
    if (place_ != Place::value || field_ == "dtype") return wrong("an array");
    most_numbers_ = field_ == "shape" ? std::size_t{max_rank} : 2;
    numbers_ = field_ == "shape" ? &entries.back().shape.emplace() : &entries.back().data_offsets.emplace();
    place_ = Place::numbers;
    return true;
  }
  bool end_array() {
    if (field_ == "data_offsets" && numbers_->size() != 2)
      fail_(tensor(), field_ + " of " + std::to_string(numbers_->size()) + " numbers", expected_numbers());
    place_ = Place::tensor;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    fail_("", "a header that is no JSON (" + std::string(error.what()) + ")", "a JSON object in UTF-8");
    return false;
  }

 private:
  /// Part of the header to which the next event belongs.
  enum class Place { start, header, entry, tensor, value, numbers, metadata, metadata_value, end };

  const std::string& tensor() const { return name_; }
  std::string expected_numbers() const { return field_ == "shape" ? "at most " + std::to_string(max_rank) : "begin and end"; }
  bool wrong(const char* found) {
    if (place_ == Place::start) fail_("", "a header that is " + std::string(found), "a JSON object");
    if (place_ == Place::entry) fail_(tensor(), found, "an object");
    if (place_ == Place::metadata_value) fail_(tensor(), "'" + field_ + "' with " + found, "texts");
    if (place_ == Place::numbers) fail_(tensor(), field_ + " with " + found, "non-negative integers");
    fail_(tensor(), field_ + " that is " + found, field_ == "dtype" ? "a text" : "an array");
    return false;
  }

  const Fail& fail_;
  Place place_ = Place::start;
  std::string name_, field_;
  std::unordered_set<std::string> names_;
  std::vector<std::uint64_t>* numbers_ = nullptr;
  std::size_t most_numbers_ = 0;
};

}  // namespace tilewright::detail
