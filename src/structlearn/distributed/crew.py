"""Parts on the workers of a Dask cluster: who holds which, and what happens when a worker is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import uuid4

from structlearn.distributed import worker
from structlearn.distributed.engine import check_travels, dask_distributed
from structlearn.distributed.sources import Source, computed
from structlearn.distributed.traffic import Traffic, nbytes
from structlearn.distributed.watch import LOOK, Watch
from structlearn.waist.sharded import Parts

#: Arguments that are larger than this travel once to each worker, not with every task.
LARGE = 2**20
#: Seconds for which a worker may take nothing of what is sent to it, beside those that the bytes may take.
MOST_SILENCE = 10.0
SLOWEST = 5e6
#: How often in a call sending may fail, while the scheduler is there.
MOST_FAILURES = 50


class Crew(Parts):
    """Parts that workers hold, each on one of them.

    The client asks the worker that holds a part, and no other. Where that worker is lost, the part goes to the one that
    holds least, which reads it again; a worker that comes anew takes over parts at the next call.

    Parameters
    ----------
    client : distributed.Client
    sources : list of Source
    sizes : list of int
        How many examples each of them has.
    model, spec
        What parts are bound with.
    patience : float
        Seconds for which a cluster may be without any worker.
    """

    def __init__(
        self,
        client: Any,
        sources: Sequence[Source],
        sizes: Sequence[int],
        model: Any,
        spec: Any,
        patience: float = 60.0,
    ):
        check_travels("the model", model)
        self._dask = dask_distributed()
        self._client = client
        self._sources, self._sizes = sources, sizes
        self._model, self._spec = model, spec
        self._watch = Watch(client, patience, "; a fit with the same checkpoint goes on")
        self._run = uuid4().hex
        self._holder: dict[int, str] = {}
        self._loaded: dict[int, str] = {}
        self._moved_last: list[int] = []
        self._failures = self._waited = 0
        self.traffic = Traffic()

    def __len__(self) -> int:
        return len(self._sources)

    def release(self) -> None:
        """Tells workers that they may give up the parts; nothing is waited for, and they forget old runs anyhow."""
        if self._client.status == "running":
            for address in sorted(set(self._loaded.values())):
                task = self._client.submit(worker.forget, self._run, workers=[address], pure=False)
                self._dask.fire_and_forget(task)
        self._loaded.clear()

    def notes(self) -> dict[str, Any]:
        return {"parts": len(self), "workers": len(set(self._holder.values()))} | self.traffic.told()

    def ask(
        self,
        call: Callable[..., Any],
        *common: Any,
        own: Sequence[Any] | None = None,
        which: Sequence[int] | None = None,
    ) -> list[Any]:
        asked = list(range(len(self))) if which is None else list(which)
        mine = {k: () if own is None else (own[place],) for place, k in enumerate(asked)}
        self._balance()
        self._failures = self._waited = 0
        shared = _Shared(self._client, common, self.traffic)
        open_tasks = {k: self._send(k, call, shared, mine[k]) for k in asked}
        found: dict[int, Any] = {}
        while open_tasks:
            if sent := [task for task in open_tasks.values() if not isinstance(task, _NotSent)]:
                self._watch.wait(sent)
            alive = self._watch.alive()
            for k, task in list(open_tasks.items()):
                if self._holder[k] not in alive:
                    task.cancel(reason=f"{self._holder[k]} is lost", force=True)
                    self._assign(k, alive)
                    open_tasks[k] = self._send(k, call, shared, mine[k])
                elif task.status == "error":
                    self._raise_or_repeat(k, task)
                    open_tasks[k] = self._send(k, call, shared, mine[k])
                elif task.status in ("cancelled", "lost"):
                    open_tasks[k] = self._send(k, call, shared, mine[k])
                elif task.status == "finished" and (answer := self._answer(k, task)) is not None:
                    if isinstance(answer, worker.Reply):
                        found[k] = answer.value
                        del open_tasks[k]
                    else:
                        open_tasks[k] = self._send(k, call, shared, mine[k])
        return [found[k] for k in asked]

    def _send(self, k: int, call: Callable[..., Any], shared: _Shared, own: tuple[Any, ...]) -> Any:
        """A task for the holder of a part: to load it if it has not, to answer otherwise."""
        try:
            return self._task(k, call, shared, own)
        except (OSError, RuntimeError, TimeoutError, AttributeError, KeyError) as error:
            # It may be the scheduler that is gone, or the one worker that large arguments went to.
            self._watch.alive(now=True)
            self._failures += 1
            if self._failures > MOST_FAILURES:
                raise ConnectionError(f"{self._sources[k]} cannot be sent to {self._holder[k]}: {error}") from error
            return _NotSent()

    def _task(self, k: int, call: Callable[..., Any], shared: _Shared, own: tuple[Any, ...]) -> Any:
        holder = self._holder[k]
        if self._loaded.get(k) != holder:
            source = self._sources[k]
            needed = computed(self._client, source)
            return self._submit(k, worker.load, source, self._model, self._spec, self._sizes[k], needed)
        arguments: Any = own
        if (size := nbytes(own)) > LARGE:
            arguments = _placed(self._client, own, size, holder)
        self.traffic.sent += size
        return self._submit(k, worker.ask, call, shared.future(holder), arguments)

    def _submit(self, k: int, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(
            function, self._run, k, *arguments, workers=[self._holder[k]], pure=False, key=f"part-{k}-{uuid4().hex}"
        )

    def _answer(self, k: int, task: Any) -> worker.Reply | str | None:
        """What a task found: an answer, or that the part has been loaded, or is not there after all; None to wait."""
        try:
            value = task.result(timeout=LOOK * 2**self._waited)
        except TimeoutError:
            # It may be large, or its worker is gone: what has become of that is looked at first.
            self._waited = min(self._waited + 1, 10)
            return None
        except (self._dask.CancelledError, OSError):
            return "again"
        if not isinstance(value, worker.Reply):
            self._loaded[k] = self._holder[k]
            return "loaded"
        if value.absent:
            self._loaded.pop(k, None)
            return "absent"
        self.traffic.received(self._holder[k], nbytes(value.value), value.seconds)
        return value

    def _raise_or_repeat(self, k: int, task: Any) -> None:
        """Errors of the library and of the user's own code are raised; what a lost worker leaves behind is not."""
        error = task.exception()
        lost = (self._dask.scheduler.KilledWorker, self._dask.CancelledError, self._dask.comm.CommClosedError)
        if not isinstance(error, lost):
            raise error

    def _balance(self) -> None:
        """Gives every part a holder; parts that were lost last go first to workers that have come anew."""
        alive = self._watch.alive()
        for k in range(len(self)):
            if self._holder.get(k) not in alive:
                self._assign(k, alive)
        while True:
            load = {each: sum(holder == each for holder in self._holder.values()) for each in sorted(alive)}
            most, least = max(load, key=load.__getitem__), min(load, key=load.__getitem__)
            if load[most] - load[least] < 2:
                return
            k = max((k for k, holder in self._holder.items() if holder == most), key=self._when_moved)
            self._holder[k] = least

    def _assign(self, k: int, alive: Iterable[str]) -> None:
        load = {each: sum(holder == each for holder in self._holder.values()) for each in sorted(alive)}
        if k in self._holder:
            self.traffic.lost += 1
            self._moved_last.append(k)
        self._holder[k] = min(load, key=load.__getitem__)

    def _when_moved(self, k: int) -> int:
        return max((place for place, moved in enumerate(self._moved_last) if moved == k), default=-1)


