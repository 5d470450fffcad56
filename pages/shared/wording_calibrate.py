"""Every word of the Calibrate page."""

QUESTION = "Calibrate · From which score on is a passage relevant?"

SOURCE = "Calibrate on"
SOURCE_HELP = (
    "A bundled dataset, or the path of a file or folder on this machine, typed in: conversations "
    "with questions, labelled pairs (query, passage, relevant), a ready score column (score, "
    "relevant), or plain text with a line a text."
)
PROVIDER = "Provider"
PROVIDER_HELP = (
    "What turns text into vectors. Choose one, or type `sentence-transformers:MODEL` or "
    "`openai:MODEL@http://HOST/v1`."
)
PROVIDERS = {
    "packaged": "packaged (multilingual-e5-small)",
    "packaged:use": "packaged:use (USE multilingual)",
    "tfidf": "tfidf (words only, needs nothing)",
    "auto": "auto (the best that works here)",
}
KIND = "Passages"
KINDS = {"note": "notes", "message": "messages", "fact": "facts", "any": "by source"}
KIND_HELP = "A cutoff holds for one kind of passage of one provider."
OBJECTIVE = "Objective"
OBJECTIVES = {
    "recall>=0.9": "keep 90% of the relevant",
    "precision>=0.8": "80% of what passes is relevant",
    "f1": "F1: both alike",
    "f0.5": "F0.5: rather right than complete",
}
OBJECTIVE_HELP = (
    "By what the cutoff is chosen. Any other number may be typed: `recall>=0.95`, "
    "`precision>=0.5`, `f2`."
)
LANGUAGE = "Language"
ALL_LANGUAGES = "all"
UPLOAD = "Upload"
UPLOAD_LABEL = "A dataset, labelled pairs, a score column or plain text"
UPLOAD_HELP = "It is kept in this machine's cache folder, and its path stands in the address."

START = "Calibrate"
AGAIN = "Embed again"
AGAIN_HELP = "Asks the provider again for what it has not answered yet, and scores everything anew."
TO_EMBED = "{texts} texts to embed{time}"
TIME_SECONDS = ", about {seconds} s the first time"
TIME_MINUTES = ", about {minutes} min the first time"
TIME_UNKNOWN = ""
READING = "Reading the data …"
CALCULATING = "Choosing the cutoff, and trying it on what was held out …"

PROGRESS = "Embedding: {done} of {of} texts, {left}"
PROGRESS_SCORING = "All {of} texts are embedded; scoring the pairs …"
PROGRESS_LOADING = "Loading the provider …"
LEFT_SECONDS = "about {seconds} s left"
LEFT_MINUTES = "about {minutes} min left"
LEFT_UNKNOWN = "working out the time left"
STOP, STOPPING = "Stop", "Stopping …"
RUNS_ON = "You may leave this page; what is embedded is kept."
FIRST_TIME = (
    "This machine has not calibrated anything yet, so the bundled notes are being calibrated with "
    "the packaged model."
)
OTHER_RUNS = (
    "Another calibration is running, with provider {provider} on {data}. Start yours when it is "
    "finished:"
)

WAITING_LINE = "Being calibrated: {data}, {kind}, with {provider}."
NOT_YET_LINE = "Not calibrated yet: {data}, {kind}, with {provider}."
NOT_YET = "Press **Calibrate** to embed the texts and to see which cutoff separates them, if any."
STOPPED_LINE = "Stopped before the end."
STOPPED = "What was embedded is kept. Press **Calibrate** to go on from there."
BAD_SOURCE_LINE = "This cannot be calibrated on."
BAD_SOURCE = "Choose other data above, or correct what is said here and load the page again:"
BAD_PROVIDER_LINE = "The provider did not give vectors."
BAD_PROVIDER = (
    "Choose another provider above, or correct what it says and press **Calibrate** again. "
    "`tfidf` needs nothing."
)
BROKE = "This is a fault of Mnemoscope's or of this machine:"
TRACE = "The whole error"
BAD_CHOICE_LINE = "This cannot be calibrated so."
BAD_OBJECTIVE = "The objective is not understood. Choose another one above:"
BAD_LANGUAGE = "There is no such language in the data. Choose another one above:"
BAD_COLUMN = "Choose other data, or another kind of passage or language:"
BAD_KIND = "There is no such kind of passage. Choose one above:"
READY_COLUMN = "The scores are ready made, so no provider is asked."

