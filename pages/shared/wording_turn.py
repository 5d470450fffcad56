"""Every word of the Turn page."""

from memcore import Layer

CONVERSATION = "Conversation"
CONVERSATION_OPTION = "{title} · {questions} questions, {lost} lost"
SHOW = "Show"
SHOWN = {"all": "All turns", "questions": "Questions", "lost": "Lost answers"}
TURN = "Turn"
TURN_OPTION = "turn {number} of {count} · {time} · {mark} {text}"
MARKS = {"turn": "·", "unmeasured": "?", "reached": "✓", "partly": "◐", "lost": "✗"}
MARKS_HELP = (
    "✓ the answer is in the prompt or cited there, ◐ a part of it, ✗ it was lost, "
    "? a question that names no evidence, · an ordinary turn"
)
PREVIOUS = "Previous"
NEXT = "Next"
NO_PREVIOUS = "There is none before this one."
NO_NEXT = "There is none after this one."
LINK = "Link"
LINK_HELP = (
    "This address opens this turn of this run. Copy it and send it. "
    "What if has its own, with the numbers you moved."
)
NONE_SUCH = {
    "questions": "No question is asked in this conversation: use previous and next on all turns.",
    "lost": "No answer was lost in this conversation: show all turns, or choose another.",
}
UNKNOWN_CONVERSATION = (
    "This run has no conversation of the name in the address. Another one is shown, choose yours."
)
UNKNOWN_TURN = (
    "This conversation has no turn of the number in the address, only 0 to {last}. "
    "Another one is shown, choose yours."
)
NO_TURNS = (
    "No turn of this conversation was composed: nobody said anything to answer. "
    "Choose another conversation."
)
NO_CONVERSATIONS = "This run holds no conversation. Choose another run, or replay a dataset."
LOADING = "Reading the turn …"
DAMAGED = "This turn cannot be read."
REPLAY_AGAIN = "Choose another run above, or replay the dataset on the Runs page."

ASKED = "Asked {time} ({zone}) by {person}"
SAID = "Said {time} ({zone}) by {person}"
GOLD = "Expected answer: "
CITED_MARK = "≈"
ANSWER_MARKS = {"reached": "✓", "partly": "◐", "lost": "✗", "unmeasured": "?", "turn": "·"}
UNANSWERABLE = (
    "Nothing in this conversation answers it, so nothing could be lost. "
    "{characters} characters of excerpts rode along."
)
NO_EVIDENCE = (
    "The dataset names no message as its answer, so there is nothing to look for in the prompt."
)
MEANING = "Meaning: "
PROVIDER_FAILED = (
    "The provider gave no vectors at this turn, so it was composed by words and dates alone. "
    "Correct what it says and replay again:"
)
DEGRADED = "The search of this turn is not the one that was asked for:"
FAILED_LAYERS = "The prompt lacks what failed to be read: {layers}."
EVIDENCE = "◆ {time}, {speaker}: "
SHOW_IT = "Show it"
SHOW_IT_HELP = "Opens the conversation on the left at that day and marks the message."
WHY_NOT = "Layer by layer"
HAS_IT = "has it"
MORE_EVIDENCE = "{count} more messages of the answer"
STEP_MARKS = {"passed": "✓", "lost here": "✗", "not reached": "", "not needed": ""}
PRICE = "This prompt: {total:,} characters, about {tokens:,} tokens (characters / 4, an estimate)."
PERSONA = " Persona: {persona:,} of them, outside the ceiling."

TIMELINE = {"matters": "What matters", "all": "Whole conversation"}
TIMELINE_LABEL = "Conversation until this turn"
EARLIER = "Earlier"
LATER = "Later"
TO_NOW = "To the turn"
GAP = "⋯ {count} not shown, {first} – {last}"
GAP_ONE_DAY = "⋯ {count} not shown, {first}"
NOW_QUESTION = "the question"
NOW_TURN = "this turn"
NOT_YET = "{count} said later: not yet said at this turn, so not shown."
BEGINNING = "Nothing was said before this turn."
AGENT = "agent"
TOOL = "tool"
EVIDENCE_REACHED = "◆ answer, in the prompt"
EVIDENCE_CITED = "◆ answer, only cited in the prompt"
EVIDENCE_LOST = "◆ answer, not in the prompt"
MORE_TEXT = "… show all {count:,} characters"
PLACE = "messages {first}–{last} of {count}"
ONE_MESSAGE, MESSAGES = "1 message", "{count:,} messages"
HELD = {
    Layer.LAST_EXCHANGE: "in the prompt: last exchange",
    Layer.WINDOW: "in the window",
    Layer.EXCERPTS: "quoted as excerpt",
    Layer.NOTES: "cited by note {item}",
    Layer.SUMMARY: "cited by the summary",
}
PART = "only a part is quoted"

