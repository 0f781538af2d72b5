"""What the headers declare: functions, structs, their comments, and the texts of the errors that they report.

A reader of this project's style of C++, not of the language: namespaces are not indented, a comment of `///` stands above what it
describes, and nothing is hidden behind macros.
"""

import re
import textwrap

LITERAL_OR_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
# '[^']' would take the digit separators of 10'000 for characters
DIGITS = re.compile(r"(?<=\d)'(?=\d)")


def masked(text):
    """The text with spaces for comments and the insides of literals, so that brackets can be counted."""
    text = DIGITS.sub("_", text)
    return LITERAL_OR_COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def closing(mask, start):
    """The place of the bracket that closes the one at `start`."""
    pairs = {"{": "}", "(": ")", "[": "]"}
    depth, opening = 0, mask[start]
    for i in range(start, len(mask)):
        depth += (mask[i] == opening) - (mask[i] == pairs[opening])
        if depth == 0:
            return i
    return len(mask) - 1


def comment_text(lines):
    """Comment lines as Markdown: paragraphs, and indented code as it is."""
    return textwrap.dedent("\n".join(re.sub(r"^\s*/// ?", "", line) for line in lines)).strip()


def without_parentheses(text):
    """The text with `max(x)` for `(max)(x)`, as the headers write it, so that a macro `max` leaves the name alone."""
    text = re.sub(r"(?<=\w)\((min|max)\)(?=\()", r" \1", text)
    return re.sub(r"\(((?:[\w:]|<[^()<>]*>)*\b(?:min|max))\)(?=\()", r"\1", text)


class Declaration:
    """A function, struct or enumeration: `comment`, `head` (all before its body) and `body` ("" if there is none)."""

    def __init__(self, comment, head, body, trailing=""):
        self.comment, self.head, self.body = comment, without_parentheses(" ".join(head.split()).replace("( ", "(")), body
        self.trailing = trailing  # the comment at the end of its line
        self.type = re.search(r"^(?:template\s*<.*?>\s*)?(?:struct|class|enum class|enum|concept)\s+(?:\[\[\w+\]\]\s*)?(\w+)",
                              self.head)
        function = re.search(r"(operator\s*(?:\(\)|\[\]|\S+?)|operator \w+|~?\w+)\s*\(", without_templates(self.head))
        self.is_function = not self.type and bool(function) and "=" not in without_templates(self.head).split("(")[0]
        self.name = self.type[1] if self.type else function[1] if self.is_function else ""
        if not self.name and (member := re.search(r"(\w+)\s*(?:\{.*|=.*)?;?$", self.head)):
            self.name = member[1]

    @property
    def bases(self):
        """The names of the base classes, without arguments, and of those from which `Op<D, Defaults>` derives."""
        match = self.type and re.search(r"(?<!:):(?!:)\s*(.*)", without_templates(self.head))
        if not match:
            return []
        plain = match[1]
        while (outer := re.sub(r"<[^<>]*>", "", plain)) != plain:
            plain = outer
        names = re.findall(r"(?:^|,)\s*(?:public |protected |private )?(?:\w+::)*(\w+)", plain)
        return names + re.findall(r"\bOp<\w+, (?:\w+::)*(\w+)>", match[1])


def without_templates(head):
    """A declaration without `template <...>` and `requires(...)` at its beginning."""
    while match := re.match(r"\s*template\s*<", head):
        depth = 1
        for i in range(match.end(), len(head)):
            depth += (head[i] == "<") - (head[i] == ">" and head[i - 1] != "-")
            if depth == 0:
                break
        head = head[i + 1:].lstrip()
    if match := re.match(r"requires\s*\(", head):
        head = head[closing(head, match.end() - 1) + 1:].lstrip()
    return head


