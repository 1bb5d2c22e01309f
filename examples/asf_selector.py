"""Compare the selectors ASF and ZeroFolio with kernel regression on a scenario of ASlib: ``python asf_selector.py``.

All choose among 16 algorithms on 59 small games, by the scenario's splits. ZeroFolio compares the texts of games'
files; its paper embeds them by a language model, and here hashed n-grams take its place. It needs a clone of the
repository and ``pip install 'rlccfr[aslib]' asf-lib clingo scikit-survival zerofolio``.
"""

import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import zerofolio
from asf.predictors import RandomForestRegressorWrapper
from asf.scenario.aslib_reader import read_aslib_scenario
from asf.selectors import PerformanceModel
from sklearn.feature_extraction.text import HashingVectorizer

import rlccfr
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.catalog import Catalog
from rlccfr.envs import Budget, TableEvaluator, write_aslib
from rlccfr.envs.reward import DECADES, PRESETS

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.baselines.kernel_regression import ByRegression  # noqa: E402

measured = TableEvaluator(ROOT / "benchmarks" / "results" / "families.parquet")
budget = Budget("seconds", 1.0)
catalog = Catalog(Catalog.tabular().update_rules, ("none", "external"), ("none",))
with tempfile.TemporaryDirectory() as folder:
    small = [game for game in measured.games if rlccfr.load_game(game).num_histories < 10_000]
    scenario = write_aslib(measured, Path(folder) / "small_games", budget, catalog, games=small)
    features, errors, _, splits, *_ = read_aslib_scenario(str(scenario), add_running_time_features=False)
    errors = errors.clip(lower=-DECADES)  # as the choosers' reward counts them
    texts = {}
    for game in errors.index:
        file = Path(folder) / "game.efg"
        rlccfr.Policy.uniform(rlccfr.load_game(game)).save(file)
        texts[game] = zerofolio.serialize(file)
embedding = HashingVectorizer(analyzer="char", ngram_range=(3, 3), n_features=1024)
vectors = dict(zip(texts, embedding.transform(texts.values()).toarray(), strict=True))

forest = partial(RandomForestRegressorWrapper, init_params={"n_estimators": 50, "random_state": 0})
above = {"single best": [], "ASF": [], "ZeroFolio": [], "kernel regression": []}
for _, new in splits.groupby("fold"):
    known = errors.index.difference(new.index)
    forests = PerformanceModel(forest, normalize="none")
    neighbours = zerofolio.KNNSelector(k=10, metric="cosine", algorithm_names=list(errors.columns))
    forests.fit(features.loc[known], errors.loc[known])
    neighbours.fit([vectors[game] for game in known], errors.loc[known])
    regression = ByRegression(MeasuredCosts.read(measured, catalog, list(known), [budget]))
    for game in new.index:
        picks = {
            "single best": errors.loc[known].mean().idxmin(),
            "ASF": forests.predict(features.loc[[game]])[game][0][0],
            "ZeroFolio": neighbours.predict(vectors[game])[0],
            "kernel regression": "/".join(regression.pick(game, budget, PRESETS["accuracy"])),
        }
        for name, pick in picks.items():
            above[name].append(errors.at[game, pick] - errors.loc[game].min())
for name, decades in above.items():
    print(f"{name}: {np.mean(decades):.3f} decades above the best algorithm of each of {len(decades)} games")
