"""A program's text with its syntax tree, and edits of the text that keep its layout."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

LOOPS = (ast.For, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody")


class NoCureError(Exception):
    """Raised where a cure does not fit a program."""


@dataclass(frozen=True, order=True)
class Edit:
    """The text that comes in the place of a part of a program's text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Program:
    """The text of a program; raises SyntaxError or ValueError for one that is no Python."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node that holds each node."""
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins."""
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line))
        return starts

    def calls(self) -> Iterator[ast.Call]:
        """All calls."""
        return (node for node in self.nodes if isinstance(node, ast.Call))

    def assignments(self) -> Iterator[ast.Assign]:
        """All assignments to one name or attribute."""
        for node in self.nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                yield node

    def source(self, node: ast.AST) -> str:
        """The text of a node."""
        start, end = self._span(node)
        return self.text[start:end]

    def above(self, node: ast.AST, kinds: tuple[type, ...]) -> list[ast.AST]:
        """The nodes of these kinds that hold a node within its function, the innermost first."""
        holders: list[ast.AST] = []
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, FUNCTIONS):
                break
            if isinstance(node, kinds):
                holders.append(node)
        return holders

    def function(self, node: ast.AST) -> ast.AST:
        """The function that holds a node, or the module."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, FUNCTIONS):
                return node
        return self.tree

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The block in which a statement stands."""
        holder = self.parents[statement]
        blocks = [getattr(holder, name, None) for name in BLOCKS]
        for block in blocks:
            if isinstance(block, list) and statement in block:
                return block
        raise NoCureError("the statement stands in no block")

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds a node."""
        while not isinstance(node, ast.stmt):
            if node not in self.parents:
                raise NoCureError("there is no statement")
            node = self.parents[node]
        return node

    def statement_at(self, line: int) -> ast.stmt:
        """The innermost statement that reaches over a line, the first of several."""
        return self.statements_at(line)[0]

    def statements_at(self, line: int) -> list[ast.stmt]:
        """The innermost statements that reach over a line: `;` may stand between them."""
        over = [
            node
            for node in self.nodes
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        if not over:
            raise NoCureError("no statement stands in the line of the alarm")
        innermost = max((node.lineno, -(node.end_lineno or 0)) for node in over)
        return [node for node in over if (node.lineno, -(node.end_lineno or 0)) == innermost]

    def replace(self, node: ast.AST, text: str) -> Edit:
        """An edit that writes something in the place of a node."""
        return Edit(*self._span(node), text)

    def remove(self, statement: ast.stmt) -> Edit:
        """An edit that takes a statement out, with its lines."""
        self._need_own_lines(statement)
        if len(self.block(statement)) == 1:
            return self.replace(statement, "pass")
        first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
        return Edit(self._starts[first], self._starts[last], "")

    def before(self, statement: ast.stmt, *lines: str) -> Edit:
        """An edit that writes lines before a statement, indented as it is."""
        self._need_own_lines(statement)
        place = self._starts[statement.lineno - 1]
        return Edit(place, place, self._indented(lines, statement.col_offset))

    def after(self, statement: ast.stmt, *lines: str) -> Edit:
        """An edit that writes lines behind a statement, indented as it is."""
        self._need_own_lines(statement)
        place = self._starts[statement.end_lineno or statement.lineno]
        text = self._indented(lines, statement.col_offset)
        needs_end = place == len(self.text) and not self.text.endswith("\n")
        return Edit(place, place, f"\n{text}" if needs_end else text)

    def after_imports(self, *lines: str) -> Edit:
        """An edit that writes lines behind the last import at the top of the program."""
        imports = [node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        if not imports:
            raise NoCureError("the program imports nothing")
        return self.after(imports[-1], *lines)

    def importing(self, module: str) -> list[Edit]:
        """The edits by which a module is imported: none where it is already."""
        for node in self.tree.body:
            names = node.names if isinstance(node, ast.Import) else []
            if any(alias.name == module and not alias.asname for alias in names):
                return []
        for node in self.tree.body:
            is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            if isinstance(node, ast.Import | ast.ImportFrom) and not is_future:
                return [self.before(node, f"import {module}")]
        raise NoCureError("the program imports nothing")

    def move_before(self, statement: ast.stmt, other: ast.stmt) -> list[Edit]:
        """The edits by which a statement comes directly before another one."""
        return [self.remove(statement), self.before(other, self.source(statement))]

    def move_after(self, statement: ast.stmt, other: ast.stmt) -> list[Edit]:
        """The edits by which a statement comes directly behind another one."""
        return [self.remove(statement), self.after(other, self.source(statement))]

    def _indented(self, lines: Iterable[str], columns: int) -> str:
        return "".join(f"{' ' * columns}{line}\n" for line in lines)

    def _need_own_lines(self, statement: ast.stmt) -> None:
        """Raise NoCureError where a statement shares a line with another one."""
        start, end = self._span(statement)
        before = self.text[self._starts[statement.lineno - 1] : start]
        last = statement.end_lineno or statement.lineno
        behind = self.text[end : self._starts[last]].strip()
        if before.strip() or (behind and not behind.startswith("#")):
            raise NoCureError("the statement shares its line with another one")

    def _span(self, node: ast.AST) -> tuple[int, int]:
        """Where the text of a node begins and ends."""
        if not isinstance(node, ast.expr | ast.stmt | ast.keyword | ast.arg):
            raise NoCureError("the node has no text of its own")
        last, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._offset(node.lineno, node.col_offset), self._offset(last, end)

    def _offset(self, line: int, column: int) -> int:
        """The place of a column, which counts bytes."""
        text = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(text)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap; the same edit counts once. Raises NoCureError."""
    ordered = sorted(set(edits))
    parts: list[str] = []
    place = 0
    for edit in ordered:
        if edit.start < place:
            raise NoCureError("two edits overlap")
        parts += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join([*parts, text[place:]])
