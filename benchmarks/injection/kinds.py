"""The kinds of faults, in the order in which numbers choose them."""

from injection import attacks, damage, disks, kills, runs

CYCLE = {
    "kill of the runner": kills.kill_runner,
    "kill of a watcher": kills.kill_watcher,
    "kill of a script": kills.kill_script,
    "kill of a child": kills.kill_child,
    "full disk": disks.full_disk,
    "limit on files": disks.limited_files,
    "read-only folder": disks.read_only,
    "damaged environment": damage.environment,
    "damaged record": damage.damaged_record,
    "foreign record": damage.foreign_record,
    "damaged bookkeeping": damage.bookkeeping,
    "cut run": runs.cut_run,
    "hostile detector": runs.hostile_answer,
    "commands at once": runs.at_once,
    "faked clock": damage.clock,
    "kill of an evaluation": kills.kill_evaluation,
    "kill of a promotion": kills.kill_promotion,
    "attack on processes": attacks.on_processes,
    "attack on modes": attacks.on_modes,
    "attack on terminals": attacks.on_terminal,
    "attack by git": attacks.by_git,
    "attack by links": attacks.by_links,
    "attack on a cache": attacks.on_cache,
    "forged measure": attacks.forged_measure,
}
# These again: they are twice in a round.
TWICE = (
    "kill of the runner", "kill of a watcher", "kill of a script", "full disk", "damaged environment", "damaged record",
    "cut run", "commands at once",
)  # fmt: skip
REAL, REAL_EVERY = "kill of a real bug's run", 50
# These need mounts of their own.
MOUNTED = ("full disk", "read-only folder")


def kind_of(number, with_real):
    """The kind of the fault with that number."""
    if with_real and number % REAL_EVERY == REAL_EVERY - 1:
        return REAL
    order = (*CYCLE, *TWICE)
    return order[number % len(order)]


def function_of(kind):
    """What injects a fault of that kind, and judges it: a function of a place."""
    return kills.real if kind == REAL else CYCLE[kind]
