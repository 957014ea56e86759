"""One comment a gate, whatever happens in between: found by marker and author, never a second one, others untouched."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stand_in import GitHub, Reply

from gateline.errors import HostError
from gateline.hosts._http import UnclearError
from gateline.hosts._sticky import Wish, keep_comment
from gateline.hosts.github import Job

MARKER = "<!-- gateline: rag -->"
BAD_GATEWAY = Reply(502, {}, b"")


def wish(text="one", **options):
    return Wish(f"{MARKER}\n{text}\n", **{"is_fine": False, **options})


def keep(github, environment, wanted):
    return keep_comment(Job(environment, github).open_thread(), wanted)


def writes(github):
    return [method for method, _ in github.log if method != "GET"]


def test_the_first_is_added_and_then_brought_up_to_date_in_place(github, environment):
    assert keep(github, environment, wish("one")) == "added"
    number = github.comments[0]["id"]
    assert keep(github, environment, wish("two")) == "changed"
    assert keep(github, environment, wish("two")) == "unchanged"
    assert [(one["id"], one["body"]) for one in github.comments] == [(number, f"{MARKER}\ntwo\n")]
    assert writes(github) == ["POST", "PATCH"]


@pytest.mark.parametrize("before", [0, 99, 100, 101, 250])
def test_it_is_found_on_any_page(github, environment, before):
    for number in range(before):
        github.add_comment(f"remark {number}", "reviewer", "User")
    own = github.add_comment(f"{MARKER}\r\nold")
    github.add_comment("a last remark", "reviewer", "User")
    assert keep(github, environment, wish("new")) == "changed"
    assert own["body"] == f"{MARKER}\nnew\n"
    assert len(github.comments) == before + 2


@pytest.mark.parametrize("page", [1, 2, 3])
def test_nothing_is_written_where_a_page_cannot_be_read(github, environment, page):
    for number in range(250):
        github.add_comment(f"remark {number}", "reviewer", "User")
    answered = []

    def failing(request):
        if f"page={page}" in request.url.split("&")[-1]:
            return BAD_GATEWAY
        answered.append(request)
        return github(request)

    with pytest.raises(HostError, match="502"):
        keep_comment(Job(environment, failing).open_thread(), wish())
    assert len(github.comments) == 250
    assert writes(github) == []
    assert len(answered) == page - 1


@pytest.mark.parametrize(
    ("body", "login", "kind", "is_own"),
    [
        (f"{MARKER}\nold", "github-actions[bot]", "Bot", True),
        (f"{MARKER}  \nold", "github-actions[bot]", "Bot", True),
        (f"{MARKER}\nold", "visitor", "User", False),
        (f"> {MARKER}\nquoted", "github-actions[bot]", "Bot", False),
        (f"a remark\n{MARKER}", "github-actions[bot]", "Bot", False),
        ("<!-- gateline: rag-two -->\nold", "github-actions[bot]", "Bot", False),
        (f"{MARKER}<!-- gateline: other -->\nold", "github-actions[bot]", "Bot", False),
        ("", "github-actions[bot]", "Bot", False),
    ],
)
def test_marker_and_author_together_make_it_our_own(github, environment, body, login, kind, is_own):
    other = github.add_comment(body, login, kind)
    done = keep(github, environment, wish("new"))
    assert done == ("changed" if is_own else "added")
    assert (other["body"] == f"{MARKER}\nnew\n") == is_own


def test_a_person_whose_token_is_used_owns_only_that_person_s_comments(github, environment):
    github.me = "owner"
    github.add_comment(f"{MARKER}\nof the bot")
    github.add_comment(f"{MARKER}\nof the owner", "Owner", "User")
    keep(github, environment, wish("new"))
    assert github.bodies() == [f"{MARKER}\nof the bot", f"{MARKER}\nnew\n"]


def test_a_comment_of_a_deleted_account_is_read(github, environment):
    github.add_comment(f"{MARKER}\nold")["user"] = None
    assert keep(github, environment, wish()) == "added"


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("lost", [BAD_GATEWAY, TimeoutError()])
def test_after_a_lost_answer_to_a_post_there_is_one_comment(github, environment, done, lost):
    github.when, github.trouble, github.done_before_trouble = "^POST", [lost], done
    assert keep(github, environment, wish("one")) == "added"
    assert github.bodies() == [f"{MARKER}\none\n"]


def test_answers_to_posts_that_keep_getting_lost_are_told(github, environment):
    github.when, github.trouble = "^POST", [BAD_GATEWAY, BAD_GATEWAY]
    with pytest.raises(UnclearError):
        keep(github, environment, wish())
    assert writes(github) == ["POST", "POST"]


@pytest.mark.parametrize("status", [403, 404])
def test_a_comment_that_may_not_be_changed_leads_to_one_new_one(github, environment, status):
    github.add_comment(f"{MARKER}\nold")
    github.when, github.trouble = "^PATCH", [Reply(status, {}, b'{"message": "no"}')]
    assert keep(github, environment, wish("new")) == "added"
    assert writes(github) == ["PATCH", "POST"]


def test_twins_of_two_runs_that_began_together_become_one(github, environment):
    first = github.add_comment(f"{MARKER}\na")
    other = github.add_comment(f"{MARKER}\nb", "other[bot]")
    twin = github.add_comment(f"{MARKER}\nc")
    keep(github, environment, wish("new"))
    assert github.comments == [first, other]
    assert (first["body"], other["body"]) == (f"{MARKER}\nnew\n", f"{MARKER}\nb")
    assert twin not in github.comments


@pytest.mark.parametrize(
    ("mode", "remove", "there", "is_fine", "done"),
    [
        ("always", False, False, True, "added"),
        ("always", False, False, False, "added"),
        ("changes", False, False, True, "left out"),
        ("changes", False, False, False, "added"),
        ("changes", False, True, True, "changed"),
        ("changes", True, True, True, "removed"),
        ("always", True, True, True, "removed"),
        ("always", True, False, True, "left out"),
        ("always", True, True, False, "changed"),
        ("never", True, True, True, "left out"),
    ],
)
def test_modes(github, environment, mode, remove, there, is_fine, done):
    if there:
        github.add_comment(f"{MARKER}\nold")
    wanted = wish("new", mode=mode, remove_when_fine=remove, is_fine=is_fine)
    assert keep(github, environment, wanted) == done
    if mode == "never":
        assert github.log == []


# --- runs that overtake each other


def line_of(run):
    return f"<!-- gateline run: {run[0]}.{run[1]} -->"


def test_the_run_stands_unseen_beside_the_marker_and_an_older_gateline_still_finds_its_comment(
    github, environment
):
    keep(github, environment, wish("one", order=(4242, 1)))
    assert github.bodies() == [f"{MARKER}\n{line_of((4242, 1))}\none\n"]
    assert keep(github, environment, wish("one", order=(4242, 1))) == "unchanged"
    assert keep(github, environment, wish("of an older gateline")) == "changed"
    assert github.bodies() == [f"{MARKER}\nof an older gateline\n"]


@pytest.mark.parametrize("options", [{}, {"is_fine": True, "remove_when_fine": True}, {"mode": "changes"}])
@pytest.mark.parametrize(
    ("there", "mine", "stays"),
    [
        ((9, 1), (8, 1), True),
        ((9, 1), (8, 7), True),
        ((9, 2), (9, 1), True),
        ((9, 1), (9, 1), False),
        ((9, 1), (9, 2), False),
        ((9, 1), (10, 1), False),  # as numbers, not as texts
    ],
)
def test_an_older_run_that_ends_later_leaves_the_newer_comment(
    github, environment, there, mine, stays, options
):
    keep(github, environment, wish("there", order=there))
    before = github.bodies()
    done = keep(github, environment, wish("mine", order=mine, **options))
    assert (done == "outdated") == (github.bodies() == before) == stays


def test_the_same_text_from_a_newer_run_is_marked_as_that_run_s(github, environment):
    keep(github, environment, wish("same", order=(1, 1)))
    keep(github, environment, wish("same", order=(3, 1)))
    assert keep(github, environment, wish("other", order=(2, 1))) == "outdated"
    assert github.bodies() == [f"{MARKER}\n{line_of((3, 1))}\nsame\n"]


def test_what_other_people_write_about_runs_stops_nobody(github, environment):
    github.add_comment(f"{MARKER}\n{line_of((10**15, 1))}\nforged", "visitor", "User")
    assert keep(github, environment, wish("one", order=(5, 1))) == "added"


@pytest.mark.parametrize(
    "second", ["<!-- gateline run: 9 -->", "<!-- gateline run: 9.x -->", f"text {line_of((9, 1))}", "", "٩"]
)
def test_a_second_line_that_names_no_run_counts_as_none(github, environment, second):
    github.add_comment(f"{MARKER}\n{second}\nold\n{line_of((99, 1))}")
    assert keep(github, environment, wish("new", order=(5, 1))) == "changed"


RUNS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 3)), min_size=1, max_size=8, unique=True)


@given(ended=RUNS, twins=st.integers(0, 2))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_in_whatever_order_runs_end_the_newest_has_the_last_word(environment, waits, ended, twins):
    github = GitHub()
    for number in range(twins):
        github.add_comment(f"{MARKER}\nof an older gateline, {number}")
    for run in ended:
        keep(github, environment, wish(f"run {run}", order=run))
    newest = max(ended)
    assert github.bodies() == [f"{MARKER}\n{line_of(newest)}\nrun {newest}\n"]


def keep_while(github, environment, wanted, at, other):
    """Keep the comment while another run's wish is carried out before the request with that number."""
    asked = []

    def transport(request):
        asked.append(request)
        if len(asked) == at:
            keep(github, environment, other)
        return github(request)

    done = keep(transport, environment, wanted)
    return done, [request.method for request in asked]