def declarations(text, mask=None):
    """What is declared in the text, in its order, outside of any body."""
    mask = masked(text) if mask is None else mask
    comment, at = [], 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].strip()
        if line.startswith("///"):
            comment.append(line)
            at = end + 1
            continue
        if not line or line.startswith(("#", "//")) or re.match(r"(public|private|protected):", line) or line == "}":
            comment, at = ([] if not line.startswith("//") else comment), end + 1
            continue
        # to the end of the declaration: `;`, or a body that follows `)`, a name or a qualifier
        i, body, stop = at, "", len(text)
        while i < len(text):
            c = mask[i]
            if c in "([":
                i = closing(mask, i)
            elif c == ";":
                head, stop = text[at:i], i + 1
                break
            elif c == "{":
                inside = closing(mask, i)
                rest = mask[inside + 1:].lstrip(" ")
                if rest[:1] == ">" or (rest[:1] in (",", ";") and not re.search(r"\b(struct|class|enum)\b", mask[at:i])):
                    # an initialiser
                    i = inside
                elif is_initialiser_of_member(mask[at:i]):
                    i = inside
                else:
                    head, body, stop = text[at:i], text[i + 1:inside], inside + 1
                    if mask[stop:stop + 1] == ";":
                        stop += 1
                    break
            i += 1
        else:
            return
        end = text.find("\n", stop)
        end = len(text) if end < 0 else end
        rest = text[stop:end].strip()
        trailing = rest[4:].strip() if rest.startswith("///<") else ""
        at = end if not rest or rest.startswith("//") else stop
        while trailing and (match := re.match(r"\n\s*///<?\s*(?P<text>[^\n]*)", text[at:])) and text[at:].lstrip().startswith("///<"):
            trailing += " " + match["text"]
            at += match.end()
        yield Declaration(comment_text(comment), re.sub(r"\s*///?[^\n]*", "", head), body, trailing)
        comment = []


def is_initialiser_of_member(head):
    """Whether a brace after this is part of a constructor's list, such as `: groups_{`."""
    return bool(re.search(r"\)\s*(?:noexcept\s*)?(?<!:):(?!:)[^{]*[\w>]$", head.rstrip())) and not head.rstrip().endswith(")")


def namespaces(text, name):
    """The texts of `namespace NAME { ... }`, and of namespaces inside that are named with it, such as ops::collectives."""
    mask = masked(text)
    for match in re.finditer(rf"^namespace (?:tilewright::)?{name}(?:::\w+)* \{{", mask, re.MULTILINE):
        end = closing(mask, match.end() - 1)
        yield text[match.end():end].strip("\n") + "\n"


def outside_of_namespaces(text, left_out=("detail", "internal", "std")):
    """What stands in the library's namespaces, without those that users must not touch."""
    text = re.sub(r"^#[^\n]*\n", lambda m: "\n", text, flags=re.MULTILINE)
    mask = masked(text)
    for match in reversed(list(re.finditer(r"^namespace ([\w:]*) ?\{", mask, re.MULTILINE))):
        end = closing(mask, match.end() - 1)
        inner = text[match.end():end] if match[1].split("::")[-1] not in left_out else ""
        text = text[:match.start()] + inner + text[end + 1:]
        mask = masked(text)
    return text


def arguments(text):
    """A list of arguments, cut at its commas."""
    mask, parts, depth, start = masked(text), [], 0, 0
    for i, c in enumerate(mask):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def message(expression, names):
    """An expression of text as its reader sees it; what is only known later is `...`."""
    result = ""
    for part in arguments(expression):
        if strings := re.fullmatch(r'(?:"(?:\\.|[^"\\])*"\s*)+', part):
            result += "".join(re.findall(r'"((?:\\.|[^"\\])*)"', strings[0])).replace('\\"', '"')
        elif match := re.fullmatch(r"(?:tilewright::)?text\((.*)\)", part, re.DOTALL):
            result += message(match[1], names)
        elif re.fullmatch(r"\w+\(\)", part) and part[:-2] in names:
            result += names[part[:-2]]
        elif part in names:
            result += names[part]
        else:
            result += "…"
    return re.sub(r"(…\s*)*…", "…", result)


def error_messages(body, names):
    """The texts that calls of `fail` in a body give."""
    mask = masked(body)
    for match in re.finditer(r"\bfail\(", mask):
        end = closing(mask, match.end() - 1)
        text = message(body[match.end():end], names)
        is_of_op = body[:match.start()].rstrip().endswith(("op.", "op->", "inference."))
        if re.search(r"[a-z]{3}", text):
            yield is_of_op, text
