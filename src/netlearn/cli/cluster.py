"""Where `netlearn learn` passes over the rows: in this process, in several, or on a Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlearn.backend.extras import need
from netlearn.cli.output import working
from netlearn.errors import InputError

if TYPE_CHECKING:
    from distributed import Client

_PATIENCE = 10
"""Seconds that a scheduler has to answer."""


@dataclass(frozen=True)
class Cluster:
    """What was asked for: the address of a scheduler, a number of local workers, or neither."""

    scheduler: str | None = None
    workers: int | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether rows are passed over elsewhere than in this process."""
        return self.scheduler is not None or self.workers is not None

    def check(self) -> None:
        """Refuse, before any work, what cannot be had."""
        if self.scheduler is not None and self.workers is not None:
            raise InputError(
                "--scheduler and --workers exclude each other: a scheduler has workers of its own."
            )
        if self.is_wanted:
            need("distributed", extra="dask", purpose="Learning on a cluster")

    @contextmanager
    def connected(self) -> Iterator[Client | None]:
        """Give a client, or None for this process alone; local workers end with the block."""
        if not self.is_wanted:
            yield None
            return
        logging.disable()  # what goes wrong is told in one sentence at the end, and not in logs on the way
        try:
            if self.workers is None:
                with self._answering() as client:
                    yield client
            else:
                with self._local() as cluster, cluster.get_client() as client:
                    yield client
        finally:
            logging.disable(logging.NOTSET)

    def _local(self) -> Any:
        from distributed import LocalCluster

        with working(f"Starting {self.workers} workers"):
            return LocalCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                # No dashboard; the server that it would be on is there all the same, and takes any free port.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
            )

    def _answering(self) -> Client:
        from distributed import Client

        try:
            with working(f"Connecting to {self.scheduler}"):
                # Not the default client: one that does not answer would stay that for the rest of the process.
                return Client(self.scheduler, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"--scheduler must be the address of a Dask scheduler, such as tcp://host:8786; {self.scheduler} did "
                f"not answer as one within {_PATIENCE} seconds."
            ) from error
