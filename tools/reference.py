#!/usr/bin/env python3
"""Writes docs/reference/: one page a public header, from the header's own comments.

    tools/reference.py          writes the pages
    tools/reference.py --check  exits 1 when a page is not what it would write

How a header is read: the comment before `#pragma once` introduces the page. Below that, each declaration of namespace zarrive
becomes a section: the comment block above it is its text, and the declaration itself, without function bodies and private
members, is shown as code with the comments that stand in it. A blank line ends a comment block that belongs to no declaration;
such a block is a paragraph of its own.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "zarrive"
PAGES = ROOT / "docs" / "reference"
HIDDEN_NAMESPACES = {"detail", "internal"}


def strip_code(line: str) -> str:
    """The line without strings, characters and comments, so that braces can be counted."""
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    line = re.sub(r"(?<![0-9A-Fa-f])'(\\.|[^'\\])'", "''", line)
    return re.sub(r"//.*", "", line)


def depth_change(line: str, opening: str = "{(", closing: str = "})") -> int:
    code = strip_code(line)
    return sum(code.count(c) for c in opening) - sum(code.count(c) for c in closing)


class Header:
    """A header cut into its introduction and its declarations: (comment lines, code lines, follows without a blank line, namespace)."""

    def __init__(self, path: Path):
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines()
        pragma = lines.index("#pragma once")
        self.intro = [uncomment(line) for line in lines[:pragma] if line.startswith("//")]
        self.items = list(self.declarations(lines[pragma + 1 :]))

    def declarations(self, lines):
        comment: list[str] = []
        hidden = 0  # depth below a hidden namespace
        adjacent = False  # the line above ended a declaration
        spaces: list[str] = []  # the namespaces around
        at = 0
        while at < len(lines):
            line = lines[at]
            code = strip_code(line).strip()
            if hidden:
                hidden += depth_change(line, "{", "}")
                at += 1
            elif not line.strip():
                if comment:
                    yield comment, [], False, ""
                comment = []
                adjacent = False
                at += 1
            elif line.startswith("//"):
                comment.append(uncomment(line))
                at += 1
            elif line.startswith("#define ZARRIVE_VERSION"):
                yield comment, [line], adjacent, ""
                comment = []
                adjacent = True
                at += 1
            elif line.startswith("#"):
                while lines[at].endswith("\\"):
                    at += 1
                comment = []
                at += 1
            elif match := re.match(r"(inline )?namespace\s*([\w:]*)\s*\{", code):
                if match[2].split("::")[-1] in HIDDEN_NAMESPACES:
                    hidden = depth_change(line, "{", "}")
                else:
                    spaces.append(match[2])
                comment = []
                at += 1
            elif code == "}":
                spaces.pop()
                at += 1
            else:
                start = at
                depth = 0
                while True:
                    depth += depth_change(lines[at])
                    ends = strip_code(lines[at]).rstrip().endswith((";", "}"))
                    at += 1
                    if (depth == 0 and ends) or at == len(lines):
                        break
                yield comment, lines[start:at], adjacent, "::".join(spaces).removeprefix("zarrive").removeprefix("::")
                comment = []
                adjacent = True


def uncomment(line: str) -> str:
    return re.sub(r"^//+ ?", "", line)


def without_bodies(lines: list[str]) -> list[str]:
    """Function bodies and constructor initialisers become `;`, private members go, ZARRIVE_API goes."""
    if lines[0].startswith("ZARRIVE_API "):
        lines = [re.sub("^ {12}", "", line) for line in lines]  # continuation lines keep their alignment
    text = "\n".join(lines).replace("ZARRIVE_API ", "")
    text = drop_private(text)
    out: list[str] = []
    kinds: list[str] = []  # what each open brace is
    i = 0
    while i < len(text):
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            out.append(text[i:end])
            i = end
            continue
        if text[i] == '"':
            end = i + 1
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[i : end + 1])
            i = end + 1
            continue
        if text[i] == "{":
            head = current_head("".join(out))
            if is_function(head):
                end = matching(text, i)
                so_far = cut_initialisers("".join(out)).rstrip()
                out = [so_far, ";"]
                i = end + 1
                if text[i : i + 1] == ";":
                    i += 1
                continue
            kinds.append(head)
        elif text[i] == "}" and kinds:
            kinds.pop()
        out.append(text[i])
        i += 1
    return [line.rstrip() for line in "".join(out).split("\n")]


def current_head(text: str) -> str:
    """What stands between the last statement's end and here, comments gone."""
    text = re.sub(r"//[^\n]*", "", text)
    return re.split(r"[;{}]|\b(?:public|private|protected):", text)[-1].strip()


def is_function(head: str) -> bool:
    if re.match(r"(template\s*<.*>\s*)?(class|struct|enum|union|namespace|concept)\b", head, re.S) or head.endswith("="):
        return False
    return bool(re.search(r"\)\s*(const|noexcept|override|final|->.*|:.*|requires.*|\s)*$", head, re.S))


def cut_initialisers(text: str) -> str:
    """Drops `: member(value), ...` after a constructor's parameters."""
    head_start = len(text) - len(text.rsplit(";", 1)[-1].rsplit("}", 1)[-1])
    head = text[head_start:]
    match = re.search(r"\)\s*(noexcept\s*)?(:(?!:)\s*\w+\s*[({].*)$", head, re.S)
    return text[: head_start + match.start(2)] if match else text


