"""English: the language of `verdict.json`, and of a report for which no other is asked.

It holds words and nothing else: `{fields}` by name, no code, and no mark of Markdown or HTML.
"""

from __future__ import annotations

from collections.abc import Mapping

TAG = "en"
"""The language's tag in HTML (BCP 47)."""
FORMS: Mapping[str, str] = {"one": "n = 1"}
"""The forms for a count, beside `other`, as in CLDR's plural rules."""
BREAKS_BETWEEN_CHARACTERS = False
"""Whether a line may end inside a sentence where there is no blank."""

TEXTS: Mapping[str, str | Mapping[str, str]] = {
    # joints
    "joint.list": ", ",
    "joint.parts": ", ",
    "joint.clauses": "; ",
    "joint.sentences": " ",
    "joint.and": " and ",
    "joint.or": " or ",
    "joint.named": "{name}: {text}",
    "joint.aside": "({text})",
    "joint.with-aside": "{text} ({aside})",
    "sentence": "{text}.",
    "list.more": "{list} and {count} more",
    "list.all": "{list}",
    "list.rest": "and {count} more",
    "unit.percent": " %",
    "unit.points": " points",
    # words
    "word.baseline": "baseline",
    "word.candidate": "candidate",
    "word.worse": "worse",
    "word.better": "better",
    "word.none": "none",
    "word.not-stated": "not stated",
    "direction.higher": "higher",
    "direction.lower": "lower",
    "title.baseline": "Baseline",
    "title.candidate": "Candidate",
    "title.policy": "Policy",
    "title.age": "Age",
    "outcome.blocked": "blocked",
    "outcome.passed": "passed",
    "outcome.warned": "passed with warnings",
    "outcome.no-verdict": "no verdict",
    "outcome.blocked-loosened": "blocked, policy loosened",
    "outcome.passed-loosened": "passed, policy loosened",
    "status.fail": "fail",
    "status.inconclusive": "inconclusive",
    "status.waived": "waived",
    "status.skipped": "skipped",
    "status.pass": "pass",
    "kind.calibration": "calibration",
    "kind.every": "every",
    "kind.improvement": "improvement",
    "kind.limit": "limit",
    "kind.tolerance": "tolerance",
    "kind-and-hard": "{kind}, hard",
    # counts
    "count.answers": {"one": "{count} answer", "other": "{count} answers"},
    "count.changes": {"one": "{count} change", "other": "{count} changes"},
    "count.checks": {"one": "{count} check", "other": "{count} checks"},
    "count.differences": {"one": "{count} difference", "other": "{count} differences"},
    "count.facts": {"one": "{count} fact", "other": "{count} facts"},
    "count.groups": {"one": "{count} group", "other": "{count} groups"},
    "count.independent-groups": {"one": "{count} independent group", "other": "{count} independent groups"},
    "count.pairs": {"one": "{count} pair", "other": "{count} pairs"},
    "count.problems": {"one": "{count} problem", "other": "{count} problems"},
    "count.problems-in": {"one": "{count} problem in {file}", "other": "{count} problems in {file}"},
    "count.questions": {"one": "{count} question", "other": "{count} questions"},
    "count.records": {"one": "{count} record", "other": "{count} records"},
    "count.resamples": {"one": "{count} resample", "other": "{count} resamples"},
    "count.samples": {"one": "{count} sample", "other": "{count} samples"},
    # a finding: numbers and bounds
    "needed.each": "each {bound}",
    "found.missing": {"one": "{count} of {samples} misses", "other": "{count} of {samples} miss"},
    "amount.unknown": "by an unknown amount",
    "amount.none": "no change",
    "amount.worse": "{amount} worse",
    "amount.better": "{amount} better",
    "amount.relative-worse": "{share} of the baseline ({absolute}) worse",
    "amount.relative-better": "{share} of the baseline ({absolute}) better",
    "share.of-baseline": "{share} of the baseline",
    "share.of-baseline-in-unit": "{share} of the baseline ({absolute})",
    "bound.at-least": "at least {limit} is needed",
    "bound.at-most": "at most {limit} is allowed",
    "bound.better-by": "at least {amount} better is needed",
    "bound.better-by-either": "at least {amounts} better is needed, whichever is less",
    "bound.any-gain": "any gain is needed",
    "bound.worse-by": "up to {amount} worse is allowed",
    "bound.worse-by-both": "up to {amounts} worse is allowed, whichever is more",
    "bound.no-loss": "nothing worse is allowed",
    "bound.unknown": "the bound is unknown",
    "span.values": "{low} to {high}",
    "span.worse": "{near} to {far} worse",
    "span.better": "{near} to {far} better",
    "span.across": "{worse} worse to {better} better",
    # a finding: the sentence
    "finding.subject": "{metric} in {slice}",
    "measure.agreement": "agreement of the judge of {metric} with people",
    "measure.kappa": "kappa of the judge of {metric} with people",
    "measure.bias": "bias of the judge of {metric}, without its sign,",
    "measure.sensitivity": "sensitivity of the judge of {metric}",
    "measure.false_positive_rate": "false-positive rate of the judge of {metric}",
    "measure.separation": "sensitivity less false-positive rate of the judge of {metric}",
    "finding.skipped": "{subject} is not judged: {reason}",
    "finding.too-small": "{start}; too few to judge: {reason}",
    "finding.could-show": "so few could show a change of {change} or more only",
    "finding.no-reason": "no reason was given",
    "moved.is": "{subject} is {value}",
    "moved.stayed": "{subject} stayed at {value}",
    "moved.rose": "{subject} rose {before} → {after}",
    "moved.fell": "{subject} fell {before} → {after}",
    "moved.in-pairs": "{subject} {values} in {pairs}",
    "moved.in-list": "{subject} {values}",
    "change": "{moved}, {amount}",
    "limit.is": "{subject} is {value}",
    "limit.is-before": "{subject} is {value} (baseline {before})",
    "limit.total": "{subject} adds up to {value}",
    "limit.total-before": "{subject} adds up to {value} (baseline {before})",
    "against.plain": "{start}, where {bound}",
    "against.change": "{start} ({level} interval: {interval}), where {bound}",
    "against.value": "{start}, {level} interval {interval}, where {bound}",
    "against.open": "{start}, but the {level} interval ({interval}) doesn't settle it, where {bound}",
    "against.lacking": "{start}, but {lack}, where {bound}",
    "against.lacking-within": "{start}, but {lack} ({level} interval: {interval}), where {bound}",
    "lack.interval": "no interval can be given",
    "lack.samples": "there are too few samples",
    "lack.values": "too much is left out",
    "nothing.no-sample": "{subject} has no usable sample, where {bound}",
    "nothing.not-judged": "{subject} can't be judged, where {bound}",
    "nothing.no-number": "{moved}, but the number that the rule judges can't be computed, where {bound}",
    "every.at-least": "at least {bound}",
    "every.at-most": "at most {bound}",
    "every.worse-by": "worse by at most {bound} against the baseline",
    "every.no-sample": "{metric} has no usable sample, where each must be {bound}",
    "every.not-shown": "{metric} can't be shown to hold {bound}: {reason}",
    "every.in-slice": "{samples} in {slice}",
    "every.all-hold": "All {samples} hold {metric} {bound}",
    "every.some-miss": {
        "one": "{count} of {samples} misses {metric} {bound}: {ids}",
        "other": "{count} of {samples} miss {metric} {bound}: {ids}",
    },
    "rest.counted": "{worse} worse, {better} better of {pairs}",
    "rest.in-groups": "{things} in {groups}",
    "rest.before-and-after": "{before} samples before and {after} others after",
    "rest.samples-needed": {
        "one": "about {about} sample would settle it",
        "other": "about {about} samples would settle it",
    },
    "rest.out-of-reach": "no realistic number of samples would settle it",
    "rest.uncorrected": {
        "one": "from {count} label of people and {things} of the judge; by the judge alone {value}",
        "other": "from {count} labels of people and {things} of the judge; by the judge alone {value}",
    },
    "rest.judge-alone": "by the judge alone {value}",
    "rest.judge-stands": "that is the judge alone, and its fail stands: {reason}",
    "rest.blocks": "the rule asks for proof, so it blocks",
    "rest.blocks-as-asked": "it blocks, as {option} asks for proof",
    "rest.warns": "let through with a warning",
    "rest.let-through": "let through by the rule",
    "rest.by-value": "decided by the value, not the interval",
    "rest.hard": "a hard rule",
    "rest.waived": "waived until {until} by {by}: {reason}",
    "rest.waived-up-to": "waived up to {ceiling} until {until} by {by}: {reason}",
    # notes: what belongs to a number
    "note.no-baseline": "no baseline yet",
    "note.small-slice": {
        "one": "{count} sample, slices.at_least is {least}",
        "other": "{count} samples, slices.at_least is {least}",
    },
    "note.no-usable-sample": "no usable sample",
    "note.none-usable": {
        "one": "its only question has no usable value",
        "other": "none of its {count} questions has a usable value",
    },
    "note.no-people": "no labels of people are at hand",
    "note.too-few-labels": {
        "one": "people labelled {count} independent sample here by chance (a gain: in both runs); {least} are needed "
        "to correct the judge",
        "other": "people labelled {count} independent samples here by chance (a gain: in both runs); {least} are "
        "needed to correct the judge",
    },
    "note.labels-elsewhere": (
        "{count} of {labels} labels of people are of other answers than these runs hold, or don't say of which run "
        "they are, so the rest is no random part"
    ),
    "note.labels-not-by-chance": (
        "people's labels are no random part: the judge's mean is {labelled} over what they labelled and {others} over "
        "the rest"
    ),
    "note.labels-turned": (
        "people see the opposite of the judge (correlation {correlation}): is a scale turned round?"
    ),
    "note.too-few-for-value": {
        "one": "{count} label is too few to decide by its value; {least} are needed",
        "other": "{count} labels are too few to decide by their value; {least} are needed",
    },
    "note.judge-by-run": "{baseline} over {before} labels of the baseline, {candidate} over {after} of the candidate",
    "note.no-labels-of-baseline": "nobody has labelled the baseline",
    "note.not-measurable": "it can't be measured here: {reason}",
    "note.too-few-usable": {
        "one": "{count} usable sample, {setting} is {least}",
        "other": "{count} usable samples, {setting} is {least}",
    },
    "note.fewer-questions": (
        "the candidate has {after} questions here and the baseline {before}, fewer by more than "
        "missing.drop_at_most ({share} %): what was not logged may be what went wrong"
    ),
    "note.left-out": "{left_out} of {asked} samples are left out, and were they bad it would not hold",
    "note.denominators-gone": (
        "{had} questions have {field} in the baseline and {have} in the candidate: the others count for nothing here, "
        "and could be those that went wrong"
    ),
    "note.unknown-samples": {
        "one": "{count} sample without a usable value can't be shown to meet the bound",
        "other": "{count} samples without a usable value can't be shown to meet the bound",
    },
    "note.few-groups": {
        "one": "there is {count} independent group only: more groups would settle it, not more samples in it",
        "other": "there are {count} independent groups only: more groups would settle it, not more samples in them",
    },
    "note.identical": "both files hold the same records: nothing changed",
    "note.share-of-zero": "{bound} of a baseline of 0 is 0",
    "note.baseline-near-zero": "a baseline near 0 leaves the relative gain without a bound",
    "note.no-range": "nothing differs and no range is declared",
    "note.largest-for-range": (
        "little or nothing differs and no range is declared: the largest value stands for the range"
    ),
    "note.differences-equal": "all differences are equal",
    "note.draws-equal": "all draws are equal: BCa is the estimate",
    "note.no-bias-correction": "no bias correction: BCa is the percentile",
    "note.limit-near-evaluated": "the limit {limit} lies near an end: the interval was evaluated, not drawn",
    "note.limit-near-end": (
        "the limit {limit} lies within Monte-Carlo error of an end: {draws} draws were made"
    ),
    "note.limit-still-near-end": (
        "the limit {limit} lies within Monte-Carlo error of an end even with {draws} draws"
    ),
    "note.family-takes-more-extreme": (
        "family too large for its size: {draws} draws leave {left} in a tail, a more extreme draw is the bound"
    ),
    "note.family-takes-most-extreme": (
        "family too large for its size: {draws} draws leave {left} in a tail, the most extreme draw is the bound"
    ),
    "note.weighed-by-cluster": "{samples} samples in {clusters} clusters: shares are weighed by cluster",
    "note.upper-end-needs-samples": "the upper end is not estimable: needs {needed} samples, has {samples}",
    "note.lower-end-needs-samples": "the lower end is not estimable: needs {needed} samples, has {samples}",
    "note.quantile-gain-needs": "no end is estimable: the gain of a quantile needs {needed} groups here, has {samples}",
    "note.upper-end-needs-clusters": "the upper end is not estimable: too few clusters",
    "note.lower-end-needs-clusters": "the lower end is not estimable: too few clusters",
    # notices: what a person should know beside the findings
    "notice.waiver-ended": "{waiver} ended on {until}: the rule counts again",
    "notice.waiver-too-short": "{waiver} does not reach: the number is beyond its ceiling {ceiling}",
    "notice.waiver-unknown": (
        "{waiver} does not reach: too little is known to hold even its ceiling {ceiling}"
    ),
    "notice.waiver-not-needed": "{waiver} is not needed",
    "notice.waiver-last-day": "{waiver} ends on {until} (today is its last day; {by})",
    "notice.waiver-ends": {
        "one": "{waiver} ends on {until} ({count} day left; {by})",
        "other": "{waiver} ends on {until} ({count} days left; {by})",
    },
    "notice.waiver": "the waiver of {rule}",
    "notice.waiver-in": "the waiver of {rule} in {slice}",
    "notice.fact-not-said": "{file} does not say its {field}, so it is not known whether it changed",
    "notice.fact-not-said-for": (
        "{file} does not say the {field} of {missing} of {asked} questions ({ids}), so it is not known "
        "whether it changed there"
    ),
    "notice.other-direction": (
        "{metric}: the policy says {policy} is better, the tool that wrote it says {tool}"
    ),
    "notice.not-in-golden-set": {
        "one": "{count} question is not in the golden set {file} and is left out: {ids}",
        "other": "{count} questions are not in the golden set {file} and are left out: {ids}",
    },
    "notice.no-labels": (
        "{file} holds no label that counts, so nothing corrects the judge of {metric}: what it shows as a fail stands, "
        "and nothing else is settled (targeted labels left out: {chosen})"
    ),
    "notice.labels-elsewhere": {
        "one": "{file}: {count} label is of another answer than these runs hold, or doesn't say of which run it is, "
        "and does not count: {ids} (a field run says baseline or candidate)",
        "other": "{file}: {count} labels are of other answers than these runs hold, or don't say of which run they "
        "are, and do not count: {ids} (a field run says baseline or candidate)",
    },
    "notice.labels-untied": {
        "one": "{file}: {count} label that counts names no answer, neither its text nor a digest: if the answer has "
        "changed since, it is the label of another one",
        "other": "{file}: {count} labels that count name no answer, neither its text nor a digest: if the answers have "
        "changed since, they are labels of other ones",
    },
    "notice.calibration": (
        "{file}: people labelled {candidate} answers of the candidate and {baseline} of the baseline by chance, "
        "for {metric} (targeted labels left out: {chosen})"
    ),
    "notice.not-compared": (
        "{missing} of {asked} questions of the slice {slice} ({file}) are not compared, since not all runs have "
        "them: {ids}"
    ),
    "notice.other-attempts": "questions were tried {baseline} in the baseline, {candidate} in the candidate",
    "notice.uneven-attempts": {
        "one": "{file}: {count} of {asked} questions was not tried as often as the others ({usual}): {ids}",
        "other": "{file}: {count} of {asked} questions were not tried as often as the others ({usual}): {ids}",
    },
    "notice.uneven-tries": "{file}: the questions were not tried equally often, some of them {times} times",
    "notice.not-evaluated-again": (
        "both files hold the same records, down to measured times or run ids: the candidate was not evaluated again"
    ),
    "notice.carried-over": {
        "one": "{file}: {count} of {asked} records is the baseline's in every field, measured times or ids of runs "
        "among them, so it was not made again: {ids}",
        "other": "{file}: {count} of {asked} records are the baseline's in every field, measured times or ids of runs "
        "among them, so they were not made again: {ids}",
    },
    "notice.constant": (
        "{metric} is {value} in all {samples} questions of the candidate, where the baseline has {different} different "
        "values: it tells no answers apart any more; look at what gives it"
    ),
    "notice.other-texts": (
        "{field} is another text in {count} of {asked} questions; where it is the question itself, other questions are "
        "compared: samples: {{same_input: [{field}]}} refuses that"
    ),
    "notice.two-spellings": (
        "the label {label} has one value in several spellings, so its questions stand in several slices, each smaller: "
        "{values}; write them alike"
    ),
    "notice.score-and-error": {
        "one": "{file}: {count} record carries both a score and an error; the score is not used",
        "other": "{file}: {count} records carry both a score and an error; the score is not used",
    },
    "missing.not-there": "{paths} is not there",
    "missing.not-at-revision": "{path} is not there at {revision}",
    "missing.no-artifact": "no successful run on {branch} has left an artifact {name}",
    "notice.no-baseline-yet": "no baseline yet: {reason}; only fixed limits were judged",
    "notice.policy-gone": "this change takes the policy {file} away: its gate is judged no more",
    "notice.other-baseline": (
        "the baseline {files} is not as the base branch has it, so what is lost against that one is not seen here"
    ),
    "notice.base-policy-out-of-reach": (
        "the base branch's policy can't be had, so it is not known whether this change loosens it (see the job's log)"
    ),
    "notice.no-base-policy": (
        "the base branch has no {file}, so it is not known whether this change loosens it"
    ),
    "notice.base-policy-unreadable": (
        "the base branch's policy can't be read, so it is not known whether this change loosens it: {reason}"
    ),
    # problems: why there is no verdict, and hints: what to do about it
    "problem.judge-not-calibrated": {
        "one": "the judge is not shown to agree with people: {measure} of {metric} is {value} over {count} label of "
        "the {run}, and {rule} asks for {bound}",
        "other": "the judge is not shown to agree with people: {measure} of {metric} is {value} over {count} labels of "
        "the {run}, and {rule} asks for {bound}",
    },
    "problem.judge-not-measured": {
        "one": "the judge is not shown to agree with people: {measure} of {metric} is {value} over {count} label of "
        "the {run}, and {rule} asks for {bound}; {reason}",
        "other": "the judge is not shown to agree with people: {measure} of {metric} is {value} over {count} labels of "
        "the {run}, and {rule} asks for {bound}; {reason}",
    },
    "hint.judge-not-calibrated": "label more answers by chance (gateline review), or mend the judge",
    "problem.hard-not-shown": "the hard rule {rule} can't be shown to hold: {subject}: {reason}",
    "hint.hard-not-shown": "have them scored again; a hard rule is not decided on trust",
    "problem.no-baseline-yet": "there is no baseline yet: {reason}",
    "hint.no-baseline-yet": (
        "say first-run where that is so: then only fixed limits are judged, and this run can become the baseline"
    ),
    "problem.baseline-gone": "the base branch has the baseline {files}, and this change takes it away",
    "hint.baseline-gone": "bring it back: first-run is for a gate that never had one",
    "problem.no-baseline": "no baseline was given",
    "hint.no-baseline": (
        "give one with --baseline, or say --first-run where there is none yet: then only fixed limits are judged"
    ),
    "problem.bug": "this is a bug in gateline: {error}",
    "hint.bug": "please report it with the command; -vv shows where it happened",
    "problem.rankings-only": "holds rankings and no scores",
    "hint.rankings-only": (
        "name the labels in the policy, samples: {{golden_set: qrels.txt}}, or run gateline score first"
    ),
    "hint.did-you-mean": "did you mean '{name}'?",
    "hint.known": "known: {names}",
    "problem.likewise": "likewise {ids}",
    "problem.and-likewise": "{what}; likewise {ids}",
    "problem.of-slice": "{things} of the slice {slice}",
    "problem.nothing-in-common": "the two runs have no question in common",
    "hint.nothing-in-common": "the baseline has {baseline}, the candidate {candidate}",
    "problem.not-in-candidate": "{missing} of {asked} questions of the baseline are not in the candidate: {ids}",
    "problem.not-in-baseline": "{missing} of {asked} questions of the candidate are not in the baseline: {ids}",
    "hint.ids-alike": (
        "write ids alike in both: '{baseline}' of the baseline and '{candidate}' of the candidate differ only in "
        "blanks, capital letters, zeros of a number, or in how their signs are composed (Unicode NFC and NFD)"
    ),
    "hint.same-golden-set": "run both on the same golden set, or write samples: {{on_mismatch: intersect}}",
    "hint.same-golden-set-or-drop": (
        "run both on the same golden set; to compare the rest alone takes both samples: {{on_mismatch: intersect}} and "
        "missing: {{drop_at_most: {share}%}}"
    ),
    "hint.too-few-in-common": (
        "run both on the same golden set; {both} in common are too few, samples.at_least is {least}"
    ),
    "problem.no-input-field": "samples.same_input: no record has a field '{field}'",
    "problem.another-input": (
        "sample '{id}' has another {field} in the {run}: '{found}', in the baseline '{wanted}'"
    ),
    "hint.same-input": (
        "an id must stand for the same input in both runs; samples: {{same_input: […]}} says what is compared"
    ),
    "problem.repeated": "the id '{id}' stands {times} times, in lines {lines}",
    "problem.repeated-and-others": {
        "one": "{first}; so does {count} other id",
        "other": "{first}; so do {count} other ids",
    },
    "hint.no-attempts": "samples: {{repeats: refuse}} does not allow attempts",
    "hint.number-attempts": (
        "where these are attempts at one question, number them in the field '{field}' or name the field that does: "
        "samples: {{repeat_field: …}}"
    ),
    "problem.uneven-attempts": {
        "one": "{count} of {asked} questions was not tried as often as the others ({usual}): {ids}",
        "other": "{count} of {asked} questions were not tried as often as the others ({usual}): {ids}",
    },
    "problem.chosen-attempts": {
        "one": "{count} of {asked} questions has other attempts than the rest ({usual}): {ids}",
        "other": "{count} of {asked} questions have other attempts than the rest ({usual}): {ids}",
    },
    "problem.uneven-tries": "the {questions} questions were not tried equally often: one of them {times} times",
    "hint.uneven-attempts": (
        "try each question equally often: to repeat only what failed lifts every mean; or, where that is meant, write "
        "samples: {{uneven_attempts: allow}}"
    ),
    "problem.carried-over": {
        "one": "{count} of {asked} records is the baseline's in every field, measured times or ids of runs among them: "
        "{ids}",
        "other": "{count} of {asked} records are the baseline's in every field, measured times or ids of runs among "
        "them: {ids}",
    },
    "hint.carried-over": "evaluate the candidate again, all of it: --require-fresh asks for that",
    "problem.same-run": "holds the baseline's records, and nothing in it says that it is another run",
    "hint.same-run": (
        "evaluate the candidate again, and have each run say what it is of, such as app.commit: --require-fresh asks "
        "for that"
    ),
    "problem.too-few-pairs": {
        "one": "{count} pair is too few for a verdict: samples.at_least is {least}",
        "other": "{count} pairs are too few for a verdict: samples.at_least is {least}",
    },
    "hint.too-few-pairs": (
        "evaluate more questions, or lower samples: {{at_least: …}} knowing that fewer prove less"
    ),
    "problem.twice-in-golden-set": "the id '{id}' stands twice in the golden set, first in line {line}",
    "problem.golden-set-not-answered": (
        "{missing} of {asked} questions of the golden set {file} are not answered: {ids}"
    ),
    "problem.fact-differs": "{field} is '{before}' in the baseline and '{after}' in the candidate",
    "problem.fact-differs-for": "{what}, for {ids}",
    "problem.major-version": "{what}; they must agree in the major version",
    "problem.must-match": "provenance.must_match: {what}",
    "problem.fact-not-said": "provenance.must_match: {file} does not say its {field}",
    "problem.fact-mixed": "provenance.must_match: {field} is not the same for the whole of {file}: {value}",
    "hint.fact-not-said": "have the run written with it, or take it out of must_match",
    "hint.rerun": "rerun one of them, so that both are made alike",
    "hint.rerun-or-let-differ": (
        "rerun one of them, so that both are made alike; or let it differ: provenance: {{may_change: [{field}]}}"
    ),
    "problem.another-metric": (
        "{field} is another metric in the two files: {before} in the baseline, {after} in the candidate"
    ),
    "problem.another-direction": "{field}: {before} is better in the baseline, {after} in the candidate",
    "problem.joined-baseline": ("is a file of the baseline, and its {fields} stands in for the candidate's"),
    "hint.joined-baseline": "name the candidate's own files only; a pattern may match too many",
    "problem.wider-than-the-tool": (
        "the policy's range of {metric} is {policy}, and the tool that wrote it says {tool}"
    ),
    "hint.wider-than-the-tool": (
        "take the tool's: metrics: {{{metric}: {{range: [{low}, {high}]}}}}; tolerances are on that scale"
    ),
    "problem.other-unit": (
        "{metric} can't be in one unit in the two files: the middle is {before} in the baseline and {after} in the "
        "candidate, {factor} times apart for nearly every question"
    ),
    "hint.other-unit": (
        "bring both to one unit, and time no answers from a cache; where it is meant, give the metric a range: "
        "metrics: {{{metric}: {{range: […, …]}}}}"
    ),
    "problem.not-measured": (
        "{metric} is 0 in {zeros} of the {count} questions in which it is above 0 in the baseline (there the middle is "
        "{before}): it was not measured"
    ),
    "hint.price-unknown": (
        "does the table of prices have the model? Leave the cost out where it is not known; where it is meant, write "
        "metrics: {{{metric}: {{free: true}}}}"
    ),
    "hint.not-measured": (
        "measure it, or leave it out where it was not measured; where it is meant, give the metric a range: "
        "metrics: {{{metric}: {{range: [0, …]}}}}"
    ),
    "problem.another-scale": (
        "{field} is on another scale: {before} in the baseline, {after} in the candidate"
    ),
    "hint.one-version": "evaluate both with one version and the same settings of the tool",
    "problem.missing-values": "{metric} is missing for {missing} of {samples} ({share})",
    "problem.by-cause": "{what}: {causes} ({ids})",
    "lost.no-answer": "{count} without an answer",
    "lost.no-score": "{count} without a score",
    "lost.cached": "{count} cached",
    "lost.price-unknown": "{count} of unknown price",
    "lost.undefined": "{count} with a denominator of 0",
    "lost.fewer-attempts": "{count} with too few attempts",
    "lost.part-failed": "{count} of which a part failed and is not in the mean",
    "hint.drop-at-most": "missing.drop_at_most lets {share} % of them be left out",
    "hint.drop-none": "missing.drop_at_most is 0: none may be left out",
    "hint.drop-and-rerun": (
        "{allowed}; rerun the evaluation, or say applies_to where a metric is not defined everywhere"
    ),
    "problem.fewer-questions": (
        "{fewer} fewer questions than the baseline ({share}): {before} in the baseline, {after} in the candidate; what "
        "was not logged may be what went wrong"
    ),
    "hint.fewer-questions": (
        "draw as many questions at random from both logs; or missing: {{drop_at_most: …}}, which lets {share} % be "
        "missing, knowing what that hides"
    ),
    "problem.too-few-questions": {
        "one": "{count} question in a run is too few for a verdict: samples.at_least is {least}",
        "other": "{count} questions in a run are too few for a verdict: samples.at_least is {least}",
    },
    "problem.one-reduced": "is not reduced, and the other run ({other}) is: sums can't be held against single samples",
    "hint.one-reduced": "{commands}, and check {file} in its place; or check the log that {other} was made of",
    "problem.not-reduced": "samples.on_mismatch: independent compares runs of other questions, and only reduced ones",
    "hint.not-reduced": "gateline reduce both logs; or samples: {{on_mismatch: refuse}} for runs of the same questions",
    "problem.unpaired-not-permitted": "was reduced as a run of other questions, which the policy does not permit",
    "hint.unpaired-not-permitted": (
        "samples: {{on_mismatch: independent}} permits it, and asks less; or reduce both logs again under this policy"
    ),
    "notice.independent": (
        "the runs answered other questions, {before} in the baseline and {after} in the candidate: they are taken as "
        "independent, and a question that one run lacks can't be told"
    ),
    "notice.other-numbers": (
        "the numbers of questions differ, and what was not logged is not judged: {places}"
    ),
    "notice.other-number": "{before} → {after} in {place}",
    "notice.all-questions": "the whole run",
    "notice.sums": {
        "one": "judged from sums of {count} group of questions: single questions are not known, so none is named",
        "other": "judged from sums of {count} groups of questions: single questions are not known, so none is named",
    },
    "notice.other-usable": (
        "{metric}: {before} questions of the baseline and {after} of the candidate can be used, and each run is summed "
        "up over its own"
    ),
    "problem.lost": "{missing} of {questions} have no record ({share}): {ids}",
    "hint.lost": (
        "missing.drop_at_most lets {share} % be left out, on_mismatch: intersect or not; where the golden set was "
        "cut, cut the baseline alike"
    ),
    "problem.lost-of-file": "{missing} of {questions} are not compared ({share}): {ids}",
    "hint.lost-of-file": (
        "missing.drop_at_most lets {share} % be left out, evaluate in both runs what {file} names"
    ),
    "problem.refused": "{missing} of {asked} samples have no {metric} ({setting}): {ids}",
    "hint.refused": "missing: {{{setting}: refuse}} allows none",
    "problem.no-field": "no record has a field '{field}'",
    "problem.no-field-of-metric": "no record has a field '{field}' (of the metric {metric})",
    "problem.no-cluster-field": "no record has the field '{field}' that samples.cluster names",
    "problem.outside-range": "{metric} of sample '{id}' is {value}, outside its range [{low}, {high}]",
    "hint.outside-range": "mend the file, or the range: metrics: {{{metric}: {{range: …}}}}",
    "problem.below-zero": "{metric} of sample '{id}' is {value}, below 0",
    "hint.below-zero": (
        "write null where nothing was measured; where it is meant, give the metric a range: "
        "metrics: {{{metric}: {{range: […, …]}}}}"
    ),
    "problem.negative-denominator": "{field}, the denominator of {metric}, is {value} for sample '{id}'",
    "hint.negative-denominator": "a denominator is a count and must not be negative",
    "problem.share-and-percent": (
        "{metric} is on another scale in the two files: up to {before} in the baseline, up to {after} in the candidate"
    ),
    "hint.share-and-percent": (
        "bring both to one scale, and say which: metrics: {{{metric}: {{range: [0, 1]}}}}"
    ),
    "problem.relabelled": "sample '{id}' is {candidate} in the candidate and {baseline} in the baseline",
    "problem.another-label": "another label {label} in the candidate for {differing} of {asked} questions",
    "hint.another-label": (
        "a label that the policy slices by must not change between the runs; keep such labels in the golden set"
    ),
    "problem.relabelled-in-runs": "sample '{id}' is {golden} in the golden set and {runs} in the runs",
    "problem.another-label-in-runs": {
        "one": "another label {label} in the golden set than in the runs for {count} question",
        "other": "another label {label} in the golden set than in the runs for {count} questions",
    },
    "hint.another-label-in-runs": (
        "a label that the policy slices by must not change; correct it where it is wrong, or run both anew"
    ),
    "problem.attempts-labelled": "attempts at '{id}' have different labels: {first} and {second}",
    "problem.no-label": "no sample of either run has a label '{label}'",
    "problem.no-label-value": "no sample of either run has {label}={value}",
    "problem.slice-not-compared": "none of the {count} questions of the slice {slice} ({file}) is compared: {ids}",
    "hint.slice-not-compared": "evaluate them in both runs; is it the right file?",
    "problem.nothing-judged": "no rule could be judged, so nothing was decided",
    "hint.give-baseline-or-limit": "give a baseline, or add a rule of kind limit",
    "hint.see-findings": "see the findings",
    # the verdict in words
    "headline.first-run": "There is no baseline yet, so only fixed limits were judged.",
    "headline.not-evaluated-again": (
        "The candidate was not evaluated again: it holds the baseline's records, down to measured times or run ids."
    ),
    "headline.carried-over": {
        "one": "{count} of {asked} questions was not answered again: its record is the baseline's, down to "
        "measured times or run ids.",
        "other": "{count} of {asked} questions were not answered again: their records are the baseline's, down to "
        "measured times or run ids.",
    },
    "headline.identical": "Baseline and candidate hold the same records, so nothing was compared.",
    "headline.base-blocks": "Passes under the changed policy; the base branch's policy would block: {reason}",
    "headline.base-undecided": (
        "Passes under the changed policy; the base branch's policy would give no verdict: {reason}"
    ),
    "headline.base-passes": "This change loosens its policy; the base branch's policy lets it through as well.",
    "headline.other-baseline": (
        "The baseline is not as the base branch has it, so what is lost against that one is not seen here."
    ),
    "headline.loosened": "This change loosens its policy.",
    "headline.warning": "Nothing blocks, but look at this: {finding}",
    "headline.more-block": {"one": "{count} more check blocks.", "other": "{count} more checks block."},
    "headline.more-need-a-look": {
        "one": "{count} more check needs a look.",
        "other": "{count} more checks need a look.",
    },
    "headline.more-doubts": {
        "one": "{count} more notice says why the data may be faulty.",
        "other": "{count} more notices say why the data may be faulty.",
    },
    "headline.unjudged-fall": "Too few to judge, but worse: {moved}.",
    "headline.open-fall": "Not settled and let through by its rule, but worse: {moved}.",
    "headline.worse-slice": "{slice} lost most: {values} in {pairs}.",
    "headline.gate-said-no": "The gate said no.",
    "headline.nothing-judged": "no check could be judged",
    "headline.undecided": "Nothing was decided: {reason}.",
    "headline.undecided-in": "Nothing was decided: {reason} ({place}).",
    "headline.problems": "Nothing was decided, because of {count} problems.",
    "passed.both": "Both checks pass",
    "passed.all": {"one": "All {count} check pass", "other": "All {count} checks pass"},
    "passed.some": {"one": "{count} check passed", "other": "{count} checks passed"},
    "passed.open": "{count} can't be settled and may pass by the policy",
    "passed.skipped": "{count} not judged",
    "passed.on-questions": "{parts} on {questions}",
    "counts.none": "No check was made",
    "counts.part": "{number} {status}",
    "counts.need-a-look": {
        "one": "{parts}; {count} needs a look",
        "other": "{parts}; {count} need a look",
    },
    "counts.of-which-block": {"one": "{part} ({count} blocks)", "other": "{part} ({count} block)"},
    "loosens": "This change loosens the policy that judges it.",
    "to-unblock": "To unblock:",
    "where-to-look": "Where to look",
    "unblock.mend": "mend {ids}",
    "unblock.score": "have the samples of {subject} scored again that have no usable value",
    "unblock.give-samples": "give {subject} samples",
    "unblock.make-measurable": "make {subject} measurable",
    "unblock.show": "settle {subject} with about {about} samples (now {now})",
    "unblock.settle": "give {subject} more samples",
    "unblock.leave-out-less": "leave out less of {subject}",
    "unblock.out-of-reach": "improve {subject}, as no realistic number of samples would settle it",
    "unblock.at-least": "bring {subject} to at least {bound} (now {now})",
    "unblock.at-most": "bring {subject} to at most {bound} (now {now})",
    "unblock.lose": "lose at most {bound} in {subject} (now {now})",
    "unblock.lose-nothing": "lose nothing in {subject} (now {now})",
    "unblock.gain": "gain at least {bound} in {subject} (now {now})",
    "unblock.gain-any": "gain something in {subject} (now {now})",
    "unblock.hard": "{rule} is a hard rule and can't be waived",
    "unblock.waive": "or, if it is meant, record a waiver for {rule} in {file} (rule on line {line})",
    "unblock.others": {
        "one": "{count} more check has to be settled as well.",
        "other": "{count} more checks have to be settled as well.",
    },
    # what the verdict rests on
    "compared.both": "{questions} in both runs",
    "compared.independent": "{before} questions in the baseline, {after} others in the candidate",
    "compared.alone": "{questions} of the candidate, without a baseline",
    "compared.identical": "both files hold the same records",
    "provenance.must_match": "must match",
    "provenance.may_change": "may change",
    "provenance.unlisted": "in neither list of the policy",
    "provenance.same": "same",
    "changed.field": "{field}: {before} → {after} ({rule})",
    "baseline.commit": "commit {commit}",
    "baseline.branch": "on {branch}",
    "baseline.same-day": "of the same day",
    "baseline.age": {"one": "{count} day old", "other": "{count} days old"},
    "policy.unchanged": "Policy unchanged.",
    "policy.loosened": "This change loosens the policy ({changes}).",
    "policy.changed": "Policy changed ({changes}), nothing loosened.",
    "policy.under-base": "Under the base branch's policy: {outcome}.",
    "change.new": "new, {now}",
    "change.removed": "removed, was {before}",
    "change.loosens": "{change} (loosens)",
    "method": (
        "Intervals: {level} two-sided, {name} bootstrap, {draws}, seed {seed}, "
        "widened where a rule looks at several slices."
    ),
    "method.bayesian": "bayesian",
    "method.percentile": "percentile",
    "method.bca": "bca",
    "left-out.only-in-baseline": "{questions} only in the baseline",
    "left-out.only-in-candidate": "{questions} only in the candidate",
    "left-out.had-passed": "{count} of them had passed",
    "left-out.by-slice": "by slice {slices}",
    "left-out.values": "{metrics}: {cause} for {count} of {of} in the {run}, {counted}: {ids}",
    "left-out.not-named": "not named",
    "cause.no_answer": "no answer",
    "cause.no_score": "no score",
    "cause.cached": "cached, so no time and no cost",
    "cause.price_unknown": "price unknown",
    "counted.worst": "counted as the worst",
    "counted.left-out": "left out",
    "facts.too-small": "Too few to judge by {setting}: {slices}",
    "facts.lacking": "The candidate lacks {questions} of the baseline",
    "facts.never-fails": "The exit code is 0 because {option} is {value}.",
    # layers, and where to look
    "layer.retrieval": "Retrieval",
    "layer.context": "Context",
    "layer.generation": "Generation",
    "layer.citation": "Citation and refusal",
    "layer.system": "System",
    "layer.other": "Other metrics",
    "layer-question.retrieval": "Are the right documents found and ranked well?",
    "layer-question.context": "Does what is handed to the model hold what the answer needs?",
    "layer-question.generation": "Is the answer right, and does it rest on what was found?",
    "layer-question.citation": "Are sources named rightly, and only the right questions declined?",
    "layer-question.system": "Time, tokens and money.",
    "layer-question.other": "No layer is known for these; a metric can say its own with {key}.",
    "layers.unseen": "No rule looks at {layers}.",
    "pointer.retrieval": (
        "Less of what is needed is found, while answers stay as faithful to what they are given: look at retrieval "
        "(index, embedding, query, filters)."
    ),
    "pointer.context": (
        "Retrieval holds, but less of it reaches the model: look at how the context is built, cut or compressed."
    ),
    "pointer.generation": (
        "Retrieval holds, but the answers got worse: look at generation (model, prompt, temperature)."
    ),
    "pointer.ranking": (
        "The right documents are still found, but stand lower among others: look at ranking and reranking."
    ),
    "pointer.less-said": (
        "Answers rest more on their sources but cover less of the question: they say less."
    ),
    "pointer.over-refusal": "More questions that could be answered are declined: look for over-refusal.",
    "pointer.within": "In {slice}.",
    "pointer.evidence": "It rests on {checks}.",
    "pointer.check": "{rule}: {subject} {values} ({found}, interval {interval})",
    "pointer.check-in-list": "{rule}: {subject} {values}, {found}",
    # tables and drawings
    "column.baseline": "baseline",
    "column.candidate": "candidate",
    "column.change": "change",
    "column.check": "check",
    "column.could-show": "could show",
    "column.counted": "worse / better of",
    "column.fact": "fact",
    "column.found": "found",
    "column.found-interval": "found [interval]",
    "column.from-to": "from → to",
    "column.interval": "interval",
    "column.metric": "metric",
    "column.needed": "needed",
    "column.policy": "policy",
    "column.question": "question",
    "column.share": "share",
    "column.slice": "slice",
    "column.text": "text",
    "cell.moved-of": "{moved} of {samples}",
    "cell.in-groups": "{number} in {groups}",
    "cell.labelled": {"one": "{number}, {count} label", "other": "{number}, {count} labels"},
    "title.all-checks": {"one": "The check", "other": "All {count} checks"},
    "title.provenance": "How the runs were made",
    "title.provenance-counted": "How the runs were made ({differences})",
    "title.worse-slices": "Slices that got worse: {count}",
    "title.worst-samples": {
        "one": "The sample that got worse most",
        "other": "The {count} samples that got worse most",
    },
    "title.worst-samples-of": {
        "one": "The sample that got worse most, of {of}",
        "other": "The {count} samples that got worse most, of {of}",
    },
    "title.worse-samples": {
        "one": "The sample that got worse",
        "other": "All {count} samples that got worse",
    },
    "bars.all-samples": "all samples",
    "spread.says": "{metric}, differences of {pairs}: {worse} worse, {same} the same, {better} better",
    "spread.worse": "{number} worse",
    "spread.same": "{number} the same",
    "spread.better": "{number} better",
    "spread.bar": "{pairs}: {span}",
    "spread.last-bar": "{pairs}: {span} and beyond",
    "curve.says": "{field}: share of answers within a time, baseline and candidate",
    "curve.says-alone": "{field}: share of answers within a time, candidate",
    "curve.in-unit": "{field} in {unit}",
    # the report of a terminal
    "text.no-verdict": "gateline: no verdict: {problems}",
    "text.not-judged": "not judged",
    "text.blocks": "blocks",
    "text.needs-a-look": "needs a look",
    "text.other-checks": "other checks",
    "text.counted-title": "{title} ({number})",
    "text.rest-elsewhere": "and {count} more, see -v",
    "text.rest-in-file": "and {count} more, see -v or verdict.json",
    "text.said-above": "said above",
    "text.loosened": "This change loosens the policy",
    "text.note": "note: ",
    "text.left-out": "missing: ",
    "text.changed": "changed: ",
    "text.again": "Again: {command}",
    "text.to-unblock": "To unblock: {step}",
    "text.to-verdict": "To get a verdict: {step}",
    "text.all-checks": "All checks: -v.",
    "text.all-checks-in-file": "All checks: -v, or verdict.json.",
    "text.found-needed": "{rule}: {subject}: {found} (needed: {needed})",
    "text.found-interval-needed": "{rule}: {subject}: {found}, interval {interval} (needed: {needed})",
    "text.too-narrow": "(drawn from {columns} columns on)",
    # the comment
    "whole.summary": "{summary} and {file}",
    "whole.files": "{file} and the other files that this job keeps",
    "run.commit": "For commit {commit}.",
    "run.of-repository": "This verdict was made in another run of this repository, for commit {commit}.",
    "run.of-fork": (
        "{stress} ({whose}, commit {commit}): the fork's own code wrote the results, the policy and this verdict."
    ),
    "run.of-fork-stress": "This verdict was made in the fork's run",
    "run.a-fork": "a fork",
    "run.unknown-commit": "unknown",
    "whole.the-summary": "the job summary",
    "markdown.too-long": "The report is too long.",
    "markdown.all-checks": "All checks: {whole}.",
    "markdown.legend": (
        "Each row is scaled by its own bound {bound} (a limit stands on the axis) · {span} value and interval · "
        "{arrows} beyond the drawing"
    ),
    "markdown.made-by": "gateline {version}, on {day}",
    "markdown.rows-left-out": "{missing} of {things} left out: see {whole}.",
    "markdown.everything-left-out": "Left out because it is too long: see {whole}.",
    "markdown.folded-facts": "What was compared, and how to run it again",
    "annotation.loosened": "the policy is loosened",
    "annotation.more": "And {count} more.",
    # the page
    "html.nav": "Parts of the report",
    "html.nav-glance": "At a glance",
    "html.nav-slices": "Slices",
    "html.nav-samples": "Samples",
    "html.nav-next": "Next step",
    "html.glance": "All checks at a glance",
    "html.glance-note": (
        "Each row is scaled by its own bound (dashed; a limit stands on the axis). The shaded side is what the rule "
        "allows. Dot and line: value and interval."
    ),
    "html.glance-caption": "Value, interval and bound of every check, by rule and slice",
    "html.axis-worse": "◄ worse",
    "html.axis-better": "better ►",
    "html.outcome": "outcome",
    "html.compared": "What was compared",
    "html.provenance-same": "the same",
    "html.no-pointer": "No movement that is shown points at one layer.",
    "html.diagnosis-note": (
        "A pointer rests on the checks under it and on nothing else: intervals that lie wholly on one side of zero, "
        "and checks that hold."
    ),
    "html.spreads": "How far single questions moved",
    "html.curves": "How long answers take",
    "html.curve-note": ": share of answers within a time",
    "html.no-rule": "No rule looks at this layer.",
    "html.slices": "Slices that got worse",
    "html.worse-slices-caption": "Slices that are shown to have got worse",
    "html.no-slice": "No slice is shown to have got worse.",
    "html.worst": "Worst samples",
    "html.worst-note": "From checks that are not plainly fine, worst first.",
    "html.no-worst": "No check is in doubt, or nothing got worse in those that are.",
    "html.changed": "Samples that changed most",
    "html.changed-caption": "Of each metric up to five samples on each side, over the whole run",
    "html.next": "Verdict and next step",
    "to-verdict": "To get a verdict:",
    "html.left-out": "Left out, or counted as the worst",
    "html.method": "Method",
    "html.again": "Run it again",
    "html.made-by": "gateline {version}, judged on {day}",
}