PANELS = {
    "layers": "Layers and items",
    "prompt": "Prompt",
    "changes": "Changes",
    "whatif": "What if",
    "ask": "Ask a model",
}
PANEL_LABEL = "More about this turn"
BUDGET_TITLE = "What each layer asked for and received, in characters"
BUDGET_LEGEND = "faint: asked · solid: received · stroke: cap"
BUDGET_ALT = "Characters asked and received by each layer of the prompt, with its cap"

ITEMS_OF = "Items of"
ITEMS_COUNT = "{layer} ({kept}/{offered})"
NO_ITEMS = "Nothing was offered to this layer: {note}."
NOTHING = "there was nothing of its kind yet"
ITEM_HINT = "Choose a row to read the whole item and to find it in the conversation."
ITEM_KEPT, ITEM_DROPPED = "kept", "dropped"
ITEM_TEXT = "Text of {id}"
ITEM_SHOW = "Show in the conversation"
NO_TEXT = "The text of this item is not known."
DOWNLOAD_ITEMS = "Download items"
DOWNLOAD_LAYERS = "Download layers"
LAYER_COLUMNS = (
    "layer",
    "asked",
    "cap",
    "granted",
    "received",
    "offered",
    "kept",
    "dropped",
    "ordering",
    "status",
    "note",
)
ACCOUNT = {
    "layer": "layer",
    "asked": "asked",
    "cap": "cap",
    "granted": "granted",
    "received": "received",
    "kept": "kept",
    "dropped": "dropped",
    "words": "order and remarks",
}
TOTAL = "the prompt"
ITEM_COLUMNS = {
    "kept": "in prompt",
    "place": "place",
    "score": "score",
    "size": "size",
    "reason": "why dropped",
    "detail": "why, and the score's parts",
    "text": "text",
    "said": "said",
    "id": "id",
}

FORMS = {
    "coloured": "Coloured by layer",
    "openai": "OpenAI-compatible",
    "anthropic": "Anthropic",
    "raw": "Raw text",
}
FORM_LABEL = "How the prompt is shown"
EMPTY_LAYERS = "Not in this prompt: {layers}."
SYSTEM_TITLE = "System prompt"
HISTORY_TITLE = "History and new message"
NEW_MESSAGE = "new message"
CHARACTERS = "{count:,} characters"
FOUND_IN_PROMPT = "The answer's messages are underlined."
TAKEN = "Valid for {api}: "
NOT_TAKEN = "Not valid for {api}, which would refuse it: {fault}."
DOWNLOAD_PROMPT = "Download the prompt as text"
DOWNLOAD_JSON = "Download as JSON"

NO_PREVIOUS_TURN = (
    "This is the first turn of its thread: there is no earlier prompt to compare it with."
)
UNCHANGED = (
    "The first {unchanged:,} of {total:,} characters are the same as in turn {number}, "
    "the one before: that much ({share:.0%}) a provider's prefix cache can serve."
)
NO_CHANGE = "Both prompts hold the same items."
CHANGES = {"entered": "+ entered", "left": "− left", "moved": "moved to"}
NO_LINES = "The text is the same to the character."
DIFFERENCE = "The text, line by line"
SAME_LINE, SAME_LINES = "1 line is the same", "{count:,} lines are the same"

