"""Anonymize tables and social graphs, with promises verified on the released files.

    import distanon as da

    run = da.run("jobs/forest-fires.yaml")
    release = da.DPTPE(k=10).anonymize(frame, quasi_identifiers=["age", "zip"], seed=7)
    da.audit(release.data, quasi_identifiers=["age", "zip"], sensitive=["job"])

Importing the package loads no heavy library: each name is looked up when it is first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from distanon.data.ports import Progress
    from distanon.job import RunResult, apply, audit
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
    from distanon.spec import JobSpec

    __version__: str

__all__ = [
    "DPTPE",
    "KFCFA",
    "KMFCGWO",
    "MDAV",
    "RBT",
    "DecisionTreeLeaves",
    "DegreeAnonymization",
    "JobSpec",
    "Mondrian",
    "NeNDS",
    "Noise",
    "RandomEdits",
    "Reconstruction",
    "SaNGreeA",
    "apply",
    "audit",
    "run",
]

_PLACES = {
    "DPTPE": "distanon.methods.dptpe",
    "DecisionTreeLeaves": "distanon.methods.baselines.decision_tree_leaves",
    "DegreeAnonymization": "distanon.methods.baselines.degree_anonymization",
    "JobSpec": "distanon.spec",
    "KFCFA": "distanon.methods.kmfc_gwo.method",
    "KMFCGWO": "distanon.methods.kmfc_gwo.method",
    "MDAV": "distanon.methods.baselines.mdav",
    "Mondrian": "distanon.methods.baselines.mondrian",
    "NeNDS": "distanon.methods.baselines.nends",
    "Noise": "distanon.methods.baselines.noise",
    "RBT": "distanon.methods.baselines.rbt",
    "RandomEdits": "distanon.methods.baselines.random_edits",
    "Reconstruction": "distanon.methods.reconstruction.method",
    "SaNGreeA": "distanon.methods.baselines.sangreea",
    "apply": "distanon.job",
    "audit": "distanon.job",
}


def run(
    spec: str | os.PathLike[str] | JobSpec,
    *,
    settings: Sequence[str] = (),
    run_id: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    serial: bool = False,
) -> RunResult:
    """Runs a job, as `distanon run` does.

    Args:
        spec: a spec file, or a spec.
        settings: for a spec file, changes such as `method.k=20`.
        run_id: instead of the spec's name and digest.
        overwrite: replace a release that is already there.
        progress: where to say how far it is; None: nowhere.
        serial: work in this process, without Ray; the release has the same bytes.

    Returns:
        Where release and report are, the verdicts and the figures.

    Raises:
        DistanonError: what `distanon run` would explain; its `exit_code` says which kind.
    """
    from distanon.job import run_job
    from distanon.spec import JobSpec, load

    job_spec = spec if isinstance(spec, JobSpec) else load(spec, settings)
    job_spec.require_single_run()
    return run_job(job_spec, run_id=run_id, overwrite=overwrite, progress=progress, serial=serial)


def __getattr__(name: str) -> Any:
    """The public names, imported when they are first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("distanon")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
