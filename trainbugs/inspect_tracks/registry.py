"""What inspect_ai finds: `inspect eval trainbugs/review -T tasks=DIR/tasks.jsonl --model …`"""

import json
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState, generate
from inspect_ai.tool import ToolChoice, ToolInfo

from runner.errors import UsageError
from trainbugs.inspect_tracks.prompts import (
    TASK,
    read_tasks,
    repair_answer,
    repair_prompt,
    review_answer,
    review_prompt,
)


@task
def review(tasks: str) -> Task:
    """Programs to judge. `tasks` is tasks.jsonl of `trainbugs review export`; the scores come from
    `trainbugs review import LOG --key DIR/key.json`.
    """
    samples = [Sample(id=item["id"], input=review_prompt(item)) for item in read_tasks(Path(tasks))]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=is_review())


@task
def repair(tasks: str) -> Task:
    """Programs to mend. `tasks` is tasks.jsonl of `trainbugs repair export`; the grades come from
    `trainbugs repair grade LOG --key DIR/key.json`.
    """
    samples = [Sample(id=item["id"], input=repair_prompt(item)) for item in read_tasks(Path(tasks))]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=is_program())


@scorer(metrics=[mean()])
def is_review() -> Scorer:
    """Whether an answer is a review; what it is worth is scored with the key, which no model and no
    log has.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = review_answer(state.output.completion)
        return Score(value=float(answer is not None), answer=json.dumps(answer))

    return score


@scorer(metrics=[mean()])
def is_program() -> Scorer:
    """Whether an answer holds a program; the grader runs it."""

    async def score(state: TaskState, target: Target) -> Score:
        program = repair_answer(state.output.completion)
        return Score(value=float(program is not None), answer=program)

    return score


@modelapi(name="trainbugs-replay")
def replay() -> type[ModelAPI]:
    """A provider that needs no network: it gives the answers of a file, a JSON object a line with
    `id` and `text`. `-M answers=FILE` names it.
    """
    return Replay


class Replay(ModelAPI):
    """Gives the answer of a file to the task that the prompt names."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        answers: str = "",
        **_: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if not Path(answers).is_file():
            raise UsageError(
                f"{answers or 'no file'}: expected the file of answers; name it by -M answers=FILE"
            )
        lines = Path(answers).read_text(encoding="utf-8").splitlines()
        self._texts = {item["id"]: item["text"] for item in map(json.loads, lines)}

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """The answer to the task of the prompt; an empty one where the file has none."""
        named = TASK.search("\n".join(message.text for message in input))
        text = self._texts.get(named[1], "") if named else ""
        return ModelOutput.from_content(self.model_name, text)

    async def count_tokens(self, *_: Any, **__: Any) -> int:
        """None are used."""
        return 0

    async def count_text_tokens(self, *_: Any, **__: Any) -> int:
        """None are used."""
        return 0
