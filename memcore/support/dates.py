"""Days, weeks, months and years that a text names, resolved by the day on which it was written."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Span = tuple[date, date]
Leaning = Literal["past", "future", ""]


@dataclass(frozen=True, slots=True)
class When:
    """A named time. What the text does not say is None; `span` is set where the writing day
    resolves it; `relative` is the same for the same relative words; `side` is `from`, `until`,
    `before`, `after`, `by` or empty."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    span: Span | None = None
    relative: str = ""
    side: str = ""

    def resolved(self, today: date, leaning: Leaning) -> Span | None:
        """The days meant by a text written `today` that tells of the past or the future."""
        if self.span is not None:
            return self.span
        if self.year is not None:
            return whole(self.year, self.month, self.day)
        if self.month is not None:
            return self._nearest(self.month, today, leaning)
        if self.weekday is not None and leaning:
            away = (self.weekday - today.weekday()) % 7 or 7
            return one_day(today, away if leaning == "future" else away - 7 or -7)
        return None

    def _nearest(self, month: int, today: date, leaning: Leaning) -> Span | None:
        years = (today.year - 1, today.year, today.year + 1)
        spans = [one for year in years if (one := whole(year, month, self.day)) is not None]
        if leaning == "past":
            return max((one for one in spans if one[0] <= today), default=None)
        if leaning == "future":
            return min((one for one in spans if one[1] >= today), default=None)
        return min(spans, key=lambda one: abs((one[0] - today).days), default=None)

    def bears(self, other: When, today: date, leaning: Leaning) -> bool:
        """Whether this time, in a text written `today`, bears out the other."""
        if self.side != other.side:
            return False
        if other.relative:
            return self.relative == other.relative
        span = self.resolved(today, leaning)
        first, last = span or (None, None)
        single = first if first == last else None
        return (
            (other.weekday is None or other.weekday in (self.weekday, single and single.weekday()))
            and _same("day", other.day, self.day, single, single)
            and _same("month", other.month, self.month, first, last)
            and _same("year", other.year, self.year, first, last)
        )


def _same(
    part: str, wanted: int | None, told: int | None, first: date | None, last: date | None
) -> bool:
    if wanted is None or wanted == told:
        return True
    if first is None or last is None:
        return False
    return bool(getattr(first, part) == getattr(last, part) == wanted)


def whole(year: int, month: int | None, day: int | None) -> Span | None:
    """The first and last day of a year, a month, a day; None where there is no such."""
    if not 1 <= year <= 9998 or (month is not None and not 1 <= month <= 12):
        return None
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    length = calendar.monthrange(year, month)[1]
    if day is None:
        return date(year, month, 1), date(year, month, length)
    return (date(year, month, day), date(year, month, day)) if 1 <= day <= length else None


def one_day(today: date, ahead: int) -> Span | None:
    """The day so many days away; None where the calendar ends before."""
    try:
        found = today + timedelta(ahead)
    except OverflowError:
        return None
    return found, found


def away(today: date, ahead: int, period: str, full: bool = False) -> When:
    """The time so many periods away: `in 2 weeks` is a day, `next week` (`full`) is all of it."""
    key = f"{period} {ahead}{' whole' if full else ''}"
    if period == "day" or (period == "week" and not full):
        return When(span=one_day(today, ahead * (7 if period == "week" else 1)), relative=key)
    if period == "week":
        monday = one_day(today, 7 * ahead - today.weekday())
        sunday = one_day(today, 7 * ahead - today.weekday() + 6)
        return When(span=(monday[0], sunday[0]) if monday and sunday else None, relative=key)
    months = today.year * 12 + today.month - 1 + ahead * (12 if period == "year" else 1)
    year, month = divmod(months, 12)
    return When(span=whole(year, None if period == "year" else month + 1, None), relative=key)


def weekday_near(today: date, weekday: int, ahead: int) -> When:
    """A weekday of the last, this or the next week.

    "Last Friday" on a Saturday may be yesterday or eight days ago: then it names no day.
    """
    found = one_day(today, 7 * ahead - today.weekday() + weekday)
    vague = ahead == -1 and weekday < today.weekday()
    return When(
        weekday=weekday, span=None if vague else found, relative=f"weekday {weekday} {ahead}"
    )
