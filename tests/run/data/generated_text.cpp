// labels: none
#include "tilewright/data/generated_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/core/text.hpp"

namespace {

namespace grammar = tilewright::data::grammar;
using tilewright::data::generated_text;

/// Bits per character that a table of the counts of all texts of `order` + 1 characters needs: the entropy of a character, given
/// `order` before it.
double entropy(const std::string& text, std::size_t order) {
  std::map<std::string, std::map<char, int>> counts;
  for (std::size_t i = order; i < text.size(); ++i) ++counts[text.substr(i - order, order)][text[i]];
  double bits = 0;
  for (const auto& [before, next] : counts) {
    double all = 0;
    for (const auto& [character, count] : next) all += count;
    for (const auto& [character, count] : next) bits -= count * std::log2(count / all);
  }
  return bits / static_cast<double>(text.size() - order);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(std::regex_replace(text, std::regex("[,.]"), " "));
  std::vector<std::string> result;
  for (std::string word; stream >> word;) {
    word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
    result.push_back(word);
  }
  return result;
}

/// Words of one and of several.
struct Forms {
  std::set<std::string, std::less<>> singular{}, plural{};
  bool has(const std::string& word) const { return singular.contains(word) || plural.contains(word); }
  /// Whether a word of these forms agrees.
  bool agrees(const std::string& word, bool is_plural) const { return (is_plural ? plural : singular).contains(word); }
};
Forms nouns() {
  Forms result;
  for (const auto& noun : grammar::nouns) result.singular.emplace(noun.singular), result.plural.emplace(noun.plural);
  return result;
}
Forms verbs() {
  Forms result{{"is", "does"}, {"are", "do"}};
  const auto add = [&](const auto& list) {
    for (const auto& verb : list) result.singular.emplace(verb.singular), result.plural.emplace(verb.plural);
  };
  add(grammar::intransitive), add(grammar::transitive), add(grammar::losing), add(grammar::saying);
  return result;
}

}  // namespace

