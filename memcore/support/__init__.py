"""The support check: is a note's line borne out by the messages that it cites?"""

from memcore.support.check import LONGEST, Verdict, supported

__all__ = ["LONGEST", "Verdict", "supported"]
