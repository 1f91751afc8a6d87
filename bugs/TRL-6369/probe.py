"""How many tokens the last loss was made of, and by how many it was divided."""

COUNTS = {}


def start():
    from trl import GRPOTrainer

    compute = GRPOTrainer._compute_loss

    def counted(self, model, inputs):
        COUNTS["tokens_used"] = float(inputs["completion_mask"].sum())
        COUNTS["tokens_divided_by"] = float(inputs["num_items_in_batch"])
        return compute(self, model, inputs)

    GRPOTrainer._compute_loss = counted


def look(names):
    return dict(COUNTS)