DETAIL = (
    "Cutoff **{cutoff}**, 95% interval {low}–{high}, by the objective {objective}. Chosen on "
    "{groups} {grouped} with {relevant} relevant and {irrelevant} irrelevant pairs, {by}."
)
DETAIL_NONE = (
    "Tried on {groups} {grouped} with {relevant} relevant and {irrelevant} irrelevant pairs, {by}."
)
SCORED_BY = "scored by {provider}"
SCORED_READY = "ready scored by a provider that the column does not name"
WHAT_NOW = {
    "identical": "A score that is always the same tells nothing: check the provider.",
    "overlap": (
        "Without a cutoff nothing is cut, and the best are still shown first: for these that is "
        "the better way. Another provider, or another kind of passage, may separate."
    ),
    "uncertain": "More conversations would tell. Until then nothing is cut.",
    "objective": "Ask for less: another objective, or a lower number in this one.",
}

SAVE = "Save this cutoff: {cutoff}"
SAVE_HELP = "Into {path}, where replays find it."
SAVED = "{cutoff}: Saved in {path}"
REPLACED = "{cutoff}: Saved in {path}, in place of the earlier one"
SAVED_USE = (
    "Replays use it for exactly this provider and kind of passage: tick **use saved cutoffs** in "
    "the form on the Runs page, or add this to the command:"
)
COMMAND = (
    "python -m eval replay shop --set search_mode=hybrid --set provider={provider} --cutoffs {path}"
)
NOTHING_SAVED = "Nothing to save: {why}."
UNNAMED_SAVED = (
    "Nothing to save: the column names no provider or kind of passage. With `python -m eval "
    "calibrate COLUMN --provider-name … --model … --width … --passage … --save cutoffs.json` it "
    "can be saved."
)
SAVE_FAILED = "The cutoff could not be saved. Correct what is said here and press Save again:"
LEARNS = (
    "tfidf learns from each owner's texts, and its vectors are then of another identity. In a "
    "replay this cutoff is therefore not used; it holds for tfidf as it is before it learns."
)

CUTOFF = "Cutoff"
CUTOFF_HELP = "Arrow keys move it by a step."
CHOSEN = "● the cutoff that the objective chose"
NOT_RECOMMENDED = "○ where the objective puts it; **not recommended**"
BY_HAND = "✎ moved by hand: **not calibrated**, and never saved"
SEPARATES_BEST = "○ where the two are most apart; no cutoff meets the objective"
BACK = "Back to {cutoff}"
PICTURE = "Two kinds of pairs over one axis"
PICTURE_LEGEND = "Each as shares of its kind. The line is the cutoff, the band its 95% interval."
PICTURE_ALT = "Scores of relevant and of irrelevant pairs, with the cutoff"
CASES = {
    "relevant kept": ("✓", "relevant, kept", "reached"),
    "relevant lost": ("✗", "relevant, lost", "reached"),
    "irrelevant let through": ("✗", "irrelevant, let through", "lost"),
    "irrelevant held back": ("✓", "irrelevant, held back", "lost"),
}
CASE_COUNT = "{count} of {of} ({share})"
NO_SUCH = "none"
EXAMPLES_TITLE = "What it keeps and what it loses"
EXAMPLES_WITHOUT_TEXTS = "The scores nearest to the line; the column has no texts."
EXAMPLES_HINT = "The pairs nearest to the line: score, what was asked, what was scored."

CURVES = "Precision and recall"
CURVE_ALT = "Precision over recall of every cutoff, with the chosen one"
BY_CUTOFF_ALT = "Recall, precision, F1 and what is let through, by cutoff"
RISK = "Risk and coverage"
RISK_ALT = "Share of wrong best passages over the share of queries with one"
AS_TABLES = "As tables"
TABLE_CURVE = "Every cutoff (CSV)"
TABLE_HISTOGRAM = "Distributions (CSV)"
TABLE_PERCENTILES = "Percentiles (CSV)"
TABLE_RISK = "Risk and coverage (CSV)"
TABLE_EXAMPLES = "Examples (CSV)"
TABLE_BEST = "Best four of each query (CSV)"

ELSEWHERE = "On {grouped} that it was not chosen on"
ELSEWHERE_CAPTION = (
    "The cutoff is chosen on the others and tried on those left out, in {folds} folds. That is "
    "what to expect of new data."
)
ELSEWHERE_COLUMNS = {
    "figure": "",
    "here": "on all of these",
    "elsewhere": "on those left out",
    "interval": "95% interval",
    "means": "what it is",
}
LANGUAGES = "By language"
LANGUAGE_COLUMNS = {
    "language": "Language",
    "groups": "Groups",
    "relevant": "Relevant pairs",
    "cutoff": "Cutoff",
    "interval": "95% interval",
    "recall": "Recall, left out",
    "let_through": "Let through, left out",
    "verdict": "Verdict",
}
WARNING = "⚠ {text}"

