"""Turns the common patterns of a Chinese request into English ones, so that one reader serves both."""

import re
import unicodedata
from collections.abc import Mapping

from nuncius.sources.ads_reading import CUT

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_DIGITS = {**dict(zip("一二三四五六七八九十", range(1, 11), strict=True)), "两": 2, "几": 3}
_N = r"(\d+|[一二三四五六七八九十两几])"
_Y = r"((?:1[5-9]|20)\d\d)"
_PAPER = "(?:论文|文章|文献|工作|研究|成果|著作)"
_WHO = r"([A-Za-zÀ-ɏ][A-Za-zÀ-ɏ.,'’ -]*[A-Za-zÀ-ɏ.]|[\u4e00-\u9fff·]{2,6}?)"
_UNITS = {"年": "years", "月": "months", "周": "weeks", "天": "days", "日": "days"}


def _last(match: re.Match[str]) -> str:
    count = match[1] if match[1].isdigit() else str(_DIGITS[match[1]])
    return f" last {count} {_UNITS[match[2][-1]]} "


_RULES: tuple[tuple[str, str], ...] = (
    (rf"第一作者(?:是|为|：|:)?\s*{_WHO}(?=\s|的|,|，|$|关于|发表|\d)", r" ¦ first author \1 ¦ "),
    (rf"(?:以)?{_WHO}(?:为|作为|是)第一作者(?:的)?", r" ¦ first author \1 ¦ "),
    (rf"作者(?:是|为|：|:|名)?\s*{_WHO}(?=\s|的|,|，|。|$|关于|发表|\d)", r" ¦ author \1 ¦ "),
    (rf"由\s*{_WHO}\s*(?:撰写|发表|所著|写)(?:的)?", r" ¦ papers by \1 ¦ "),
    (rf"([A-Za-zÀ-ɏ][A-Za-zÀ-ɏ.,'’ -]*?)\s*(?:等人?)?\s*(?:发表|撰写|写)(?:的|过的)?(?=.*{_PAPER}|$)", r" ¦ papers by \1 ¦ "),
    (r"(?<![\u4e00-\u9fff])([\u4e00-\u9fff·]{2,4}?)(?:等人?)?(?:发表|撰写|写)(?:的|过的)", r" ¦ papers by \1 ¦ "),
    (rf"([A-ZÀ-Þ][A-Za-zÀ-ɏ.,'’ -]*?)\s*(?:等人)?的\s*(?={_PAPER})", r" ¦ papers by \1 ¦ "),
    (rf"{_Y}\s*年?\s*(\d{{1,2}})\s*月\s*(?:到|至|-|–|~|—)\s*{_Y}\s*年?\s*(\d{{1,2}})\s*月(?:之间|期间)?", r" \1-0\2 to \3-0\4 "),
    (rf"(?:在|从|自)?\s*{_Y}\s*年?\s*(?:到|至|-|–|~|—|和)\s*{_Y}\s*年?(?:之间|期间|间)?", r" between \1 and \2 "),
    (rf"(?:自|从)?\s*{_Y}\s*年?\s*(?:以来|以后|之后|起|后|至今|到现在)", r" since \1 "),
    (rf"(?:自|从)\s*{_Y}\s*年?(?:开始)?", r" since \1 "),
    (rf"{_Y}\s*年?\s*(?:之前|以前|前)", r" before \1 "),
    (r"(?:20|21)世纪(\d)0年代", r" 19\g<1>0s "),
    (r"(?:上世纪|二十世纪)([一二三四五六七八九\d])[十0]年代", r" 19{\1}0s "),
    (rf"{_Y}\s*年\s*0?(\d{{1,2}})\s*月", r" \1-0\2 "),
    (rf"(?:在|于)?\s*{_Y}\s*年(?:的|发表的|发表)?", r" in \1 "),
    (r"今年", " this year "), (r"去年", " last year "), (r"本月", " this month "), (r"上个?月", " last month "),
    (r"本周|这周", " this week "), (r"今天", " today "),
    (r"未(?:经|被)?(?:同行)?(?:评审|评议|审稿)(?:的)?", " not refereed "),
    (r"(?:经过?|通过)?(?:同行)?(?:评审|评议|审稿)(?:过|的)*", " refereed "),
    (r"开放(?:获取|存取)(?:的)?", " open access "),
    (r"(?:引用(?:数|次数|量)?|被引(?:用)?(?:数|次数|量)?)\s*(?:超过|大于|多于|高于|>)\s*(\d+)\s*次?(?:的)?", r" more than \1 citations "),
    (r"(?:被引用?|引用)(?:次数|数)?最(?:多|高)的?\s*(\d+)\s*篇", r" top \1 papers on "),
    (r"(?:被引用?|引用)(?:次数|数)?最(?:多|高)的?", " most cited papers on "),
    (r"高(?:被)?引用?(?:的)?", " highly cited "),
    (r"引用了?(?!次数|数)\s*(.+?)(?:的)(?=论文|文章|文献)", r" papers citing \1 "),
    (r"被\s*(.+?)\s*引用的?", r" papers cited by \1 "),
    (r"与\s*(.+?)\s*(?:类似|相似)的?", r" papers similar to \1 "),
    (r"博士(?:学位)?论文", " phd theses "), (r"硕士(?:学位)?论文", " masters theses "), (r"会议(?:论文|文集)", " conference papers "),
    (r"预印本", " preprints "), (r"综述(?:文章|论文)?", " review articles on "), (r"软件(?:论文)?", " software papers "),
    (r"(?:标题|题目)(?:中|里)?(?:包含|含有|有|为|是|:|：)\s*", " title contains "), (r"摘要(?:中|里)?(?:包含|含有|有|:|：)\s*", " abstract contains "),
    (r"(?:但)?(?:不包括|不包含|不含|排除|除了|除去|不要)\s*", " excluding "),
    (r"(?:发表)?(?:在|于)\s*《\s*([^》]+)\s*》\s*(?:上|中)?(?:发表)?(?:的)?", r" in \1 "),
    (r"(?:发表在|发表于|刊登在)\s*([A-Za-z&. ]+?)\s*(?:上|中)?(?:的|$)", r" in \1 "),
    (r"(?:使用|利用|用|基于)?\s*哈勃(?:空间|太空)?望远镜(?:数据|观测)?(?:的)?", " using Hubble Space Telescope "),
    (r"(?:使用|利用|用|基于)?\s*(?:詹姆斯?[·]?)?韦[布伯](?:空间|太空)?望远镜(?:数据|观测)?(?:的)?", " using James Webb Space Telescope "),
    (r"(?:使用|利用|用|基于)\s*([A-Za-z0-9-]+)\s*(?:望远镜)?(?:的)?(?:数据|观测)?(?:的)?", r" using \1 "),
    (r"仙女座?(?:大)?星系|仙女座?(?:大)?星云", " M31 "), (r"蟹状星云", " Crab Nebula "), (r"大麦哲伦(?:星)?云", " LMC "),
    (r"小麦哲伦(?:星)?云", " SMC "), (r"参宿四", " Betelgeuse "), (r"比邻星", " Proxima Centauri "), (r"猎户座?(?:大)?星云", " Orion Nebula "),
    (r"(?:最近|最新)(?:的|发表的)?", " recent "), (r"关于|有关|涉及|研究(?=\S)", " about "), (r"的?(?:相关)?(?:论文|文章|文献)", " papers "),
    (r"(?:请|帮我|给我|我想|我要|查找|查询|搜索|检索|寻找|查|找|看|列出|一下|一些|所有|哪些|有没有|有)+", " "),
    (r"或者?", " or "), (r"以及|及|和|与|、", " and "), (r"[，。；？！：]", " ¦ "), (r"的", " "), (r"在|中(?=\s|$)|上(?=\s|$)", " "),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern), text) for pattern, text in _RULES)