@pytest.mark.parametrize("me", [None, "owner"])
@pytest.mark.parametrize("at", range(1, 9))
def test_a_newer_run_that_writes_while_an_older_one_is_at_it_has_the_last_word(environment, waits, me, at):
    """Whenever it does so but for right before the request that writes: no host takes a condition with that."""
    github = GitHub(me)
    keep(github, environment, wish("first", order=(1, 1)))
    older, newer = wish("older", order=(8, 1)), wish("newer", order=(9, 1))
    done, asked = keep_while(github, environment, older, at, newer)
    written = next((place for place, method in enumerate(asked, start=1) if method != "GET"), None)
    if at > len(asked):
        assert (done, github.bodies()) == ("changed", [older.text])
    elif at != written:
        assert github.bodies() == [newer.text]
        assert (done == "outdated") == (written is None or at > written)


@pytest.mark.parametrize("me", [None, "owner"])
@pytest.mark.parametrize("at", range(1, 9))
def test_an_older_run_that_writes_meanwhile_does_not_keep_the_last_word(environment, waits, me, at):
    github = GitHub(me)
    keep(github, environment, wish("first", order=(1, 1)))
    newer = wish("newer", order=(9, 1))
    done, _ = keep_while(github, environment, newer, at, wish("older", order=(8, 1)))
    assert (done, github.bodies()) == ("changed", [newer.text])


