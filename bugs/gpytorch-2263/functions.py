"""Random functions of four inputs from 0 to 1: the sum of a rough surface over two of them and one over the others."""

import math

import torch


def matern(points, lengthscale):
    """The covariance of a surface that can be differentiated twice, with a lengthscale for each input."""
    distance = math.sqrt(5) * torch.cdist(points / lengthscale, points / lengthscale)
    return (1 + distance + distance.square() / 3) * torch.exp(-distance)


def draw(number, further, noise, prior, generator_seed):
    """Draw lengthscales from the prior and one function; return inputs and noisy values to fit, and further ones."""
    with torch.random.fork_rng():
        torch.manual_seed(generator_seed)
        points = torch.rand(number + further, 4, dtype=torch.float64)
        lengthscales = prior.sample((4,)).double()
        covariance = matern(points[:, :2], lengthscales[:2]) + matern(points[:, 2:], lengthscales[2:])
        covariance += noise**2 * torch.eye(len(points), dtype=torch.float64)
        values = torch.linalg.cholesky(covariance) @ torch.randn(len(points), dtype=torch.float64)
    points, values = points.float(), values.float()
    return (points[:number], values[:number]), (points[number:], values[number:])
