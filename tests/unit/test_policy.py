"""A policy is read whole or refused with every problem, each with file, line and key."""

# ruff: noqa: E501  (lines of output stand here whole)

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from gateline.errors import InputError, PolicyError
from gateline.policy import MOST_BYTES, load_policy, read_policy
from gateline.readers import read_run
from runs import LIMIT, TOLERANCE, policy_text, read

START = "version: 1\nname: gate\nmetrics: {score: {better: higher, range: [0, 1]}}\n"


def refused(text: str) -> list[str]:
    with pytest.raises(PolicyError) as raised:
        read_policy(text, "p.yml")
    return [str(problem) for problem in raised.value.problems]


def refused_rule(rule: str) -> list[str]:
    return refused(f"{START}slices: {{named: {{high: {{risk: high}}}}}}\nrules:\n  - {rule}\n")


def refused_part(part: str) -> list[str]:
    return refused(f"{START}rules: [{LIMIT}]\n{part}\n")


def test_the_shortest_policy_has_all_defaults() -> None:
    policy = read_policy(
        f"{START}rules:\n  - {{kind: tolerance, metric: score, worse_by_at_most: 0.02}}\n", "p.yml"
    ).policy
    assert (policy.samples.at_least, policy.samples.on_mismatch, policy.samples.id) == (30, "refuse", "id")
    assert (policy.samples.repeats, policy.samples.repeat_field) == ("mean", "attempt")
    assert (policy.samples.cluster, policy.samples.same_input, policy.samples.golden_set) == (
        None,
        None,
        None,
    )
    assert (policy.provenance.must_match, policy.provenance.may_change) == ([], [])
    assert (policy.missing.no_answer, policy.missing.no_score, policy.missing.drop_at_most) == (
        "worst",
        "drop",
        0.02,
    )
    assert (policy.slices.by, policy.slices.named, policy.slices.at_least) == ([], {}, 30)
    settings = policy.statistics
    assert (settings.confidence, settings.resamples, settings.seed, settings.method) == (
        0.95,
        10_000,
        1,
        "bayesian",
    )
    assert policy.waivers == []
    assert policy.metrics["score"].summary == "mean"
    (rule,) = policy.rules
    assert (rule.id, rule.decides_by, rule.if_inconclusive) == ("score-tolerance", "interval", "warn")


@pytest.mark.parametrize(
    ("kind", "bound", "decides_by", "if_inconclusive"),
    [
        ("limit", "at_least: 0.5", "value", "warn"),
        ("every", "at_least: 0.5", "value", "fail"),
        ("tolerance", "worse_by_at_most: 0.1", "interval", "warn"),
        ("improvement", "better_by_at_least: 0.1", "interval", "fail"),
    ],
)
def test_each_kind_has_its_burden_of_proof(
    kind: str, bound: str, decides_by: str, if_inconclusive: str
) -> None:
    (rule,) = read(f"{{kind: {kind}, metric: score, {bound}}}").policy.rules
    assert (rule.decides_by, rule.if_inconclusive) == (decides_by, if_inconclusive)


def test_what_the_policy_says_of_the_burden_counts() -> None:
    (rule,) = read(
        "{kind: tolerance, metric: score, worse_by_at_most: 0, decide_by: value, on_inconclusive: pass}"
    ).policy.rules
    assert (rule.decides_by, rule.if_inconclusive) == ("value", "pass")
    (rule,) = read("{kind: tolerance, metric: score, worse_by_at_most: 0, hard: true}").policy.rules
    assert (rule.decides_by, rule.if_inconclusive) == ("value", "fail")


