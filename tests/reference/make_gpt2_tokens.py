#!/usr/bin/env python3
"""Writes gpt2/: a small vocabulary in the form of GPT-2's files, and texts with the tokens that this script finds for them.

    python3 tests/reference/make_gpt2_tokens.py           (pip install regex)
    python3 tests/reference/make_gpt2_tokens.py --ranges  writes examples/gpt2/unicode_ranges.hpp instead

Texts are split by GPT-2's regular expression itself, and merged as "Neural machine translation of rare words with subword units"
(arXiv 1508.07909) describes it; the vocabulary is learnt here from a few sentences.
"""

import json
import random
import sys
import unicodedata
from collections import Counter
from pathlib import Path

PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
END_OF_TEXT = "<|endoftext|>"
FOLDER = Path(__file__).parent / "gpt2"
RANGES = Path(__file__).parents[2] / "examples" / "gpt2" / "unicode_ranges.hpp"

LEARNT_FROM = """The queen said that the children weren't in the garden, and that they'd gone to the river at noon. It's the third time,
she thought, that they've left without a word; I'll have to tell them again: don't go there! In 2019 there were 1200 of them, in
2020 there were 1350. Die Königin sagte, dass die Kinder nicht im Garten wären. Королева сказала, что детей нет в саду. 女王は子供たちが
庭にいないと言った。 The king's horses and the king's men waited near the river, where the water was quiet... "Where are they?" they asked.
"""

TEXTS = ["", "a", " ", "  ", "\n", " a", "  a", "   a", "\n\na", "a\n", "a  ", "a \n b", "\t\tx", " \u00a0a", "\u3000\u3000x", "a\u3000b",
         "The queen's garden", "don't they're we've I'm you'll she'd", "DON'T", "don’t", "'", "''s", "!'s", " 's", "'S", "'lle", "'r e",
         "x'", "1'2", "3.14159", "2019-2020", "a1b2", "½ cup, x², Ⅷ and ٣٤", "naïve café", "cafe\u0301", "Königin", "Королева сказала",
         "女王は子供たち", "👩‍👩‍👧 and 🎉🎉", "hello   world", "  leading", "trailing   ", "tabs\tand\nlines\r\n", "\u2028a\u2029\u0085b",
         "a\u200bb", "__init__(self):", "x = y->z;  // why?", "\x00\x01\x7f", "\x1c\x1d \x1f", "aaaaaaaaaaaaaaaa", "thethethe",
         END_OF_TEXT, f"one{END_OF_TEXT}two", f"{END_OF_TEXT}{END_OF_TEXT} ", "<|endoftext", f" {END_OF_TEXT} 's", LEARNT_FROM]


def split(text):
    import regex
    return regex.findall(PATTERN, text)


def characters_of_bytes():
    """A printable character for each byte: its own in Latin-1, or else one of those from 256 on."""
    result, next_one = {}, 256
    for byte in range(256):
        if 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255:
            result[byte] = chr(byte)
        else:
            result[byte] = chr(next_one)
            next_one += 1
    return result


CHARACTERS = characters_of_bytes()


def symbols(piece):
    return [CHARACTERS[byte] for byte in piece.encode("utf-8")]


def merged(word, pair):
    result, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            result.append(word[i] + word[i + 1])
            i += 2
        else:
            result.append(word[i])
            i += 1
    return result


def learn(text, count):
    """The `count` first merges of the most frequent pairs; of equally frequent ones, the first in the order of their characters."""
    words = Counter(tuple(symbols(piece)) for piece in split(text))
    merges = []
    while len(merges) < count:
        pairs = Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = Counter({tuple(merged(list(word), best)): times for word, times in words.items()})
    return merges


def encode(text, vocabulary, ranks):
    tokens = []
    for piece in split(text):
        word = symbols(piece)
        while pairs := [pair for pair in zip(word, word[1:]) if pair in ranks]:
            word = merged(word, min(pairs, key=ranks.get))
        tokens += [vocabulary[symbol] for symbol in word]
    return tokens


def encode_with_special(text, vocabulary, ranks):
    tokens = []
    for i, part in enumerate(text.split(END_OF_TEXT)):
        tokens += [vocabulary[END_OF_TEXT]] if i else []
        tokens += encode(part, vocabulary, ranks)
    return tokens


def random_texts(count):
    """Of characters where the kinds of the regular expression meet; none is newer than Unicode 14."""
    generator = random.Random(7)
    alphabet = list("aezT stre'ldvm'  \n\t09.,!-_") + list("éßЖж中あ한عא") + list("²½٣Ⅷ〇") + list("\u00a0\u2003\u3000\u0085\u200b\u0301€“’🎉𝒳𐄇𝟘")
    return ["".join(generator.choice(alphabet) for _ in range(generator.randrange(1, 24))) for _ in range(count)]


def write_fixtures():
    FOLDER.mkdir(exist_ok=True)
    merges = learn(LEARNT_FROM, 150)
    names = sorted(CHARACTERS.values()) + [a + b for a, b in merges] + [END_OF_TEXT]
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys(names))}
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    (FOLDER / "vocab.json").write_text(json.dumps(vocabulary))
    (FOLDER / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges), encoding="utf-8")
    cases = [{"text": text, "pieces": split(text), "tokens": encode(text, vocabulary, ranks),
              "tokens_with_special": encode_with_special(text, vocabulary, ranks)} for text in TEXTS + random_texts(300)]
    (FOLDER / "cases.json").write_text("[" + ",\n".join(json.dumps(case) for case in cases) + "]\n")


def ranges(category):
    """The ranges, both ends included, of the characters whose general category begins so."""
    result = []
    for number in range(0x110000):
        if unicodedata.category(chr(number))[0] == category:
            if result and result[-1][1] == number - 1:
                result[-1][1] = number
            else:
                result.append([number, number])
    return result


def write_ranges():
    text = f"""#pragma once
// Written by tests/reference/make_gpt2_tokens.py from the Unicode Character Database {unicodedata.unidata_version}.

namespace gpt2 {{

/// Code points, both ends included.
struct CodePoints {{
  char32_t first, last;
}};

"""
    for name, category, what in [("letter_ranges", "L", "Letters: general category L"), ("number_ranges", "N", "Numbers: general category N")]:
        items = ", ".join(f"{{{first:#x}, {last:#x}}}" for first, last in ranges(category))
        text += f"/// {what}.\ninline constexpr CodePoints {name}[] = {{{items}}};\n"
    RANGES.write_text(text + "\n}  // namespace gpt2\n")


if __name__ == "__main__":
    write_ranges() if sys.argv[1:] == ["--ranges"] else write_fixtures()
