"""Reads a file of Kubernetes or compose, checks it against the schemas of others, and prints its documents as JSON.

read.py kubernetes VERSION FILE, or read.py compose FILE. What is wrong is on standard error, and the exit code is 1."""

import json
import sys

import compose_spec
import kubernetes_validate
import yaml

kind, file = sys.argv[1], sys.argv[-1]
with open(file, encoding="utf-8") as opened:
    text = opened.read()
documents = list(yaml.safe_load_all(text))
try:
    if kind == "compose":
        compose_spec.PyCompose.from_yaml(text)
    else:
        for document in documents:
            kubernetes_validate.validate(document, sys.argv[2], strict=True)
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}".splitlines()[0])
print(json.dumps(documents))
