"""The words that limit messages are made of, as data: whose, which, what, and how it ended.

Products change the order and the adjectives of these words with every release, hardly the words
themselves. A message is read as  [whose] [which …] WHAT [is] OVER  or as
YOU [have] HIT [which …] WHAT.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

# Which limit: what may stand before the noun. Names (capitalised, or with digits) may, too.
WHICH = """
    usage use rate weekly week week's daily day day's days today today's monthly month hourly hour
    hours minute minutes session rolling window api request requests token tokens input output free
    tier plan account
    organization organization's organisation org org's workspace project user user's users model
    models premium chat message messages agent agents mode cloud credit credits spend spending cost
    subscription individual team team's member included fast slow extra shared rollout global
    concurrent concurrency parallel current total maximum max context resource resources quota
    billing hard soft overage compute inference generation prompt prompts conversation interaction
    interactions ai llm pro plus basic standard enterprise business trial your the this a an our
    its their these all of per for and or own burst throughput bandwidth service server system
    upstream
    provider backend frontier code coding assist assistant cli app key keys personal default
    allotted allocated available remaining prepaid paid allowed any more preview completion
    completions thinking reasoning search tool tools call calls primary secondary flex turn turns
    step steps additional image embedding web rpm tpm rpd tpd itpm otpm daily/weekly last with on
    specified assigned purchased complimentary bonus introductory base fair-use fair short term
    claude codex gemini opencode copilot cursor openai anthropic kimi qwen glm gpt opus sonnet haiku
    pool entire whole configured enforced
    long on-demand pay-as-you-go one-time promotional yearly annual combined cumulative task tasks
"""

# Words that begin a sentence with a capital and are no names of products.
NO_NAMES = """
    when whenever if once after before until unless while because since although though what how why
    where whether should could would might must can cannot may will not never no handle handles
    handled handling fix fixes fixed add adds added adding show shows showed display displays detect
    detects detected improve improved support supports test tests tested check checks checked allow
    allows avoid avoids avoided prevent prevents prevented report reports reported raise raises
    raised return returns returned throw throws thrown log logs logged print prints make makes made
    use uses using set sets treat treats remove removes removed rename stop stops stopped retry
    retries wait waits parse parses parsed track tracks tracked update updates updated change
    changes changed ensure ensures include includes implement implements implemented see note todo
    example examples e.g i.e true false none null then else so but also only even just now here
    there get gets got give gives given new old each every some many most both all's enable disable
    document documents documented enforce enforces enforced reset resets that it its they them we i
    expose exposes exposed apply applies applied skip skips skipped count counts catch catches
    introduce introduces bump bumps refactor move moves moved keep keeps kept start starts first
    second third last next previous other another
"""

# What ends like an owner and is none.
NO_OWNERS = "it's that's let's what's there's here's who's he's she's how's where's"

# What is over.
WHAT = """
    limits? quotas? allowances? caps? budgets? allotments? allocations? credits? balance capacity
    usage requests tokens messages prompts thresholds? ceilings? resources? rate~limits?
    ratelimits? spend interactions completions funds grant acus points trial tasks queries
    generations concurrency rpm tpm rpd tpd
