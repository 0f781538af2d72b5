"""Names of C++ for names of a model."""

import re

KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double
dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert
static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
wchar_t while xor xor_eq NULL EOF assert errno stdin stdout stderr linux unix""".split())
# What a module has itself, and what the written code names.
TAKEN = {"ir", "tw", "std", "aux", "adopt", "build", "key", "main", "trace", "traced", "eval", "parameters", "call_module", "factories"}
LONGEST = 40


def identifier(name):
    """A name of C++ that reads like a name of the model: what ONNX and PyTorch put around it is left out."""
    text = "/".join(re.sub(r"_output_0$", "", name.removeprefix("onnx::")).strip("/").split("/")[-2:])
    text = re.sub(r"__+", "_", re.sub(r"\W", "_", text, flags=re.ASCII)).strip("_").lower()[-LONGEST:].lstrip("_")
    if not text or text[0].isdigit():
        text = f"v{text}"
    return f"{text}_" if text in KEYWORDS | TAKEN else text


def dotted(name):
    """The name of a variable: of words of letters, digits and underscores, with dots between them."""
    words = [re.sub(r"\W", "_", word, flags=re.ASCII) for word in name.removeprefix("onnx::").split(".")]
    return ".".join(word for word in words if word) or "weight"


class Names:
    """Gives each name once: a second one gets a number."""

    def __init__(self):
        self.given = set()

    def new(self, name):
        result, count = name, 2
        while result in self.given:
            result, count = f"{name}_{count}", count + 1
        self.given.add(result)
        return result
