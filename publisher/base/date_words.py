"""Dates in words of a language: 4 March 2024, 4. März 2024, 2024年3月4日.

A language is a tag such as de or pt-BR; the whole tag is looked up, then its first part, then
English. The standard library has such words only for languages that the machine has installed.
"""

from datetime import date
from typing import NamedTuple


class _Words(NamedTuple):
    """Month names as in a date, the date's format, and their stand-alone form where it differs."""

    months: str
    order: str = "{day} {month} {year}"
    alone: str = ""


_ENGLISH = "January February March April May June July August September October November December"
_NORDIC = "januar februar marts april maj juni juli august september oktober november december"
_BOKMAL = "januar februar mars april mai juni juli august september oktober november desember"
_ROMANCE = "{day} de {month} de {year}"
_WORDS = {
    "en": _Words(_ENGLISH),
    "en-us": _Words(_ENGLISH, "{month} {day}, {year}"),
    "de": _Words("Januar Februar März April Mai Juni Juli August September Oktober November "
                 "Dezember", "{day}. {month} {year}"),
    "fr": _Words("janvier février mars avril mai juin juillet août septembre octobre novembre "
                 "décembre"),
    "es": _Words("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
                 "diciembre", _ROMANCE),
    "pt": _Words("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
                 "dezembro", _ROMANCE),
    "ca": _Words("gener febrer març abril maig juny juliol agost setembre octubre novembre "
                 "desembre", "{day} de {month} del {year}"),
    "it": _Words("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre "
                 "novembre dicembre"),
    "nl": _Words("januari februari maart april mei juni juli augustus september oktober november "
                 "december"),
    "sv": _Words("januari februari mars april maj juni juli augusti september oktober november "
                 "december"),
    "da": _Words(_NORDIC, "{day}. {month} {year}"),
    "nb": _Words(_BOKMAL, "{day}. {month} {year}"),
    "no": _Words(_BOKMAL, "{day}. {month} {year}"),
    "fi": _Words("tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta "
                 "elokuuta syyskuuta lokakuuta marraskuuta joulukuuta", "{day}. {month} {year}",
                 "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu "
                 "lokakuu marraskuu joulukuu"),
    "pl": _Words("stycznia lutego marca kwietnia maja czerwca lipca sierpnia września "
                 "października listopada grudnia", alone="styczeń luty marzec kwiecień maj "
                 "czerwiec lipiec sierpień wrzesień październik listopad grudzień"),
    "cs": _Words("ledna února března dubna května června července srpna září října listopadu "
                 "prosince", "{day}. {month} {year}", "leden únor březen duben květen červen "
                 "červenec srpen září říjen listopad prosinec"),
    "ru": _Words("января февраля марта апреля мая июня июля августа сентября октября ноября "
                 "декабря", "{day} {month} {year} г.", "январь февраль март апрель май июнь июль "
                 "август сентябрь октябрь ноябрь декабрь"),
    "uk": _Words("січня лютого березня квітня травня червня липня серпня вересня жовтня "
                 "листопада грудня", "{day} {month} {year} р.", "січень лютий березень квітень "
                 "травень червень липень серпень вересень жовтень листопад грудень"),
    "tr": _Words("Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık"),
    "hu": _Words("január február március április május június július augusztus szeptember október "
                 "november december", "{year}. {month} {day}."),
    "ja": _Words(" ".join(f"{n}月" for n in range(1, 13)), "{year}年{month}{day}日"),
    "zh": _Words(" ".join(f"{n}月" for n in range(1, 13)), "{year}年{month}{day}日"),
    "ko": _Words(" ".join(f"{n}월" for n in range(1, 13)), "{year}년 {month} {day}일"),
}  # fmt: skip


def date_in(language: str, at: date) -> str:
    """A date in words."""
    words = _words(language)
    day = "1er" if at.day == 1 and words is _WORDS["fr"] else at.day
    return words.order.format(day=day, month=words.months.split()[at.month - 1], year=at.year)


def month_in(language: str, at: date) -> str:
    """A month's name as it stands alone, at the beginning of a line."""
    words = _words(language)
    name = (words.alone or words.months).split()[at.month - 1]
    return name[0].upper() + name[1:]


def month_of_year_in(language: str, at: date) -> str:
    """A month and its year, as a heading: March 2024, 2024年3月."""
    words = _words(language)
    if words.order.startswith("{year}"):
        before = words.order.partition("{month}")[0].format(year=at.year)
        return before + words.months.split()[at.month - 1]
    return f"{month_in(language, at)} {at.year}"


def _words(language: str) -> _Words:
    tag = language.lower()
    return _WORDS.get(tag) or _WORDS.get(tag.partition("-")[0]) or _WORDS["en"]
