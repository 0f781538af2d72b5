#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tilewright/data/draw_below.hpp"

namespace tilewright::data::grammar {

enum Pronoun : std::size_t { he, she, it, they };

struct Noun {
  std::string_view singular, plural;
  Pronoun pronoun;  // of the singular; that of the plural is they
};
struct Name {
  std::string_view text;
  Pronoun pronoun;
};
/// Singular and plural of a verb: sleeps, sleep.
struct Verb {
  std::string_view singular, plural;
};

// The letters of these words tell whether "a" or "an" stands before them.
inline constexpr Noun nouns[] = {
    {"king", "kings", he},     {"uncle", "uncles", he},   {"queen", "queens", she},       {"aunt", "aunts", she},
    {"bird", "birds", it},     {"mouse", "mice", it},     {"wolf", "wolves", it},         {"owl", "owls", it},
    {"child", "children", it}, {"animal", "animals", it}, {"fisherman", "fishermen", he}, {"elephant", "elephants", it}};
inline constexpr Name names[] = {{"Anna", she}, {"Clara", she}, {"Ida", she}, {"Peter", he}, {"Oscar", he}, {"Hugo", he}};
inline constexpr std::string_view adjectives[] = {"old",  "young", "quiet", "angry", "small",
                                                  "idle", "brave", "eager", "tall",  "ugly"};
inline constexpr std::string_view things[] = {"hat", "keys", "garden", "letters", "boat", "apples"};
inline constexpr std::string_view adverbs[] = {"again", "at night", "in the garden", "near the river", "without a word"};
inline constexpr Verb intransitive[] = {{"sleeps", "sleep"}, {"sings", "sing"},   {"waits", "wait"},
                                        {"laughs", "laugh"}, {"dances", "dance"}, {"runs", "run"}};
inline constexpr Verb transitive[] = {{"sees", "see"},   {"follows", "follow"}, {"helps", "help"},
                                      {"hears", "hear"}, {"watches", "watch"},  {"admires", "admire"}};
inline constexpr Verb losing[] = {{"loses", "lose"}, {"finds", "find"}, {"hides", "hide"}};
inline constexpr Verb saying[] = {{"says", "say"}, {"thinks", "think"}, {"believes", "believe"}};
inline constexpr std::string_view joiners[] = {"and", "but", "because", "while"};
inline constexpr std::string_view openings[] = {"today", "at noon", "every winter", "long ago"};

/// Writes a text by the rules of generated_text(). Each member function is a rule and draws its words at random. Text: has +=,
/// back() and size() as std::string has.
template <class Text>
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  void paragraph() {
    const std::uint64_t sentences = 2 + draw_below(4, random_);
    for (std::uint64_t i = 0; i < sentences; ++i) sentence();
    text_.back() = '\n';
  }
  Text& text() { return text_; }

 private:
  void sentence() {
    begins_ = true;
    if (chance(20)) {
      phrase(one_of(openings));
      text_ += ',';
    }
    if (chance(15)) {
      const Pronoun speaker = subject(most_depth);
      phrase(form(one_of(saying), speaker));
      phrase("that");
    }
    clause();
    if (chance(30)) {
      phrase(one_of(joiners));
      clause();
    }
    text_ += ". ";
  }
  void clause() { predicate(subject(0), 0); }

  /// Writes a subject and returns the pronoun for it.
  Pronoun subject(int depth) {
    if (chance(25)) {
      const Name& name = one_of(names);
      phrase(name.text);
      return name.pronoun;
    }
    const Noun& noun = one_of(nouns);
    const bool is_plural = chance(40), has_adjective = chance(40);
    const std::string_view head = is_plural ? noun.plural : noun.singular;
    const std::string_view adjective = has_adjective ? one_of(adjectives) : std::string_view();
    determiner(is_plural, has_adjective ? adjective : head);
    if (has_adjective) phrase(adjective);
    phrase(head);
    const Pronoun pronoun = is_plural ? they : noun.pronoun;
    if (depth < most_depth && chance(25)) relative_clause(pronoun, depth + 1);
    return pronoun;
  }
  void determiner(bool is_plural, std::string_view next) {
    constexpr std::string_view of_one[] = {"the", "a", "every", "this"}, of_several[] = {"the", "two", "many", "these"};
    const std::string_view word = is_plural ? one_of(of_several) : one_of(of_one);
    const bool sounds_open = std::string_view("aeiou").find(next.front()) != std::string_view::npos;
    phrase(word == "a" && sounds_open ? "an" : word);
  }
  /// Writes a relative clause: "that sleeps" or "that the queen sees".
  void relative_clause(Pronoun subject_before, int depth) {
    phrase("that");
    if (chance(50)) return predicate(subject_before, depth);
    const Pronoun pronoun = subject(depth);  // first: arguments of a call are evaluated in any order
    phrase(form(one_of(transitive), pronoun));
  }
  void predicate(Pronoun pronoun, int depth) {
    constexpr std::string_view reflexive[] = {"himself", "herself", "itself", "themselves"};
    constexpr std::string_view possessive[] = {"his", "her", "its", "their"};
    switch (draw_below(6, random_)) {
      case 0:
        phrase(form(one_of(intransitive), pronoun));
        if (chance(40)) phrase(one_of(adverbs));
        break;
      case 1:
        phrase(form(one_of(transitive), pronoun));
        subject(depth);
        break;
      case 2:
        phrase(form(one_of(transitive), pronoun));
        phrase(reflexive[pronoun]);
        break;
      case 3:
        phrase(pronoun == they ? "are" : "is");
        phrase(one_of(adjectives));
        break;
      case 4:
        phrase(form(one_of(losing), pronoun));
        phrase(possessive[pronoun]);
        phrase(one_of(things));
        break;
      default: phrase(pronoun == they ? "do not" : "does not"); phrase(one_of(intransitive).plural);
    }
  }

  static constexpr int most_depth = 2;  // of relative clauses within each other

  static std::string_view form(const Verb& verb, Pronoun pronoun) { return pronoun == they ? verb.plural : verb.singular; }
  bool chance(std::uint64_t percent) { return draw_below(100, random_) < percent; }
  template <class T, std::size_t count>
  const T& one_of(const T (&items)[count]) {
    return items[draw_below(count, random_)];
  }
  /// Appends words. At the start of a sentence, the first gets a capital letter; otherwise a space precedes it.
  void phrase(std::string_view words) {
    if (begins_) {
      text_ += static_cast<char>(words.front() >= 'a' ? words.front() - 'a' + 'A' : words.front());
      words.remove_prefix(1);
    } else {
      text_ += ' ';
    }
    text_ += words;
    begins_ = false;
  }

  Random random_;
  Text text_{};
  bool begins_ = true;  // a sentence
};

}  // namespace tilewright::data::grammar
