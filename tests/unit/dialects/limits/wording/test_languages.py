"""Other languages: what says that there is a limit, and what only speaks of one."""

from __future__ import annotations

import pytest

from segue.dialects.limits.wording.languages import LANGUAGES, foreign_in, is_all_said, window_in

MESSAGES = {
    "ko": "주간 사용 한도를 모두 소진했습니다. 3월 30일 오전 11시에 초기화됩니다.",
    "ja": "今週の利用上限に達しました。明日の午前8時にリセットされます。",
    "zh": "本周额度已用尽，将于3月14日 08:00 重置。",
    "de": "Ihr Wochenkontingent ist erschöpft. Neue Anfragen sind ab Mittwoch wieder möglich.",
    "es": "Has alcanzado tu límite semanal. Se restablece mañana a las 8:00.",
    "fr": "Vous avez atteint votre limite hebdomadaire. Réinitialisation demain à 8h.",
}
CASES = {
    "ko": "한도에 도달하면 큐가 멈춥니다.",
    "ja": "上限に達した場合、キューが止まります。",
    "zh": "如果达到上限，队列会停止。",
    "de": "Wenn das Limit erreicht ist, hält die Warteschlange an.",
    "es": "Si se ha alcanzado el límite, la cola se detiene.",
    "fr": "Si la limite est atteinte, la file s'arrête.",
}
REPORTS = {
    "ko": "GitHub API 요청 한도를 초과했습니다. 그래서 배치 작업을 멈췄습니다.",
    "ja": "利用上限に達しました、というダイアログを追加しました。",
    "zh": "我把额度已用完的提示改成了英文。",
    "de": "Der Import ist umgebaut, das Limit der alten Tabelle ist überschritten.",
    "es": "El importador nuevo funciona, la cuota del proyecto viejo está agotada.",
    "fr": "Le module est renommé, le quota du vieux projet est épuisé.",
}


@pytest.mark.parametrize("code", MESSAGES)
def test_a_message_is_found_and_names_its_window(code: str) -> None:
    """Its words, its language, its window; and nothing else is said."""
    found = foreign_in(MESSAGES[code])
    assert found is not None
    assert found.code == code
    assert is_all_said(code, MESSAGES[code], found.start)
    assert window_in(MESSAGES[code]) == "weekly_limit"


@pytest.mark.parametrize("code", CASES)
def test_a_condition_is_not_a_limit(code: str) -> None:
    """What happens at a limit does not say that there is one, whoever speaks."""
    assert foreign_in(CASES[code]) is None


@pytest.mark.parametrize("code", REPORTS)
def test_who_reports_says_more_than_a_message(code: str) -> None:
    """An agent that tells of a limit is not stopped by one."""
    found = foreign_in(REPORTS[code])
    assert found is None or not is_all_said(code, REPORTS[code], found.start)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("it", "Hai raggiunto il limite di utilizzo."),
        ("nl", "Je daglimiet is bereikt."),
        ("ru", "Лимит запросов исчерпан."),
        ("pt", "Você atingiu o limite de uso: cota esgotada."),
    ],
)
def test_of_more_languages_the_commonest_words_are_known(code: str, text: str) -> None:
    """Where the program itself speaks, they are enough."""
    found = foreign_in(text)
    assert found is not None
    assert found.code in (code, "es")  # some words are the same in both


def test_every_language_is_told_by_its_code_once() -> None:
    """A second table of one language would never be reached."""
    codes = [language.code for language in LANGUAGES]
    assert len(codes) == len(set(codes))
