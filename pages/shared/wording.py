"""Every word of the interface, in one place."""

APP = "Mnemoscope"

RUN = "Run"
NO_RUNS = (
    "There is no finished run yet. Start a replay below, or on the command line: "
    "`python -m eval replay shop`."
)
UNKNOWN_RUN = "there is no such run in this folder"
RUN_NOT_USABLE = "Run {run} cannot be opened: {problem}. Another run is shown."

DEMO_PROGRESS = "Replaying the bundled conversations, arm {arm} …"
DEMO_FAILED = "The demo could not be made: {error}"
