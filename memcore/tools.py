"""The tools over notes and conversation: `remember`, `recent_messages`, `search_messages`.

They are bound to the owner and the thread of the turn in which they are called; no argument of
theirs can widen that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from pydantic import Field

from memcore.composer import render
from memcore.conversation import Conversation
from memcore.errors import InvalidInput, MnemoscopeError, NoteTooLong, StaleRevision
from memcore.notes import Notes
from memcore.screening import mask, quote
from memcore.settings import Settings
from memcore.toolbox import Arguments, Found, Tool, Tools
from memcore.types import PAGE, Message, MessageHit, Owner

LONGEST_SHOWN = 1_000
"""Characters of one message in a result; of a longer one its beginning is shown."""

_YEARS = range(1900, 3000)
_UNREAD = -1


class TimeLimited(Protocol):
    """Runs a reading job and gives up after some seconds, None: never."""

    def __call__(self, job: Callable[[], Any], seconds: float | None) -> Any: ...


class Remember(Arguments):
    text: str = Field(
        min_length=1,
        description="The line to keep, complete in itself; with page, the whole new page.",
    )
    page: bool = Field(
        default=False,
        description="Rewrite the standing page about the person and the work, "
        "instead of adding a line to today's note.",
    )


class RecentMessages(Arguments):
    limit: int = Field(default=10, ge=1, le=50, description="How many messages.")
    before: str | None = Field(
        default=None, max_length=200, description="Id of the message to page back from."
    )


class SearchMessages(Arguments):
    query: str = Field(min_length=1, max_length=1_000, description="Words to look for.")
    limit: int = Field(default=5, ge=1, le=20, description="How many messages.")
    since: str | None = Field(
        default=None, max_length=40, description="First day, as YYYY-MM-DD, included."
    )
    until: str | None = Field(
        default=None, max_length=40, description="Last day, as YYYY-MM-DD, included."
    )


def memory_tools(
    conversation: Conversation,
    notes: Notes,
    settings: Settings,
    owner: Owner,
    thread: str,
    *,
    limit: TimeLimited,
    sources: Sequence[str] = (),
) -> Tools:
    """The three tools, for one turn of this owner in this thread.

    The page is rewritten only if it is as it stands now: make them when the turn is composed. Each
    reading takes at most `settings.layer_seconds`.
    """
    bound = _Bound(owner, thread, conversation, notes, settings, limit, sources)
    return Tools(
        [
            Tool(
                "remember",
                "Keep something for later conversations: facts, wishes and decisions of the "
                f"person. At most {settings.note_size} characters; no passwords or keys.",
                Remember,
                bound.remember,
            ),
            Tool(
                "recent_messages",
                "The last messages of this conversation; page back with `before`.",
                RecentMessages,
                bound.recent,
            ),
            Tool(
                "search_messages",
                "Search all earlier conversations with this person.",
                SearchMessages,
                bound.search,
            ),
        ],
        settings.tool_result_size,
    )


class _Bound:
    """The three tools of one turn."""

    def __init__(
        self,
        owner: Owner,
        thread: str,
        conversation: Conversation,
        notes: Notes,
        settings: Settings,
        limit: TimeLimited,
        sources: Sequence[str],
    ) -> None:
        self._owner = owner
        self._thread = thread
        self._conversation = conversation
        self._notes = notes
        self._settings = settings
        self._limit = limit
        self._sources = sources
        self._page = self._page_revision()
        self._longest = min(LONGEST_SHOWN, settings.tool_result_size // 4)

    def remember(self, given: Remember) -> Found:
        try:
            note = self._notes.remember(
                self._owner, given.text, given.page,
                expected_revision=self._page if given.page else None, sources=self._sources,
            )  # fmt: skip
        except StaleRevision as error:
            return self._conflict(error)
        except NoteTooLong as error:
            if given.page or error.size == len(given.text):
                raise
            left = max(error.limit - error.size + len(given.text), 0)
            return Found(
                f"{error}. Today's note has room for {left} more; rewrite the page for the rest.",
                error=True,
            )
        if given.page:
            self._page = note.revision
        return Found(f"Kept: {'the page' if given.page else f'note {note.key}'}, revision "
                     f"{note.revision}, {len(note.text)} characters.")  # fmt: skip

    def recent(self, given: RecentMessages) -> Found:
        found: list[Message] = self._limit(
            lambda: self._conversation.recent(
                self._owner, self._thread, given.limit, given.before or None
            ),
            self._settings.layer_seconds,
        )
        if not found:
            where = f" before {given.before!r}; give the id of one" if given.before else ""
            return Found(f"There are no messages of this conversation{where}.")
        return Found("Messages of this conversation, oldest first.",
                     [self._shown(one) for one in found], backwards=True)  # fmt: skip

    def search(self, given: SearchMessages) -> Found:
        zone = self._settings.zone
        since = moment("since", given.since, zone, time.min)
        until = moment("until", given.until, zone, time.max)
        if since and until and since > until:
            raise InvalidInput("since is later than until: swap them")
        found: list[MessageHit] = self._limit(
            lambda: self._conversation.search(self._owner, given.query, given.limit, since, until),
            self._settings.layer_seconds,
        )
        if not found:
            return Found("No message was found. Try other words, or other days.")
        return Found("Messages of earlier conversations, best first.",
                     [self._hit(one) for one in found])  # fmt: skip

    def _conflict(self, error: StaleRevision) -> Found:
        """The page as it is now, so that the model can write against it."""
        if error.key != PAGE:
            raise error
        now = self._notes.get(self._owner, PAGE)
        self._page = now.revision if now else 0
        said = (
            "the page was written by another meanwhile, and nothing of yours was kept: rewrite it "
            "from what it is now, and call again."
        )
        pieces = [render.note(now)] if now else []
        return Found(said if now else f"{said} It is deleted now.", pieces, error=True)

    def _page_revision(self) -> int:
        try:
            page = self._limit(
                lambda: self._notes.get(self._owner, PAGE), self._settings.layer_seconds
            )
        except MnemoscopeError:
            return _UNREAD  # a rewrite is then a conflict, which shows the page
        return page.revision if page else 0

    def _shown(self, message: Message) -> str:
        text = mask(message.text)  # before it is cut: half a secret looks like none
        if len(text) > self._longest:
            text = f"{text[: self._longest]}… ({len(text)} characters)"
        return f"- {self._when(message)}\n{render.spoken(message.speaker, text)}"

    def _hit(self, hit: MessageHit) -> str:
        message = hit.message
        where = f"{self._when(message)}, thread {_line(message.thread)}, score {hit.score:.2f}"
        return f"- {where}\n{render.spoken(message.speaker, hit.snippet)}"

    def _when(self, message: Message) -> str:
        when = message.time.astimezone(self._settings.zone)
        return f"{when:%Y-%m-%d %H:%M}, id {_line(message.id)}"


def moment(name: str, given: str | None, zone: ZoneInfo, of_day: time) -> datetime | None:
    """A day, at that time of it in the zone, or a full ISO 8601 time; None for none.

    Raises `InvalidInput`, naming the argument and the form.
    """
    if not given or not given.strip():
        return None
    text = given.strip()
    try:
        found = (
            datetime.combine(date.fromisoformat(text), of_day)
            if len(text) <= len("2026-03-02")
            else datetime.fromisoformat(text)
        )
        known = found.year in _YEARS
    except ValueError:
        known = False
    if not known:
        raise InvalidInput(f"{name} is no day: give it as YYYY-MM-DD, such as 2026-03-02")
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _line(name: str) -> str:
    """An id or a thread's name, quoted on one line."""
    return " ".join(quote(name[:200]).split())
