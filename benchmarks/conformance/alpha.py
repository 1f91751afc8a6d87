"""`add_` of a bfloat16 tensor to a float32 one, with a tensor as alpha, compiled and ordinary:
a minimal program.

Muon's update is such an addition when its learning rate is a tensor. Ordinary Python takes the
number out of alpha and computes in float32; compiled, the product of both tensors is rounded to
bfloat16 first.
"""

import torch
import torch._dynamo


def add(parameter, update, rate):
    return parameter.add_(update, alpha=-rate)


def main():
    compiled = torch._dynamo.optimize("eager")(add)
    version = torch.__version__.split("+")[0]
    for dtype in (torch.bfloat16, torch.float32):
        for rate in (0.05, torch.tensor(0.05)):
            update = torch.tensor([0.503906], dtype=dtype)
            ordinary, other = (
                add(torch.zeros(1), update, rate),
                compiled(torch.zeros(1), update, rate),
            )
            print(
                f"{version}: {dtype}, alpha {rate}: {ordinary.item():.9f} compiled "
                f"{other.item():.9f}"
            )


if __name__ == "__main__":
    main()
