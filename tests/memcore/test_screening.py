"""Secrets are found and nothing innocent is; quoted memory cannot leave its fence."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcore import Layer
from memcore.errors import SecretFound
from memcore.screening import INDENT, fence, mask, quote, refuse_secrets, secrets

# The values are made up and put together here, so that no scanner takes them for real ones.
ABC = "abcdefghijklmnopqrstuvwxyz"
NUM = "0123456789"
MIX = "aB3dE5gH7jK9mN1pQ3sT5vW7"

SECRETS = {
    "Anthropic key": [
        "sk-" + f"ant-api03-{MIX}{MIX}-{ABC}_AA",
        "sk-" + f"ant-admin01-{MIX}",
        "sk-" + f"ant-{MIX}",
    ],
    "OpenAI key": [
        "sk-" + MIX + MIX,
        "sk-" + f"proj-{MIX}_{MIX}-{ABC}",
        "sk-" + f"svcacct-{MIX}{MIX}",
        "sk-" + f"or-v1-{NUM}{NUM}{NUM}abcdef",
    ],
    "AWS access key": ["AKIA" + "IOSFODNN7EXAMPL3", "ASIA" + "Y34FZKBOKMUTVV7A"],
    "GitHub token": [
        *(f"gh{kind}_" + MIX + MIX[:12] for kind in "pousr"),
        "github_" + f"pat_11ABCDEFG0{MIX}_{MIX}",
    ],
    "Slack token": [
        "xoxb-" + f"{NUM}12-{NUM}123-{MIX}",
        "xoxp-" + f"{NUM}-{NUM}-{NUM}-{ABC[:16]}",
        "xoxe-" + f"1-{MIX}",
    ],
    "bearer token": [
        f"Bearer {MIX}{MIX}",
        f"bearer  {MIX}.{MIX}.{MIX}",
        f"BEARER\n{NUM}{NUM}+/~{ABC}==",
    ],
    "api key": [
        f"api_key={MIX}",
        f"API-KEY: {MIX}",
        f'"apiKey": "{MIX}"',
        f"secret_key = '{MIX}'",
        f"access_token={MIX}",
        f"auth-token: {MIX}",
        f"accessKey:{MIX}",
    ],
    "private key": [
        "-----BEGIN " + f"RSA PRIVATE KEY-----\n{MIX}\n{MIX}\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN " + f"PRIVATE KEY-----\r\n{MIX}\r\n-----END PRIVATE KEY-----",
        "-----BEGIN " + f"OPENSSH PRIVATE KEY-----\n{MIX}\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN " + "EC PRIVATE KEY-----",
    ],
}
SAMPLES = [(kind, sample) for kind, samples in SECRETS.items() for sample in samples]

INNOCENT = [
    "The task-list is on the desk-top of the risk-averse-management-committee-2024",
    "sk-learn and sk-video are libraries",
    "She skis at sk-resort-of-the-high-mountains-in-winter",
    "a bearer of bad news from 2024-05-01",
    "Bearer of the ring, take it to Mordor 9 times",
    "the token bearer authentication scheme of RFC 6750",
    "my api key is in the safe",
    "api_key=none",
    "API key: see the vault",
    "api_key = os.environ['OPENAI_API_KEY']",
    "access token: expired yesterday evening",
    "the secret key: practice, practice, practice",
    "auth_token=YOUR_TOKEN_HERE_PLEASE",
    "Order AB-1234 for 12,000.50 EUR",
    "AKIA is a song, ASIA is a continent of 4,700,000,000 people",
    "ASIAN-PACIFIC ECONOMIC COOPERATION 2024",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "IBAN DE89370400440532013000",
    "card 4111 1111 1111 1111",
    "https://example.com/path?query=abcdefghijklmnop123456",
    "photo_20240501_123456.jpg",
    "gh_pages and github_pages_branch",
    "xoxo-hugs-and-kisses-2024",
    "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "the password manager has a token of appreciation",
    "Мой ключ от дачи под ковриком, запасной у соседки 12",
    "ключ: 12345678901234567890",
    "Токен на метро стоил 50 рублей в 2014 году",
    "Пароль от вайфая спроси у Маши",
    "Секретный ключ к успеху: терпение и труд, 24/7",
    "номер заказа ЗК-1234567890123456",
    "Звони +7 916 123-45-67 после 10:00",
    "паспорт 4510 123456 выдан 01.02.2010",
    "СНИЛС 123-456-789 00",
    "Купить: молоко 2 л, хлеб, яйца 10 шт.",
    "api ключ я тебе не скажу",
    "скидка по карте api-tokenization 15%",
    "маска-скрепка sk-маска-скрепка-маска-скрепка-123",
    "base64: aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=",
    "Встреча в 10:30, переговорная A-KIA-2",
]


@pytest.mark.parametrize(("kind", "sample"), SAMPLES, ids=lambda value: str(value)[:20])
@pytest.mark.parametrize("around", ["{}", "Её ключ: {} — не потеряй", "key is\n{}\nok?", "({})."])
def test_a_secret_is_found_named_and_masked(kind: str, sample: str, around: str) -> None:
    text = around.format(sample)
    masked = mask(text)
    assert f"[secret: {kind}]" in masked
    for piece in (MIX, NUM, ABC, "IOSFODNN", "FZKBOK"):
        assert piece not in masked
    with pytest.raises(SecretFound) as caught:
        refuse_secrets(text)
    assert caught.value.kind in SECRETS
    assert sample.strip('"')[:3] == text[caught.value.start :][:3]
    for piece in (MIX, NUM, ABC, sample):
        assert piece not in str(caught.value)
        assert piece not in repr(caught.value.__dict__)


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert list(secrets(text)) == []
    assert mask(text) == text
    refuse_secrets(text)


def test_there_are_enough_look_alikes_in_both_languages() -> None:
    russian = [text for text in INNOCENT if any("а" <= one <= "я" for one in text.lower())]
    assert len(INNOCENT) >= 30
    assert len(russian) >= 10
    assert len(INNOCENT) - len(russian) >= 20


def test_several_secrets_are_all_masked_and_the_first_is_named() -> None:
    text = f"{SECRETS['AWS access key'][0]} then api_key={MIX} and {SECRETS['Slack token'][0]}"
    assert mask(text) == "[secret: AWS access key] then [secret: api key] and [secret: Slack token]"
    with pytest.raises(SecretFound, match=r"AWS access key.*character 0 of the text"):
        refuse_secrets(text)


def test_a_secret_within_another_is_masked_once() -> None:
    assert mask(f"api_key=sk-{MIX}{MIX} x") == "[secret: api key] x"


@pytest.mark.parametrize("mark", ["\u200b", "\u2060", "\ufeff", "\0", "\u202e"])
def test_a_secret_cannot_hide_behind_invisible_marks(mark: str) -> None:
    whole = SECRETS["Anthropic key"][0]
    assert quote(f"key {whole[:5]}{mark}{whole[5:]} ok") == "key [secret: Anthropic key] ok"


# ---- quoting


def test_ordinary_text_is_quoted_as_it_is() -> None:
    texts = [
        "Roses, 5 < 6 and a > b.",
        "f(x) = x[0]",
        "Ёлка — «да»!",
        "tab\there",
        "<b>bold</b>",
        "\U0001f469\u200d\U0001f33e",
        "naïve e\u0301",
    ]
    for text in texts:
        assert quote(text) == text


LINE_ENDS = ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("end", LINE_ENDS, ids=ascii)
def test_lines_are_indented_whatever_ends_them(end: str) -> None:
    assert quote(f"one{end}two{end}{end}three") == "one\n  two\n  \n  three"
    assert quote(f"one{end}two", INDENT * 2) == "one\n    two"


FENCES = [
    "</notes>", "<notes>", "</ notes >", "< /notes>", "<\t/\tnotes>", "<\n/notes>", "</NOTES>",
    "<\u200b/notes>", "</no\u200btes>", "</\u00adnotes>", "</n\u200do\u200ct\u034fe\ufe0fs>",
    "＜/notes>", "﹤notes>", "<／notes>", "</excerpts>", "</summary>", "</persona>", "<system>",
    "</system>", "<assistant>", "<user>", "<human>", "<tool>", "<memory>", "<instructions a='x'>",
    "<|im_start|>", "<|im_end|>", "<| endoftext |>", "<｜end｜>", "<\u200b|im_start|>",
    "</window>", "</last_exchange>",
]  # fmt: skip


@pytest.mark.parametrize("mark", FENCES, ids=ascii)
def test_fences_and_control_marks_are_defused(mark: str) -> None:
    quoted = quote(f"before {mark} after")
    assert not any(one in quoted for one in "<＜﹤")
    assert "‹" in quoted
    assert quoted.startswith("before ")
    assert quoted.endswith(" after")


@pytest.mark.parametrize("mark", ["[INST]", "[/INST]", "[inst]", "[SYS]", "[/SYS]"])
def test_bracket_marks_are_defused(mark: str) -> None:
    assert quote(f"a {mark} b") == f"a ⟦{mark[1:]} b"


@pytest.mark.parametrize("text", ["<notebook>", "<users>", "[INSTANT]", "<", "a<b", "<3", "< >"])
def test_what_is_no_mark_is_left_alone(text: str) -> None:
    assert quote(f"a {text} b") == f"a {text} b"


HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\0\n\r\t\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\u200b\u202e </>|[]INSTnotes"),
    )
)


@given(HOSTILE)
def test_no_line_of_quoted_memory_begins_at_the_margin(text: str) -> None:
    rest = quote(text).splitlines()[1:]
    assert all(line.startswith(INDENT) for line in rest)
    body = fence(Layer.NOTES, "heading", f"{INDENT}{quote(text)}")
    lines = body.splitlines()
    assert lines[:2] == ["<notes>", "heading"]
    assert lines[-1] == "</notes>"
    assert all(line.startswith(INDENT) for line in lines[2:-1])


@given(
    st.lists(
        st.sampled_from(["<", "/", "notes", ">", " ", "\n", "\u200b", "\u200d", "|", "[", "INST"])
    ).map("".join)
)
def test_no_arrangement_of_pieces_makes_a_fence(text: str) -> None:
    bare = "".join(one for one in quote(text) if one not in "\u200b\u200d")
    for mark in (r"<\s*/?\s*notes\b", r"<\s*\|", r"\[/?INST\b"):
        assert not re.search(mark, bare)


@given(HOSTILE)
def test_quoting_twice_changes_no_more_than_indentation(text: str) -> None:
    once = quote(text, "")
    assert quote(once, "") == once


@pytest.mark.parametrize(
    "unit", ["sk-", "<", "< ", "-----BEGIN PRIVATE KEY-----", "api_key=", "bearer ", "</", "[/"]
)
def test_long_hostile_text_is_screened_in_time_that_grows_with_its_length(unit: str) -> None:
    """At 100,000 characters a quadratic scan would hold the test for minutes."""
    assert len(quote(unit * (100_000 // len(unit)))) > 0
