"""How well pairs found later are told from others, and how many of the test pairs are in the training graph."""

import copy

import proteins
import torch


def start():
    pass


@torch.no_grad()
def later_auc(model, edges, config):
    """The area under the ROC curve for pairs found later, and ten times as many that do not bind."""
    found, later = proteins.pairs(config["proteins"], config["seed"])
    bound = torch.eye(config["proteins"], dtype=torch.bool)
    bound[found[0], found[1]] = bound[found[1], found[0]] = True
    unbound = (~bound).triu().nonzero().T
    order = torch.randperm(unbound.shape[1], generator=torch.Generator().manual_seed(0))
    positive, negative = found[:, later], unbound[:, order[: 10 * int(later.sum())]]
    model.eval()
    return float(model.test(model.encode(edges), positive.to(edges.device), negative.to(edges.device))[0])


def look(names):
    edges, kept = names["edges"], copy.deepcopy(names["model"])
    kept.load_state_dict(names["best_weights"])
    trained = {tuple(pair) for pair in edges.T.tolist()}
    seen = [tuple(pair) in trained for pair in names["test"].T.tolist()]
    return {
        "later_auc": later_auc(names["model"], edges, names["config"]),
        "kept_later_auc": later_auc(kept, edges, names["config"]),
        "test_seen": sum(seen) / len(seen),
    }
