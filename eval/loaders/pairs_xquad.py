"""XQuAD, and SQuAD's shape in general: which sentence of an article answers a question.

Passages are the sentences of all paragraphs of an article; relevant are those in which the answer
stands. A group is an article; in a folder with the same article in several languages they are one
group, and each question has the passages of its own language. Titles only tell articles apart:
they are English in every file and would give the answer away.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from eval.dataset import read_json, validate
from eval.errors import DatasetError, Fault
from eval.loaders.native import SourceRecord
from eval.pairs import Group, Material, Passage, Query, make_material
from memcore import PassageKind, text_sentences

LOOKS = 'a JSON file {"data": [{"title": …, "paragraphs": [{"context": …, "qas": …'
_LANGUAGE = re.compile(r"(?:^|[._-])([a-z]{2})(?=[._-])", re.ASCII)
_MARK = "\ufeff"


class _Answer(SourceRecord):
    text: Annotated[str, Field(min_length=1)]
    answer_start: Annotated[int, Field(ge=0)]


class _Question(SourceRecord):
    id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    answers: Annotated[list[_Answer], Field(min_length=1)]


class _Paragraph(SourceRecord):
    context: Annotated[str, Field(min_length=1)]
    qas: list[_Question]


class _Article(SourceRecord):
    title: str
    paragraphs: list[_Paragraph]


class _File(SourceRecord):
    data: list[_Article]


_SHAPE = TypeAdapter(_File)


def recognises(path: Path, content: Any) -> bool:
    """Whether it is such a file, or a folder with at least one."""
    if path.is_dir():
        return any(_looks(_content(file)) for file in sorted(path.glob("*.json"))[:20])
    return _looks(content)


def load(path: Path, kind: PassageKind = "message") -> Material:
    """The questions of a file, or of all such files of a folder. Raises `DatasetError`."""
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    passages: dict[str, list[Passage]] = defaultdict(list)
    queries: dict[str, list[Query]] = defaultdict(list)
    faults: list[Fault] = []
    remarks: list[str] = []
    for file in files:
        content = read_json(file)
        if path.is_dir() and not _looks(content):
            remarks.append(f"{file.name} left out, it has another shape")
            continue
        articles = validate(str(file), _SHAPE, content).data
        language = _language(file, articles)
        remarks.append(f"{file.name} is taken to be in language {language!r}")
        for name, article, where in _named(articles):
            first = len(passages[name])
            found, asked = _article(article, language, first, faults, str(file), where)
            passages[name] += found
            queries[name] += asked
    if faults:
        raise DatasetError(faults)
    groups = [Group(name, tuple(passages[name]), tuple(queries[name])) for name in passages]
    return make_material(path.resolve().stem, kind, "article", groups, remarks, str(path))


def _article(
    article: _Article, language: str, first: int, faults: list[Fault], file: str, where: str
) -> tuple[list[Passage], list[Query]]:
    """The sentences of an article and its questions; `first` is the place of the first sentence."""
    passages: list[Passage] = []
    asked: list[tuple[_Question, frozenset[int]]] = []
    for p, paragraph in enumerate(article.paragraphs):
        # some begin with a byte order mark, which counts in `answer_start` and is no text
        shift = len(paragraph.context) - len(paragraph.context.lstrip(_MARK))
        text, start = paragraph.context[shift:], first + len(passages)
        bounds = text_sentences(text)
        passages += [
            Passage(f"{language}-{p}-{s}", (text[low:high],))
            for s, (low, high) in enumerate(bounds)
        ]
        for q, question in enumerate(paragraph.qas):
            held: set[int] = set()
            for answer in question.answers:
                begin = answer.answer_start - shift
                end = begin + len(answer.text)
                if begin < 0 or text[begin:end] != answer.text:
                    field = f"{where}.paragraphs[{p}].qas[{q}].answers"
                    faults.append(Fault(file, 0, field, "the answer is not where it is said to be"))
                    continue
                held |= {
                    start + s for s, (low, high) in enumerate(bounds) if low < end > begin < high
                }
            asked.append((question, frozenset(held)))
    candidates = range(first, first + len(passages))
    queries = [
        Query(f"{language}-{question.id}", question.question, language, candidates, relevant)
        for question, relevant in asked
    ]
    return passages, queries


def _named(articles: list[_Article]) -> Iterator[tuple[str, _Article, str]]:
    """Each article with a name of its own in the file, the same in the file of each language."""
    seen: dict[str, int] = defaultdict(int)
    for number, article in enumerate(articles):
        seen[article.title] += 1
        again = f" ({seen[article.title]})" if seen[article.title] > 1 else ""
        yield article.title + again, article, f"data[{number}]"


def _language(file: Path, articles: list[_Article]) -> str:
    """By the file's name (`xquad.ru.json`), else Russian where most letters are Cyrillic."""
    if found := _LANGUAGE.findall(file.name):
        return str(found[-1])
    letters = [
        one for article in articles for part in article.paragraphs for one in part.context[:200]
    ]
    return "ru" if sum("а" <= one.lower() <= "я" for one in letters) > len(letters) / 2 else "en"


def _looks(content: Any) -> bool:
    data = content.get("data") if isinstance(content, dict) else None
    return isinstance(data, list) and any(
        isinstance(item, dict) and "paragraphs" in item for item in data[:10]
    )


def _content(file: Path) -> Any:
    try:
        return read_json(file)
    except DatasetError:
        return None
