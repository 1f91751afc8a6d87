"""Runs an unedited training script, under a monitor that lives in the same process or only with a stopwatch.

    python LAUNCHER OUT.json [--monitor MONITOR.py] [--path DIRECTORY] SCRIPT.py [ARGUMENT ...]

LAUNCHER is this folder. With `--module` the script is the name of a module, which runs as by `python -m`.

MONITOR.py defines `attach(model, optimizer, emit)`, `watch(program, emit)`, or both. moments.py lists the methods that
their objects may have.

`attach` is called once for each optimizer, before the first forward pass after its construction. Where something is
compiled earlier, it is called then, and after that at the optimizer's first use. The methods of its object get the
iteration, which is 1 up to and including the optimizer's first step. `end` comes last, with the number of the last
iteration. `model` is the outermost module that holds all parameters of the optimizer, or None. If `attach` has a fourth
argument named `program`, it gets the Program of program.py.

`watch` is called once in each process, before the script begins. `join(notes)` comes last, in the first process alone:
its argument is what `Program.note` was given in each process.

`emit(code, message, severity, api, parameter, iteration)` raises an alarm; all but the first two are optional. An alarm
counts the iterations of the program: those of the optimizer, and those that others have done before it began. The
launcher adds the iteration in which it was raised as `seen` (at the end: one more than there were).

The launcher does not touch the script. It wraps `step` and `zero_grad` on each optimizer, `zero_grad` on `nn.Module`,
and `backward` in `torch.autograd`. Hooks of the optimizer would not do: they do not fire in code compiled by Dynamo. A
step that is handed to Dynamo by itself is compiled bare and watched from outside, so that the compiled code stays what
it was. A step that is called inside a compiled function breaks the graph before and after. These, the registration of
modules and parameters, and `torch._dynamo.optimize` are hooked under every monitor. Of the other moments the launcher
hooks only those that a monitor has a method for. Monitors hear nothing from inside a transform of functorch, from
`torch.jit.trace`, or while a CUDA graph is recorded. Processes that the script starts by `multiprocessing` are watched
too, each with a monitor of its own. The launcher needs torch 2.0 or newer, and nothing else.

OUT.json holds alarms, the number of optimizers, and the seconds from the first optimizer to the end (`loop_s`). If the
monitor failed, it also holds the error and its traceback: the launcher then calls the monitor no more, and the training
goes on. The exit status is the script's.
"""
