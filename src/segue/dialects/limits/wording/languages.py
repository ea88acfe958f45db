"""Limits in other languages than English: Korean, Japanese, Chinese, German, Spanish, French, …"""

from __future__ import annotations

from collections.abc import Iterator

from segue.dialects.limits.lazy_regex import Expression
from segue.dialects.limits.wording.words import has_any

_EASTERN = Expression("[ぁ-ヿ一-鿿가-힣]")

# Other languages: what, and how it ended, in either order within a few words.
ELSEWHERE = {
    "ko": (
        "한도|할당량|사용량|이용량|쿼터|제한|크레딧|잔액|횟수",
        "(?:도달|초과|소진)(?!하면|되면|할)|다 (?:썼|사용)|모두 사용|부족|걸렸",
    ),
    "ja": (
        "上限|制限|クォータ|割り当て|クレジット|利用枠|使用量|利用回数",
        "達し|到達|超え|超過|使い切|不足|枯渇",
    ),
    "zh": (
        "限额|配额|额度|上限|限制|用量|余额|限額|配額|額度|上下文|次数",
        "已达|达到|超出|超过|用尽|耗尽|用完|不足|達到|已達|超過",
    ),
    "de": (
        r"\w*limit|\w*kontingent|\w*grenze|\w*guthaben",
        "erreicht|überschritten|aufgebraucht|erschöpft|verbraucht",
    ),
    "es": (
        "l[ií]mites?|cuota|cr[eé]ditos?|saldo|mensajes",
        "alcanzad[oa]|excedid[oa]|superad[oa]|agotad[oa]s?|agotaste|quedaste sin|quedado sin"
        "|uso se restablece",
    ),
    "fr": ("limites?|quota|cr[eé]dits?|plafond", "atteinte?|dépassée?|épuisée?s?"),
    "it": (r"limit[ei]|quota|crediti?", "raggiunt[oai]|superat[oai]|esaurit[oai]"),
    "nl": (r"\w*limiet|quotum|tegoed", "bereikt|overschreden|opgebruikt"),
    "pl": (r"limit\w*", "osiągnięt|przekroczon|wyczerpan"),
    "tr": (r"limit\w*|kota\w*", "ulaşt|aşıldı|doldu|tükendi"),
    "ru": (r"лимит\w*|квот\w*|кредит\w*", "достиг|исчерпа|превыс|превышен|закончил"),
    "pt": (
        "limites?|cota|cr[eé]ditos?|saldo",
        r"atingi(?:u|d[oa])|excedid[oa]|esgotad[oa]s?|acab\w+",
    ),
}
# One of these is in any such message that has plain letters only.
_FOREIGN_STEMS = (
    *("erreicht", "aufgebraucht", "verbraucht", "alcanzad", "excedid", "superad", "agotad"),
    *("attein", "atingi", "esgotad", "acab", "viele anfragen", "demasiadas", "servidor"),
    *("raggiunt", "superat", "esaurit", "bereikt", "overschreden", "opgebruikt", "wyczerpan"),
    *("przekroczon",),
)

# Other languages: what is said there, in one piece.
ABROAD = {
    "rate_limit": (
        r"요청이 (?:너무|과도하게) (?:많|잦)|요청 (?:횟수|속도|빈도).{0,8}(?:초과|제한)"
        r"|リクエストが(?:多すぎ|集中)|リクエスト(?:数|回数|頻度).{0,8}(?:超え|超過|制限)"
        r"|请求(?:过于频繁|太频繁|过多|太多|次数过多|频率.{0,4}(?:过高|限制))|請求(?:過於頻繁|過多)"
        r"|访问(?:过于|太)频繁|\bzu viele anfragen\b|\bdemasiadas (?:solicitudes|peticiones)\b"
        r"|\btrop de requêtes\b|\bmuitas solicitações\b|слишком много запросов"
    ),
    "overloaded": (
        r"(?:서버|모델|서비스)[가이]? (?:과부하|혼잡|바쁩)|(?:サーバー?|モデル)が?(?:混雑|過負荷)"
        r"|(?:服务器|服务|模型|系统)(?:当前|目前|正)?(?:繁忙|过载|负载过高)"
        r"|\bserver (?:ist )?überlastet"
        r"|\bservidor(?:es)? (?:está |están )?(?:sobrecargad|saturad)|\bserveurs? .{0,10}surchargé"
    ),
    "context_limit": (
        r"(?:대화|컨텍스트|입력)[가이]? 너무 (?:길|큽)|(?:会話|コンテキスト|入力)が(?:長すぎ"
        r"|大きすぎ)"
        r"|(?:对话|上下文|输入)(?:过长|太长|超长)"
    ),
    "auth": (
        r"인증(?:에|이)? ?(?:실패|오류|만료|필요)|로그인이 (?:필요|만료)"
        r"|API ?키가? ?(?:유효하지|잘못)"
        r"|認証(?:に失敗|エラー|が必要)|ログインが必要|API ?キーが(?:無効|正しく)"
        r"|(?:认证|鉴权|身份验证)(?:失败|错误)|登录(?:已)?(?:过期|失效)|(?:未|请先|请重新)登录"
        r"|API ?(?:密钥|key) ?(?:无效|错误)"
    ),
    "network": (
        r"네트워크 (?:오류|연결)|(?:서버에 |서버와 )?연결(?:할 수 없|에 실패|이 끊)|연결 시간 초과"
        r"|ネットワークエラー|接続(?:に失敗|できません|がタイムアウト)|网络(?:错误|异常|连接失败)"
        r"|(?:连接|请求)(?:超时|失败|被拒绝)"
    ),
}


def elsewhere() -> Iterator[tuple[str, str]]:
    """Each other language's messages as one expression."""
    for language, (what, over) in ELSEWHERE.items():
        yield language, f"(?:{what}).{{0,24}}?(?:{over})|(?:{over}).{{0,24}}?(?:{what})"


def may_be_foreign(text: str) -> bool:
    """Whether a line may be in another language than English."""
    if not text.isascii() and any(_is_foreign(char) for char in set(text)):
        return True
    return has_any(text.lower(), _FOREIGN_STEMS)


def _is_foreign(char: str) -> bool:
    """A letter with an accent, or of another alphabet."""
    if char < "À":
        return False
    return ("À" <= char <= "ž" and char not in "×÷") or "а" <= char <= "я" or is_eastern(char)


def is_eastern(char: str) -> bool:
    """A letter of Korean, Japanese or Chinese."""
    return "ぁ" <= char <= "ヿ" or "一" <= char <= "鿿" or "가" <= char <= "힣"


def eastern_in(text: str) -> int:
    """How many of its letters are of these."""
    return len(_EASTERN.findall(text))
