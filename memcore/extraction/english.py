"""What an explicit statement looks like in English. See `statements` for how it is read."""

from __future__ import annotations

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
DAY = (
    rf"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|tmr|next (?:week|month|year"
    rf"|\w+day)|{MONTH} \d|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}|the \d{{1,2}}(?:st|nd|rd|th)"
    rf"|\d{{1,2}}/\d{{1,2}}|this (?:week|weekend|month|evening|afternoon)|in \d+ (?:days|weeks))"
)
_A = r"(?:(?:really|absolutely|just|actually|also|still|always|usually|definitely|truly|much) )*"
_I = r"(?:i|we)"
_AM = r"(?:i'm|i am|im|we're|we are)"
_HAVE = r"(?:i|we)(?:'ve| have)?"
_KIN = (
    r"(?:son|daughter|wife|husband|mother|mum|mom|father|dad|sister|brother|partner|girlfriend"
    r"|boyfriend|fiance|fiancee|baby|kid|kids|child|children|twins|niece|nephew|grandson"
    r"|granddaughter|grandmother|grandfather|dog|cat|puppy|kitten|horse|car|bike|flatmate|boss)"
)
_NO_TRADE = (
    r"(?!(?:a|an) (?:bit|little|lot|few|mess|wreck|fan|big fan|while|total|complete|bad|good|fool"
    r"|idiot|hundred|hurry|step|tad|touch|minute|day|week|month|year|customer|thing|goner|believer"
    r"|sucker|disaster|genius)\b)"
)

