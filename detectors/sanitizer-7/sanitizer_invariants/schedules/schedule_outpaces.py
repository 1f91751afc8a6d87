"""A schedule that is counted in steps of its optimizer steps with it."""

from sanitizer_invariants.tools.pace import PaceRule, is_near


class ScheduleOutpaces(PaceRule):
    """A schedule whose length is the number of the optimizer's steps does not step several times
    for each of them.

    Why: where gradients are accumulated, an optimizer steps once for several batches. A schedule
    that was made for these steps, and steps with each batch, is at its end long before; a cosine
    goes up again.

    Said when the program ends, of schedules with a length (`T_max`, `total_steps`, `total_iters`)
    that is, to a twentieth, how often the optimizer has stepped, 20 times at least, and that have
    stepped twice or more, always as often, between each two of its steps.

    Excepted: schedules that were made for batches, and have their end with the training; optimizers
    with several schedulers; what goes on from a checkpoint; several processes.

    Cost: a count for each step of an optimizer or a scheduler, and for each backward pass.
    """

    NAME = "schedule-outpaces"
    VERSION = 5

    def judge(self, course):
        is_outpaced = (course.rate or 0) > 1 and is_near(course.steps, course.length)
        if is_outpaced and course.schedule_steps > 1.5 * course.length:
            self.report(
                f"{course.name} is made for {course.length} steps, its optimizer has made "
                f"{course.steps}, and it {course.schedule_steps}: it is stepped {course.rate} "
                "times for each step of the optimizer",
                api=f"torch.optim.lr_scheduler.{course.name}",
                where=course.where,
            )