WHAT_IF = "The same turn, composed again with other numbers. The run stays as it is."
MODE = "Search mode"
MODES = {"lexical": "Lexical", "semantic": "Semantic", "hybrid": "Hybrid"}
OWN_MODE = "{mode} (the run's)"
MODE_HELP = "By words, by meaning, or by both. By meaning takes a provider."
PROVIDER = "Provider"
PROVIDER_HELP = (
    "This run has none. The conversation is embedded first, which packaged takes up to a minute "
    "for; what is embedded is kept."
)
PROVIDERS = {
    "tfidf": "tfidf (words only, at once)",
    "packaged:use": "packaged:use (USE multilingual)",
    "packaged": "packaged (multilingual-e5-small)",
}
EMBEDDING = "Embedding the conversation first: {done} of {of} texts"
NO_PROVIDER = "The provider gives no vectors. Choose another one, or correct what it says:"
SLIDERS = {
    "ceiling": "Ceiling, characters",
    "excerpts_limit": "Excerpts, number",
    "excerpts_cap": "Excerpts cap, characters",
    "notes_cap": "Notes cap, characters",
    "window_cap": "Window cap, characters",
}
SLIDER_HELP = "The run had {value:,}."
NO_BOUND = "The run had no bound here."
RESET = "Back to the run's numbers"
BUILDING = "Building the memory as it stood at this turn …"
RUN_NAME, WHAT_IF_NAME = "run", "what if"
SAME_NUMBERS = "These are the run's own numbers: move a slider, or search another way."
IS_REACHED = "Answer reached: yes, by {layers}."
IS_PARTLY = "Answer reached in part: {reached} of {count} messages, by {layers}."
IS_LOST = "Answer reached: no: {reason}."
NOT_MEASURED = "No answer is looked for at this turn."
BEFORE = " In the run: {verdict}."
VERDICTS = {"reached": "yes", "partly": "in part", "lost": "no"}
CHARACTERS_CHANGE = "{total:,} characters, about {tokens:,} tokens; {change:+,} against the run."
WHAT_IF_LINK = "Link to this turn with these numbers"
WHAT_IF_PROMPT = "The whole prompt with these numbers"
WHAT_IF_DIFFERENCE = "What differs from the run's prompt"
REFUSED = "The turn cannot be composed with these numbers. Move a slider back."

