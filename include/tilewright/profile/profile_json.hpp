#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "tilewright/profile/json_text.hpp"
#include "tilewright/profile/log_json.hpp"
#include "tilewright/profile/profile.hpp"
#include "tilewright/train/log.hpp"

namespace tilewright::detail {

/// Calls `function` for each member of a step that is a count, with its name in files.
inline void for_each_count(const Profile::Step& step, auto&& function) {
  function("times", step.times);
  function("vertices", step.vertices);
  function("tiles_used", step.tiles_used);
  function("compute", step.compute);
  function("exchange", step.exchange);
  function("sync", step.sync);
  function("host", step.host);
  function("remote", step.remote);
  function("collective", step.collective);
  function("links", step.links);
  function("assumed", step.assumed);
  function("bytes_in", step.bytes_in);
  function("bytes_out", step.bytes_out);
  function("fragments", step.fragments);
  function("exchanged_bytes", step.exchanged_bytes);
  function("flops", step.flops);
  function("live_bytes", step.live_bytes);
}

inline void write_totals(JsonText& json, const Profile& profile) {
  const Profile::Totals totals = profile.totals();
  json.key("totals").begin_object();
  json.member("cycles", totals.cycles)
      .member("waiting", totals.waiting)
      .member("compute", totals.compute)
      .member("exchange", totals.exchange);
  json.member("sync", totals.sync).member("host", totals.host).member("remote", totals.remote);
  json.member("collective", totals.collective)
      .member("links", totals.links)
      .member("flops", totals.flops)
      .member("seconds", totals.seconds)
      .member("seconds_least", totals.seconds * profile.range.least)
      .member("seconds_most", totals.seconds * profile.range.most);
  json.member("runs_per_second", totals.runs_per_second).member("flops_per_second", totals.flops_per_second);
  json.member("utilisation", totals.utilisation).member("balance", totals.balance).member("assumed", totals.assumed);
  json.member("fullest_tile_bytes", profile.fullest().total()).member("peak_step", profile.peak_step());
  json.end_object().line();
}

inline void write_memory(JsonText& json, const Profile& profile) {
  json.key("categories").begin_array();
  for (std::size_t c = 0; c < memory_category_count; ++c)
    json.begin_object()
        .member("name", memory_category_names[c])
        .member("always_live", always_live(static_cast<MemoryCategory>(c)))
        .end_object();
  json.end_array().line();
  json.member("fullest_tile", profile.fullest_tile);
  json.key("tiles").begin_array();
  for (const Profile::TileMemory& tile : profile.tiles) {
    json.begin_array();
    for (const std::int64_t bytes : tile.bytes) json.value(bytes);
    json.end_array();
  }
  json.end_array().line();
  json.key("compute_by_tile").begin_array();
  for (const std::int64_t cycles : profile.compute_by_tile) json.value(cycles);
  json.end_array().line();
  json.key("tensors").begin_array();
  for (const Profile::Tensor& tensor : profile.tensors) {
    json.begin_object().member("name", tensor.name).member("module", tensor.module).member("bytes", tensor.bytes);
    json.member("whole_bytes", tensor.whole_bytes).member("first_step", tensor.first_step);
    json.member("last_step", tensor.last_step).member("always_live", tensor.always_live);
    json.member("category", static_cast<int>(tensor.category)).end_object().line();
  }
  json.end_array().line();
}

inline void write_tile_sets(JsonText& json, const Profile& profile) {
  json.key("tile_sets").begin_array();
  for (const Profile::TileSet& set : profile.tile_sets) {
    json.begin_object().member("name", set.name).member("first_tile", set.first_tile).member("tiles", set.tiles);
    json.member("fullest_tile_bytes", set.fullest_tile_bytes).member("compute", set.compute).member("exchange", set.exchange);
    json.member("sync", set.sync).member("host", set.host).member("remote", set.remote).member("collective", set.collective);
    json.member("links", set.links).member("waiting", set.waiting).end_object();
  }
  json.end_array().line();
  json.key("slices").begin_array();
  for (const Profile::Slice& slice : profile.slices)
    json.begin_object()
        .member("step", slice.step)
        .member("times", slice.times)
        .member("begin", slice.begin)

        .end_object();
  json.end_array().line();
}

inline void write_steps(JsonText& json, const Profile& profile) {
  json.key("steps").begin_array();
  for (const Profile::Step& step : profile.steps) {
    json.begin_object().member("label", step.label).member("module", step.module).member("kind", step.kind);
    if (!step.banks.empty()) json.member("banks", step.banks);
    json.member("body", step.body)
        .member("tile_set", step.tile_set)

        .member("balance", step.balance);
    for_each_count(step, [&](const char* name, std::int64_t count) { json.member(name, count); });
    json.end_object().line();
  }
  json.end_array().line();
  json.key("bodies").begin_array();
  for (const Profile::Body& body : profile.bodies) json.begin_object().member("name", body.name).end_object();
  json.end_array();
  json.key("calls").begin_array();
  for (const Profile::Call& call : profile.calls)
    json.begin_object().member("caller", call.caller).member("callee", call.callee).member("times", call.times).end_object();
  json.end_array().line();
}

/// `log`: the log of a training, for the page of a report; nullptr: none.
inline void write_profile(JsonText& json, const Profile& profile, const train::Log* log = nullptr) {
  json.begin_object().member("format", "tilewright profile").member("version", 1);
  json.member("program", profile.program)
      .member("target", profile.target)
      .member("banks", profile.banks)
      .member("replicas", profile.replicas);
  json.member("bytes_per_tile", profile.bytes_per_tile).member("clock_hz", profile.clock_hz);
  json.member("peak_flops", profile.peak_flops).line();
  write_totals(json, profile);
  write_memory(json, profile);
  write_tile_sets(json, profile);
  write_steps(json, profile);
  json.key("numbers").begin_array();
  for (const Profile::Number& number : profile.numbers) {
    json.begin_object().member("name", number.name).member("value", number.value);
    json.member("confidence", number.confidence).member("source", number.source).end_object();
  }
  json.end_array();
  if (log) {
    json.line().key("log");
    write_log(json, *log);
  }
  json.end_object();
}

}  // namespace tilewright::detail

namespace tilewright {

/// Returns a profile as JSON: an object with the members of Profile by their names, and `totals`. `tiles` has a list of bytes for
/// each tile, in the order of `categories`; a tensor's `category` is an index into `categories`.
[[nodiscard]] inline std::string profile_to_json(const Profile& profile) {
  detail::JsonText json;
  detail::write_profile(json, profile);
  return json.text() + '\n';
}

}  // namespace tilewright
