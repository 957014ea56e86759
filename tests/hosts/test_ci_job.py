"""`gateline ci` as a whole, against a GitHub on this machine: what is posted, written and returned."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from checkout import BLOCKED, FINE, lay_out
from stand_in import PULL_REQUEST, REPOSITORY, TOKEN, Reply, serving

from gateline.cli import run


@pytest.fixture
def job(tmp_path, monkeypatch, environment, github):
    """A checkout and the variables of a job for pull request 7; yields what starts it and returns its exit code."""
    monkeypatch.chdir(lay_out(tmp_path / "workspace", BLOCKED, FINE))
    for name in (
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "all_proxy",
        "GITHUB_SHA",
    ):
        monkeypatch.delenv(name, raising=False)
    files = {"GATELINE_BASELINE": "results/baseline.jsonl", "GATELINE_CANDIDATE": "results/candidate.jsonl"}
    with serving(github) as address, serving(github) as store:
        github.base, github.store = address, store
        for name, value in {
            **environment,
            **files,
            "GITHUB_API_URL": address,
            "GATELINE_ON": "2026-01-08",
        }.items():
            monkeypatch.setenv(name, value)

        def start(policy=BLOCKED, *arguments, **variables):
            with monkeypatch.context() as here:
                here.setenv("GATELINE_POLICY", policy)
                for name, value in variables.items():
                    here.setenv(name, value)
                return run(["ci", *arguments])

        yield start


def told(environment):
    return dict(line.split("=", 1) for line in Path(environment["GITHUB_OUTPUT"]).read_text().splitlines())


def verdict(folder="gateline-out"):
    return json.loads((Path(folder) / "verdict.json").read_text(encoding="utf-8"))


def test_a_blocked_change_is_told_everywhere(job, github, environment, capsys):
    assert job() == 1
    assert len(github.comments) == 1
    assert github.bodies()[0].startswith(
        "<!-- gateline: rag -->\n<!-- gateline run: 4242.1 -->\n### ❌ rag: blocked\n"
    )
    assert "### ❌ rag: blocked" in Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert told(environment)["comment-posted"] == "true"
    assert told(environment)["verdict"] == verdict()["verdict"] == "fail"
    assert "\n::error file=gates/rag.yml,line=" in capsys.readouterr().out


def test_in_chinese_all_that_people_read_is_and_what_programs_read_stays(
    job, github, environment, capsys, monkeypatch
):
    assert job() == 1
    english = told(environment), Path("gateline-out/verdict.json").read_bytes()
    monkeypatch.setenv("GATELINE_LANG", "zh")
    assert job() == 1
    assert (told(environment), Path("gateline-out/verdict.json").read_bytes()) == english
    (body,) = github.bodies()
    assert "### ❌ rag：已拦截\n" in body
    assert "### ❌ rag：已拦截" in Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert (
        "title=rag：answers-hold-where-text-is-given::切片 text_given 的 answered" in capsys.readouterr().out
    )


def test_a_second_run_gives_the_same_bytes_and_writes_nothing_new(job, github):
    job()
    before = {path: path.read_bytes() for path in Path("gateline-out").iterdir()}
    github.log.clear()
    assert job() == 1
    assert {path: path.read_bytes() for path in Path("gateline-out").iterdir()} == before
    assert {method for method, _ in github.log} == {"GET"}


@pytest.mark.parametrize(("policy", "code"), [(BLOCKED, 1), (FINE, 0), ("gates/none.yml", 2)])
@pytest.mark.parametrize(
    "trouble",
    [Reply(401, {}, b"{}"), Reply(403, {}, b'{"message": "no"}'), Reply(404, {}, b""), Reply(500, {}, b"<html>"),
     Reply(200, {}, b"[{}]"), Reply(200, {}, b'"text"'), Reply(200, {}, b"[[1]]")],
)  # fmt: skip
def test_no_trouble_with_the_host_changes_the_exit_code(
    job, github, environment, capsys, policy, code, trouble
):
    github.when, github.trouble = "/comments", [trouble] * 20
    assert job(policy) == code
    assert told(environment)["comment-posted"] == "false"
    said = capsys.readouterr().err
    assert "::notice title=gateline::" in said
    assert "Traceback" not in said
    assert github.comments == []


def test_the_token_is_nowhere(job, github, environment, capsys, tmp_path):
    github.when, github.trouble = "/comments", [Reply(422, {}, json.dumps({"message": TOKEN}).encode())]
    job(BLOCKED, "-vv")
    printed = capsys.readouterr()
    assert TOKEN not in printed.out + printed.err
    assert [
        path for path in tmp_path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()
    ] == []


@pytest.mark.parametrize("event", ["push", "merge_group", "schedule", "workflow_dispatch"])
def test_what_is_no_pull_request_gets_no_comment_and_everything_else(job, github, environment, event):
    assert job(BLOCKED, GITHUB_EVENT_NAME=event) == 1
    assert not any("comments" in path for _, path in github.log)
    assert told(environment)["comment-posted"] == "false"
    assert "blocked" in Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")


def test_never_asks_nobody_about_comments(job, github, environment, capsys):
    job(BLOCKED, GATELINE_COMMENT="never")
    assert not any("comments" in path for _, path in github.log)
    assert "no comment" not in capsys.readouterr().err


def test_a_mode_that_is_none_is_no_verdict(job, github):
    assert job(BLOCKED, GATELINE_COMMENT="sometimes") == 2
    assert "--comment is 'sometimes'" in verdict()["because"][0]


def test_changes_and_removal(job, github):
    job(FINE, GATELINE_COMMENT="changes")
    assert github.comments == []
    job(FINE)
    assert len(github.comments) == 1
    job(FINE, GATELINE_REMOVE_COMMENT="true")
    assert github.comments == []


def test_a_pull_request_from_a_fork_has_all_but_the_comment(job, github, environment, capsys):
    payload = json.loads(json.dumps(PULL_REQUEST))
    payload["pull_request"]["head"]["repo"]["full_name"] = "visitor/rag-app"
    Path(environment["GITHUB_EVENT_PATH"]).write_text(json.dumps(payload))
    github.may_write = False
    assert job() == 1
    assert next(line for line in capsys.readouterr().err.splitlines() if "read-only" in line).startswith(
        "::notice "
    )
    assert [method for method, _ in github.log].count("POST") == 1


# --- the base branch's policy


def loosen(path=BLOCKED):
    text = Path(path).read_text(encoding="utf-8")
    changed = re.sub(r"worse_by_at_most: 0\.0\d+", "worse_by_at_most: 0.9", text)
    assert changed != text
    Path(path).write_text(changed, encoding="utf-8")
    return text.encode()


def test_a_policy_that_the_change_loosens_is_told_without_being_asked(job, github):
    github.files[("b" * 40, BLOCKED)] = loosen()
    assert job() == 0
    assert github.bodies()[0].splitlines()[4] == "> [!CAUTION]"
    assert verdict()["policy"]["same_as_base"] is False
    assert verdict()["policy"]["under_base"]["verdict"] == "fail"


def test_the_same_policy_is_told_to_be_the_same(job, github):
    github.files[("b" * 40, BLOCKED)] = Path(BLOCKED).read_bytes()
    job()
    assert verdict()["policy"]["same_as_base"] is True
    assert "Policy unchanged." in github.bodies()[0]


def test_a_policy_that_the_base_does_not_have_is_said_in_the_comment(job, github):
    job()
    assert "the base branch has no gates/rag.yml" in github.bodies()[0].replace("\u2060", "")
    assert verdict()["policy"]["same_as_base"] is None


def test_a_base_policy_is_that_of_the_gate_of_its_name_and_of_no_other(job, github):
    """One file was held against every gate of a pattern, which then seemed to have lost all its rules."""
    github.files |= {("b" * 40, policy): Path(policy).read_bytes() for policy in (BLOCKED, FINE)}
    shutil.copy(BLOCKED, "before.yml")
    assert job("gates/*.yml", GATELINE_BASE_POLICY="before.yml") == 1
    told_of = {gate: verdict(f"gateline-out/{gate}")["policy"] for gate in ("rag", "short")}
    assert [(one["base_file"], one["same_as_base"]) for one in told_of.values()] == [
        ("before.yml", True),
        (None, True),
    ]


def test_a_base_policy_of_none_of_the_gates_is_no_verdict(job, github, capsys):
    named = Path(FINE).read_text(encoding="utf-8").replace("name: short", "name: other")
    Path("before.yml").write_text(named, encoding="utf-8")
    assert job("gates/*.yml", GATELINE_BASE_POLICY="before.yml") == 2
    assert "is called 'other', and none of the 2 gates is" in capsys.readouterr().err
    assert github.comments == []


def test_an_explicit_base_policy_wins(job, github):
    github.files[("b" * 40, BLOCKED)] = loosen()
    job(BLOCKED, "--base-policy", BLOCKED)
    assert verdict()["policy"]["same_as_base"] is True
    assert not any("contents/gates" in path for _, path in github.log)


def commit_all(environment):
    """Make the folder a repository, and its one commit what the pull request began from."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "base"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    payload = json.loads(json.dumps(PULL_REQUEST))
    payload["pull_request"]["base"]["sha"] = commit
    Path(environment["GITHUB_EVENT_PATH"]).write_text(json.dumps(payload))


