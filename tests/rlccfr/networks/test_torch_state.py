import random
import threading

import numpy as np
import pytest
import torch

from rlccfr.networks.torch_state import contained_randomness, one_thread


def draws() -> tuple[float, float, float]:
    return torch.rand(1).item(), np.random.rand(), random.random()


def test_one_thread_gives_the_threads_back():
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_blocks_may_be_nested():
    before = torch.get_num_threads()
    with one_thread():
        with one_thread():
            pass
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_blocks_in_several_threads_give_the_threads_back_whichever_ends_first():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    is_inside, may_end = threading.Event(), threading.Event()
    seen = []

    def work() -> None:
        with one_thread():
            is_inside.set()
            may_end.wait()
            seen.append(torch.get_num_threads())
        seen.append(torch.get_num_threads())

    worker = threading.Thread(target=work)
    try:
        with one_thread():
            worker.start()
            is_inside.wait()
        assert torch.get_num_threads() == 2
        may_end.set()
        worker.join()
        assert seen == [1, 2]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_seed_holds_inside_the_block_only():
    with contained_randomness():
        with contained_randomness(7):
            first = draws()
        outside = draws()
        with contained_randomness(7):
            assert draws() == first
        assert draws() != outside


def failing_draw() -> None:
    with contained_randomness():
        draws()
        raise ZeroDivisionError


def test_generators_are_restored_after_errors():
    with contained_randomness(1):
        expected = draws()
    with contained_randomness(1):
        with pytest.raises(ZeroDivisionError):
            failing_draw()
        assert draws() == expected