def test_the_whole_policy_of_the_design_is_read() -> None:
    """The full example, in the spelling of the design, with all kinds of rules and parts."""
    text = """
version: 1
name: support-rag
samples: {golden_set: gates/golden/support.jsonl, cluster: source_doc, at_least: 100, on_mismatch: refuse, same_input: [question]}
provenance: {must_match: [golden_set.version, judge.model], may_change: [app.commit]}
metrics:
  answer_correct:     {better: higher, range: [0, 1], show_as: percent}
  hallucination_rate: {better: lower,  range: [0, 1], show_as: percent, ratio: [unsupported_claims, claims]}
  recall@5:           {better: higher, range: [0, 1], show_as: percent}
  severe_error:       {better: lower,  range: [0, 1], summary: total}
  latency_p95:        {better: lower,  field: latency_ms, unit: ms,  summary: p95}
  cost:               {better: lower,  field: cost_usd,   unit: USD, summary: mean}
missing: {no_answer: worst, no_score: drop, drop_at_most: 2%}
slices:
  by: [language, intent]
  named: {high_risk: {risk: high}, unanswerable: {answerable: "no"}, regression_set: {set: regression}}
  at_least: 30
statistics: {confidence: 95%, resamples: 10000, seed: 1}
rules:
  - {id: no-severe-errors, kind: limit, metric: severe_error, slice: high_risk, at_most: 0, hard: true}
  - {id: old-bugs-stay-fixed, kind: every, metric: answer_correct, slice: regression_set, at_least: 1, hard: true}
  - {id: correct-floor, kind: limit, metric: answer_correct, at_least: 75%}
  - {id: correct-holds, kind: tolerance, metric: answer_correct, worse_by_at_most: 0.02}
  - {id: correct-by-slice, kind: tolerance, metric: answer_correct, slices: true, worse_by_at_most: 0.05, on_inconclusive: pass}
  - {id: recall-gain, kind: improvement, metric: recall@5, better_by_at_least: 0.03}
  - {id: latency-holds, kind: tolerance, metric: latency_p95, worse_by_at_most: 10%}
  - {id: cost-line, kind: limit, metric: cost, at_most: 0.012}
waivers:
  - {rule: cost-line, up_to: 0.014, until: 2026-12-31, by: search-team, reason: hosted reranker}
"""
    file = read_policy(text, "gates/support-rag.yml")
    assert list(file.rules) == [
        "no-severe-errors", "old-bugs-stay-fixed", "correct-floor", "correct-holds", "correct-by-slice", "recall-gain",
        "latency-holds", "cost-line",
    ]  # fmt: skip
    assert file.rule_lines["no-severe-errors"] == 20
    assert file.place(file.rules["cost-line"]) == "gates/support-rag.yml:27  cost-line"
    assert file.policy.statistics.confidence == 0.95
    assert file.policy.slices.named["unanswerable"] == {"answerable": ("no",)}


