"""Schedule packets by deadline, and prove it.

A plan says what a link carries and what it promises. ``Plan.check`` proves the promises, ``Plan.run`` simulates them,
``compare`` sends the same packets through several disciplines, ``Scheduler`` and ``by_rank`` make new ones, ``sweep`` runs
a plan with every combination of some values under many seeds, ``tune`` and ``optimise`` find a plan, and ``Book`` says who
may join while it runs.

Examples:
    >>> import laxity as lx
    >>> plan = lx.Plan(
    ...     link={"rate": "10mbit"},
    ...     scheduler={"kind": "edf"},
    ...     classes={
    ...         "voice": {"deadline": "5ms", "arrival": {"bucket": "300b", "rate": "80kB/s", "packet": "300b"}},
    ...         "web": {},
    ...     },
    ...     sources=[
    ...         {"class": "voice", "model": "constant", "packet": "200b", "rate": "64kB/s"},
    ...         {"class": "web", "model": "poisson", "packet": "1500b", "rate": "1MB/s"},
    ...     ],
    ... )
    >>> plan.check().admitted
    True
    >>> plan.run(duration="1s").kept
    True
"""

from ._laxity import ContractError, FileError, LaxityError, NoRoomError, Packet, PlanError, __version__
from .answers import BoundTerms, Comparison, PacketDelays, Proof, Run
from .figures import Figure
from .optimise import Optimum, Tuned, optimise, tune
from .planning import Fitted, Limits, WorstCases
from .plans import Plan, compare
from .reservations import Book, Granted, Reservation
from .schedulers import ByRank, Deadline, Scheduler, by_rank
from .scripts import Imported, import_tc
from .studies import Study, sweep

__all__ = [
    "Book",
    "BoundTerms",
    "ByRank",
    "Comparison",
    "ContractError",
    "Deadline",
    "FileError",
    "Figure",
    "Fitted",
    "Granted",
    "Imported",
    "LaxityError",
    "Limits",
    "NoRoomError",
    "Optimum",
    "Packet",
    "PacketDelays",
    "Plan",
    "PlanError",
    "Proof",
    "Reservation",
    "Run",
    "Scheduler",
    "Study",
    "Tuned",
    "WorstCases",
    "__version__",
    "by_rank",
    "compare",
    "import_tc",
    "optimise",
    "sweep",
    "tune",
]