def test_what_was_written_counts_also_where_it_cannot_be_looked_at_again(environment, waits):
    github = GitHub()
    keep(github, environment, wish("first"))

    def failing(request):
        return BAD_GATEWAY if "PATCH" in writes(github) and request.method == "GET" else github(request)

    assert keep(failing, environment, wish("new")) == "changed"
    assert github.bodies() == [wish("new").text]


@pytest.mark.parametrize("body", ["forged", f"{line_of((10**15, 1))}\nforged"])
def test_a_comment_of_another_program_stops_nobody(github, environment, body):
    """A run is believed only where the comment is surely our own."""
    github.add_comment(f"{MARKER}\n{body}", "other[bot]", "Bot")
    assert keep(github, environment, wish("one", order=(5, 1))) in ("added", "changed")
    assert wish("one", order=(5, 1)).text in github.bodies()


ODD = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["id", "user", "body", "login", "type", "x"]), inner, max_size=4),
    ),
    max_leaves=6,
)


@given(content=ODD, page=st.sampled_from(["comments", "user"]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_server_answers_it_is_a_list_or_trouble_of_the_host(environment, waits, content, page):
    """Never a bug of ours: `[1]`, `[null]` and `[{}]` are lists that can't be read."""
    github = GitHub("owner")
    github.add_comment(f"{MARKER}\nold", "owner", "User")

    def odd(request):
        if request.method == "GET" and request.url.partition("?")[0].endswith(f"/{page}"):
            return Reply(200, {}, json.dumps(content).encode())
        return github(request)

    with contextlib.suppress(HostError):
        assert keep(odd, environment, wish("new")) in ("added", "changed")


STEPS = st.tuples(
    st.sampled_from(["one", "two", "three"]),
    st.booleans(),
    st.sampled_from(["GET", "POST", "PATCH", "DELETE", "/user", "none"]),
    st.sampled_from(
        [BAD_GATEWAY, TimeoutError(), Reply(403, {}, b"{}"), Reply(429, {"retry-after": "1"}, b"{}")]
    ),
    st.integers(1, 4),
    st.booleans(),
)


@given(steps=st.lists(STEPS, min_size=1, max_size=6), others=st.integers(0, 120))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_fails_on_the_way_the_next_good_run_leaves_one_comment(environment, waits, steps, others):
    github = GitHub()
    for number in range(others):
        github.add_comment(f"remark {number}" if number % 2 else f"{MARKER}\nnot ours", "reviewer", "User")
    untouched = github.bodies()
    for text, is_fine, when, lost, times, done in steps:
        github.when, github.trouble = when, [lost] * times
        # a server that says no has done nothing; where the answer is lost it may have
        github.done_before_trouble = done and (isinstance(lost, TimeoutError) or lost is BAD_GATEWAY)
        with contextlib.suppress(HostError):
            keep(github, environment, wish(text, is_fine=is_fine, remove_when_fine=is_fine))
        own = [body for body in github.bodies() if body not in untouched]
        assert len(own) <= 2  # a change that was refused leads to one new comment, the next run to one again
    github.trouble = []
    keep(github, environment, wish("last"))
    assert github.bodies() == [*untouched, f"{MARKER}\nlast\n"]
