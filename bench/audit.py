"""An audit of 10,000 receipts against the proof and the signature of each, and on two cores against one.

What a second core gives at all depends on the machine and on what else runs on it, so proofs and signatures alone are
verified by one process and by two as well, in the same turns: the aim for two cores is held against that.
"""

from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from subprocess import run
from sys import executable
from tempfile import TemporaryDirectory
from time import monotonic

from bench.measure import Round, Row, cpu, in_turns
from fairroll import ecvrf, hashing, signer
from fairroll.bundle import Bundle, format_bundle
from fairroll.ecvrf import VrfKey
from fairroll.envelope import Envelope, pae
from fairroll.key_list import Key, KeyList, KeyUse, sign_key_list
from fairroll.keys import EpochKeys, ServiceKeys
from fairroll.receipt import read_envelope
from fairroll.roll import Roller
from fairroll.v1 import notation_pb2, roll_pb2, session_pb2

RECEIPTS = 10_000
SAMPLE = 500
FLOOR_TIMES = 6
"""How often the sample is verified where elapsed time is taken: long enough that starting a process does not count."""
SEEDS = [bytes([number] * 32) for number in range(1, 4)]


def _keys() -> ServiceKeys:
    root, vrf, receipt = signer.SigningKey(SEEDS[0]), VrfKey(SEEDS[1]), signer.SigningKey(SEEDS[2])
    listed = Key(KeyUse.VRF, vrf.public_key, 1), Key(KeyUse.RECEIPT, receipt.public_key, 1)
    key_list = KeyList("bench.example/v1", 1, listed)
    epoch = EpochKeys(1, vrf, listed[0].key_id, receipt, listed[1].key_id, development=False)
    return ServiceKeys((epoch,), key_list, sign_key_list(root, key_list), root.public_key)


def _write(path: Path, keys: ServiceKeys) -> list[tuple[bytes, bytes, Envelope]]:
    """Write a session's receipts, a line each; return alpha, proof and envelope of the first."""
    service, previous = Roller(keys), ""
    session = session_pb2.Session(table="bench", vrf_key_id=keys.current.vrf_key_id)
    check = roll_pb2.Check(notation=notation_pb2.NotationCheck(text="4d6kh3"), actor="Ann", label="strength")
    sample: list[tuple[bytes, bytes, Envelope]] = []
    with path.open("wb") as file:
        for seq in range(RECEIPTS):
            asked = roll_pb2.RollRequest(session=session, seq=seq, previous=previous, checks=[check])
            answer = service.roll(asked, "bench")
            envelope, previous = read_envelope(answer.envelope), answer.digest
            file.write(format_bundle(Bundle(envelope, (), keys.envelope)) + b"\n")
            if seq < SAMPLE:
                names = [each.encode() for each in ("bench.example/v1", "bench", "bench")]
                session_id = hashing.tagged_hash(hashing.SESSION_TAG, *names, keys.current.vrf.public_key)
                sample.append((hashing.alpha(session_id, seq, bytes(32)), answer.record.proof, envelope))
    return sample


def rows(rounds: int) -> list[Row]:
    """What an audit costs a receipt."""
    keys = _keys()
    with TemporaryDirectory() as folder:
        path = Path(folder, "receipts.jsonl")
        sample = _write(path, keys)
        command = [executable, "-m", "fairroll.cli", "audit", str(path), "--root", keys.root_public_key.hex()]

        def audit(jobs: int) -> None:
            run([*command, "--jobs", str(jobs)], check=True, capture_output=True)

        def audit_cpu(jobs: int) -> Round:
            def timed() -> float:
                before = getrusage(RUSAGE_CHILDREN)
                audit(jobs)
                after = getrusage(RUSAGE_CHILDREN)
                return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / RECEIPTS

            return timed

        def wall(jobs: int) -> Round:
            def timed() -> float:
                start = monotonic()
                audit(jobs)
                return (monotonic() - start) / RECEIPTS

            return timed

        def floor() -> None:
            vrf, receipt = keys.current.vrf.public_key, keys.current.receipt.public_key
            for alpha, proof, envelope in sample:
                ecvrf.verify(vrf, alpha, proof)
                signer.verify(receipt, pae(envelope.payload_type, envelope.payload), envelope.signatures[0].sig)

        def share(processes: int) -> None:
            for _ in range(FLOOR_TIMES // processes):
                floor()

        def floor_wall(processes: int) -> Round:
            def timed() -> float:
                context = get_context("fork")
                running = [context.Process(target=share, args=(processes,)) for _ in range(processes)]
                start = monotonic()
                for each in running:
                    each.start()
                for each in running:
                    each.join()
                return (monotonic() - start) / (FLOOR_TIMES * SAMPLE)

            return timed

        floor_timed = cpu(floor)
        took = in_turns(
            {
                "audit": audit_cpu(1),
                "audit by two": audit_cpu(2),
                "floor": lambda: floor_timed() / SAMPLE,
                "one core": wall(1),
                "two cores": wall(2),
                "floor, one": floor_wall(1),
                "floor, two": floor_wall(2),
            },
            rounds,
        )
    # Two cores that were free would halve the floor; the audit may lose as much more as it may then.
    gives = took["floor, two"] / took["floor, one"]
    aim = max(gives, 0.5) * 2 / 1.7
    return [
        Row("audit a receipt of 10,000", took["audit"], "verify its proof and its signature", took["floor"], 1.3),
        Row("the same by two processes, CPU of all", took["audit by two"], "by one", took["audit"]),
        Row("proof and signature on two cores, elapsed", took["floor, two"], "on one", took["floor, one"]),
        Row("audit on two cores, elapsed", took["two cores"], "on one", took["one core"], aim),
    ]
