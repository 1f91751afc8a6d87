"""Which events does NeuralDBG see while the program trains? Transitions to a healthy state are no warning."""

from neuraldbg import NeuralDbg

HEALTHY = {"healthy", "normal", "stable"}


class Debugger:
    def __init__(self, model, emit):
        self.emit = emit
        self.debugger = NeuralDbg(model)
        self.debugger.__enter__()
        self.seen = 0

    def before_backward(self, iteration, loss):
        self.debugger.record_loss(loss.item())

    def after_step(self, iteration):
        self.report(iteration)
        self.debugger.step_iteration()

    def end(self, iteration):
        self.report(iteration)
        self.debugger.__exit__(None, None, None)

    def report(self, iteration):
        events = self.debugger.get_events()
        for event in events[self.seen :]:
            state = getattr(event.to_state, "value", event.to_state)
            self.emit(
                event.event_type.value,
                f"{event.layer_name}: {getattr(event.from_state, 'value', event.from_state)} to {state}",
                severity="info" if state in HEALTHY else "warning",
                parameter=event.layer_name,
                iteration=iteration,
            )
        self.seen = len(events)


def attach(model, optimizer, emit):
    return Debugger(model, emit) if model is not None else None
