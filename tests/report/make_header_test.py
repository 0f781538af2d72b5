#!/usr/bin/env python3
"""Tests what cmake/report/make_header.py makes of a page's files, and what it refuses."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cmake/report"))
import make_header  # noqa: E402

PAGE = """<head>
<link rel="stylesheet" href="style.css">
</head>
<script type="application/json" id="data"></script>
<script src="second.js"></script>
<script src="first.js"></script>
</html>
"""
FILES = {"page.html": PAGE, "style.css": "/* Of\n   a test. */\n\na { color: red; }\n", "first.js": "// One.\n// Line.\n\n// Two.\nlet a;\n",
         "second.js": "// Three.\n\nlet b = ')html\"';\n"}
MADE = """<head>
<style>
a { color: red; }
</style>
</head>
<script type="application/json" id="data">[DATA]</script>
<script>
(() => {
'use strict';

let b = ')html"';

// Two.
let a;
})();
</script>
</html>
"""


class Header(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def refused(self, message):
        with self.assertRaises(make_header.PageError) as caught:
            make_header.header(self.folder)
        self.assertEqual(str(caught.exception), message)

    def test_style_and_scripts_are_in_the_page(self):
        made = "".join("[DATA]" if kind == "data" else text for kind, text in make_header.parts(self.folder))
        self.assertEqual(made, MADE)

    def test_text_is_in_raw_strings(self):
        header = make_header.header(self.folder)
        self.assertIn('  page += R"css(\na { color: red; }\n)css";\n  page += R"html(</style>\n', header)
        self.assertIn('id="data">)html";\n  page += json;\n  page += R"html(</script>\n', header)
        self.assertIn('  page += R"js(\nlet b = \')html"\';\n)js";\n  page += R"js(\n// Two.\nlet a;\n)js";\n', header)

    def test_code_begins_below_the_comment_at_the_top(self):
        self.assertEqual(make_header.code(self.folder / "first.js"), ("// Two.\nlet a;\n", 4))
        self.assertEqual(make_header.code(self.folder / "style.css"), ("a { color: red; }\n", 4))
        self.write("first.js", "let a;\n")
        self.refused("first.js: a comment at the top, and an empty line below it, expected")

    def test_what_would_end_an_element(self):
        self.write("first.js", "// One.\n\nlet a = '</SCRIPT>';\n")
        self.refused("first.js: </SCRIPT would end the element in the page")
        self.write("first.js", FILES["first.js"])
        self.write("style.css", "/* One. */\n\n/* </style> */\n")
        self.refused("style.css: </style would end the element in the page")

    def test_what_would_end_the_raw_string(self):
        self.write("first.js", "// One.\n\nlet a = 'f()js\"';\n")
        self.refused('first.js: )js" would end the text in the header')

    def test_scripts_are_those_of_the_page(self):
        self.write("third.js", FILES["first.js"])
        self.refused("third.js: in the folder and in page.html expected")
        (self.folder / "third.js").unlink()
        (self.folder / "first.js").unlink()
        self.refused("first.js: in the folder and in page.html expected")

    def test_page_has_one_place_for_each(self):
        self.write("page.html", PAGE + '<script src="first.js"></script>\n')
        self.refused("page.html: 2 times a list of scripts: once expected")
        self.write("page.html", PAGE.replace('id="data"', 'id="date"'))
        self.refused("page.html: 0 times an element of data: once expected")
        self.write("page.html", PAGE.replace("stylesheet", "icon"))
        self.refused("page.html: 0 times a style: once expected")


if __name__ == "__main__":
    unittest.main()
