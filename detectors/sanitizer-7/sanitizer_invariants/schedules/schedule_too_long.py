"""A schedule that steps with its optimizer is counted in its steps."""

from sanitizer_invariants.tools.pace import PaceRule, is_near


class ScheduleTooLong(PaceRule):
    """A schedule that steps with its optimizer is not made for as many steps as there are backward
    passes, where these are several for each step.

    Why: where gradients are accumulated, an optimizer steps once for several batches. A schedule
    that was made for all batches, and steps with the optimizer, is at a half or a quarter of its
    course when the training ends: the rate has never fallen.

    Said when the program ends, of schedules with a length (`T_max`, `total_steps`, `total_iters`)
    that step once for each step of the optimizer; between each two steps were k backward passes,
    two or more, and the length is, to a twentieth, k times the number of steps, 20 at least.

    Excepted: other lengths (a training that was ended early); programs with several optimizers;
    optimizers with several schedulers; what goes on from a checkpoint; several processes.

    Cost: a count for each step of an optimizer or a scheduler, and for each backward pass.
    """

    NAME = "schedule-too-long"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.optimizers = set()

    def before_step(self, optimizer):
        super().before_step(optimizer)
        self.optimizers.add(id(optimizer))

    def judge(self, course):
        passes = course.passes or 0
        is_long = passes > 1 and is_near(course.length, passes * course.steps)
        if is_long and course.rate == 1 and len(self.optimizers) == 1:
            self.report(
                f"{course.name} is made for {course.length} steps, and has made "
                f"{course.schedule_steps} as the training ends: it counts {passes} backward passes "
                "for each step of the optimizer",
                api=f"torch.optim.lr_scheduler.{course.name}",
                where=course.where,
            )
