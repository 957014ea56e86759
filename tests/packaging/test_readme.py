"""README.md and docs/: what they show is what the program does."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from readme import DOCUMENTS, ROOT, fill_in, policy_schema, run_gateline

README = (ROOT / "README.md").read_text(encoding="utf-8")
RECORDS = [
    {"id": f"q{number}", "slices": {"language": "en"}, "metrics": {"correct": number % 2}}
    for number in range(40)
]
POLICY = {
    "version": 1,
    "name": "trial",
    "metrics": {"correct": {"better": "higher", "range": [0, 1]}},
    "rules": [{"kind": "tolerance", "metric": "correct", "worse_by_at_most": 0.02}],
}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_is_made_from_the_program_is_up_to_date(document):
    text = document.read_text(encoding="utf-8")
    assert fill_in(text) == text, "run: python tests/packaging/readme.py"


def test_two_commands_set_up_a_fresh_machine():
    commands = dict(re.findall(r"<!-- command: (\w+) -->\n```sh\n(.+)\n```", README))
    assert list(commands) == ["gate", "tests"]
    shown = re.search(r"<!-- output: (.+) -->", README)[1]
    assert f".venv/bin/{shown}; echo" in commands["gate"]
    extra = re.search(r"'\.\[(\w+)\]'", commands["tests"])[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extra in project["optional-dependencies"]


def test_ci_runs_the_command_of_the_readme():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- command: tests -->" in script
    own = [line for line in script.splitlines() if "pytest" in line]
    with_parts_of_their_own = (" tests/container", " tests/fuzz/test_by_coverage.py")
    counted = " || failed=1"  # what runs beside something else ends the script only at its end
    assert all(line.removesuffix(counted).endswith(with_parts_of_their_own) for line in own), (
        "the command must come from the README"
    )
    assert re.search(r"eval \"\$\{command.*\|\| failed=1$", script, re.MULTILINE)
    assert script.rstrip().endswith('exit "$failed"')


@pytest.mark.parametrize(
    "document", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("gates/**/*.md")]
)
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#\s]+)\)", document.read_text(encoding="utf-8"))
    local = [link for link in links if not link.startswith("http")]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_the_records_shown_can_be_read(tmp_path):
    block = re.search(r"```json\n(.+?)```", README, re.DOTALL)[1]
    file = tmp_path / "records.jsonl"
    file.write_text(block, encoding="utf-8")
    found = json.loads(run_gateline(f"gateline inspect {file} --json").stdout)
    assert found["samples"] == 2
    assert block.count('"latency_ms"') == 1


def test_workflows_shown_name_inputs_that_the_action_has():
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    required = {name for name, told in action["inputs"].items() if told["required"]}
    text = README + (ROOT / "docs" / "github.md").read_text(encoding="utf-8")
    workflows = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.+?)```", text, re.DOTALL)]
    steps = [
        step for workflow in workflows for job in workflow.get("jobs", {}).values() for step in job["steps"]
    ]
    uses = [step["with"] for step in steps if step.get("uses", "").startswith("OWNER/gateline@")]
    assert len(uses) == 2
    for given in uses:
        assert required <= set(given) <= set(action["inputs"])
    for output in re.findall(r"steps\.gate\.outputs\.([\w-]+)", text):
        assert output in action["outputs"]


@pytest.fixture
def told(tmp_path):
    """What `gateline check` says of two runs and a policy, after a change to one of the three."""

    def check(baseline=RECORDS, candidate=RECORDS, run=None, options="", **policy):
        for name, records in (("baseline", baseline), ("candidate", candidate)):
            head = [{"gateline": 1, "run": {"judge": name}}] if run else []
            lines = [json.dumps(record) for record in head + records]
            (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        (tmp_path / "policy.yml").write_text(json.dumps({**POLICY, **policy}), encoding="utf-8")
        files = "--policy policy.yml --baseline baseline.jsonl --candidate candidate.jsonl"
        command = f"gateline check {files} -v {options}"
        done = run_gateline(command, cwd=tmp_path)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    return check


def changed(**fields):
    """Return the records, the first of them with other fields."""
    return [{**RECORDS[0], **fields}, *RECORDS[1:]]


RULE = POLICY["rules"][0]
TIMED = [{**record, "latency_ms": 1000.25 + 7.125 * number} for number, record in enumerate(RECORDS)]
NO_VERDICT = {
    "questions of the baseline are not in the candidate": {"candidate": RECORDS[1:]},
    "no record has a field": {
        "metrics": {"faithful": {"better": "higher"}},
        "rules": [{**RULE, "metric": "faithful"}],
    },
    "outside its range": {"candidate": changed(metrics={"correct": 87})},
    "missing.drop_at_most lets": {
        "candidate": [{**record, "metrics": {"correct": None}} for record in RECORDS[:5]] + RECORDS[5:]
    },
    "too few for a verdict": {"samples": {"at_least": 100}},
    "provenance.must_match": {"run": True, "provenance": {"must_match": ["judge"]}},
    "another label": {
        "candidate": changed(slices={"language": "de"}),
        "slices": {"by": ["language"]},
        "rules": [{**RULE, "slices": True}],
    },
    "were not tried as often as the others": {
        "candidate": [{**record, "attempt": 1} for record in RECORDS]
        + [{**record, "attempt": 2} for record in RECORDS[:2]]
    },
    "records are the baseline's in every field": {
        "baseline": TIMED,
        "candidate": TIMED,
        "options": "--require-fresh",
    },
    "there is no metric": {"rules": [{**RULE, "metric": "corect"}]},
}


@pytest.mark.parametrize("message", NO_VERDICT)
def test_messages_of_the_table_are_said(told, message):
    code, text = told(**NO_VERDICT[message])
    assert (code, message in text) == (2, True), text
    assert f"| `{message}` |" in README


def test_a_check_that_is_not_settled_says_so(told):
    code, text = told(candidate=changed(metrics={"correct": 1}))
    assert (code, "doesn't settle it" in text) == (0, True), text
    assert "| `doesn't settle it` |" in README


def test_a_file_that_nobody_knows_says_so(tmp_path):
    file = tmp_path / "results.txt"
    file.write_text("Nothing here is a table.\nNor a record.\n", encoding="utf-8")
    done = run_gateline(f"gateline inspect {file}")
    assert (done.returncode, "no reader knows this file" in done.stderr) == (2, True), done.stderr
    assert "| `no reader knows this file` |" in README


def test_the_page_on_policies_has_a_table_for_every_part_and_its_waiver_is_one():
    page = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    assert set(re.findall(r"<!-- table: fields (\w+) -->", page)) == set(policy_schema())
    example = yaml.safe_load(re.search(r"```yaml\n(waivers:.+?)```", page, re.DOTALL)[1])
    assert f"{{rule: {example['waivers'][0]['rule']}, " in (ROOT / "gates" / "rag.yml").read_text(
        encoding="utf-8"
    )
    assert set(example["waivers"][0]) == set(policy_schema()["Waiver"]["required"])


def test_every_message_of_the_table_has_a_test():
    table = re.search(r"## When there is no verdict\n(.+?)\n\n`", README, re.DOTALL)[1]
    listed = set(re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE))
    assert listed == {
        *NO_VERDICT,
        "doesn't settle it",
        "no reader knows this file",
        "this is a bug in gateline",
    }


def test_paths_of_the_documents_exist():
    named = re.findall(r"(?<![\w./-])(gates/(?:[\w-]+/)*[\w-]+\.(?:yml|jsonl|md))", README)
    assert named
    assert [path for path in named if not (ROOT / Path(path)).is_file()] == []