PATTERNS = (
    # kind, subject, lasting, pattern
    ("identity", "name", True, r"my (?:full |first |last )?name(?:'s| is) \w"),
    ("identity", "name", True, r"(?:please )?call me \w+$"),
    ("identity", "birthday", True, r"i was born (?:on|in) \w"),
    ("date", "birthday", True, r"my birthday(?:'s| is)(?: on)? \w"),
    (
        "date", "", False,
        (rf"(?:(?:my|our|his|her|their|the) (?:\w+ )?|\w+'s )(?:birthday|anniversary|wedding"
        rf"|deadline|flight|exam|appointment|interview|party|race|trip|surgery|due date|move|visit)"
        rf"(?:'s| is|'ll be| will be)\b.*\b{DAY}"),
    ),
    ("identity", "home", True, rf"{_I} (?:currently |now )?live (?:in|at|on|near) \w"),
    ("identity", "origin", True, rf"{_AM} (?:originally )?from \w"),
    ("identity", "job", True, r"i (?:currently |now )?work (?:as|at|for) \w"),
    ("identity", "age", True, r"(?:i'm|i am|im) \d{1,2}(?: years old| yo)?$"),
    ("preference", "diet", True, rf"{_AM} (?:a )?(?:vegan|vegetarian|pescatarian|kosher|halal)\b"),
    ("identity", "", True, rf"(?:i'm|i am|im) {_NO_TRADE}(?:a|an) (?:\w+[ -]){{0,3}}\w+$"),
    (
        "allergy", "", True,
        (r"(?:(?:i'm|i am|im|\w+ is|\w+'s|we're) (?:\w+ )?(?:allergic to|intolerant|intolerance"
        r"|asthmatic|diabetic|coeliac|celiac|colou?r[ -]?blind)|(?:i|he|she|\w+) (?:has|have|got)"
        r" (?:an? )?(?:\w+ )?(?:allergy|allergies|asthma|diabetes)"
        r"|(?:i|we|he|she) (?:can't|cannot|can not) (?:eat|have|drink|wear|tolerate|digest) \w)"),
    ),
    ("size", "shoe size", True, r"my shoe size(?:'s| is)(?: now)? \w"),
    ("size", "size", True, r"my (?:\w+ )?size(?:'s| is)(?: now)? \w"),
    (
        "size", "", True,
        (r"my (?P<what>height|weight|inseam|waist|chest|hips|bust|foot length|ring size|neck)"
        r"(?:'s| is)(?: now)? \d"),
    ),
    ("size", "size", True, r"(?:i|we) (?:wear|take) (?:an? )?(?:size )?(?:\d|x*[sl]\b|m\b|medium)"),
    ("size", "size", True, r"(?:i'm|i am|im) (?:an? )?size \w"),
    ("size", "weight", True, r"i weigh \d"),
    (
        "size", "", False,
        (r"(?:\w+'s|his|her|their|our|the) (?:\w+ )?(?:size|height|weight|foot|feet|width|length"
        r"|waist|inseam)(?:'s| is| are) (?:\w+ )?\d"),
    ),
    (
        "contact", "", True,
        (r"my (?P<what>(?:new )?(?:phone|mobile|number|email|e-mail|address|card|membership|account"
        r"|postcode|zip)(?: number| address| code)?)(?:'s| is)(?: now)? \S"),
    ),
    (
        "change", "home", True,
        rf"{_HAVE} (?:just |recently |finally )?moved (?:to|into|in with|house|out)\b",
    ),
    (
        "change", "job", True,
        (rf"{_HAVE} (?:just |recently |finally )?(?:got|started|found|quit|left|lost"
        rf"|changed) (?:a |my "
        r"|the )?(?:new )?(?:job|work)\b"),
    ),
    ("change", "name", True, rf"{_HAVE} (?:just |recently )?changed my name\b"),
    (
        "change", "", True,
        (rf"(?:{_HAVE} (?:just |recently |finally )?(?:switched to|gave up \w+|given up \w+"
        rf"|stopped \w+ing"
        r"|quit \w+ing|became|got married|got divorced|got engaged|retired|broke up|adopted"
        rf"|had a baby)|{_I} (?:no longer|don't \w+ any ?more)|{_I} now (?:have|use|wear"
        rf"|prefer))\b"),
    ),
    (
        "preference", "", True,
        (rf"{_I} {_A}(?:prefer|love|adore|hate|dislike|detest|avoid|can't stand|cannot stand"
        r"|don't (?:\w+ )?(?:like|eat|drink|wear|want|use|do)|do not (?:like|eat|drink|wear)"
        r"|never (?:eat|drink|wear|use|buy|touch)|only (?:eat|drink|wear|use|buy|shop|ride))"
        r" (?!(?:it|that|this|them|to (?:ask|say|bother|hear|know)|you|him|her|how|what"
        r"|when)\b)\w"),
    ),
    (
        "preference", "", True,
        (rf"i {_A}(?:like|enjoy) (?!(?:it|that|this|them|you|him|her|how|what|when|the idea"
        r"|the sound|the look|where)\b)\w"),
    ),
    ("preference", "", True, r"my (?:all-time )?favou?rite (?:\w+ ){0,3}(?:is|are|'s) \w"),
    ("preference", "", True, r"my favou?rite \w+'s \w"),
    (
        "possession", "", True,
        (rf"(?:{_I} (?:have|own|keep)|{_HAVE} got) (?:an? |two |three |four |five |\d+ |my |our )"
        rf"(?:\w+[ -]){{0,3}}{_KIN}s?\b"),
    ),
    ("possession", "", True, rf"(?:my|our) (?:\w+ )?{_KIN}(?:'s name)? is (?:called |named )?\w"),
    ("possession", "", True, rf"(?:my|our) (?:\w+ )?{_KIN}'s (?:called|named|name's|name is) \w"),
    (
        "decision", "", False,
        (rf"(?:let's (?:go with|take|get|order|stick with)|{_HAVE} (?:finally |just )?(?:decided"
        rf"|chosen|chose|settled on|picked|went with|ordered|bought|booked)|{_AM} (?:going with"
        r"|taking|getting|sticking with|ordering)|(?:i'll|we'll|i will|we will) (?:take|go with"
        r"|go for|stick with)) (?!(?:it|that|this|them|a look|a think|look|fun)\b)\w"),
    ),
    (
        "plan", "", False,
        (rf"(?:{_AM} (?:going to|gonna|planning|flying|leaving|travell?ing|moving|driving|visiting"
        rf"|away|off to|hosting|starting|getting married)|{_I} plan(?:ned)? (?:to|on)|i intend to)"
        r" \w"),
    ),
    (
        "plan", "", False,
        rf"(?:i'll|we'll|i will|we will|{_AM}|{_I} (?:fly|leave|start|arrive|travel)) .*\b{DAY}\b",
    ),
    (
        "order", "", False,
        (r"(?:my|the|our) (?:\w+ )?(?:order|ticket|invoice|booking|tracking|reservation|policy"
        r"|serial)"
        r"(?: (?:number|no\.?|id))?(?:'s| is|:| was)? ?[#№]?\w*-?\d{3,}"),
    ),
)  # fmt: skip
