import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class BitFlipEnv:
    def __init__(self, n_bits, seed):
        self.n_bits, self.rng = n_bits, np.random.RandomState(seed)

    def reset(self):
        self.state = self.rng.randint(0, 2, self.n_bits).astype(np.float32)
        self.goal = self.rng.randint(0, 2, self.n_bits).astype(np.float32)
        self.t = 0
        return self.state.copy(), self.goal.copy()

    def step(self, action):
        self.state[action] = 1.0 - self.state[action]
        self.t += 1
        success = bool((self.state == self.goal).all())
        return self.state.copy(), success, success or self.t >= self.n_bits


def compute_reward(achieved, goal):
    return np.where((achieved == goal).all(-1), 0.0, -1.0).astype(np.float32)


class HERReplayBuffer:
    """Circular buffer that rewrites goals with states reached later in the same episode."""

    def __init__(self, maxsize, n_bits, horizon, future_p=0.8):
        self.maxsize, self.horizon, self.future_p = maxsize, horizon, future_p
        self.obs, self.goal, self.obs_next = (np.zeros((maxsize, n_bits), np.float32) for _ in range(3))
        self.act = np.zeros(maxsize, np.int64)
        self.done = np.zeros(maxsize, bool)
        self.episode = np.zeros(maxsize, np.int64)
        self.index, self.size, self.n_episodes = 0, 0, 0
        self.rewritten = self.foreign = 0

    def add(self, obs, goal, act, obs_next, done):
        i = self.index
        self.obs[i], self.goal[i], self.act[i], self.obs_next[i], self.done[i] = obs, goal, act, obs_next, done
        self.episode[i] = self.n_episodes
        self.n_episodes += int(done)
        self.last = i
        self.index = (i + 1) % self.maxsize
        self.size = min(self.size + 1, self.maxsize)

    def next(self, indices):
        stop = self.done[indices] | (indices == self.last)
        return np.where(stop, indices, (indices + 1) % self.maxsize)

    def sample(self, batch_size):
        current = np.random.randint(0, self.size, batch_size)
        terminal = current
        for _ in range(self.horizon):
            terminal = self.next(terminal)
        episodes_len = (terminal - current + self.maxsize) % self.maxsize
        future_offset = np.round(np.random.uniform(size=batch_size) * episodes_len).astype(int)
        future_t = (current + future_offset) % self.maxsize
        use = np.random.uniform(size=batch_size) < self.future_p
        goal = np.where(use[:, None], self.obs_next[future_t], self.goal[current])
        self.rewritten += int(use.sum())
        self.foreign += int((use & (self.episode[future_t] != self.episode[current])).sum())
        reward = compute_reward(self.obs_next[current], goal)
        arrays = (self.obs[current], goal, self.act[current], self.obs_next[current], reward)
        return [torch.from_numpy(a) for a in arrays]


class QNet(nn.Module):
    def __init__(self, n_bits, hidden=96):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * n_bits, hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_bits))

    def forward(self, obs, goal):
        return self.net(torch.cat([obs, goal], dim=-1))


class DQNAgent:
    def __init__(self, n_bits, lr=1e-3, gamma=0.95, sync=100):
        self.q, self.target = QNet(n_bits), QNet(n_bits)
        self.target.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.n_bits, self.gamma, self.sync, self.updates = n_bits, gamma, sync, 0

    @torch.no_grad()
    def act(self, obs, goal, eps):
        if np.random.rand() < eps:
            return np.random.randint(self.n_bits)
        return int(self.q(torch.from_numpy(obs), torch.from_numpy(goal)).argmax())

    def learn(self, batch):
        obs, goal, act, obs_next, reward = batch
        with torch.no_grad():
            future = self.target(obs_next, goal).max(1).values
            target = reward + self.gamma * (reward < 0).float() * future
        q = self.q(obs, goal).gather(1, act.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(q, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.updates += 1
        if self.updates % self.sync == 0:
            self.target.load_state_dict(self.q.state_dict())


def play(env, agent, eps, buffer=None):
    obs, goal = env.reset()
    done = False
    while not done:
        act = agent.act(obs, goal, eps)
        obs_next, success, done = env.step(act)
        if buffer is not None:
            buffer.add(obs, goal, act, obs_next, done)
        obs = obs_next
    return success


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    torch.manual_seed(seed)
    np.random.seed(seed)
    n_bits = 8
    env, test_env = BitFlipEnv(n_bits, seed), BitFlipEnv(n_bits, seed + 1000)
    agent, buffer = DQNAgent(n_bits), HERReplayBuffer(1000, n_bits, horizon=n_bits)
    for episode in range(600):
        play(env, agent, max(0.1, 1 - episode / 300), buffer)
        for _ in range(4):
            agent.learn(buffer.sample(64))
        if (episode + 1) % 150 == 0:
            rate = np.mean([play(test_env, agent, 0.0) for _ in range(50)])
            print(f"episode {episode + 1} success {rate:.2f}")
    rate = np.mean([play(test_env, agent, 0.0) for _ in range(200)])
    print(f"RESULT success={rate:.3f} rewritten={buffer.rewritten} goals_of_other_episode={buffer.foreign}")


if __name__ == "__main__":
    main()
