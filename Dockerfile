# The image of gateline: the GitHub action (`args: [ci]`), the GitLab job (`entrypoint: [""]`) and plain `docker run`.
#
# No USER: a GitHub runner mounts its files for root, and gateline gives what it writes to the folder's owner.
# No WORKDIR: GitHub sets its own, and `docker run` callers set theirs with -w.
# The tag below moves with security updates; a release builds with --build-arg PYTHON_IMAGE=…@sha256:… instead.
ARG PYTHON_IMAGE=python:3.13-slim-bookworm

# hadolint ignore=DL3006
FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python3 -m venv /opt/gateline
# The packages first, by the names in pyproject.toml alone: a change of the code does not fetch them again.
COPY pyproject.toml /source/
RUN python3 -c "import re, tomllib; project = tomllib.load(open('/source/pyproject.toml', 'rb'))['project']; \
      extras = project['optional-dependencies']; \
      chosen = re.findall(r'[\w-]+', extras['all'][0].partition('[')[2]); \
      print(*project['dependencies'], *(one for name in chosen for one in extras[name]), sep='\n')" \
      > /source/requirements.txt \
 && /opt/gateline/bin/pip install --only-binary :all: -r /source/requirements.txt
COPY README.md LICENSE /source/
COPY src /source/src
# What no gate needs goes: pip itself, the packages' own tests, headers and type stubs, Arrow's services and the copies of
# its libraries under a second and a third name, and of scipy all but special functions and what they import. Bytecode is
# made once, here; nothing is compiled or written at run time. The last lines fail the build where too much has gone.
RUN /opt/gateline/bin/pip install --no-deps /source \
 && /opt/gateline/bin/pip uninstall --yes --quiet pip \
 && find /opt/gateline/lib -depth -type d \( -name tests -o -name __pycache__ -o -path '*/pyarrow/include' \
      -o -path '*/pyarrow/includes' -o -path '*/pyarrow/src' \) -exec rm -r {} + \
 && find /opt/gateline/lib -type f -path '*/pyarrow/*' \( -name '*flight*' -o -name '*s3*' -o -name '*gcsfs*' \
      -o -name '*azure*' -o -name '*_cpp_tests*' -o -name '*_python*.so' \
      -o -name '*_python*.so.*.*' \) -exec rm {} + \
 && find /opt/gateline/lib/python3*/site-packages/scipy -mindepth 1 -maxdepth 1 -type d \
      ! -name special ! -name linalg ! -name '_*' -exec rm -r {} + \
 && find /opt/gateline/lib -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' \) -exec rm {} + \
 && /opt/gateline/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/gateline/lib \
 && /opt/gateline/bin/python -c 'import importlib, pkgutil, gateline, orjson, pyarrow.dataset, pyarrow.parquet; \
      modules = [one.name for one in pkgutil.walk_packages(gateline.__path__, "gateline.")]; \
      [importlib.import_module(name) for name in modules if not name.endswith("__main__")]'

# hadolint ignore=DL3006
FROM ${PYTHON_IMAGE}
LABEL org.opencontainers.image.title="gateline" \
      org.opencontainers.image.description="A regression gate for RAG systems" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/gateline /opt/gateline
ENV PATH=/opt/gateline/bin:$PATH PYTHONDONTWRITEBYTECODE=1
ENTRYPOINT ["/opt/gateline/bin/gateline"]
CMD ["--help"]
