"""Keep the catalogues in step with the code.

Without arguments: collect every text of the code (and of click, which shows its own),
merge them into each language's .po file, and compile the .mo files beside them.
`--check`: change nothing; fail where a text is missing, untranslated or not compiled.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import click
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "segue"
LOCALES = SOURCE / "locale"
METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2")]
KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2)}
NOT_SHOWN = ("shell_completion",)  # parts of click that Segue has no use for


def collect() -> Catalog:
    """Every text that can reach a person."""
    template = Catalog(project="segue", charset="utf-8")
    for folder in (SOURCE, Path(click.__file__).parent):
        found = extract_from_dir(str(folder), METHODS, keywords=KEYWORDS)
        for name, _line, message, _comments, context in found:
            if folder is SOURCE or Path(name).stem not in NOT_SHOWN:
                template.add(message, context=context, locations=[(Path(name).as_posix(), 0)])
    return template


def update(path: Path, template: Catalog) -> tuple[str, bytes]:
    """The .po text and the .mo bytes as they should be."""
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.parent.parent.name, domain="segue")
    stamp = catalogue.revision_date
    catalogue.update(template, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    catalogue.revision_date = stamp
    catalogue.creation_date = stamp
    text, compiled = io.BytesIO(), io.BytesIO()
    write_po(text, catalogue, width=100, no_location=True, sort_output=True)
    write_mo(compiled, catalogue)
    return text.getvalue().decode(), compiled.getvalue()


def untranslated(path: Path) -> list[str]:
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.parent.parent.name)
    return [
        str(message.id)
        for message in catalogue
        if message.id
        and (message.fuzzy or not all(message.string if message.pluralizable else [message.string]))
    ]


def main() -> int:
    is_check = "--check" in sys.argv
    template = collect()
    faults = []
    for path in sorted(LOCALES.glob("*/LC_MESSAGES/segue.po")):
        text, compiled = update(path, template)
        if is_check:
            if path.read_text(encoding="utf-8") != text:
                faults.append(f"{path.relative_to(ROOT)}: texts have changed; run make translate")
            mo = path.with_suffix(".mo")
            if not mo.exists() or mo.read_bytes() != compiled:
                faults.append(f"{mo.relative_to(ROOT)}: not compiled; run make translate")
        else:
            path.write_text(text, encoding="utf-8")
            path.with_suffix(".mo").write_bytes(compiled)
        faults += [f"{path.relative_to(ROOT)}: not translated: {id!r}" for id in untranslated(path)]
    for fault in faults:
        print(fault)
    return 1 if faults and is_check else 0


if __name__ == "__main__":
    sys.exit(main())
