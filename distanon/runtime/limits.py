"""What an autoscaler may add to a cluster, as far as the cluster says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_GROUP = "ray.io/node-group"  # Ray labels with it the nodes that a launcher or KubeRay made


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """One kind of node that an autoscaler starts and ends.

    Attributes:
        resources: of each node, as Ray counts them: CPUs, bytes of memory.
        most: how many there may be at once; None: no bound is stated.
    """

    resources: Mapping[str, float]
    most: int | None


def node_groups() -> tuple[NodeGroup, ...] | None:
    """The kinds of nodes that the autoscaler reported; None where nothing was reported.

    The autoscalers of a launcher and of KubeRay keep their limits to themselves, so None does not
    mean that the cluster stays as it is.
    """
    from ray._private.state import state

    config: Any = state.get_cluster_config()
    if config is None or not config.node_group_configs:
        return None
    return tuple(
        NodeGroup(
            {name: float(amount) for name, amount in group.resources.items()},
            group.max_count if group.max_count >= 0 else None,
        )
        for group in config.node_group_configs
    )


def is_scaled(nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether somebody who starts nodes on demand made one of these (entries of `ray.nodes()`)."""
    return any((node.get("Labels") or {}).get(_GROUP) for node in nodes)
