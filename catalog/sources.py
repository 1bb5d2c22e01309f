"""The publications that several components cite as their sources.

Names are the first author, the venue if needed, and the year; ``RLCCFR`` is the paper of this library.
"""

BROWN_ICML_2019 = "Brown et al., Deep counterfactual regret minimization, ICML 2019"
BROWN_SANDHOLM_2019 = (
    "Brown and Sandholm, Solving imperfect-information games via discounted regret minimization, AAAI 2019"
)
FARINA_2020 = "Farina, Kroer and Sandholm, Stochastic regret minimization in extensive-form games, ICML 2020"
FARINA_2021 = "Farina et al., Faster game solving via predictive Blackwell approachability, AAAI 2021"
FARINA_2023 = "Farina et al., Regret matching+: (in)stability and fast convergence in games, NeurIPS 2023"
FREUND_1999 = "Freund and Schapire, Adaptive game playing using multiplicative weights, GEB 1999"
JOHANSON_2012 = (
    "Johanson, Bard, Lanctot, Gibson and Bowling, Efficient Nash equilibrium approximation through Monte Carlo "
    "counterfactual regret minimization, AAMAS 2012"
)
LANCTOT_2009 = "Lanctot et al., Monte Carlo sampling for regret minimization in extensive games, NIPS 2009"
LI_2026 = "Li et al., Discovering multiagent learning algorithms with large language models, arXiv 2602.16928v1, 2026"
LI_ECFR_2020 = "Li et al., Solving imperfect-information games via exponential counterfactual regret minimization, 2020"
LI_ICLR_2020 = "Li et al., Double neural counterfactual regret minimization, ICLR 2020"
MCALEER_2023 = (
    "McAleer, Farina, Lanctot and Sandholm, ESCHER: eschewing importance sampling in games by computing a history "
    "value function to estimate regret, ICLR 2023"
)
MENG_AAAI_2026 = "Meng et al., Faster game solving via asymmetry of step sizes, AAAI 2026"
MENG_NEURIPS_2025 = "Meng et al., Efficient last-iterate convergence in solving extensive-form games, NeurIPS 2025"
MEYER_2021 = (
    "Meyer, Toward Generality: Building Better Counterfactual Regret Minimization for Imperfect Information Games, "
    "Harvard bachelor's thesis, 2021"
)
RLCCFR = "Keshavarzi, Navidi and Tefagh, Combining CFR-based algorithms with deep reinforcement learning techniques"
STEINBERGER_2019 = "Steinberger, Single deep counterfactual regret minimization, 2019"
STEINBERGER_2020 = (
    "Steinberger, Lerer and Brown, DREAM: deep regret minimization with advantage baselines and model-free learning, "
    "2020"
)
XU_2026 = "Xu et al., deep discounted CFR+ with bootstrapped targets, AAAI 2026"
XU_ICLR_2024 = "Xu et al., Dynamic discounted counterfactual regret minimization, ICLR 2024"
XU_IJCAI_2024 = "Xu et al., Minimizing weighted counterfactual regret with optimistic online mirror descent, IJCAI 2024"
ZHANG_2024 = "Zhang et al., Faster game solving via hyperparameter schedules, 2024"
