"""What is promised: privacy models that are checked on the written release."""

from __future__ import annotations

from types import MappingProxyType

from distanon.promises.alpha_k import AlphaK
from distanon.promises.base import Promise
from distanon.promises.beta_likeness import BetaLikeness
from distanon.promises.copies import Copies
from distanon.promises.delta_disclosure import DeltaDisclosure
from distanon.promises.k_anonymity import KAnonymity
from distanon.promises.k_degree import KDegree
from distanon.promises.l_diversity import LDiversity
from distanon.promises.link_confidence import LinkConfidence
from distanon.promises.linkage import Linkage
from distanon.promises.t_closeness import TCloseness
from distanon.promises.unchanged import Unchanged

PROMISES: MappingProxyType[str, type[Promise]] = MappingProxyType(
    {
        promise.name: promise
        for promise in (
            KAnonymity,
            Copies,
            LDiversity,
            TCloseness,
            Unchanged,
            Linkage,
            BetaLikeness,
            DeltaDisclosure,
            AlphaK,
            KDegree,
            LinkConfidence,
        )
    }
)
"""Every promise by its name in the spec."""
