"""The training of a user's own in docs/learning_agent.md: two weights, of corners and mobility."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "learning_agent.md"
FILE = re.compile(r"<!-- file: my_training.py -->\n```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
UNIT = 100

TwoWeights: Any
(_code,) = FILE.findall(PAGE.read_text(encoding="utf-8"))
exec(compile(_code, str(PAGE), "exec", dont_inherit=True))
