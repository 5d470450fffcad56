"""Every word of the interface, in one place (those of the Turn and Calibrate pages, and
of the arms side by side, stand in `wording_turn`, `wording_calibrate`, `wording_arms`).

Texts with `**` or backticks are ours and are read as Markdown; what is put into them goes through
`workbench.escaped` first.
"""

APP = "Mnemoscope"

RUN = "Run"
NO_RUNS = (
    "There is no finished run yet. Start a replay on the Runs page, or on the command line: "
    "`python -m eval replay shop`."
)
RUN_OPTION = "{run} · {changed}"
TO_RUNS = "Go to Runs"
UNKNOWN_RUN = "there is no such run in this folder"
RUN_NOT_USABLE = "The run in the address cannot be opened:"
CHOOSE_RUN = "choose another run"
RUN_UNUSABLE = "This run cannot be opened:"
RUN_CANNOT_OPEN = "This run cannot be opened. Choose another one, or replay the dataset again:"
RUN_INCONCLUSIVE = (
    "This run is {why}. Calls that failed stay in every count, so its shares may be too "
    "low. Replay it when what failed answers again."
)
FIGURE_HTML = "Figure (HTML)"

DEMO_PROGRESS = "First start: replaying the bundled conversations once, in seconds; arm {arm} …"
DEMO_FAILED = (
    "The demo runs could not be made. Everything else works; correct what is said here and load "
    "the page again:"
)

# Runs

RUNS_QUESTION = "Runs · Which way of remembering works best so far?"
RUNS_BEST = (
    "Best so far on {dataset}: **{arm}**{others}{by}. {share} of answers {days} days or older "
    "reached, at {characters} characters a {per}."
)
RUNS_BEST_DETAIL = "{hits} of {count} such answers stood in the prompt; 95% interval {interval}."
RUNS_YARDSTICK = "The yardstick {arm}{what} reaches {share} at {characters} characters a {per}."
YARDSTICKS = {
    "full-context": ", sending everything said so far,",
    "grep": ", a plain substring search in the search’s place,",
}
RUNS_ONLY_YARDSTICK = "Only a yardstick has been replayed on {dataset} so far."
RUNS_NOTHING_MEASURED = "No finished run has measured an old answer yet."
RUNS_NOTHING_MEASURED_DETAIL = (
    "An answer counts as old from {days} days on. Replay a dataset whose questions name their "
    "evidence, such as the bundled one; any finished run can be read turn by turn."
)
RUNS_EMPTY = "There is no run yet."
RUNS_EMPTY_DETAIL = (
    "Replay a dataset below: its conversations go through the memory message by message, and each "
    "question shows whether its answer would still have reached the model."
)
RUNS_REACHED_HELP = (
    "A question counts as reached when a message that answers it stands in the prompt, whole."
)
RUNS_TABLE_ALT = "The runs of this folder, newest first"
RUNS_UNUSABLE = "{count} of the {total} runs here cannot be used; the table says why."
RUNS_DOWNLOAD = "Table (CSV)"
RUNS_UNKNOWN = "The run in the address is not in this folder, so another one is chosen below:"

