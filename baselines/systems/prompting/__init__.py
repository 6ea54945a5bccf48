"""Large language models prompted for labels, zero-shot and few-shot (MSciNLI, Table 5)."""

from .answers import REASONS, Reading, count_reasons, parse_answer, read_answer
from .ask import Answer, Asker, Question, ask
from .local import LocalModel
from .prompts import FORMS, Option, Prompt, Shot, draw_shots, get_prompt, messages
from .server import ChatServer, ServerError

__all__ = [
    "FORMS",
    "REASONS",
    "Answer",
    "Asker",
    "ChatServer",
    "LocalModel",
    "Option",
    "Prompt",
    "Question",
    "Reading",
    "ServerError",
    "Shot",
    "ask",
    "count_reasons",
    "draw_shots",
    "get_prompt",
    "messages",
    "parse_answer",
    "read_answer",
]
