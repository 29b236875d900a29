"""How a release is made: the registry of methods. A new method is one file and one line here."""

from __future__ import annotations

from types import MappingProxyType

from distanon.methods.base import Method
from distanon.methods.baselines.decision_tree_leaves import DecisionTreeLeaves
from distanon.methods.baselines.degree_anonymization import DegreeAnonymization
from distanon.methods.baselines.mdav import MDAV
from distanon.methods.baselines.mondrian import Mondrian
from distanon.methods.baselines.nends import NeNDS
from distanon.methods.baselines.noise import Noise
from distanon.methods.baselines.random_edits import RandomEdits
from distanon.methods.baselines.rbt import RBT
from distanon.methods.baselines.sangreea import SaNGreeA
from distanon.methods.dptpe import DPTPE
from distanon.methods.kmfc_gwo.method import KFCFA, KMFCGWO
from distanon.methods.reconstruction.method import Reconstruction

METHODS: MappingProxyType[str, type[Method]] = MappingProxyType(
    {
        "dptpe": DPTPE,
        "rbt": RBT,
        "nends": NeNDS,
        "noise": Noise,
        "mondrian": Mondrian,
        "mdav": MDAV,
        "decision_tree_leaves": DecisionTreeLeaves,
        "kmfc_gwo": KMFCGWO,
        "kfcfa": KFCFA,
        "random_edits": RandomEdits,
        "degree_anonymization": DegreeAnonymization,
        "sangreea": SaNGreeA,
        "reconstruction": Reconstruction,
    }
)
"""Every method by its name in the spec."""
