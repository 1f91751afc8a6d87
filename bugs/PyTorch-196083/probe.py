"""How many momentum buffers the stations' optimizers have for the first weights of their networks."""


def start():
    pass


def look(names):
    pairs = zip(names["models"], names["optimizers"], strict=True)
    buffers = [optimizer.state[model[0].weight]["momentum_buffer"] for model, optimizer in pairs]
    return {"buffers": len({buffer.data_ptr() for buffer in buffers})}
