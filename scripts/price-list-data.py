"""Prints the price data of a genai-prices wheel as JSON: python3 scripts/price-list-data.py genai_prices-0.2.3-py3-none-any.whl

The wheel stores its data as Python source. It is parsed and never run, so nothing has to be installed.
"""

import ast
import json
import sys
import zipfile

CLAUSES = {
    "ClauseEquals": "equals",
    "ClauseStartsWith": "starts_with",
    "ClauseEndsWith": "ends_with",
    "ClauseContains": "contains",
    "ClauseRegex": "regex",
    "ClauseOr": "or",
    "ClauseAnd": "and",
}
MODEL = ("id", "match", "context_window", "deprecated", "prices")


def value(node):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple)):
        return [value(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        return {value(key): value(each) for key, each in zip(node.keys, node.values)}
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        return call(name, [value(each) for each in node.args], {each.arg: value(each.value) for each in node.keywords})
    if isinstance(node, ast.Attribute) and node.attr == "UTC":
        return "Z"
    raise SystemExit(f"line {node.lineno}: {type(node).__name__} is not supported")


def call(name, args, members):
    if name == "Decimal":
        amount = float(args[0])
        return int(amount) if amount.is_integer() else amount
    if name == "date":
        return "{:04d}-{:02d}-{:02d}".format(*args)
    if name == "time":
        if members != {"tzinfo": "Z"}:
            raise SystemExit("times of day must be in UTC")
        return "{:02d}:{:02d}:00Z".format(*args)
    if name in CLAUSES:
        return {CLAUSES[name]: next(iter(members.values()))}
    if name == "ModelInfo":
        return {key: members[key] for key in MODEL if members.get(key) is not None}
    return {key: each for key, each in members.items() if each is not None}


def main(path):
    with zipfile.ZipFile(path) as wheel:
        source = wheel.read("genai_prices/data.py").decode()
        [metadata] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        version = next(
            line.split(": ", 1)[1] for line in wheel.read(metadata).decode().splitlines() if line.startswith("Version: ")
        )
        [license_name] = [name for name in wheel.namelist() if name.endswith("/licenses/LICENSE")]
        license_text = wheel.read(license_name).decode()
    [providers] = [node.value for node in ast.parse(source).body if isinstance(node, ast.AnnAssign)]
    selected = [
        {key: provider[key] for key in ("id", "fallback_model_providers", "models") if key in provider}
        for provider in value(providers)
    ]
    print(json.dumps({"version": version, "license": license_text, "providers": selected}))


if len(sys.argv) != 2:
    raise SystemExit(__doc__)
main(sys.argv[1])