"""
# Its end.
OVER = """
    reached hit exceeded exhausted used~up depleted consumed spent maxed(?:~out)? run~out
    ran_out expired surpassed over gone at_100_?% 100_?%_(?:used|consumed|reached)
    too_low fully_used finished met all_used drained breached overrun violated crossed
    full capped insufficient empty persist(?:s|ed)
    used(?=\\s*(?:[.,;·(]|$|for_(?:today|this|the_(?:day|week|month))))
"""
IS = """
    has have is are was were been being now already fully completely just all currently also either
"""

# What the user did to end up there.
HIT = """
    hit reached exceeded exhausted (?:fully_)?consumed depleted maxed_out run_out_of
    ran_out_of out_of over surpassed gone_over spent used_up used_all(?:_of)?
    used_100_?%_of at_100_?%_of burned_through blown_through fully_used met
    drained overrun capped_out(?:_on)? used(?=_(?:today's|this_\\w+'s)_)
    used(?=_your_(?:\\w+_){0,4}(?:allowance|quota))
    at(?=_(?:your|the)_(?:\\w+_){0,4}(?:limit|cap|quota)\\b) hit_up_against bumped_into
    run_into(?=_(?:a|your|the)_(?:\\w+_){0,3}limit)
"""

# Who could be at its end.
SERVER = """
    apis? servers? models? services? systems? backends? providers? engine upstream endpoint
    clusters? claude codex gemini openai anthropic we regions? deployment gateway platform host
    opus sonnet haiku gpt\\S* kimi qwen\\S* glm\\S* copilot serving inference
"""
OVERLOADED = """
    overloaded over_capacity at_(?:full_|max(?:imum)?_)?capacity
    (?:temporarily_|currently_)?unavailable
    experiencing_(?:\\w+_){0,3}(?:demand|load|traffic|volume|usage|issues|difficulties|outage)
    under_(?:\\w+_){0,2}load too_busy busy down out_of_capacity degraded unreachable
    not_(?:currently_)?(?:available|responding) having_trouble_responding throttled
    rate~limited
"""

# Near it, not at it: what shows it, behind words that it needs.
WARNING = (
    ("approach", r"\bapproach(?:ing|es|ed)\b"),
    ("close to", r"\bclose to\b"),
    ("near", r"\bnear(?:ing|ly)?\b"),
    ("almost", r"\balmost\b"),
    ("low", r"\brunning low\b|\blow on\b"),
    ("soon", r"(?<!resets )(?<!reset )(?<!again )\bsoon\b"),
    ("about to", r"\babout to\b"),
    ("on track", r"\bon track\b"),
    ("less than", r"\bless than [1-9]\d?% of\b"),
    ("%", r"(?<![\d.])(?:[1-9]?\d)(?:\.\d+)? ?% (?:of|used|left|remaining|until|full)"),
    ("remaining", r"\bremaining:"),
    ("가까|접근|임박|거의", "에 가까|접근|임박|거의"),
    ("近づ|接近|もうすぐ|まもなく|間もなく", "近づ|接近|もうすぐ|まもなく|間もなく"),
    ("即将|即將|快要|将要", "即将|即將|快要|将要"),
    ("fast", r"\bfast (?:erreicht|aufgebraucht)"),
    ("bald", r"\bbald\b"),
    ("casi|quasi", r"\b(?:c|qu)asi\b"),
    ("presque|bientôt", r"\bpresque\b|\bbientôt\b"),
)


def alternatives(words: str) -> str:
    """A list of words as one pattern, the longest first. `_` is a blank, `~` one or a hyphen."""
    longest_first = sorted(words.split(), key=len, reverse=True)
    return "|".join(longest_first).replace("_", " ").replace("~", "[- ]")


# A line without any of these says nothing about a limit: a quick look before a close one.
_TELLING = """
    limit quota usage request message credit capacity overload too exceed exhaust again retry wait
    balance budget billing upgrade plan login log_in auth token api key connect network time
    fetch error unavail demand load busy full allowance throttl context reset expired offline
    compact payment disabled out_of maximum conversation trial stopped paused 401 402 403 413 429
    500 502 503 529
    certificate forbidden denied slow cap trouble used_up spent stalled mid- disconnect traffic
    limite cuota cota kontingent guthaben grenze límite limiet quotum tegoed kota лимит квот
    include required requires continue automatic
    횟수 回数 次数 한도 할당량 사용량 이용량 제한 크레딧 잔액 쿼터
    上限 制限 クォータ 利用枠 クレジット 残高 令牌 토큰 配额 额度 限额 限制 用量 余额
    上下文 컨텍스트 コンテキスト
    요청 リクエスト 请求 請求 访问 서버 サーバ 服务 モデル 模型 모델 서비스 系统
    대화 会話 对话 入力 输入
    인증 로그인 認証 ログイン 认证 鉴权 验证 登录 네트워크 연결 ネットワーク 接続 网络 连接
    anfragen solicitudes peticiones requêtes solicitações überlastet servidor surchargé запросов
"""
_TELLING_WORDS = tuple(word.replace("_", " ") for word in _TELLING.split())
_TELLING_PLAIN = tuple(word for word in _TELLING_WORDS if word.isascii())
_TELLING_FOREIGN = tuple(word for word in _TELLING_WORDS if not word.isascii())


def has_any(lower: str, words: Iterable[str]) -> bool:
    """Whether one of the words is in a text of small letters."""
    for word in words:  # noqa: SIM110 - twice as fast as any(), and called for every line
        if word in lower:
            return True
    return False


def plain_lower(text: str) -> str:
    """In small letters, for a quick look: what is not ASCII becomes a question mark.

    A single arrow in a text makes all that is done with it several times as slow.
    """
    plain = text if text.isascii() else text.encode("ascii", "replace").decode("ascii")
    return plain.lower()


@lru_cache(maxsize=512)  # the last rows of a screen are the same again and again
def may_tell(text: str) -> bool:
    """Whether a line is worth a close look."""
    if has_any(plain_lower(text), _TELLING_PLAIN):
        return True
    return not text.isascii() and has_any(text.lower(), _TELLING_FOREIGN)
