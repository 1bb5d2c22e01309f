"""A DQN in one file, in CleanRL's style, that learns which algorithm to choose for a game.

The environment is ``rlccfr/SelectorFlat-v0``: an episode is one decision, an action one algorithm. Algorithms
that can't run on the game are masked. Run it with ``python examples/dqn.py --game kuhn --timesteps 500``.
"""

from __future__ import annotations

import argparse
import random

import gymnasium
import numpy as np
import torch
from torch import nn


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--game", default="kuhn", help="a name or an OpenSpiel string")
    parser.add_argument("--iterations", type=int, default=100, help="budget of each run")
    parser.add_argument("--catalog", default="tabular", help="tabular, paper, extended-tabular or extended")
    parser.add_argument("--timesteps", type=int, default=500, help="episodes")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=1.0)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epsilon-end", type=float, default=0.05)
    parser.add_argument("--exploring", type=float, default=0.5, help="share of the episodes over which epsilon falls")
    parser.add_argument("--target-every", type=int, default=50, help="episodes between updates of the target network")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def masked(values: torch.Tensor, mask: np.ndarray) -> torch.Tensor:
    """Return Q-values with minus infinity for the algorithms that can't run."""
    return values.masked_fill(~torch.as_tensor(mask, dtype=torch.bool), -torch.inf)


def main() -> None:
    """Train the network, and print the algorithm that it picks."""
    args = arguments()
    random.seed(args.seed)
    generator = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)

    budget = {"unit": "iterations", "amount": args.iterations}
    env = gymnasium.make("rlccfr:rlccfr/SelectorFlat-v0", games=[args.game], budget=budget, catalog=args.catalog)
    inputs, actions = env.observation_space.shape[0], int(env.action_space.n)
    network, target = (nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, actions)) for _ in range(2))
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate)

    memory: list[tuple[np.ndarray, int, float, np.ndarray, np.ndarray, bool]] = []
    observation, _ = env.reset(seed=args.seed)
    for step in range(args.timesteps):
        epsilon = max(args.epsilon_end, 1 - step / (args.exploring * args.timesteps))
        mask = env.unwrapped.action_masks()
        if generator.random() < epsilon:
            action = int(generator.choice(np.flatnonzero(mask)))
        else:
            with torch.no_grad():
                action = int(masked(network(torch.as_tensor(observation)), mask).argmax())
        following, reward, terminated, truncated, _ = env.step(action)
        memory.append((observation, action, float(reward), following, env.unwrapped.action_masks(), terminated))
        observation = env.reset()[0] if terminated or truncated else following

        batch = random.choices(memory, k=args.batch_size)
        seen, taken, rewards, then, masks, ended = (np.array(column) for column in zip(*batch, strict=True))
        with torch.no_grad():
            best = masked(target(torch.as_tensor(then)), masks).max(dim=1).values.numpy()
        wanted = torch.as_tensor(rewards + args.gamma * np.where(ended, 0.0, best), dtype=torch.float32)
        found = network(torch.as_tensor(seen)).gather(1, torch.as_tensor(taken)[:, None])[:, 0]
        loss = nn.functional.mse_loss(found, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.target_every == 0:
            target.load_state_dict(network.state_dict())
        if (step + 1) % max(1, args.timesteps // 10) == 0:
            print(f"episode {step + 1}: reward {reward:.3f}, epsilon {epsilon:.2f}, loss {loss.item():.2g}", flush=True)

    observation, _ = env.reset(seed=args.seed)
    with torch.no_grad():
        pick = int(masked(network(torch.as_tensor(observation)), env.unwrapped.action_masks()).argmax())
    reward, catalog = env.step(pick)[1], env.unwrapped.catalog
    print(f"{args.game}: {catalog.cell(*catalog.unravel(pick))}, reward {reward:.3f}")


if __name__ == "__main__":
    main()