COLUMN_MARK = ""
COLUMN_RUN = "Run"
COLUMN_STATE = "State"
COLUMN_DATASET = "Dataset"
COLUMN_ARM = "Arm"
COLUMN_CHANGED = "Changed settings"
COLUMN_PROVIDER = "Provider"
COLUMN_REACHED = "Old answers reached"
COLUMN_INTERVAL = "95% interval"
HITS_OF_COUNT = "{hits} of {count}"
COLUMN_CHARACTERS = "Characters a turn"
COLUMN_ASKED = "Questions / turns"
COLUMN_ERRORS = "Errors"
COLUMN_STARTED = "Started (UTC)"
HELP_REACHED = (
    "The share of answers 12 days or older for which a message that answers the question stood in "
    "the prompt, whole."
)
HELP_INTERVAL = "Wilson's interval: where the true share lies, with 95% confidence."
HELP_CHARACTERS = "The whole prompt, on average. A yardstick is composed at questions only (“q”)."
HELP_ERRORS = (
    "Layers that failed, turns at which the provider gave no vectors, and what the write gate "
    "refused."
)
HELP_PROVIDER = "What turned text into vectors, and how excerpts are found."
MARK_BEST = "★ best"
MARK_NEWEST = "newest"
NO_CHANGES = "–"
NO_ERRORS = "none"
NO_PROVIDER = "no provider ({mode} search)"
WITH_PROVIDER = "{provider} ({mode} search)"
PROVIDER_SHOWN = "{provider} · {mode}"
NO_PROVIDER_SHOWN = "none · {mode}"
WITHOUT_PROVIDER = "{count} turns without the provider"
ONE_WITHOUT_PROVIDER = "1 turn without the provider"
FAILED_LAYERS = "{count} failed layers"
ONE_FAILED_LAYER = "1 failed layer"
REFUSED = "{count} refused"

STATE = {
    "complete": "complete",
    "unfinished": "unfinished: resume it",
    "damaged": "damaged: replay again",
    "older format": "old format: replay again",
    "newer format": "newer format: update first",
}
STATE_REPLAYING = "being replayed now"
TO_DO = {
    "unfinished": (
        "This replay was interrupted, so it is no result. Resume it: the conversations that are "
        "done are kept. (If another program is replaying it at this moment, leave it to finish.)"
    ),
    "damaged": (
        "Files of this run are missing or broken. Replay its dataset again; the folder may then be "
        "deleted."
    ),
    "older format": (
        "An older version of Mnemoscope wrote this run. Replay its dataset again with this "
        "version, or open the run with the version that wrote it."
    ),
    "newer format": "A newer version of Mnemoscope wrote this run. Update to open it.",
}

CHOSEN = "Chosen run"
CHOSEN_WORDS = (
    "**{arm}** on {dataset}{others}, {provider}: {share} of answers {days} days or older reached "
    "({hits} of {count}; 95% interval {interval}), at {characters} characters a {per}."
)
CHOSEN_UNMEASURED = (
    "**{arm}** on {dataset}{others}, {provider}: no answer {days} days or older to measure, at "
    "{characters} characters a {per}."
)
OPEN_RECALL = "Recall of this run"
OPEN_TURN = "Turns of this run"
RESUME = "Resume"
DETAILS = "Settings, versions, repairs"
DETAIL_PROVIDER = "Provider"
DETAIL_SETTINGS = "Settings (the changed ones first)"
DETAIL_REPAIRS = "Repaired or left out on loading"
DETAIL_REFUSED = "Refused by the write gate"
DETAIL_NONE = "Nothing."
DETAIL_MANIFEST = "Dataset and versions"

# Start a replay