def test_all_problems_are_told_at_once_by_line() -> None:
    text = """version: 1
name: gate
metrics:
  score: {better: lwer, range: [0, 1]}
  other: {better: higher, range: [0, 1], applies_to: hihg}
slices:
  named: {high: {risk: high}}
rules:
  - {id: no-severe-errors, kind: limit, metric: score, at_moost: 1}
  - {id: holds, kind: tolerance, metric: othr, slice: hig, worse_by_at_most: -1}
  - {id: floor, kind: limit, metric: other, at_least: 75}
  - {id: floor, kind: limit, metric: other, at_least: 1, hard: true}
statistics: {confidence: 95}
waivers:
  - {rule: flor, up_to: 1, until: 2026-12-31, by: me, reason: x}
  - {rule: floor, up_to: 1, until: tomorrow, by: me}
"""
    assert refused(text) == [
        "p.yml:4  metrics.score.better: must be 'higher' or 'lower', not 'lwer'",
        "p.yml:5  metrics.other.applies_to: there is no slice 'hihg'  (did you mean 'high'?)",
        "p.yml:9  rules[0] no-severe-errors.at_moost: unknown field 'at_moost'  (did you mean 'at_most'?)",
        "p.yml:10  rules[1] holds.worse_by_at_most: must not be negative, but is -1; 0 allows no difference at all",
        "p.yml:10  rules[1] holds.metric: there is no metric 'othr'  (did you mean 'other'?)",
        "p.yml:10  rules[1] holds.slice: there is no slice 'hig'  (did you mean 'high'?)",
        "p.yml:11  rules[2] floor.at_least: 75 lies outside the range [0, 1] of the metric; write 0.75 or 75%",
        "p.yml:12  rules[3] floor.id: the id 'floor' stands twice  (give each rule an id of its own)",
        "p.yml:13  statistics.confidence: must be above 50 % and below 100 %, not 9500 %  (write 95% or 0.95)",
        "p.yml:16  waivers[1].until: must be a day as YYYY-MM-DD, not tomorrow",
        "p.yml:16  waivers[1].reason: 'reason' is missing",
    ]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{kind: limit, metric: score, at_moost: 1}", "rules[0].at_moost: unknown field 'at_moost'  (did you mean 'at_most'?)"),
        ("{kind: limmit, metric: score, at_most: 1}", "rules[0]: there is no kind of rule 'limmit'  (did you mean 'limit'?)"),
        ("{metric: score, at_most: 1}", "rules[0]: 'kind' is missing  (one of calibration, every, improvement, limit, tolerance)"),
        ("{kind: limit, at_most: 1}", "rules[0].metric: 'metric' is missing"),
        ("{kind: tolerance, metric: score}", "rules[0].worse_by_at_most: 'worse_by_at_most' is missing"),
        ("{kind: limit, metric: scor, at_most: 1}", "rules[0].metric: there is no metric 'scor'  (did you mean 'score'?)"),
        ("{kind: limit, metric: score}", "rules[0]: needs exactly one of 'at_least' and 'at_most'"),
        ("{kind: limit, metric: score, at_most: 1, at_least: 0}", "rules[0]: needs exactly one of 'at_least' and 'at_most'"),
        (
            "{kind: every, metric: score}",
            "rules[0]: needs exactly one of 'at_least', 'at_most' and 'worse_by_at_most'",
        ),
        (
            "{kind: every, metric: score, at_least: 1, decide_by: interval}",
            "rules[0]: 'every' looks at single samples; leave 'decide_by' out",
        ),
        (
            "{kind: limit, metric: score, at_most: 1, slice: hgh}",
            "rules[0].slice: there is no slice 'hgh'  (did you mean 'high'?)",
        ),
        (
            "{kind: limit, metric: score, at_most: 1, slice: language=}",
            "rules[0].slice: there is no slice 'language='  (known: high)",
        ),
        (
            "{kind: limit, metric: score, at_most: 1, slices: true}",
            "rules[0].slices: slices: true needs labels under slices.by",
        ),
        (
            "{kind: limit, metric: score, at_least: 0, slice: high, slices: [x]}",
            "rules[0]: 'slice' and 'slices' exclude each other",
        ),
        (
            "{kind: limit, metric: score, at_least: 0, hard: true, on_inconclusive: warn}",
            "rules[0]: a hard rule always fails what it can't show; leave 'on_inconclusive' out",
        ),
        (
            "{kind: tolerance, metric: score, worse_by_at_most: 0, hard: true, decide_by: interval}",
            "rules[0]: a hard rule decides by value; leave 'decide_by' out",
        ),
        (
            "{kind: tolerance, metric: score, worse_by_at_most: 2}",
            "rules[0].worse_by_at_most: 2 is wider than the range [0, 1] of the metric; write 0.02 for 2 points",
        ),
        (
            "{kind: improvement, metric: score, better_by_at_least: 1.5}",
            "rules[0].better_by_at_least: 1.5 is wider than the range [0, 1] of the metric; write 0.015 for 1.5 points",
        ),
        (
            "{kind: improvement, metric: score, better_by_at_least: [1%, 0.1]}",
            "rules[0].better_by_at_least: takes one bound; write two rules where both are required",
        ),
        (
            "{kind: tolerance, metric: score, worse_by_at_most: 1e999%}",
            "rules[0].worse_by_at_most: must be a number or a percentage such as 10%, not '1e999%'",
        ),
        (
            "{kind: limit, metric: score, at_least: .nan}",
            "rules[0].at_least: must be a finite number, not '.nan'  (leave the key out for no bound)",
        ),
        (
            "{kind: limit, metric: score, at_least: 0.5, hard: 1}",
            "rules[0].hard: must be true or false, not 1",
        ),
        ("{kind: limit, metric: score, at_least: 0.5, id: 7}", "rules[0] 7.id: must be a text, not 7; put it in quotes"),
        ("{kind: limit, metric: score, at_least: 0.5, id: ''}", "rules[0].id: must not be empty"),
        ("{kind: limit, metric: [score], at_least: 0.5}", "rules[0].metric: must be a text, not a list"),
        ("just words", "rules[0]: must be a mapping, not 'just words'"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_meant_is_refused(rule: str, said: str) -> None:
    assert refused_rule(rule) == [f"p.yml:6  {said}"]


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("samples: {at_least: 0}", "samples.at_least: must be greater than or equal to 1, not '0'"),
        ("samples: {at_least: 1.5}", "samples.at_least: must be a whole number, not '1.5'"),
        ("samples: {clustr: doc}", "samples.clustr: unknown field 'clustr'  (did you mean 'cluster'?)"),
        ("samples: {same_input: question}", "samples.same_input: must be a list, not 'question'"),
        ("samples: {on_mismatch: ignore}", "samples.on_mismatch: must be 'refuse', 'intersect' or 'independent', not 'ignore'"),
        ("samples: {repeats: first}", "samples.repeats: must be 'mean', 'last' or 'refuse', not 'first'"),
        ("samples: 1", "samples: must be a mapping, not '1'"),
        ("samples:", "samples: must be a mapping, not nothing"),
        ("missing: {drop_at_most: 200%}", "missing.drop_at_most: must be less than or equal to 1, not '200%'"),
        ("missing: {drop_at_most: -1%}", "missing.drop_at_most: must be greater than or equal to 0, not '-1%'"),
        ("missing: {no_score: zero}", "missing.no_score: must be 'drop', 'worst' or 'refuse', not 'zero'"),
        ("slices: {by: language}", "slices.by: must be a list, not 'language'"),
        ("slices: {named: {high: {}}}", "slices.named.high: must not be empty"),
        ("slices: {named: {high: [x]}}", "slices.named.high: must be a mapping, not a list"),
        (
            "slices: {named: {high: {risk: {a: 1}}}}",
            "slices.named.high.risk: must be a label's value or a list of values, not {'a': '1'}",
        ),
        (
            "slices: {named: {high: {zip: 007}}}",
            "slices.named.high.zip: '007' can be read as a text, a decimal or an octal number  (write 7 for the number or '007' in quotes for the text)",
        ),
        ("statistics: {method: bootstrap}", "statistics.method: must be 'bayesian', 'percentile' or 'bca', not 'bootstrap'"),
        ("statistics: {resamples: 10}", "statistics.resamples: must be greater than or equal to 1000, not '10'"),
        ("statistics: {seed: 1.5}", "statistics.seed: must be a whole number, not '1.5'"),
        (
            "statistics: {confidence: 40%}",
            "statistics.confidence: must be above 50 % and below 100 %, not 40 %  (write 95% or 0.95)",
        ),
        ("provenance: {must_mach: [judge]}", "provenance.must_mach: unknown field 'must_mach'  (did you mean 'must_match'?)"),
        ("rule: []", "rule: unknown field 'rule'  (did you mean 'rules'?)"),
        ("waivers: {}", "waivers: must be a list, not a mapping"),
        (
            "waivers: [{rule: flor, up_to: 0.4, until: 2026-12-31, by: a, reason: b}]",
            "waivers[0].rule: there is no rule 'flor'  (did you mean 'floor'?)",
        ),
        (
            "waivers: [{rule: floor, up_to: 0.4, until: 1798675200, by: a, reason: b}]",
            "waivers[0].until: must be a day as YYYY-MM-DD, not 1798675200",
        ),
        (
            "waivers: [{rule: floor, up_to: 0.4, until: 2026-02-30, by: a, reason: b}]",
            "waivers[0].until: must be a day as YYYY-MM-DD, not 2026-02-30",
        ),
        ("waivers: [{rule: floor, until: 2026-12-31, by: a, reason: b}]", "waivers[0].up_to: 'up_to' is missing"),
        ("waivers: [{rule: floor, up_to: 0.4, by: a, reason: b}]", "waivers[0].until: 'until' is missing"),
        ("waivers: [{rule: floor, up_to: 0.4, until: 2026-12-31, reason: b}]", "waivers[0].by: 'by' is missing"),
        (
            "waivers: [{rule: floor, up_to: 40, until: 2026-12-31, by: a, reason: b}]",
            "waivers[0].up_to: 40 lies outside the range [0, 1] of the metric; write 0.4 or 40%",
        ),
        (
            "waivers: [{rule: floor, slice: hihg, up_to: 0.4, until: 2026-12-31, by: a, reason: b}]",
            "waivers[0].slice: there is no slice 'hihg'  (name it under slices.named, or write label=value)",
        ),
        (
            "waivers: [{rule: floor, up_to: 0.4, until: 2026-12-31, by: a, reason: ''}]",
            "waivers[0].reason: must not be empty",
        ),
    ],
)  # fmt: skip
def test_a_part_that_cannot_be_meant_is_refused(part: str, said: str) -> None:
    assert refused_part(part) == [f"p.yml:5  {said}"]


