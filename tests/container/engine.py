"""A Docker engine for the tests: the one that is there, or one started beside it; and a base image, pulled or made.

What is started has its own data, socket and process, no bridge and no firewall rules, so the machine's network and
images stay as they are; it is stopped and its data removed at the end. Nothing here installs packages.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
LIBRARIES = (
    "ca-certificates,libssl3,libsqlite3-0,libffi8,libbz2-1.0,liblzma5,libreadline8,libncursesw6,libuuid1,libexpat1,"
    "zlib1g,netbase,tzdata"
)
"""Of Debian: what the official image of Python has beside Python itself."""
NOT_NEEDED = (
    "__pycache__",
    "*/test",
    "*/tests",
    "*.a",
    "config-3*",
    "*/idlelib",
    "*/turtledemo",
    "*/lib-dynload/_test*",
)
"""Of a Python installation; the official image leaves out the same."""


class NoEngineError(Exception):
    """There is no engine or no base image, and why."""


def docker(*words, check=True, env=None, give=None, seconds=900):
    """Run the client; text in, text out."""
    return subprocess.run(
        ["docker", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=check,
        timeout=seconds,
        input=give,
        env={**os.environ, **(env or {})},
    )


def answers():
    """Return whether an engine answers, and what was said otherwise."""
    if shutil.which("docker") is None:
        return False, "no docker command"
    asked = docker("version", check=False, seconds=60)
    return asked.returncode == 0, asked.stderr.strip()[-200:]


@contextlib.contextmanager
def engine():
    """Give an engine through DOCKER_HOST: the one at hand, or one that lives as long as this context.

    Raises NoEngineError where there is none and none can be started.
    """
    there, said = answers()
    if there:
        yield "at hand"
        return
    if os.geteuid() != 0:
        raise NoEngineError(f"no Docker engine ({said}), and only root can start one")
    for program in ("docker", "dockerd", "iptables"):
        if shutil.which(program) is None:
            raise NoEngineError(
                f"no Docker engine ({said}), and no {program} to start one: apt-get install docker.io iptables"
            )
    # a short path: a socket's may have 107 characters
    folder = Path(tempfile.mkdtemp(prefix="engine-"))
    try:
        with _started(folder):
            yield "started"
    finally:
        _remove(folder)


@contextlib.contextmanager
def _started(folder):
    before = os.environ.get("DOCKER_HOST")
    with (folder / "log").open("w") as log:
        daemon = subprocess.Popen(
            [
                "dockerd", "--data-root", folder / "data", "--exec-root", folder / "exec", "-p", folder / "pid",
                "-H", f"unix://{folder}/socket", "--storage-driver", "overlay2",
                "--bridge", "none", "--iptables=false", "--ip-forward=false", "--ip-masq=false",
            ],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )  # fmt: skip
    os.environ["DOCKER_HOST"] = f"unix://{folder}/socket"
    try:
        for _ in range(240):
            if daemon.poll() is not None:
                raise NoEngineError(f"dockerd ended: {(folder / 'log').read_text()[-400:]}")
            if answers()[0]:
                break
            time.sleep(0.25)
        else:
            raise NoEngineError("dockerd did not answer within a minute")
        yield
    finally:
        daemon.terminate()
        try:
            daemon.wait(30)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait(30)
        os.environ.pop("DOCKER_HOST")
        if before is not None:
            os.environ["DOCKER_HOST"] = before


def _remove(folder):
    """Remove the engine's data; what it still has mounted is let go first."""
    mounted = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for place in sorted((one for one in mounted if one.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", "-l", place], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


def make_base(name, cache):
    """See to it that the base image is there: kept, pulled, or made of Debian's packages and a Python of this machine.

    Returns how. `cache` keeps what Debian gave from one run to the next. Raises NoEngineError where none can be had.
    """
    if docker("image", "inspect", name, check=False).returncode == 0:
        return "there"
    pulled = docker("pull", "-q", name, check=False, seconds=300)
    if pulled.returncode == 0:
        return "pulled"
    said = pulled.stderr.strip()[-200:]
    if shutil.which("mmdebstrap") is None or os.geteuid() != 0:
        raise NoEngineError(
            f"the base image can't be pulled ({said}), nor made: that needs root and mmdebstrap"
        )
    python = find_python()
    debian = Path(cache) / f"debian-{platform.machine()}.tar"
    if not debian.exists():
        _make_debian(debian)
    docker("import", debian, "gateline-tests-debian")
    _add_python(name, python)
    return f"made, with Python of {python.name}"


def find_python():
    """Return the folder of an installed Python that the image can hold: 3.13 like the official one, or this one."""
    asked = os.environ.get("GATELINE_BASE_PYTHON")
    homes = [Path(asked)] if asked else []
    homes += sorted(Path.home().glob(".pyenv/versions/3.13.*"), reverse=True)
    homes.append(Path(sys.base_prefix))
    for home in homes:
        if (
            any((home / "bin").glob("python3.1?"))
            and any(home.glob("lib/libpython3*")) | (home / "lib").is_dir()
        ):
            if home == Path("/usr"):
                continue  # Debian's own lies among all other packages
            return home
    raise NoEngineError("no Python outside /usr to put into a base image; GATELINE_BASE_PYTHON names one")


def _make_debian(tar):
    tar.parent.mkdir(parents=True, exist_ok=True)
    part = tar.with_suffix(".part")
    memory = Path("/dev/shm")
    left_out = [f"--dpkgopt=path-exclude=/usr/share/{kind}/*" for kind in ("doc", "man", "locale", "info")]
    made = subprocess.run(
        [
            "mmdebstrap", "-q", "--variant=minbase", "--mode=root", "--format=tar", f"--include={LIBRARIES}",
            '--aptopt=Acquire::Languages "none"', "--dpkgopt=force-unsafe-io", *left_out, "bookworm", part,
        ],
        capture_output=True,
        text=True,
        check=False,
        # in memory it takes a third of the time
        env={**os.environ, **({"TMPDIR": str(memory)} if memory.is_dir() else {})},
    )  # fmt: skip
    if made.returncode:
        part.unlink(missing_ok=True)
        raise NoEngineError(f"Debian's packages can't be had: {made.stderr.strip()[-300:]}")
    part.rename(tar)


def _add_python(name, home):
    version = next((home / "bin").glob("python3.1?")).name
    with tempfile.TemporaryDirectory() as held:
        place = Path(held) / "usr" / "local"
        shutil.copytree(home, place, symlinks=True, ignore=_leave_out)
        for program in (place / "bin").iterdir():
            if program.is_file() and not program.is_symlink():
                _point_to_python(program, home, version)
        lines = ["FROM gateline-tests-debian", "COPY . /", "RUN ldconfig"]
        if CERTIFICATES.exists():
            # what this machine trusts to reach a package index, the build must trust as well
            (Path(held) / "etc/ssl/certs").mkdir(parents=True)
            shutil.copy(CERTIFICATES, Path(held) / "etc/ssl/certs/ca-certificates.crt")
            lines.append(f"ENV PIP_CERT={CERTIFICATES}")
        lines += ["ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8"]
        lines += ["ENV PIP_ROOT_USER_ACTION=ignore", 'CMD ["python3"]']
        (Path(held) / "Dockerfile").write_text("\n".join(lines) + "\n", encoding="utf-8")
        build(held, name)


def _leave_out(folder, names):
    return [
        name
        for name in names
        if any(fnmatch.fnmatch(f"{folder}/{name}" if "/" in one else name, one) for one in NOT_NEEDED)
        or (Path(folder).name == "site-packages" and not name.startswith(("pip", "README")))
    ]


def _point_to_python(program, home, version):
    content = program.read_bytes()
    if content.startswith(b"#!" + str(home).encode()):
        _, _, rest = content.partition(b"\n")
        program.write_bytes(f"#!/usr/local/bin/{version}\n".encode() + rest)


def build(folder, name, *options, check=True):
    """Build an image with the classic builder, whose layers every other client of the engine finds again."""
    networks = docker("network", "ls", "--format", "{{.Name}}").stdout.split()
    network = [] if "bridge" in networks else ["--network", "host"]
    return docker(
        "build",
        "-q",
        *network,
        *options,
        "-t",
        name,
        folder,
        check=check,
        env={"DOCKER_BUILDKIT": "0"},
        seconds=1800,
    )
