"""Finds the token of a job in its environment, and says what is wrong where there is none. It never shows one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateline.errors import HostError
from gateline.hosts._http import Secret


def find_token(environment: Mapping[str, str], variables: Sequence[str]) -> Secret:
    """Return the token of the first variable that holds one.

    Raises HostError that names an empty variable as such: hosts leave a secret or a protected variable empty where
    the job may not see it. A value that begins with `$` is a variable that the host could not fill in.
    """
    empty = []
    for variable in variables:
        value = environment.get(variable)
        if value is None:
            continue
        if value.strip() and not value.startswith("$"):
            return Secret(value)
        empty.append(variable)
    # the action hands GATELINE_TOKEN on even where nobody set it, so another name says more
    told = [variable for variable in empty if variable != "GATELINE_TOKEN"] or empty
    if told:
        raise HostError(
            f"{told[0]} is empty (a secret or protected variable that this job may not see?)", told[0]
        )
    raise HostError(f"there is no token: neither {' nor '.join(variables)} is set")
