"""Reports in both forms: any text is read as it is, and the page has all that the Markdown has."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from othello_lab.experiments.pairing import ResultTable
from othello_lab.experiments.report.figures.drawing import Drawing
from othello_lab.experiments.report.markdown import (
    MOST_OPEN,
    SHORT_TABLE,
    code,
    html_of,
    rendered,
    table,
    write_report,
)

NASTY = [
    *("a|b", "*bold* **very** _this_ __that__ snake_case _x", "`code` ``", "back\\slash \\"),
    *(
        "<script>alert(1)</script>",
        "<!-- comment -->",
        '" onload="alert(1)',
        "{{ figures }} {% raw %}",
    ),
    "[link](javascript:alert(1)) ![picture](x.png) [a]: b",
    *("&lt;b&gt; &amp; & &#60;", "~~gone~~ # heading #", "two\nlines\r\n# of text"),
    *("> quoted", "- item", "+12", "+ item", "1. first", "2) second", "=====", "    indented"),
    *("ends with a colon:", "Ünïcödé † ½ 黒"),
]


class Page(HTMLParser):
    """The tags of a page in order, and its text outside of the style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] != ["style"]:
            self._texts.append(data)

    @property
    def text(self) -> str:
        return squeezed("".join(self._texts))


def squeezed(text: str) -> str:
    return " ".join(text.split())


def study_report(folder: Path, text: str) -> tuple[str, Page]:
    """A report with a text wherever a report can have one, in both forms."""
    once = dict.fromkeys(("title", "kind", "name", "command", "settings"), text)
    tables = [ResultTable("Table", ["run", text], [[text, text], ["plain", "1"]])]
    write_report(
        "study", folder, **once, findings=[text, f"{text} and {text}"], tables=tables, notes=[],
        agents={text: text}, failed=[("run", 1, text)], details={"started": text}, figures=[],
    )  # fmt: skip
    html = (folder / "report.html").read_text(encoding="utf-8")
    return (folder / "report.md").read_text(encoding="utf-8"), Page(html)


@pytest.mark.parametrize("text", NASTY)
def test_any_text_is_read_as_it_is(tmp_path: Path, text: str) -> None:
    markdown, page = study_report(tmp_path, text)
    plain_markdown, plain = study_report(tmp_path, "plain")
    assert (page.tags, page.attributes) == (plain.tags, plain.attributes)
    assert viewed(markdown).tags == viewed(plain_markdown).tags
    # title, kind, name, findings (3), table (3), agent (2), failed, start (2), command, settings
    assert page.text.count(squeezed(text)) >= 15
    assert page.text.count("plain") == 1 + text.count("plain")
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len({line.count("|") - line.count(r"\|") for line in rows}) == 1


def viewed(markdown: str) -> Page:
    """The Markdown as other programs show it, which take HTML as such."""
    return Page(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown))


@pytest.mark.integration
@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1), min_size=1))
def test_a_line_of_any_characters_comes_through(words: list[str]) -> None:
    line = " ".join(words)
    page = Page(html_of(str(table(["x"], [[line]]))))
    assert page.tags == ["div", "table", "thead", "tr", "th", "tbody", "tr", "td"]
    assert page.text == squeezed(f"x {line}")


def test_tables_say_which_columns_hold_numbers() -> None:
    cells = ["alphabeta_5", "+123 [103, 145]", "> +607", "< 0.1 %", "a & b", "1-0-2"]
    markdown = table(["", "games", "ends", "", "", ""], [cells], words=[0, 2])
    assert markdown.splitlines() == [
        "| | games | ends | | | |",
        "|---|---:|---|---:|---:|---:|",
        f"| {' | '.join(cells)} |",  # nothing in them needs an escape
    ]
    attributes = Page(html_of(markdown)).attributes
    sides = [pair for pair in attributes if pair[0] in ("class", "style")]
    assert sides == [("class", "wide"), *8 * [("style", "text-align:right")]]


def test_code_is_fenced_whatever_it_holds() -> None:
    assert code("a = 1\n", "yaml") == "```yaml\na = 1\n```"
    for inside in ("```", "x\n````\ny", "`"):
        page = Page(html_of(code(inside)))
        assert page.tags == ["pre", "code"]
        assert page.text == squeezed(inside)


def test_what_is_typed_is_code_in_its_cell() -> None:
    made = table(["agent", "position"], [["*x*", "-_X*O X;"], ["y", ""], ["z", "a|`b`"]], code=[1])
    html = html_of(made)
    assert "<td>*x*</td>" in re.sub(" style=[^>]*", "", html)
    assert "<code>-_X*O X;</code>" in html and html.count("<code>") == 1
    assert "a|`b`</td>" in html


@pytest.mark.parametrize("target", ["![Elo](elo.png)", "[Elo](report.html#figure-elo)"])
def test_figures_are_embedded_with_their_captions(target: str) -> None:
    text = f"## Elo\n\n{target}\n\nHow to *read* it.\n\nMore."
    html = html_of(text, {"elo": '<svg role="img"/>'})
    assert Page(html).tags == ["h2", "figure", "svg", "figcaption", "em", "p"]
    assert 'id="figure-elo"' in html
    assert "figure" not in Page(html_of(text, {})).tags


def test_a_page_has_few_figures_open(tmp_path: Path) -> None:
    number = MOST_OPEN + 2
    figures = [
        Drawing(f"name{row}", f"Title {row}", f"Caption {row}.", f"<svg>{row}</svg>")
        for row in range(number)
    ]
    text = rendered("figures", figures=figures, page="report.html")
    assert text.count("\n\n## ") + text.startswith("## ") == MOST_OPEN + 1
    html = html_of(text, {figure.name: figure.svg for figure in figures})
    assert html.count("<figure ") == html.count("<svg>") == number
    opened, _, folded = html.rpartition(">More figures</h2>")
    assert opened.count("<figure ") == MOST_OPEN and "<details>" not in opened
    assert folded.count("<details>\n<summary>Title") == number - MOST_OPEN


def test_html_in_markdown_is_text_and_links_lead_to_pages() -> None:
    assert Page(html_of("<b>bold</b>\n\n<hr>")).tags == ["p", "p"]
    assert Page(html_of("[3](3/report.md)")).attributes == [("href", "3/report.html")]


def test_long_tables_and_code_are_folded_under_the_words_before_them() -> None:
    for rows, start in ((SHORT_TABLE, "<details open"), (SHORT_TABLE + 1, "<details>")):
        html = html_of(f"They are:\n\n{table(['as Black'], [['1']] * rows)}")
        assert html.startswith(start) and "<summary>They are</summary>" in html
        assert "as<br />\nBlack" in html
    assert html_of("All:\n\n```\nx\n```").startswith("<details>\n<summary>All</summary>")
    assert "details" not in html_of(f"They are.\n\n{table(['a'], [['1']] * 99)}")
    assert "details" not in html_of("They are:\n\nmore.")


def test_a_table_without_headings_is_one_of_facts() -> None:
    page = Page(html_of(table(["", ""], [["seed", 1], ["games", 2]], words=[0, 1])))
    assert page.tags == ["div", "table", "tbody", *2 * ["tr", "th", "td"]]
    assert ("class", "facts") in page.attributes
