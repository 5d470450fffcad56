"""Words of the arms side by side, on the Recall page."""

TITLE = "The arms side by side"
ALONE = (
    "Only **{arm}** has been replayed on this dataset with these settings. To set the arms side by "
    "side, run `python -m eval arms {dataset}`{settings}."
)
ALONE_SETTINGS = " with the same settings (`--set name=value`)"
ANY_DATASET = "DATASET"
NO_OLD = (
    "No old answer was measured, so there is nothing to compare the arms by: choose fewer days."
)
SKIPPED = "This run of the same dataset cannot be read and is left out:"

SENTENCE = "With answers {days} days or older: {arms}."
SENTENCE_FIRST = "{arm} reached {share}"
SENTENCE_NEXT = "{arm} {share}"
SENTENCE_CALLED = " ({called} where it was called, {not_called} where it was not)"
SENTENCE_NEVER = " (it was never called)"
ANSWERED = "Right answers to the same questions, by {by}: {arms}."
ANSWERED_BY = {"judge": "the judge", "exact match": "exact match"}
NAMES = {"tool-only": "the tool alone", "no-search": "no search"}
"""How a sentence calls an arm, where not by its name."""
HEADLINE = ("first-search", "tool-only", "no-search")
"""The arms of the sentence, where two of them are there; else all that are."""

CAPTION = (
    "The newest run of each arm on the same dataset{settings}. Bars are 95% intervals. A yardstick "
    "is there to be measured against: full-context sends everything said so far, grep what a plain "
    "substring search finds."
)
CAPTION_SETTINGS = ", all with the same changed settings"
FIGURE_ALT = "Share of old answers each arm reached, with intervals, and its characters a question"
BY_LAYER = "**By what they were reached**"
BY_LAYER_CAPTION = "One answer may be reached by several, so these do not add up."
BY_LAYER_ALT = "Share of old answers reached by each layer, in each arm"
INCONCLUSIVE = "**{arm}** is {why}."

TABLE_CAPTION = (
    "The difference is against {arm}, question by question: how many old answers this arm reached "
    "and that one did not (gained) and the other way round (lost), with the p of McNemar's exact "
    "test."
)
NO_FIRST = "There is no run of first-search with these settings to measure a difference against."
ANSWERS = "**What the brain answered**"
ANSWERS_CAPTION = (
    "Old questions that have a gold answer. A failed call counts as a wrong answer. Right is what "
    "{by} says; the last four columns are all questions, by whether all evidence was in what the "
    "brain was sent and whether the answer was right."
)
CALLED = "**Where the search tool was called, and where it was not**"
YES, NO = "called", "not called"
YARDSTICK = "{arm} (yardstick)"
OF = "{hits:,} of {count:,}"
POINTS = "{points:+.1f} points"
GAINED_LOST = "+{gained:,} / −{lost:,}"
NONE = "–"

AGES = "Each arm by age of the answer"
AGES_OTHERS = "By age of the answer, runs with other settings too"
AGES_CAPTION = "The newest run of each arm and each way of settings on the same dataset."
AGES_ALT = "Share reached by age of the answer, one small picture an arm"
AGES_MORE = "{count} further runs of this dataset are left out."

ARM = "Arm"
CHANGED = "Changed settings"
OPEN, OPEN_TEXT = "Recall", "open"
COUNT = "Questions"
SOME, ALL = "Some of it", "All of it"
INTERVAL = "95% interval"
CHARACTERS, TOOLS = "Characters a question", "Of tools"
USED = "Tool used"
DIFFERENCE, CHANGES, P = "Difference", "Gained / lost", "p"
STATE = "Verdict"
CONCLUSIVE = "complete"
RUN = "Run"
ABOUT = "What it is"
SEARCH_TOOL = "Search tool"
EXACT, F1, JUDGED, RIGHT = "Exact match", "F1", "Judged right", "Right"
TWO_BY_TWO = {
    "in_prompt_right": "There, right",
    "in_prompt_wrong": "There, wrong",
    "absent_right": "Not there, right",
    "absent_wrong": "Not there, wrong",
}
FAILED = "Failed"
NO_JUDGE = "no judge"
HELP = {
    SOME: "At least one message that answers the question is in what the model is sent, whole.",
    ALL: "Every message that answers the question is there.",
    CHARACTERS: "The whole prompt with what tools returned, on average over all questions.",
    TOOLS: "What the search tool returned, of those characters.",
    USED: "Questions in which the search tool was called, of all questions.",
    DIFFERENCE: "Of the share of old answers with some of their evidence there, in points.",
    P: "McNemar's exact test: how likely so uneven a split were both arms as good.",
    STATE: "A run in which calls failed is inconclusive: they stay in its counts.",
}