ASK = (
    "The prompt of this turn, sent to a model as the run composed it. With tools it may search "
    "what was said until then, and remember, in a copy of the memory that is gone afterwards: "
    "the run stays as it is."
)
ASK_MODEL = "Model"
ASK_MODEL_HELP = (
    "openai:MODEL@URL, for any server with OpenAI's chat completions, a local one too; or "
    "anthropic:MODEL, or anthropic:MODEL@URL. What MNEMOSCOPE_BRAIN names stands here at first. "
    "Keys come from OPENAI_API_KEY and ANTHROPIC_API_KEY alone: none belongs here."
)
ASK_MODEL_EXAMPLE = "openai:MODEL@URL or anthropic:MODEL"
ASK_TOOLS = "Memory tools"
ASK_TOOLS_ARE = {"on": "With tools", "off": "Without tools"}
ASK_TOOLS_HELP = (
    "remember, recent_messages and search_messages, on the memory as it stood at this turn. "
    "Without them the prompt is all that the model can read."
)
ASK_NO_MODEL = (
    "No model is named yet, so there is nobody to ask. Start the dashboard with one of these "
    "lines, or type a name of that form into the field above. A server that wants a key finds it "
    "in OPENAI_API_KEY or ANTHROPIC_API_KEY of the environment, and nowhere else."
)
ASK_EXAMPLES = """\
MNEMOSCOPE_BRAIN=openai:qwen3:8b@http://127.0.0.1:11434/v1 make app
MNEMOSCOPE_BRAIN=anthropic:claude-sonnet-4-5 make app"""
ASK_BAD_MODEL = "This names no model that can be asked. Write it in one of these forms:"
ASK_FORMS = "openai:MODEL@URL\nanthropic:MODEL\nanthropic:MODEL@URL"
ASK_BAD_SETTINGS = "The settings are not accepted. Correct what is named here:"
ASK_NOW = "Ask"
ASK_AGAIN = "Ask again"
ASK_ASKING = "Asking …"
ASK_NOW_HELP = "Sends {characters:,} characters, about {tokens:,} tokens, to the model named here."
ASK_BUILDING = "Building the memory as it stood at this turn …"
ASK_WAITING = "Request {request}: waiting for the model, {seconds:.0f} of at most {limit:g} seconds"
ASK_CALLED = ". It has made {calls} so far"
ASK_RUNS_ON = (
    "It goes on while you look at other turns; the reply waits here until this tab is reloaded."
)
ASK_STOP = "Do not wait"
ASK_STOPPED = "Nobody waited for this reply, and what came of it was thrown away."
ASK_BROKE = "The model was not asked: the turn's memory could not be built."
ASK_TRACE = "What broke, for a report"
ASK_REPLY = "Reply of {brain}, {tools}"
ASK_LAST_WORDS = "What it had said by then, {brain}, {tools}"
ASK_CUT_SHORT = "… {count:,} more characters are in the exchange as JSON."
ASK_EXPECTED = "Not graded here; compare it with the expected answer: "
ASK_DONE = {
    "done": "Answered",
    "too many calls": "Made to answer after too many tool calls",
    "too slow": "Out of time",
    "error": "Ended with an error",
}
ASK_PRICE = "{ended} in {requests}, {calls}, {seconds:.1f} seconds"
ASK_TOKENS = "; {tokens_in} tokens in, {tokens_out} out, as the provider counted"
ASK_UNCOUNTED = "?"
ASK_NO_REPLY = "No reply."
ASK_FAILED = {
    "ProviderUnavailable": (
        "No reply: the server is busy, failing or not there. See that it runs and that the address "
        "is right, wait a moment, and ask again."
    ),
    "ProviderRefused": (
        "No reply: the server refuses to answer. Correct what is named below and ask again; a key "
        "is read from the environment when the dashboard starts."
    ),
    "ProviderAnswer": (
        "No reply: what came back is none of a chat model. Check that the address is that of an "
        "API of this kind (it often ends with /v1), and ask again."
    ),
    "MissingPackage": "No reply: a package is missing. Install it, start again, and ask again.",
    "InvalidRequest": (
        "Nothing was sent: the API would refuse this prompt. The panel Prompt shows it as it is."
    ),
}
ASK_FAILED_OTHERWISE = (
    "No reply: the model said nothing or refused. Ask again, without tools, or ask another model."
)
ASK_SLOW = (
    "The time was over: an answer may take {limit:g} seconds. Ask again or without tools, or start "
    "the dashboard with a greater MNEMOSCOPE_AGENT_SECONDS (and MNEMOSCOPE_BRAIN_SECONDS)."
)
ASK_ENDLESS = (
    "The model went on calling tools until no more were allowed, and was then made to answer with "
    "what it had. Ask it without tools, or start the dashboard with greater "
    "MNEMOSCOPE_AGENT_ROUNDS and MNEMOSCOPE_AGENT_CALLS."
)
ASK_CUT = "The answer is not whole. A greater MNEMOSCOPE_BRAIN_MAX_OUTPUT gives it room:"
ASK_CALLS = "What the model called, in order"
ASK_NO_CALLS = "It called no tool."
ASK_NO_TOOLS = "It had no tools: the prompt was all it could read."
ASK_CALL_OK, ASK_CALL_ERROR = "ok", "error"
ASK_EVIDENCE_CALL = "◆ holds what answers it"
ASK_CALL_TIME = "{milliseconds:,.1f} ms"
ASK_ARGUMENTS = "Arguments"
ASK_RESULT = "What the model was told"
ASK_DOWNLOAD = "Download the exchange as JSON"
ASK_REQUEST, ASK_REQUESTS = "1 request", "{count:,} requests"
ASK_TOOL_CALL, ASK_TOOL_CALLS = "1 tool call", "{count:,} tool calls"


def tokens(characters: int) -> int:
    """An estimate, named as such wherever it is shown."""
    return round(characters / 4)


def messages(count: int) -> str:
    """`1 message`, `2 messages`."""
    return ONE_MESSAGE if count == 1 else MESSAGES.format(count=count)


def same_lines(count: int) -> str:
    """`1 line is the same`, `2 lines are the same`."""
    return SAME_LINE if count == 1 else SAME_LINES.format(count=count)


def requests(count: int) -> str:
    """`1 request`, `2 requests`."""
    return ASK_REQUEST if count == 1 else ASK_REQUESTS.format(count=count)


def tool_calls(count: int) -> str:
    """`1 tool call`, `2 tool calls`."""
    return ASK_TOOL_CALL if count == 1 else ASK_TOOL_CALLS.format(count=count)
