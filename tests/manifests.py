"""Fails where the environment of a container in examples/kubernetes.yaml is not that of Compose's model, which stdin has."""

import json
import sys
from pathlib import Path

import yaml

services = json.load(sys.stdin)["services"]
services["approach"] = services["tomcat-virtual"]
for manifest in yaml.safe_load_all(Path("examples/kubernetes.yaml").read_text()):
    if manifest["kind"] == "Deployment":
        name, container = manifest["metadata"]["name"], manifest["spec"]["template"]["spec"]["containers"][0]
        there = {(one["name"], one["value"]) for one in container["env"]}
        here = {(key, str(value)) for key, value in services[name]["environment"].items() if value}
        if there != here:
            sys.exit(f"{name} has {sorted(there - here)}, and compose.yaml {sorted(here - there)}: use these.")