TEST_CASE("generated_text: as long as asked for, decided by the seed, the same on every platform") {
  const std::string text = generated_text(10'000, 1);
  CHECK(text.size() == 10'000);
  CHECK(generated_text(0, 1).empty());
  CHECK(generated_text(10'000, 1) == text);
  CHECK(text.starts_with(generated_text(777, 1)));
  CHECK(generated_text(10'000, 2) != text);
  CHECK(text.starts_with("Every winter, every old child hides its boat while many mice are brave. Hugo helps this wolf. "));
  CHECK(tilewright::hash_of(text) == 11786408017655963514u);  // so do GCC and Clang
}

TEST_CASE("generated_text: paragraphs of sentences") {
  std::istringstream stream(generated_text(200'000, 3));
  const std::regex sentence("[A-Z][a-z]*(,? [A-Za-z]+)*\\.");
  std::size_t paragraphs = 0, wrong = 0;
  for (std::string line; std::getline(stream, line); ++paragraphs) {
    if (stream.eof()) break;  // the last one is cut off
    std::size_t sentences = 0;
    for (std::size_t begin = 0; begin < line.size(); ++sentences) {
      const std::size_t end = line.find('.', begin);
      wrong += end == line.npos || !std::regex_match(line.substr(begin, end + 1 - begin), sentence);
      begin = end == line.npos ? line.size() : end + 2;
    }
    wrong += sentences < 2 || sentences > 5;
  }
  CHECK(paragraphs > 500);
  CHECK(wrong == 0);
}

TEST_CASE("generated_text: words agree") {
  const auto words = words_of(generated_text(300'000, 4));
  const Forms all_nouns = nouns(), all_verbs = verbs();
  const std::set<std::string, std::less<>> of_one{"a", "an", "every", "this"}, of_several{"two", "many", "these"};
  std::map<std::string, int> wrong, right;
  const auto count = [&](const char* rule, bool holds) { ++(holds ? right : wrong)[rule]; };
  for (std::size_t i = 0; i + 4 < words.size(); ++i) {
    if (words[i] == "a" || words[i] == "an")
      count("article", (words[i] == "an") == (std::string("aeiou").find(words[i + 1][0]) != std::string::npos));
    if ((of_one.contains(words[i]) || of_several.contains(words[i])) && words[i + 1] != "winter" && words[i + 1] != "word") {
      const std::string& noun = all_nouns.has(words[i + 1]) ? words[i + 1] : words[i + 2];
      count("determiner", all_nouns.agrees(noun, of_several.contains(words[i])));
    }
    if (all_nouns.has(words[i])) {
      const bool is_plural = all_nouns.plural.contains(words[i]);
      if (words[i + 1] == "that" && all_verbs.has(words[i + 2]))  // (a noun before "that" is never a verb's object there)
        count("relative clause", all_verbs.agrees(words[i + 2], is_plural));
      if (words[i + 1] == "that" && all_nouns.has(words[i + 3]) && all_verbs.has(words[i + 4]))
        count("subject of a relative clause", all_verbs.agrees(words[i + 4], all_nouns.plural.contains(words[i + 3])));
      // "the bird that the kings see sleeps": behind the inner clause the outer noun counts
      if (i + 6 < words.size() && words[i + 1] == "that" && words[i + 2] == "the" && all_nouns.has(words[i + 3]) &&
          all_verbs.has(words[i + 4]) && all_verbs.has(words[i + 5]) && words[i + 5] != words[i + 4])
        count("across a relative clause", all_verbs.agrees(words[i + 5], is_plural));
    }
  }
  for (const char* rule :
       {"article", "determiner", "relative clause", "subject of a relative clause", "across a relative clause"}) {
    INFO(rule);
    CHECK(right[rule] > 50);
    CHECK(wrong[rule] == 0);
  }
}

TEST_CASE("generated_text: pronouns agree in sentences without clauses") {
  const std::string text = generated_text(300'000, 5);
  const std::regex pattern(
      "(Anna|Clara|Ida|Peter|Oscar|Hugo|[a-z]+) [a-z]+ (himself|herself|itself|themselves|his|her|its|their)\\b");
  std::map<std::string, grammar::Pronoun> of;
  for (const auto& noun : grammar::nouns)
    of[std::string(noun.singular)] = noun.pronoun, of[std::string(noun.plural)] = grammar::they;
  for (const auto& name : grammar::names) of[std::string(name.text)] = name.pronoun;
  const std::map<std::string, grammar::Pronoun> pronouns{
      {"himself", grammar::he}, {"his", grammar::he}, {"herself", grammar::she},     {"her", grammar::she},
      {"itself", grammar::it},  {"its", grammar::it}, {"themselves", grammar::they}, {"their", grammar::they}};
  int right = 0, wrong = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found) {
    const auto sentence = text.rfind('.', static_cast<std::size_t>(found->position())) + 1;
    const std::string before = text.substr(sentence, static_cast<std::size_t>(found->position()) - sentence);
    if (before.find("that") != before.npos || !of.contains((*found)[1])) continue;
    ++(of.at((*found)[1]) == pronouns.at((*found)[2]) ? right : wrong);
  }
  CHECK(right > 300);
  CHECK(wrong == 0);
}

TEST_CASE("generated_text: the more a reader remembers, the better it predicts") {
  const std::string text = generated_text(1'000'000, 6);
  CHECK(std::set<char>(text.begin(), text.end()).size() < 50);
  const double none = entropy(text, 0), one = entropy(text, 1), three = entropy(text, 3), six = entropy(text, 6);
  CHECK(none > 3.8);
  CHECK(one < 3.1);
  CHECK(three < one - 1);
  CHECK(six < three - 0.2);
  CHECK(six > 0.4);  // what comes next is never certain for long
}
