"""The types of a plan's tables, from the plan's own schema: ``python plan_tables.py`` writes ``laxity/_tables.pyi``."""

from __future__ import annotations

import json
import keyword
import subprocess
import sys
from pathlib import Path
from typing import Any

STUB = Path(__file__).parents[1] / "laxity" / "_tables.pyi"
HEAD = '''"""The tables of a plan, as its schema has them; written by tests/plan_tables.py."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from typing_extensions import Required, TypedDict

'''
# Arguments of their own.
APART = ("class", "source")


def text() -> str:
    """The stub."""
    printed = subprocess.run([sys.executable, "-m", "laxity", "schema"], capture_output=True, text=True, check=True)
    schema = json.loads(printed.stdout)
    stub = _Stub()
    for name, said in schema["$defs"].items():
        stub.define(name, said)
    keys = {key: said for key, said in schema["properties"].items() if key not in APART}
    stub.define("Tables", {**schema, "description": "The tables of a plan beside these.", "properties": keys, "required": [
        key for key in schema["required"] if key != "version"
    ]})
    return HEAD + "\n".join(stub.lines)


class _Stub:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def define(self, name: str, said: dict[str, Any]) -> None:
        """A name for a type."""
        if said.get("type") == "object" and "properties" in said:
            self._table(name, said)
        else:
            kind = self._type(name, said)
            self.lines += [f"{name}: TypeAlias = {kind}", *_doc(said)]

    def _table(self, name: str, said: dict[str, Any]) -> None:
        required = said.get("required", [])
        if all(key.isidentifier() and not keyword.iskeyword(key) for key in said["properties"]):
            lines = [f"class {name}(TypedDict, total=False):", *_doc(said, "    ")]
            for key, inner in said["properties"].items():
                kind = self._type(f"{name}{_camel(key)}", inner)
                kind = f"Required[{kind}]" if key in required else kind
                lines += [f"    {key}: {kind}", *_doc(inner, "    ")]
        else:
            # Keys with hyphens are no names.
            lines = [f"{name} = TypedDict(", f'    "{name}",', "    {"]
            for key, inner in said["properties"].items():
                kind = self._type(f"{name}{_camel(key)}", inner)
                kind = f"Required[{kind}]" if key in required else kind
                lines += [*_comment(inner, "        "), f'        "{key}": {kind},']
            lines += ["    },", "    total=False,", ")", *_doc(said)]
        self.lines += [*lines, ""]

    def _type(self, name: str, said: dict[str, Any]) -> str:
        if "$ref" in said:
            return said["$ref"].removeprefix("#/$defs/")
        if "const" in said:
            return f"Literal[{json.dumps(said['const'])}]"
        if "enum" in said:
            return f"Literal[{', '.join(map(json.dumps, said['enum']))}]"
        either = said.get("anyOf") or said.get("oneOf")
        if either and "properties" not in said:
            words = [one["const"] for one in either if "const" in one]
            rest = [self._type(f"{name}{at}", one) for at, one in enumerate(either) if "const" not in one]
            literal = [f"Literal[{', '.join(map(json.dumps, words))}]"] if words else []
            return " | ".join(dict.fromkeys(literal + rest))
        match said.get("type"):
            case [*kinds]:
                return " | ".join(dict.fromkeys(self._type(name, {**said, "type": kind}) for kind in kinds))
            case "object" if "properties" in said:
                self._table(name, said)
                return name
            case "object":
                return f"Mapping[str, {self._type(name, said.get('additionalProperties') or {})}]"
            case "array":
                items = said.get("prefixItems") or [said.get("items") or {}]
                kinds = dict.fromkeys(self._type(f"{name}{at}", item) for at, item in enumerate(items))
                return f"Sequence[{' | '.join(kinds)}]"
            case known:
                return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[known]


def _camel(key: str) -> str:
    return "".join(word.capitalize() for word in key.split("-"))




def _words(said: dict[str, Any]) -> str:
    return " ".join(said.get("description", "").split()).replace("\\", "\\\\")


def _doc(said: dict[str, Any], before: str = "") -> list[str]:
    words = _words(said).replace('"""', "'''")
    ending = " " if words.endswith('"') else ""
    return [f'{before}"""{words}{ending}"""'] if words else []


def _comment(said: dict[str, Any], before: str) -> list[str]:
    return [f"{before}# {_words(said)}"] if _words(said) else []


if __name__ == "__main__":
    STUB.write_text(text(), encoding="utf-8")