REPLAY = "Start a replay"
REPLAY_DATASET = "Bundled dataset"
REPLAY_PATH = "… or a path on this machine"
REPLAY_PATH_HELP = (
    "A file or folder that the machine running Mnemoscope can read. If given, it is used."
)
REPLAY_FORMAT = "Format"
REPLAY_FORMAT_HELP = "`auto` recognises it by its content."
REPLAY_ARM = "Arm"
REPLAY_LIMIT = "First conversations only (empty: all)"
REPLAY_MODE = "Search mode"
REPLAY_MODES = {
    "lexical": "lexical: by words",
    "hybrid": "hybrid: words and meaning",
    "semantic": "semantic: meaning alone",
}
REPLAY_MODE_HELP = "How excerpts are found. By meaning takes a provider."
REPLAY_PROVIDER = "Provider"
REPLAY_PROVIDER_HELP = (
    "What turns text into vectors; notes are then ordered by meaning too. The packaged model takes "
    "about a minute for the bundled conversations the first time; tfidf takes a second. "
    "`sentence-transformers:MODEL` and `openai:MODEL@http://HOST/v1` may be typed."
)
NONE_CHOSEN = "none"
PROVIDERS = {
    NONE_CHOSEN: "none",
    "auto": "auto (the best that works here)",
    "packaged": "packaged (multilingual-e5-small)",
    "packaged:use": "packaged:use (USE multilingual)",
    "tfidf": "tfidf (words only, needs nothing)",
}
REPLAY_CUTOFFS = "Use saved cutoffs ({count})"
REPLAY_CUTOFFS_HELP = (
    "Those of the Calibrate page, each used for exactly its provider and kind of passage: {kinds}."
)
REPLAY_CUTOFFS_GONE = (
    "the saved cutoffs that were ticked are gone: save them again on Calibrate, or choose again"
)
REPLAY_CUTOFFS_BROKEN = (
    "The saved cutoffs cannot be read, so a replay cannot use them. Correct the file, or move it "
    "away and calibrate again:"
)
REPLAY_NEEDS_PROVIDER = (
    "A {mode} search finds by meaning and takes a provider: choose one, or search by words. What "
    "you entered is still here."
)
REPLAY_SETTINGS = "Changed settings, one name=value a line"
REPLAY_SETTINGS_HINT = "excerpts_limit=8\nceiling=12000"
REPLAY_SETTINGS_LIST = "All settings and their defaults"
REPLAY_START = "Start"
REPLAY_NO_PATH = "Give the path of a dataset."
REPLAY_BUSY = "A replay is running. Start the next one when it is finished."
REPLAY_READING = "Reading and checking the dataset …"
REPLAY_PROGRESS = "{turns} of {of_turns} turns, {left}"
REPLAY_EMBEDDING = "embedding {embedded} of {of} texts of conversation {conversation}; {turns}"
REPLAY_LEFT_SECONDS = "about {seconds} s left"
REPLAY_LEFT_MINUTES = "about {minutes} min left"
REPLAY_LEFT_UNKNOWN = "working out the time left"
REPLAY_RUNS_ON = "You may leave this page; the replay goes on."
REPLAY_STOP = "Stop"
REPLAY_STOPPING = "Stopping …"
REPLAY_DONE = "The replay is finished, and its run is chosen above."
REPLAY_REPAIRS = "{count} things were repaired or left out on loading; the details list them."
REPLAY_STOPPED = (
    "The replay was stopped. The conversations that are done are kept: choose the unfinished run "
    "in the table to resume it."
)
REPLAY_FAULTS = (
    "The dataset has {count} faults, and nothing was replayed. Correct them and start again; what "
    "you entered is still here."
)
REPLAY_FAULT = (
    "The dataset has a fault, and nothing was replayed. Correct it and start again; what you "
    "entered is still here."
)
REPLAY_FAILED = "The replay could not be made. What you entered is still here:"
REPLAY_BROKE = (
    "The replay broke off, which is a fault of Mnemoscope's or of this machine. The conversations "
    "that are done are kept: choose the unfinished run in the table to resume it."
)
REPLAY_TRACE = "The whole error"
FAULT_COLUMNS = {"file": "File", "line": "Line", "field": "Field", "reason": "Reason"}

# Recall

RECALL_QUESTION = "Recall · Does an old answer still reach the prompt?"
RECALL_DAYS = "Old from … days on"
RECALL_DAYS_HELP = "An answer this many days old, or older, counts as old."
RECALL_HEADLINE = "{share} of answers {days} days or older reached the prompt ({hits} of {count})."
RECALL_DETAIL = (
    "95% interval {interval}. All of the evidence was there for {all_share}. A question's prompt "
    "took {characters} characters on average."
)
RECALL_ONLY_CITED = (
    "{count} of the {hits} are there only by a note or summary that cites the answer's message; "
    "that it tells the answer is judged by its words alone."
)
RECALL_FEW = "With only {count} such questions the interval is wide: read it as a hint."
RECALL_NO_OLD = "No question of this run has an answer {days} days or older."
RECALL_NO_OLD_DETAIL = (
    "The oldest answer is {oldest} days old. Choose fewer days; all ages are shown below."
)
RECALL_NOTHING = "There is nothing to measure in this run."
RECALL_NOTHING_DETAIL = (
    "None of its {count} questions names the messages that answer it. Its turns can be read all "
    "the same."
)
RECALL_BROKEN = "The tables of this run cannot be read:"