_LAST = re.compile(
    rf"(?:最近|近|过去|前|最近的)\s*{_N}\s*(年|个月|月|周|天|日)(?:来|内|间|里)?(?:的)?"
)
_BRACED = re.compile(r"19\{(.)\}0s")
_MONTH = re.compile(r"(?<=-)0(\d\d)(?=\s)")


def is_chinese(text: str) -> bool:
    """Tell whether `text` has Chinese characters."""
    return bool(_HAN.search(text))


def to_english(text: str, *, glossary: Mapping[str, str] | None = None) -> str:
    """Put English patterns in place of the Chinese ones; names and unknown terms stay as they are.

    Args:
        text: The request as typed.
        glossary: Chinese terms and their English, from whoever has one; longest terms go first.
    """
    text = _LAST.sub(_last, unicodedata.normalize("NFKC", text))
    text = re.sub("[\u2018\u2019]", "'", text)
    for pattern, replacement in _COMPILED:
        text = pattern.sub(replacement, text)
    text = text.replace("¦", CUT)
    text = _MONTH.sub(r"\1", text)
    text = _BRACED.sub(lambda match: f"19{_DIGITS.get(match[1], match[1])}0s", text)
    for term in sorted(glossary or {}, key=len, reverse=True):
        if term in text and glossary:
            text = text.replace(term, f" {glossary[term]} ")
    return re.sub(r"[^\S\n]+", " ", text).strip()