def matching(text: str, opening: int) -> int:
    depth = 0
    i = opening
    while i < len(text):
        if text.startswith("//", i):
            i = text.find("\n", i)
            if i < 0:
                break
        elif text[i] in "\"'" and not (text[i] == "'" and text[i - 1].isdigit()):
            quote, i = text[i], i + 1
            while text[i] != quote:
                i += 2 if text[i] == "\\" else 1
        elif text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise ValueError("unbalanced braces after: " + text[max(0, opening - 60) : opening + 60])


def drop_private(text: str) -> str:
    """Removes what follows `private:` up to the next access label or the end of the class."""
    lines = text.split("\n")
    kept: list[str] = []
    hiding_at: int | None = None  # the depth of the class whose private part we are in
    depth = 0
    for line in lines:
        label = re.match(r"\s*(public|private|protected):", line)
        if label and (hiding_at is None or hiding_at == depth):
            hiding_at = depth if label[1] == "private" else None
            if hiding_at is not None:
                while kept and not kept[-1].strip():
                    kept.pop()
                continue
        depth += depth_change(line, "{", "}")
        if hiding_at is not None and depth < hiding_at:
            hiding_at = None
        if hiding_at is None:
            kept.append(line)
    return "\n".join(kept)


def name_of(code: list[str]) -> str:
    text = re.sub(r"//[^\n]*", "", "\n".join(code)).replace("ZARRIVE_API ", "").strip()
    if text.startswith("#define"):
        return text.split()[1]
    text = re.sub(r"^template\s*<.*?>\s*(?=\w)", "", text, flags=re.S)
    if match := re.match(r"(?:class|struct|enum class|enum|union)\s+([\w:]+)", text):
        return match[1]
    if match := re.match(r"using\s+(\w+)", text):
        return match[1]
    if match := re.match(r"concept\s+(\w+)", text):
        return match[1]
    head = re.split(r"[({=;]", text)[0].strip()
    if match := re.search(r"(operator\s*\S+|[\w:~]+)$", head):
        if match[1].startswith("operator") or "operator" not in text.split("(")[0]:
            return match[1]
    if match := re.search(r"(operator\s*[^\s(]+)", text):
        return match[1]
    return head


def is_forward(code: list[str]) -> bool:
    return bool(re.fullmatch(r"\s*(class|struct|enum class)\s+[\w:]+\s*;\s*(//.*)?", "\n".join(code)))


def is_definition(code: list[str]) -> bool:
    """An out-of-class definition `Type Class::member(...) {`: its declaration is shown already."""
    head = strip_code(code[0])
    text = re.sub(r"template\s*<.*?>", "", " ".join(strip_code(line) for line in code), flags=re.S)
    return bool(re.match(r"\s*(inline\s+)?[\w:<>&* ]*\b[A-Z]\w*::~?\w+\s*\(", text)) and "{" in text and bool(head)


def page(header: Header) -> str:
    sections: list[tuple[list[str], list[str], list[str]]] = []  # names, words, code
    for comment, code, adjacent, space in header.items:
        if not code:
            sections.append(([], comment, []))
            continue
        if is_forward(code) or is_definition(code):
            continue
        name = f"{space}::{name_of(code)}" if space else name_of(code)
        names, _, shown = sections[-1] if sections else ([], [], [])
        if shown and not comment and (adjacent or name in names):  # without words of its own it joins the one above
            shown += without_bodies(code)
            if name not in names:
                names.append(name)
        else:
            sections.append(([name], comment, without_bodies(code)))
    out = [f"# zarrive/{header.path.name}", "", *header.intro, "", "```cpp", f"#include <zarrive/{header.path.name}>", "```", ""]
    before: list[str] = []
    for names, words, shown in sections:
        if names and names != before:
            out += ["## " + ", ".join(f"`{name}`" for name in names), ""]
        if words:
            out += [*words, ""]
        if shown:
            out += ["```cpp", *shown, "```", ""]
        before = names
    return "\n".join(out).rstrip() + "\n"


def pages() -> dict[str, str]:
    result = {}
    index = ["# Reference", "", "One page a header, written by `./dev docs` from the comments in it.", ""]
    for path in sorted(HEADERS.glob("*.hpp")):
        if path.name.endswith("-inl.hpp"):
            continue
        header = Header(path)
        result[path.stem + ".md"] = page(header)
        first = " ".join(header.intro).split(". ")[0].rstrip(".")
        index.append(f"- [zarrive/{path.name}]({path.stem}.md): {first}.")
    result["README.md"] = "\n".join(index) + "\n"
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is out of date")
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    if parser.parse_args().check:
        stale = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        if stale:
            print(f"docs/reference is out of date ({', '.join(stale)}): run ./dev docs and commit what it writes")
        return 1 if stale else 0
    PAGES.mkdir(parents=True, exist_ok=True)
    for name in there.keys() - wanted.keys():
        (PAGES / name).unlink()
    for name, text in wanted.items():
        if there.get(name) != text:
            (PAGES / name).write_text(text, encoding="utf-8")
    print(f"{len(wanted)} pages in docs/reference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