RECALL_EMPTY = "There is no question to count here. Choose fewer days, or all ages."
AS_TABLE = "As a table"
RECALL_SCOPE_HELP = "What the funnel, the list of lost answers and the tables beneath count."
RECALL_LOST_DOWNLOAD = "All lost answers (CSV)"
GROUP_AGE = "Age, days"
RECALL_CURVE = "By age of the answer"
RECALL_CURVE_CAPTION = (
    "Each point is a band of answer ages; the bars are 95% intervals. Right of the line an answer "
    "counts as old."
)
RECALL_CURVE_ALT = "Share of questions that reached the prompt, by age of the answer"
RECALL_SCOPE = "Count"
RECALL_SCOPES = {"old": "{days} days or older", "all": "all ages"}
RECALL_GROUPS = "By language, kind, and wording"
RECALL_GROUP_NAMES = {
    "language": "Language",
    "kind": "Kind of question",
    "paraphrased": "Question worded unlike its answer",
}
RECALL_PARAPHRASED = {True: "yes, shares no content word", False: "no"}
RECALL_FUNNEL = "Where answers were lost"
RECALL_FUNNEL_CAPTION = (
    "A question is counted where the first piece of its evidence was lost, so what is left at the "
    "end has all of it."
)
RECALL_FUNNEL_NOWHERE = "Nothing was lost at the other stages: {stages}."
RECALL_FUNNEL_ALT = "Questions left after each stage at which evidence was lost"
RECALL_LOST = "Lost answers"
RECALL_LOST_NONE = "No answer was lost here: all evidence of every question is in its prompt."
RECALL_LOST_GROUP = "{words} ({count})"
RECALL_LOST_BY = "Lost by {layer}: {words}"
RECALL_TRY = {
    "not stored": "The message was not in the store at that moment: look at the dataset's times.",
    "not searched": (
        "Nothing was looked up for this question: the arm or the settings switch the search off "
        "(`excerpts_cap`), or it has too few real words (`min_real_words`)."
    ),
    "failed": "A layer failed: open the turn to see its error.",
    "not found": (
        "The search matches words, and no word of the question stands in the answer. A search by "
        "meaning, or a note written in time, would bridge that."
    ),
    "below cutoff": "It scored below the cutoff: calibrate the cutoff for this provider.",
    "ranked too low": "It was found, but others came first: try a higher `excerpts_limit` "
    "together with a higher `excerpts_cap`.",
    "over budget": "It was found but did not fit: try a higher `excerpts_cap` or `ceiling`.",
    "cut": "Only a part of it was quoted: try a larger `excerpt_size`.",
}
RECALL_TRY_MEANING = {
    "not found": (
        "Neither its words nor its meaning brought it among the messages that are ranked: try a "
        "higher `search_depth`, or another provider."
    ),
}
RECALL_UNANSWERABLE = (
    "Of {all} questions, {measured} can be measured; {unanswerable} are unanswerable on purpose "
    "and brought {characters} characters of excerpts along on average; {silent} name no evidence."
)
RECALL_RANKING = "The search’s ranking, over all ages: {measures}."
RECALL_DOWNLOAD_ALL = "Everything measured (JSON)"
RANKING_NAMES = {"R@4": "recall@4", "R@10": "recall@10", "RR@10": "MRR@10"}
OPEN = "Recall"
LOST_OPEN = "Turn"
LOST_OPEN_TEXT = "open"
LOST_COLUMNS = {
    "text": "Question",
    "answer": "Answer",
    "age": "Age, days",
    "in_prompt": "In the prompt",
    "detail": "Why",
    "kind": "Kind",
    "language": "Language",
    "conversation": "Conversation",
}
GROUP_QUESTIONS = "Questions"
GROUP_SOME = "Reached"
GROUP_ALL = "All of it"
GROUP_CHARACTERS = "Characters a question"
GROUP_RUN = "Run"