def test_a_hard_rule_cannot_be_waived() -> None:
    text = policy_text(
        LIMIT.replace("}", ", hard: true}"),
        waivers="[{rule: floor, up_to: 0.4, until: 2026-12-31, by: a, reason: b}]",
    )
    assert refused(text) == ["p.yml:6  waivers[0].rule: the rule 'floor' is hard and can't be waived"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("2", "must be 1, not 2"),
        ("'1'", "must be 1, not '1'"),
        ("true", "must be 1, not True"),
        ("1.0", "must be 1, not 1.0"),
    ],
)
def test_another_version_of_the_language_is_refused(written: str, said: str) -> None:
    assert refused(policy_text(LIMIT).replace("version: 1", f"version: {written}")) == [
        f"p.yml:1  version: {said}"
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "empty"), ("# only a comment\n", "empty"), ("[]", "a list"), ("words", "one value")],
)
def test_a_file_that_is_no_mapping_is_refused(text: str, found: str) -> None:
    assert refused(text) == [
        f"p.yml: a policy is a mapping with version, name, metrics and rules; this file is {found}"
    ]


def test_what_is_missing_at_the_top_is_named() -> None:
    assert refused("description: nothing else\n") == [
        f"p.yml:1  {name}: '{name}' is missing" for name in ("version", "name", "metrics", "rules")
    ]