ORIGIN = "Where these scores come from, and everything as a file"
DOWNLOAD_PARQUET = "Score column (Parquet)"
DOWNLOAD_CSV = "Score column (CSV)"
DOWNLOAD_RECORD = "Record (JSON)"
DOWNLOAD_REPORT = "Everything measured (JSON)"

SAVED_TITLE = "Saved cutoffs"
SAVED_NONE = "None is saved in this folder of runs yet."
SAVED_BROKEN = (
    "The file of saved cutoffs cannot be read, so replays cannot use it either. Correct it, or "
    "move it away and save again:"
)
SAVED_COLUMNS = {
    "provider": "Provider",
    "kind": "Passages",
    "cutoff": "Cutoff",
    "interval": "95% interval",
    "objective": "Objective",
    "recall": "Recall, left out",
    "data": "Calibrated on",
    "date": "Date",
}
SAVED_DOWNLOAD = "Saved cutoffs (CSV)"
DRIFTED = "The scores above have moved since the cutoff of {date} was saved: save anew."
NOT_DRIFTED = "The scores above have not moved since the cutoff of {date} was saved."

FLOOR_LINE = "95% of random pairs score below {p95}, and 99% below {p99}."
FLOOR = "{says} Label some pairs as relevant or not, and a cutoff can be chosen."
FLOOR_DETAIL = (
    "{pairs} pairs of {texts} of {of_texts} texts, each with one of another {grouped}, scored by "
    "{provider}."
)
FLOOR_ALT = "Scores of random pairs, with the 95th and 99th percentile"
FLOOR_DOWNLOAD = "Noise floor (JSON)"

TURN = "A turn with this cutoff"
TURN_HINT = "The same question of a run, composed without a cutoff and with the one chosen above."
TURN_RUN = "Run"
TURN_RUN_OPTION = "{provider}, {mode} · {run}"
TURN_QUESTION = "Question"
TURN_NO_RUNS = (
    "No run here has searched by meaning yet. Start a replay on the Runs page with search mode "
    "**hybrid** and provider **{provider}**; a turn of it can then be tried with any cutoff."
)
TURN_OTHER = (
    "This run's vectors are of {own}, and the scores above of {here}: scores of different "
    "providers never mix. Calibrate with the run's provider, or choose another run."
)
TURN_NO_QUESTIONS = "This run holds no question. Choose another run."
TURN_REFUSED = "This turn cannot be composed with the cutoff. Choose another turn or run:"
TURN_KIND = (
    "No layer of the prompt shows {kind} yet. Calibrate messages or notes to try a cutoff on a "
    "turn."
)
TURN_LEARNS = (
    "tfidf learns from each conversation's own texts, so that its scores in a run are not those "
    "above: no cutoff carries over. Calibrate with another provider to try a cutoff on a turn."
)
TURN_UNNAMED = "The scores above name no provider and kind of passage, so that no run fits them."
TURN_BUILDING = "Building the memory as it stood at this turn …"
TURN_SAME = (
    "The prompt holds the same items with the cutoff as without; {below} {kind} of this turn score "
    "below {cutoff}."
)
TURN_CHANGED = "With {cutoff}: {left} out of the prompt, {entered} into it{moved}."
TURN_MOVED = ", {count} in another place"
TURN_ANSWER = " Answer in the prompt: {held}; without a cutoff: {without}."
TURN_VERDICTS = {"reached": "yes", "partly": "in part", "lost": "no"}
TURN_BELOW = "{below} {kind} of this turn score below the cutoff."
TURN_NOTES = "Notes below it are not left out: they come after the ranked ones, newest first."
TURN_WORDS = "In a hybrid search a message with a word of the question need not reach the cutoff."
TURN_OPEN = "Open this turn"
MARKS = {"turn": "·", "unmeasured": "?", "reached": "✓", "partly": "◐", "lost": "✗"}
QUESTION_OPTION = "{mark} {text}"


def left(seconds: float | None) -> str:
    """The time left, in words."""
    if seconds is None:
        return LEFT_UNKNOWN
    if seconds < 100:
        return LEFT_SECONDS.format(seconds=max(1, round(seconds)))
    return LEFT_MINUTES.format(minutes=round(seconds / 60))


def expected(seconds: float | None) -> str:
    """How long it will take, in words."""
    if seconds is None:
        return TIME_UNKNOWN
    if seconds < 100:
        return TIME_SECONDS.format(seconds=max(1, round(seconds)))
    return TIME_MINUTES.format(minutes=round(seconds / 60))