def test_git_is_asked_first_where_it_has_the_commit(job, github, environment):
    commit_all(environment)
    loosen()
    assert job() == 0
    assert verdict()["policy"]["same_as_base"] is False
    assert not any("contents/gates" in path for _, path in github.log)


@pytest.mark.parametrize(
    "trouble",
    [
        ["--baseline", "none.jsonl"],
        ["--on", "yesterday"],
        ["--candidate", "none.jsonl"],
        ["--policy", "broken.yml"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_gate_keeps_its_one_comment_whatever_goes_wrong(job, github, trouble):
    """A comment of better days must not stay green beside the one that says no verdict."""
    Path("broken.yml").write_text(Path(FINE).read_text() + "\nrulez: []\n")
    Path("other.yml").write_text(Path(FINE).read_text())  # another file's name than the gate's
    assert job("other.yml") == 0
    assert job("other.yml", *trouble) == 2
    (body,) = github.bodies()
    assert "### ❓ short: no verdict" in body


@pytest.mark.parametrize(
    ("policy", "said"),
    [("none/*.yml", "no policy matches"), (f"{FINE}\ncopy.yml", "are both called 'short'")],
)
def test_a_job_that_has_no_gate_to_run_says_so_in_summary_outputs_and_files(
    job, github, environment, capsys, policy, said
):
    shutil.copy(FINE, "copy.yml")
    assert job(policy) == 2
    assert said in capsys.readouterr().err
    assert said in Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8").replace("\u2060", "")
    assert told(environment)["verdict"] == verdict()["verdict"] == "invalid"
    assert github.comments == []


def test_a_policy_turned_into_a_link_is_compared_with_what_stood_under_its_name(job, github):
    base = Path(BLOCKED).read_bytes()
    Path("gates/loose.yml").write_bytes(base)
    loosen("gates/loose.yml")
    github.files |= {
        ("b" * 40, BLOCKED): base,
        ("b" * 40, "gates/loose.yml"): Path("gates/loose.yml").read_bytes(),
    }
    Path(BLOCKED).unlink()
    Path(BLOCKED).symlink_to("loose.yml")
    assert job() == 0
    assert verdict()["policy"]["same_as_base"] is False
    assert verdict()["policy"]["under_base"]["verdict"] == "fail"


def keep_a_regression_set(github, questions):
    """Let a gate ask for each question of a file; the base branch has the whole file, the change some of its lines."""
    records = [json.loads(line) for line in Path("results/candidate.jsonl").read_text().splitlines()]
    known = sorted({str(record["id"]) for record in records if "id" in record})
    lines = [json.dumps({"id": one}) + "\n" for one in known[:20]]
    text = Path(FINE).read_text(encoding="utf-8")
    rule = (
        "  - {id: kept, kind: tolerance, metric: fully_supported, worse_by_at_most: 0.9, slice: regression}\n"
    )
    text = re.sub(r"(?m)^rules:.*\n", lambda found: found[0] + rule, text)
    text += "\nslices: {files: {regression: regression.jsonl}, at_least: 1}\n"
    Path(FINE).write_text(text, encoding="utf-8")
    before = "".join(lines)
    Path("gates/regression.jsonl").write_text("".join(lines[:questions]), encoding="utf-8")
    github.files |= {
        ("b" * 40, FINE): text.encode(), ("b" * 40, "gates/regression.jsonl"): before.encode()
    }  # fmt: skip


@pytest.mark.parametrize(("kept", "told_as"), [(20, None), (15, "20 → 15 (−5 +0)")])
def test_a_file_that_decides_with_the_policy_is_compared_with_the_base_branchs(job, github, kept, told_as):
    keep_a_regression_set(github, kept)
    job(FINE)
    changes = verdict()["policy"]["changes"]
    if told_as is None:
        assert (verdict()["policy"]["same_as_base"], changes) == (True, [])
        return
    (change,) = changes
    assert f"{change['base']} → {change['now']}" == told_as
    assert change["path"] == "gates/regression.jsonl (lines)"
    assert change["loosens"] is True
    assert "**This change loosens the policy that judges it.**" in github.bodies()[0]


def test_the_base_branchs_policy_judges_by_the_base_branchs_files(job, github):
    keep_a_regression_set(github, 15)
    job(FINE)
    (copy,) = Path("gateline-out/base/1").iterdir()
    assert copy.read_bytes() == github.files[("b" * 40, "gates/regression.jsonl")]
    assert verdict()["policy"]["under_base"] is not None


@pytest.mark.parametrize("has_git", [False, True])
def test_a_policy_that_a_change_takes_away_from_a_pattern_is_told_in_the_gates_that_are_left(
    job, github, environment, capsys, has_git
):
    if has_git:
        commit_all(environment)
    else:
        github.files |= {("b" * 40, policy): Path(policy).read_bytes() for policy in (BLOCKED, FINE)}
    Path(BLOCKED).unlink()
    assert job("gates/*.yml") == 0
    assert "this change takes the policy gates/rag.yml away" in capsys.readouterr().err
    assert verdict("gateline-out/short")["policy"]["changes"][0] == {
        "path": BLOCKED, "base": "present", "now": None, "loosens": True
    }  # fmt: skip
    assert any(
        "takes the policy gates/rag.yml away" in text for text in verdict("gateline-out/short")["notices"]
    )


def test_a_policy_that_is_renamed_and_loosened_is_held_against_what_its_gate_was(job, github):
    github.files |= {("b" * 40, policy): Path(policy).read_bytes() for policy in (BLOCKED, FINE)}
    loosen()
    Path(BLOCKED).rename("gates/renamed.yml")
    assert job("gates/*.yml") == 0
    told_of = verdict("gateline-out/rag")["policy"]
    assert told_of["under_base"]["verdict"] == "fail"
    assert [change["path"] for change in told_of["changes"] if change["now"] is None] == []


def test_a_policy_that_only_has_another_file_is_the_same_gate(job, github, capsys):
    """Nothing is taken away, and no gate is told to be loosened."""
    github.files |= {("b" * 40, policy): Path(policy).read_bytes() for policy in (BLOCKED, FINE)}
    Path(BLOCKED).rename("gates/renamed.yml")
    assert job("gates/*.yml") == 1
    for gate in ("rag", "short"):
        told_of = verdict(f"gateline-out/{gate}")["policy"]
        assert (told_of["same_as_base"], told_of["changes"]) == (True, [])
    assert "away" not in capsys.readouterr().err + "".join(github.bodies())


def test_a_gate_that_only_takes_the_name_of_another_does_not_stand_for_it(job, github, capsys):
    github.files |= {("b" * 40, policy): Path(policy).read_bytes() for policy in (BLOCKED, FINE)}
    Path(BLOCKED).unlink()
    named = Path(FINE).read_text(encoding="utf-8").replace("name: short", "name: rag")
    Path(FINE).write_text(named, encoding="utf-8")
    job("gates/*.yml")
    assert "this change takes the policy gates/rag.yml away" in capsys.readouterr().err
    assert BLOCKED in [change["path"] for change in verdict("gateline-out/rag")["policy"]["changes"]]


@pytest.mark.parametrize("base", ["not there", "out of reach", "unreadable", "given"])
def test_a_gate_that_is_gone_is_told_in_the_others_whatever_is_known_of_theirs(
    job, github, monkeypatch, base
):
    """In the first line of each: what the gate would have said is not known, so that nothing passes for it."""
    github.files[("b" * 40, BLOCKED)] = Path(BLOCKED).read_bytes()
    github.files[("b" * 40, FINE)] = b"rules: [" if base == "unreadable" else Path(FINE).read_bytes()
    Path(BLOCKED).unlink()
    if base == "not there":
        named = Path(FINE).read_text(encoding="utf-8").replace("name: short", "name: new")
        Path("gates/new.yml").write_text(named, encoding="utf-8")
        Path(FINE).unlink()
    if base == "given":
        shutil.copy(FINE, "before.yml")
        monkeypatch.setenv("GATELINE_BASE_POLICY", "before.yml")
    if base == "out of reach":
        github.when, github.trouble = f"contents/{FINE}", [Reply(403, {}, b"{}")] * 9
    assert job("gates/*.yml", GATELINE_COMMENT="changes") == 0
    (body,) = github.bodies()
    assert "passed, policy loosened" in body.split("\n")[2]
    assert "lets it through as well" not in body
    assert f"- `{BLOCKED}`: removed" in body


def test_what_cannot_be_known_of_a_pattern_is_a_note(job, github, capsys):
    github.when, github.trouble = "contents", [Reply(403, {}, b"{}")] * 9
    job("gates/*.yml")
    assert "it is not known whether this change takes a policy away" in capsys.readouterr().err


def test_the_same_trouble_of_several_gates_is_one_note(job, github, environment, capsys):
    Path(environment["GITHUB_EVENT_PATH"]).write_text('{"pull_request": {"number": 7, "base": {}}}')
    github.may_write = False
    assert job("gates/*.yml") == 1
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("::notice")]
    assert len(said) == len(set(said)) == 4


def test_a_base_policy_that_cannot_be_had_is_a_note(job, github, capsys):
    github.when, github.trouble = "contents/gates", [Reply(403, {}, b"{}")]
    assert job() == 1
    assert "the base branch's policy can't be had" in capsys.readouterr().err
    assert "the base branch's policy can't be had" in github.bodies()[0].replace("\u2060", "")
    assert verdict()["policy"]["same_as_base"] is None


# --- the baseline


def keep_baseline(github, name="candidate.jsonl"):
    from stand_in import zipped

    return github.add_artifact("results", zipped(**{name: Path("results/baseline.jsonl").read_bytes()}))


def test_the_baseline_of_the_last_run_with_its_commit_and_age(job, github):
    number = keep_baseline(github)
    job(FINE, "--baseline", "results/baseline.jsonl", "--output-dir", "from-path")
    assert job(FINE, "--baseline", "artifact:results") == 0
    assert f"Baseline: commit `{number:040x}"[:30] + "`, on `main`, 3 days old." in github.bodies()[0]
    found, same = verdict(), verdict("from-path")
    assert found["baseline"]["origin"] == {
        "source": "artifact:results", "branch": "main", "commit": f"{number:040x}", "made_on": "2026-01-05", "age": 3,
        "run": number + 50_000,
    }  # fmt: skip
    assert found["baseline"]["sha256"] == same["baseline"]["sha256"]
    assert found["findings"] == same["findings"]
    # the file is kept, so that the command in the comment gives the same verdict again
    assert (
        run(
            [
                "check",
                "--policy",
                FINE,
                "--baseline",
                found["baseline"]["file"],
                "--candidate",
                "results/candidate.jsonl",
            ]
        )
        == 0
    )


def test_no_baseline_yet_is_no_verdict_unless_that_is_allowed(job, github):
    assert job(FINE, "--baseline", "artifact:results") == 2
    assert verdict()["because"][0].startswith(
        "--baseline: there is no baseline yet: no successful run on main"
    )
    assert job(BLOCKED, "--baseline", "artifact:results", "--first-run") == 0
    assert verdict()["first_run"] is True
    assert verdict()["notices"][0].startswith(
        "no baseline yet: no successful run on main has left an artifact results"
    )
    assert job(BLOCKED, "--baseline", "results/none-yet.jsonl", "--first-run") == 0
    assert (
        verdict()["notices"][0]
        == "no baseline yet: results/none-yet.jsonl is not there; only fixed limits were judged"
    )


def test_a_baseline_that_cannot_be_fetched_is_never_a_first_run(job, github):
    keep_baseline(github)
    github.when, github.trouble = "actions", [Reply(403, {}, b"{}")]
    assert job(BLOCKED, "--baseline", "artifact:results", "--first-run") == 2
    assert "artifact:results can't be fetched" in verdict()["because"][0]


# --- several gates


def test_several_gates_have_a_comment_and_a_folder_each_and_the_worst_exit_code(job, github, environment):
    assert job("gates/*.yml") == 1
    assert [body.splitlines()[0] for body in github.bodies()] == [
        "<!-- gateline: rag -->",
        "<!-- gateline: short -->",
    ]
    assert [verdict(f"gateline-out/{name}")["verdict"] for name in ("rag", "short")] == ["fail", "pass"]
    outputs = told(environment)
    assert (outputs["verdict"], outputs["failed"], outputs["comment-posted"]) == ("fail", "1", "true")
    assert outputs["verdict-file"] == "gateline-out/rag/verdict.json"
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert [line for line in summary.splitlines() if line.startswith("### ")] == [
        "### ❌ rag: blocked",
        "### ✅ short: passed",
    ]


@pytest.mark.parametrize(
    ("policies", "code"),
    [
        ([BLOCKED, FINE], 1),
        ([BLOCKED, "gates/none.yml"], 1),
        ([FINE, "gates/none.yml"], 2),
        ([FINE], 0),
    ],
)
def test_one_that_says_no_counts_more_than_one_that_says_nothing(job, policies, code):
    assert job("\n".join(policies)) == code
    flags = [word for policy in policies for word in ("--policy", policy)]
    assert job("overridden.yml", *flags) == code


@pytest.mark.parametrize("policy", ["gates/*.yaml", "\n", "gates/**/none*.yml"])
def test_a_pattern_without_a_file_passes_nothing(job, capsys, policy):
    assert job(policy) == 2
    assert "no policy" in capsys.readouterr().err


def test_two_gates_of_one_name_are_refused(job, github, capsys):
    shutil.copy(FINE, "gates/twin.yml")
    assert job("gates/*.yml") == 2
    assert "gates/short.yml and gates/twin.yml are both called 'short'" in capsys.readouterr().err
    assert github.comments == []


def test_the_repository_of_the_stand_in_is_the_one_of_the_job(environment):
    assert environment["GITHUB_REPOSITORY"] == REPOSITORY


def test_an_older_run_that_ends_later_says_so_and_keeps_its_exit_code(job, github, environment, capsys):
    job(GITHUB_RUN_ID="4243")
    before = github.bodies()
    assert job(GITHUB_RUN_ID="4242", GITHUB_RUN_ATTEMPT="3") == 1
    assert github.bodies() == before
    assert told(environment)["comment-posted"] == "false"
    assert "a newer run has already commented on rag" in capsys.readouterr().err
    assert job(GITHUB_RUN_ID="4244") == 1
    assert "<!-- gateline run: 4244.1 -->" in github.bodies()[0]


TELLING = json.dumps({"message": f"Bad credentials: {TOKEN}", "errors": [TOKEN]}).encode()
FAILURES = {
    "401": Reply(401, {}, TELLING),
    "403": Reply(403, {"x-ratelimit-remaining": "4999"}, TELLING),
    "404": Reply(404, {}, TELLING),
    "422": Reply(422, {}, TELLING),
    "429": Reply(429, {"retry-after": "1"}, TELLING),
    "429, too long": Reply(429, {"retry-after": "86400"}, TELLING),
    "500": Reply(500, {}, TELLING),
    "503": Reply(503, {}, b"<html>" + TELLING),
    "broken JSON": Reply(200, {"content-type": "application/json"}, b'{"token": "' + TOKEN.encode()),
    "another kind of JSON": Reply(200, {}, TELLING),
    "elsewhere": Reply(302, {"location": f"http://127.0.0.1:9/?{TOKEN}"}, b""),
    "to no web address": Reply(301, {"location": f"file:///{TOKEN}"}, b""),
    "no answer": TimeoutError(),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("how", FAILURES)
@pytest.mark.parametrize("when", ["", "/comments$", "/user$", "^POST"])
def test_whatever_github_answers_the_exit_code_stays_and_the_token_is_told_nowhere(
    job, github, environment, capfd, how, when
):
    github.add_comment("<!-- gateline: rag -->\nold", "owner", "User")
    github.when, github.trouble = when, [FAILURES[how]] * 500
    assert job(BLOCKED, "-vv") == 1
    told = capfd.readouterr()
    texts = [
        told.out,
        told.err,
        *(path.read_text(encoding="utf-8", errors="replace") for path in Path().rglob("*") if path.is_file()),
    ]
    texts += [
        Path(environment[name]).read_text(encoding="utf-8")
        for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
    ]
    assert not any(TOKEN in text for text in texts)
    assert "bug in gateline" not in told.err