def test_a_policy_that_checks_nothing_is_refused() -> None:
    assert refused(f"{START}rules: []\n") == [
        "p.yml:4  rules: must not be empty: a policy that checks nothing can't pass anything"
    ]


def test_the_same_id_made_of_the_same_parts_is_refused() -> None:
    rule = "{kind: limit, metric: score, at_least: 0.5}"
    assert refused(policy_text(rule, rule)) == [
        "p.yml:8  rules[1].id: the id 'score-limit' stands twice  (give each rule an id of its own)"
    ]


def test_a_rule_without_an_id_is_named_by_its_parts() -> None:
    rules = read(
        "{kind: limit, metric: score, at_least: 0.5, slice: language=de}",
        "{kind: limit, metric: score, at_least: 0.5, slices: [language]}",
    ).rules
    assert list(rules) == ["score-limit-language=de", "score-limit-slices"]


def test_labels_of_named_slices_are_texts_as_they_stand_in_the_file() -> None:
    named = read(
        LIMIT, slices="{named: {a: {lang: NO}, b: {v: 1.10}, c: {on: [yes, 1e3, null]}}}"
    ).policy.slices.named
    assert named == {"a": {"lang": ("NO",)}, "b": {"v": ("1.10",)}, "c": {"on": ("yes", "1e3")}}


@pytest.mark.parametrize("at_least", ["75%", "0.75"])
def test_a_limit_on_a_share_may_be_a_percentage(at_least: str) -> None:
    (rule,) = read(f"{{kind: limit, metric: score, at_least: {at_least}}}").policy.rules
    assert rule.at_least.number == 0.75  # type: ignore[attr-defined]


def test_a_percentage_as_a_limit_on_another_metric_is_refused() -> None:
    text = policy_text("{kind: limit, metric: ms, at_most: 10%}", metrics="{ms: {better: lower}}")
    assert refused(text) == [
        "p.yml:7  rules[0].at_most: 10% needs a metric that is shown as percent; write the number in its unit"
    ]


def test_a_limit_on_a_total_may_lie_outside_the_range_of_a_sample() -> None:
    read(
        "{kind: limit, metric: bad, at_most: 7}",
        metrics="{bad: {better: lower, range: [0, 1], summary: total}}",
    )


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    content = ("\ufeff" + policy_text(LIMIT)).replace("\n", "\r\n").encode()
    (tmp_path / "p.yml").write_bytes(content)
    file = load_policy(tmp_path / "p.yml")
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert file.policy.name == "gate"


@pytest.mark.parametrize("name", ["base.jsonl", "BASE.CSV", "runs/base.parquet"])
def test_results_in_the_place_of_a_policy_are_named_as_such(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"id": "a"}\n{"id": "b"}\n')
    with pytest.raises(PolicyError, match=r"named as results are.*gateline inspect"):
        load_policy(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version: 1\nname: \xff\n", "{file}:2: the policy is not UTF-8  (save it as UTF-8)"),
        (b"#" * (MOST_BYTES + 1), "{file}: a policy of more than 1,000,000 bytes is not read"),
        ("version: 1".encode("utf-16"), "{file}:1: the policy is not UTF-8  (save it as UTF-8)"),
    ],
)
def test_bytes_that_are_no_policy_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "p.yml"
    path.write_bytes(content)
    with pytest.raises(PolicyError) as raised:
        load_policy(path)
    assert str(raised.value) == said.format(file=path)


