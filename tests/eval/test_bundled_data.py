"""What the data card of the bundled conversations promises."""

from collections import Counter
from collections.abc import Iterator

import pytest

from eval.dataset import ConversationRecord, Dataset, QuestionRecord
from eval.loaders import load
from eval.tables import age_days
from memcore import query_stems


@pytest.fixture(scope="module")
def shop() -> Dataset:
    return load("shop")


def asked(shop: Dataset) -> Iterator[tuple[ConversationRecord, QuestionRecord]]:
    return ((talk, question) for talk in shop.conversations for question in talk.questions)


def test_there_are_four_russian_three_english_and_one_mixed_conversation(shop: Dataset) -> None:
    languages = Counter(talk.language for talk in shop.conversations)
    assert languages == {"ru": 4, "en": 3, "mixed": 1}
    assert shop.repairs == ()


def test_each_conversation_has_over_120_messages_and_spans_over_30_days(shop: Dataset) -> None:
    for talk in shop.conversations:
        messages = list(talk.messages())
        assert len(messages) > 120
        assert (messages[-1].time - messages[0].time).days > 30


def test_half_of_the_answers_are_12_days_or_older_and_ages_reach_from_hours_to_over_40_days(
    shop: Dataset,
) -> None:
    ages = [age for talk, question in asked(shop) if (age := age_days(talk, question)) is not None]
    assert len(ages) >= 160
    assert sum(age >= 12 for age in ages) * 2 >= len(ages)
    assert min(ages) < 0.5
    assert max(ages) > 40


def test_a_third_of_the_questions_share_no_content_word_with_their_evidence(shop: Dataset) -> None:
    marked = 0
    for talk, question in asked(shop):
        if not question.paraphrased:
            continue
        marked += 1
        said = {message.id: message.text for message in talk.messages()}
        evidence = {stem for id in question.evidence for stem in query_stems(said[id])}
        assert not evidence.intersection(query_stems(question.text)), question.id
    assert marked * 3 >= sum(1 for _ in asked(shop))


def test_there_are_distractors_changed_facts_and_unanswerable_questions(shop: Dataset) -> None:
    kinds = Counter(question.kind for _, question in asked(shop))
    assert kinds["near-miss"] >= 16
    assert kinds["update"] >= 16
    assert kinds["unanswerable"] >= 16
    for _, question in asked(shop):
        assert question.answerable == bool(question.evidence) == (question.kind != "unanswerable")


def test_question_ids_are_unique_over_all_conversations(shop: Dataset) -> None:
    ids = [question.id for _, question in asked(shop)]
    assert len(ids) == len(set(ids))
