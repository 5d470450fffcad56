"""The memory as one object: wiring, nothing else."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from memcore.backoff import Attempts
from memcore.brains import brain_named
from memcore.composer import Composer
from memcore.composer.limits import TimeLimit
from memcore.conversation import Conversation
from memcore.curator import Curator, Report
from memcore.errors import InvalidInput, MnemoscopeError
from memcore.indexing import Index
from memcore.notes import Notes
from memcore.ports import Check, Clock, Embedder, Proposer, Store, Summarizer
from memcore.screening import mask
from memcore.settings import Settings, load_settings
from memcore.stores.sqlite import SqliteStore
from memcore.summary import Summaries
from memcore.support import supported
from memcore.toolbox import Tools
from memcore.tools import memory_tools
from memcore.types import Composition, Message, Note, Owner
from memcore.writing import BrainProposer, BrainSummarizer

_REMEMBERED_TURNS = 1_000


class Memory:
    """Conversation, notes, summaries, curator, the index and the composer over one store.

    Where the curator is on, a `proposer` and a `summarizer` that are not given are the model that
    `settings.brain` names; without one the curator and the summary do without a model.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        embedder: Embedder | None = None,
        *,
        proposer: Proposer | None = None,
        summarizer: Summarizer | None = None,
        check: Check | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self._limit = TimeLimit()
        self.index = Index(store, settings, clock, embedder, self._limit.run)
        self.conversation = Conversation(store, settings, self.index)
        self.notes = gate = Notes(store, settings, clock, self.index)
        check = check or partial(supported, zone=settings.zone)
        # What the one finds out about a brain that both ask holds for the other.
        attempts = Attempts(clock)
        shared = proposer is None and summarizer is None
        if settings.curator and settings.brain:
            brain = brain_named(settings.brain, settings)  # nothing is loaded or asked yet
            proposer = proposer or BrainProposer(brain, settings.zone)
            summarizer = summarizer or BrainSummarizer(brain, settings.zone)
        self.summaries = Summaries(
            store, settings, clock, check, summarizer, attempts if shared else None
        )
        self.curator = Curator(store, settings, gate, check, proposer, attempts)
        self._tools = partial(
            memory_tools, self.conversation, gate, settings, limit=self._limit.run
        )
        self._composer = Composer(store, settings, self.index)
        self._previous: OrderedDict[tuple[Owner, str], str] = OrderedDict()

    def compose(
        self, owner: Owner, thread: str, message: Message | str, persona: str
    ) -> Composition:
        """Composes one turn. A message given as text is taken as the person's, said now.

        Call it once per turn, with the message stored before it or not at all. What waits to be
        embedded is embedded first, for as long as a layer may take.
        """
        if isinstance(message, str):
            message = Message("", thread, "user", owner.person, self.clock.now(), message)
        self.index.keep_up(owner)
        key = (owner, thread)
        previous = self._previous.pop(key, None)
        composition = self._composer.compose(owner, thread, message, persona, previous)
        self._previous[key] = composition.system
        if len(self._previous) > _REMEMBERED_TURNS:
            self._previous.popitem(last=False)
        return composition

    def after_turn(self, owner: Owner, thread: str) -> Report | None:
        """Curates and sums up once the thread has moved on far enough; None where it has not.

        Call it when a reply has been sent. It never raises for a store, a model or a provider that
        fails: the report says what did, and the same is tried again after the next turn, a model's
        work once it has been left in peace for a while.
        """
        if not self.settings.curator:
            return None
        report = Report()
        try:
            failed = self.summaries.unfinished(owner, thread)
            if self.curator.due(owner, thread):
                report = self.curator.run(owner, thread)
                if report.waiting and not failed:
                    return report
            elif not failed:
                return None
        except MnemoscopeError as error:
            return replace(report, error=mask(str(error)))
        return self._with_summary(report, owner, thread)

    def _with_summary(self, report: Report, owner: Owner, thread: str) -> Report:
        """Refreshes the thread's summary; returns the report with what became of it."""
        try:
            done = self.summaries.refresh(owner, thread)
            told, refused, waiting = done.waiting, done.refused, bool(done.waiting)
        except MnemoscopeError as error:
            told, refused, waiting = mask(str(error)), (), False
        errors = [report.error, f"no summary: {told}" if told else ""]
        return replace(
            report,
            error="; ".join(filter(None, errors)),
            waiting=report.waiting or (waiting and not report.error),
            summary_refused=refused,
        )

    def remember(self, owner: Owner, text: str, page: bool = False) -> Note:
        """Appends a line to today's note, or rewrites the page; returns the note as it is now.

        Raises `NoteTooLong`, `SecretFound`, `InvalidInput`, and `StaleRevision` where another wrote
        to the page in between.
        """
        return self.notes.remember(owner, text, page)

    def tools(self, owner: Owner, thread: str, sources: Sequence[str] = ()) -> Tools:
        """The tools of one turn. Make them when the turn is composed: the page is rewritten only if
        it is as it was then. `sources` are the ids of the messages that a note comes from."""
        return self._tools(owner, thread, sources=sources)

    def close(self) -> None:
        self.store.close()


def open_memory(
    url: str | Path,
    clock: Clock,
    settings: Settings | None = None,
    durable: bool = True,
    embedder: Embedder | None = None,
    *,
    proposer: Proposer | None = None,
    summarizer: Summarizer | None = None,
    check: Check | None = None,
) -> Memory:
    """Opens the memory kept at a path or `sqlite:///path`, made where there is none.

    `durable=False` does not wait for the disk at each write. Without an `embedder` it is the one
    that `settings.provider` names, if any. Raises `InvalidInput` for another kind of address or an
    unknown provider, `MissingPackage`, and what `SqliteStore` raises.
    """
    settings = settings or load_settings()
    address = str(url)
    kind, separator, rest = address.partition("://")
    if separator and kind != "sqlite":
        raise InvalidInput(f"no store for {kind}://; give a path or sqlite:///path")
    path = Path(rest.removeprefix("/") if separator else address)
    if embedder is None and settings.provider:
        from memcore.embedders import embedder_named  # nothing of it is needed otherwise

        embedder = embedder_named(settings.provider)
    return Memory(
        SqliteStore(path, durable),
        settings,
        clock,
        embedder,
        proposer=proposer,
        summarizer=summarizer,
        check=check,
    )