def test_a_policy_that_is_not_there_or_no_file(tmp_path: Path) -> None:
    with pytest.raises(
        PolicyError, match=r"policy not found: .*none.yml  \(gateline init RESULT writes a first one\)"
    ):
        load_policy(tmp_path / "none.yml")
    with pytest.raises(PolicyError, match="the policy can't be read: Is a directory"):
        load_policy(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for special in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(PolicyError, match="the policy is a pipe, a device or a socket, not a file"):
            load_policy(special)
    with pytest.raises(PolicyError, match=r"the policy can't be read: .*null byte"):
        load_policy("a\0b")


def test_a_golden_set_with_an_overlong_name_is_no_crash() -> None:
    name = "g" * 5000
    file = read(TOLERANCE, samples=f"{{golden_set: {name}}}").golden_set_file()
    assert file is not None
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        read_run(file)


def test_the_golden_set_lies_beside_the_policy_or_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gates").mkdir()
    path = tmp_path / "gates" / "p.yml"
    path.write_text(policy_text(LIMIT, samples="{golden_set: golden.jsonl}"))
    monkeypatch.chdir(tmp_path)
    assert load_policy(path).golden_set_file() == tmp_path / "gates" / "golden.jsonl"
    (tmp_path / "golden.jsonl").touch()
    assert load_policy(path).golden_set_file() == Path("golden.jsonl")
    (tmp_path / "gates" / "golden.jsonl").touch()
    assert load_policy(path).golden_set_file() == tmp_path / "gates" / "golden.jsonl"
    assert read(LIMIT).golden_set_file() is None


def test_a_file_above_the_policy_is_named_without_detours(tmp_path: Path) -> None:
    """`gates/../labels.jsonl` is `labels.jsonl`; but not where `gates` leads elsewhere, whose parent is another."""
    (tmp_path / "deep" / "gates").mkdir(parents=True)
    (tmp_path / "deep" / "labels.jsonl").touch()
    (tmp_path / "gates").mkdir()
    path = tmp_path / "gates" / "p.yml"
    path.write_text(policy_text(LIMIT, samples="{golden_set: ../labels.jsonl}"))
    assert load_policy(path).golden_set_file() == tmp_path / "labels.jsonl"
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path / "deep" / "gates")
    (tmp_path / "deep" / "gates" / "p.yml").write_bytes(path.read_bytes())
    found = load_policy(linked / "p.yml").golden_set_file()
    assert found is not None
    assert found.resolve() == tmp_path / "deep" / "labels.jsonl"


def test_a_pattern_too_starts_beside_the_policy_or_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a policy names is looked for in both places, whether it names one file or several at once."""
    (tmp_path / "gates" / "golden").mkdir(parents=True)
    for name in ("main.jsonl", "regression.jsonl"):
        (tmp_path / "gates" / "golden" / name).write_text(f'{{"id": "{name}", "question": "Why?"}}\n')
    path = tmp_path / "gates" / "p.yml"
    monkeypatch.chdir(tmp_path)
    for pattern in ("golden/*.jsonl", "gates/golden/*.jsonl"):
        path.write_text(policy_text(LIMIT, samples=f'{{golden_set: "{pattern}"}}'))
        found = load_policy(path).golden_set_file()
        assert found is not None
        assert read_run(found).ids == ["main.jsonl", "regression.jsonl"]
    path.write_text(policy_text(LIMIT, samples='{golden_set: "nowhere/*.jsonl"}'))
    assert load_policy(path).golden_set_file() == tmp_path / "gates" / "nowhere" / "*.jsonl"


def test_pairing_is_told_what_rules_look_at() -> None:
    terms = read(
        "{id: a, kind: limit, metric: score, at_least: 0.5, slice: high, hard: true}",
        "{id: b, kind: tolerance, metric: score, worse_by_at_most: 0, slices: true}",
        "{id: c, kind: limit, metric: score, at_least: 0.1, slices: [intent], hard: true}",
        metrics="{score: {better: higher, range: [0, 1]}, cited: {better: higher, applies_to: answered=yes}}",
        slices="{by: [language, intent], named: {high: {risk: high}}}",
    ).terms()
    assert terms.hard == {("score", "high"), ("score", None)}
    assert terms.hard_families == {("score", "intent")}
    assert list(terms.slice_lines) == ["answered=yes", "high"]
    assert set(terms.family_labels) == {"language", "intent"}
    assert terms.slice_lines["high"] == "policy.yml:7  a"


def test_a_tolerance_is_read_as_one_bound_or_two() -> None:
    (rule,) = read(TOLERANCE.replace("0.1", "[2%, 0.1]")).policy.rules
    assert rule.bound_fields() == {"worse_by_at_most": ["2%", 0.1]}