def _placed(client: Any, value: Any, size: int, holder: str) -> Any:
    """A value on a worker. Where that is lost meanwhile Dask may wait for ever: after a time, a TimeoutError."""
    limit = MOST_SILENCE + size / SLOWEST
    sent = client.sync(
        lambda: client.scatter([value], workers=[holder], hash=False, asynchronous=True), callback_timeout=limit
    )
    return sent[0]


class _NotSent:
    """Stands for a task that could not be sent, and is sent anew."""

    status = "cancelled"

    def cancel(self, **options: Any) -> None: ...


class _Shared:
    """Arguments that all tasks of a call have: one object if they are large, on the worker of the first of them.

    The others fetch it from there. To place it on all at once would wait for ever where one of them is just lost.
    """

    def __init__(self, client: Any, arguments: tuple[Any, ...], traffic: Traffic):
        self._client, self._arguments, self._traffic = client, arguments, traffic
        self._future: Any = None

    def future(self, holder: str) -> Any:
        size = nbytes(self._arguments)
        if size <= LARGE:
            self._traffic.sent += size
            return self._arguments
        if self._future is None or self._future.status != "finished":
            self._future = _placed(self._client, self._arguments, size, holder)
            self._traffic.sent += size * len(self._client.nthreads())
        return self._future
