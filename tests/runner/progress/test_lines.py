"""Progress that says what scripts and detectors have said."""

import io

from runner.progress.lines import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_no_line_moves_the_cursor():
    file = io.StringIO()
    Progress(file).line("it said \x1b[2J\nspoilt\r\u202e\x85\ud800 é …")
    assert file.getvalue() == "it said \\x1b[2J\\nspoilt\\r\\u202e\\x85\\ud800 é …\n"


def test_no_status_moves_the_cursor_but_between_its_rows():
    terminal = Terminal()
    Progress(terminal).status(lambda: "one\x1b[2J\ntwo\x0b\u2028")
    assert terminal.getvalue() == "one\\x1b[2J\ntwo\\x0b\\u2028"
