#!/usr/bin/env python3
"""Compiles and runs every example of README.md and docs/*.md.

    tools/doc_examples.py --source . --build build --cxx g++ [--python .venv/bin/python] [PAGE...]

Each page gets an empty folder, and its blocks run there in order, so that one can use what another wrote:
- ```cpp   a program when it contains `int main`; otherwise the body of one (its own #include lines are moved to the top). What includes
           nothing itself, or is only a body, gets zarrive.hpp and the usual standard headers. Linked to the shared library; must exit with 0.
- ```sh    run by bash -e with build/bin on PATH; must exit with 0.
- ```console  lines that start with "$ " are run like that, one after the other, and print what stands below them. A line `...`
           stands for any lines, and `...` within a line for any text.
- ```python a program, run by the interpreter of --python with the package in build/python; must exit with 0.
- ```pycon  lines that start with ">>> " and what they print, as doctest reads them (... stands for any text).
Other languages (text, json, cmake, ...) are not run. A comment right before a block changes that:
<!-- example: continues -->  C++ and Python: what stands in the block above of that language comes first, in the same scope.
<!-- example: compile -->    C++: compiled, not run.
<!-- example: none -->       not run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

PRELUDE = ["zarrive/zarrive.hpp", "algorithm", "cstdint", "iostream", "memory", "numeric", "span", "string", "vector"]
LANGUAGES = {"cpp", "sh", "console", "python", "pycon"}
MARKERS = {"continues", "compile", "none"}


@dataclass
class Block:
    page: Path
    line: int  # of the first line of code
    language: str
    marker: str
    code: list[str]
    continued: list["Block"] = field(default_factory=list)  # the blocks of its language that come first
    program: Path | None = None

    def __str__(self):
        return f"{self.page.name}:{self.line} ({self.language})"


class Failure(Exception):
    pass


def blocks_of(page: Path) -> list[Block]:
    blocks: list[Block] = []
    marker = ""
    open_block: Block | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if open_block:
            if line.strip() == "```":
                blocks.append(open_block)
                open_block = None
            else:
                open_block.code.append(line)
        elif match := re.match(r"\s*```(\w*)", line):
            open_block = Block(page, number + 1, match[1], marker, [])
            marker = ""
        elif match := re.fullmatch(r"\s*<!-- example: (.*?) -->\s*", line):
            if match[1] not in MARKERS:
                raise Failure(f"{page.name}:{number}: unknown marker '{match[1]}'; there are {sorted(MARKERS)}")
            marker = match[1]
        elif line.strip():
            marker = ""
    if open_block:
        raise Failure(f"{open_block}: the block is not closed")

    runnable = [b for b in blocks if b.language in LANGUAGES and b.marker != "none"]
    before: dict[str, Block] = {}
    for block in runnable:
        if block.marker == "continues":
            if block.language not in before:
                raise Failure(f"{block}: nothing to continue")
            block.continued = [*before[block.language].continued, before[block.language]]
        if block.language in ("cpp", "python", "pycon"):
            before[block.language] = block
    return runnable


def cpp_source(block: Block) -> str:
    parts = [*block.continued, block]
    includes = [f"#include <{name}>" for name in PRELUDE]
    if any("int main" in line for line in block.code):
        if any(line.startswith("#include") for line in block.code):
            includes = []
        return "\n".join([*includes, f'#line {block.line} "{block.page}"', *block.code, ""])
    body = []
    for part in parts:
        body.append(f'#line {part.line} "{part.page}"')
        for line in part.code:
            if line.lstrip().startswith("#include"):
                includes.append(line)
                line = ""
            body.append(line)
    return "\n".join([*includes, "int main() {", *body, "}", ""])


class Runner:
    def __init__(self, source: Path, build: Path, cxx: str, python: Path | None, folder: Path):
        self.source, self.build, self.cxx, self.python, self.folder = source, build, cxx, python, folder
        self.environment = dict(os.environ, PATH=f"{build / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}")
        if (build / "python").exists():
            self.environment["PYTHONPATH"] = str(build / "python")

    def compile(self, block: Block) -> None:
        stem = self.folder / f"{block.page.stem}_{block.line}"
        file = stem.with_suffix(".cpp")
        file.write_text(cpp_source(block), encoding="utf-8")
        command = [self.cxx, "-std=c++20", "-O0", "-Wall", "-Wno-unused-variable", "-I", self.source / "include", file, "-o", stem,
                   "-L", self.build, "-lzarrive", f"-Wl,-rpath,{self.build}", "-pthread"]  # fmt: skip
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode:
            lines = result.stdout.splitlines()
            raise Failure(f"{block} does not compile:\n" + "\n".join(lines[:20]) + ("\n..." if len(lines) > 20 else ""))
        block.program = stem

    def run(self, block: Block, where: Path) -> None:
        if block.language == "cpp":
            if block.marker != "compile":
                self.execute(block, [block.program], where)
        elif block.language in ("python", "pycon"):
            file = self.folder / f"{block.page.stem}_{block.line}.{'py' if block.language == 'python' else 'txt'}"
            file.write_text("".join("\n".join([*part.code, "", ""]) for part in [*block.continued, block]), encoding="utf-8")
            options = [] if block.language == "python" else ["-m", "doctest", "-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE"]
            self.execute(block, [self.python, *options, file], where)
        elif block.language == "sh":
            self.execute(block, ["bash", "-euo", "pipefail", "-c", "\n".join(block.code)], where)
        else:
            for command, expected in console_steps(block):
                output = self.execute(block, ["bash", "-euo", "pipefail", "-c", command], where)
                if not matches(expected, output.rstrip("\n").split("\n") if output.strip() else []):
                    raise Failure(f"{block}: $ {command}\nprints:\n{output}\nbut the page says:\n" + "\n".join(expected))

    def execute(self, block: Block, command: list, where: Path) -> str:
        try:
            result = subprocess.run(command, cwd=where, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300, check=False)  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{block} ran for more than {error.timeout:.0f} s") from error
        if result.returncode:
            raise Failure(f"{block} exits with {result.returncode}:\n{result.stdout}")
        return result.stdout


def console_steps(block: Block) -> list[tuple[str, list[str]]]:
    """Commands and what they print; a command goes on in the next line after a backslash."""
    steps: list[tuple[str, list[str]]] = []
    going_on = False
    for line in block.code:
        if going_on:
            steps[-1] = (steps[-1][0] + "\n" + line, [])
        elif line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps:
            steps[-1][1].append(line)
        else:
            raise Failure(f"{block}: the first line is no command: {line}")
        going_on = (going_on or line.startswith("$ ")) and line.endswith("\\")
    return steps


def matches(expected: list[str], found: list[str]) -> bool:
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in found)) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--python", type=Path, help="without it, examples in Python are not run")
    parser.add_argument("--only", choices=sorted(LANGUAGES), help="only the examples in this language")
    parser.add_argument("--folder", type=Path, help="where they run; it is emptied first. By default BUILD/run/doc_examples")
    parser.add_argument("pages", nargs="*", type=Path)
    args = parser.parse_args()
    source, build = args.source.resolve(), args.build.resolve()
    pages = args.pages or [source / "README.md", *sorted((source / "docs").glob("*.md"))]

    folder = args.folder or build / "run" / "doc_examples"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    runner = Runner(source, build, args.cxx, args.python, folder)
    failures: list[str] = []
    try:
        by_page = {page: [b for b in blocks_of(page) if args.only in (None, b.language)] for page in pages}
    except Failure as failure:
        print(failure)
        return 1

    def attempt(step, *arguments) -> bool:
        try:
            step(*arguments)
            return True
        except Failure as failure:
            failures.append(str(failure))
            return False

    programs = [block for blocks in by_page.values() for block in blocks if block.language == "cpp"]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        list(pool.map(lambda block: attempt(runner.compile, block), programs))
    done = left_out = 0
    for page, blocks in by_page.items():
        where = folder / page.stem
        where.mkdir()
        for block in blocks:
            if block.language in ("python", "pycon") and not args.python:
                left_out += 1
            elif block.language != "cpp" or block.program:
                done += attempt(runner.run, block, where)
    for failure in failures:
        print(f"FAILED {failure}\n")
    if left_out:
        print(f"NOT RUN: {left_out} examples in Python, for no --python was given")
    print(f"{done} examples of {len(by_page)} pages ran, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
