"""The kinds of faults that were met in public, each fault of them, and the tests that state it in general.

The names are those of the cases (their `expect.md` says the kind). A case is one file in which it went wrong; a test
here holds for any file: by a property, over many inputs, or over all places where it can stand.
"""

from __future__ import annotations

KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "comparability": {
        "025-two-versions-of-the-test-set": (
            "faults/test_comparability.py::test_two_versions_of_a_test_set_give_no_verdict_and_every_question_that_differs_is_named",
        ),
        "026-the-judge-was-swapped": (
            "faults/test_comparability.py::test_scores_of_another_judge_are_not_compared_however_few_there_are",
            "faults/test_comparability.py::test_a_swapped_judge_that_the_policy_does_not_ask_for_is_told_by_both_names",
            "formats/test_not_comparable.py::test_another_value_of_a_fact_ends_in_no_verdict",
        ),
        "027-same-rows-other-order": (
            "properties/test_invariance.py::test_the_order_of_rows_changes_no_byte_but_the_digests",
            "unit/test_pairing_join.py::test_the_order_of_records_plays_no_part",
        ),
        "029-benchmark-tool-changed-between-runs": (
            "formats/test_mteb.py::test_another_major_version_is_not_compared",
            "unit/test_pairing_agreement.py::test_a_major_version",
        ),
    },
    "degenerate-statistics": {
        "006-constant-drop-nan-interval": (
            "faults/test_degenerate_statistics.py::test_a_change_that_all_share_never_passes_a_bound_that_it_breaks",
        ),
        "008-one-sample-slice-proves-nothing": (
            "faults/test_degenerate_statistics.py::test_one_sample_settles_nothing_by_interval",
        ),
        "009-three-lucky-samples": (
            "faults/test_degenerate_statistics.py::test_up_to_five_lucky_samples_are_no_improvement",
        ),
        "010-pairing-lost-in-resampling": (
            "faults/test_degenerate_statistics.py::test_how_hard_each_question_is_plays_no_part",
        ),
    },
    "dependent-samples": {
        "012-questions-from-the-same-document": (
            "faults/test_dependent_samples.py::test_more_questions_of_the_same_documents_prove_nothing_more",
            "faults/test_dependent_samples.py::test_questions_taken_as_independent_would_seem_to_prove_more",
        ),
    },
    "determinism-and-noise": {
        "068-verdict-that-depends-on-the-seed": (
            "statistics/test_quantile_gains.py::test_no_seed_turns_a_verdict_near_a_limit_and_the_interval_says_that_it_was_near",
            "faults/test_determinism_and_noise.py::test_the_same_files_give_the_same_finding_each_time_in_any_order",
        ),
        "070-the-judge-changes-its-mind": (
            "faults/test_determinism_and_noise.py::test_a_judge_that_is_asked_again_makes_no_sample_larger",
        ),
    },
    "docker-action": {
        "087-files-owned-by-root": (
            "unit/test_cli_output.py::test_files_and_folders_are_readable_by_all_whatever_the_umask",
            "container/test_image.py::test_a_workspace_that_can_not_be_written",
        ),
    },
    "exit-status": {
        "089-verdict-lost-in-a-pipe": (
            "unit/test_cli_process.py::test_a_reader_that_stops_early_changes_no_exit_code_and_is_no_trouble",
            "unit/test_cli_process.py::test_closed_streams_change_nothing",
        ),
        "094-number-shown-is-not-the-number-judged": (
            "properties/test_order.py::test_a_finding_follows_from_its_own_numbers",
            "unit/reports/test_real_runs.py::test_all_reports_show_the_same_numbers",
            "unit/test_cli_checking.py::test_exit_code_word_and_file_agree",
        ),
    },
    "github-comments": {
        "080-read-only-token-on-a-fork": (
            "hosts/test_ci_job.py::test_no_trouble_with_the_host_changes_the_exit_code",
            "hosts/test_ci_job.py::test_whatever_github_answers_the_exit_code_stays_and_the_token_is_told_nowhere",
        ),
        "082-sticky-comment-on-the-second-page": (
            "hosts/test_sticky.py::test_it_is_found_on_any_page",
            "hosts/test_sticky.py::test_nothing_is_written_where_a_page_cannot_be_read",
        ),
        "084-enterprise-server": (
            "hosts/test_http.py::test_the_path_of_the_address_stays_with_or_without_a_last_slash",
            "hosts/test_http.py::test_pages_are_followed_to_the_end_on_this_host_only",
            "hosts/test_github.py::test_links_lead_to_the_server_of_the_job",
        ),
        "086-matrix-legs-overwrite-each-other": (
            "unit/reports/test_markdown.py::test_no_two_names_have_one_marker",
            "hosts/test_sticky.py::test_in_whatever_order_runs_end_the_newest_has_the_last_word",
        ),
    },
    "gitlab-integration": {
        "091-job-token-cannot-write-notes": (
            "hosts/test_gitlab.py::test_a_token_that_is_not_there_is_told_with_what_is_needed_and_nobody_is_asked",
        ),
        "093-old-note-belongs-to-another-bot": (
            "hosts/test_gitlab.py::test_it_is_found_on_every_page_though_the_server_gives_twenty_at_a_time",
            "hosts/test_sticky.py::test_a_comment_that_may_not_be_changed_leads_to_one_new_one",
        ),
    },
    "ir-run-files": {
        "030-query-with-no-results-left-out": (
            "faults/test_ir_run_files.py::test_queries_without_results_count_0_whichever_they_are",
        ),
        "033-same-document-twice-in-a-run": (
            "faults/test_ir_run_files.py::test_a_document_that_stands_twice_is_refused_wherever_it_stands",
        ),
    },
    "json-input": {
        "034-bare-nan-and-infinity": (
            "faults/test_json_input.py::test_a_bare_nan_is_missing_and_what_is_infinite_is_refused_by_its_line",
        ),
        "037-ids-beyond-2-to-the-53": (
            "faults/test_json_input.py::test_ids_keep_every_digit_as_numbers_and_as_texts",
        ),
        "038-last-line-cut-off": (
            "faults/test_json_input.py::test_wherever_a_file_is_cut_off_no_record_is_lost_in_silence",
        ),
        "039-line-separators-inside-strings": (
            "faults/test_json_input.py::test_only_a_line_feed_ends_a_record_whatever_stands_in_its_texts",
        ),
        "041-two-objects-on-one-line": (
            "faults/test_json_input.py::test_two_records_on_one_line_are_refused_by_that_line",
        ),
    },
    "latency-cost": {
        "064-cache-hits-look-fast": (
            "faults/test_latency_cost.py::test_answers_from_a_cache_count_for_neither_time_nor_cost",
        ),
        "067-unpriced-model-costs-nothing": (
            "faults/test_latency_cost.py::test_a_price_that_is_not_known_makes_no_run_cheaper",
        ),
    },
    "missing-scores": {
        "001-lost-rows-lift-the-mean": (
            "faults/test_missing_scores.py::test_both_runs_are_averaged_over_the_questions_that_both_have_scored",
            "properties/test_removal.py::test_where_nothing_may_be_left_out_no_rule_is_passed_by_loss",
        ),
        "003-outage-turns-into-a-pass": (
            "faults/test_missing_scores.py::test_a_number_beside_an_error_changes_nothing",
        ),
        "004-mean-over-the-one-survivor": (
            "faults/test_missing_scores.py::test_whoever_survives_an_outage_does_not_speak_for_all",
        ),
    },
    "multiple-comparisons": {
        "014-one-of-twenty-four-slices": (
            "faults/test_multiple_comparisons.py::test_a_slice_more_never_makes_another_one_fail",
            "faults/test_multiple_comparisons.py::test_noise_in_many_slices_blocks_no_more_often_than_in_one",
        ),
    },
    "policy-yaml": {
        "052-1e-3-is-a-string": (
            "faults/test_policy_yaml.py::test_a_number_in_exponent_form_is_that_number_or_refused_by_its_line",
        ),
        "054-norway-and-on": (
            "faults/test_policy_yaml.py::test_a_label_that_yaml_would_turn_into_something_else_selects_its_samples_or_is_refused",
        ),
        "056-misspelt-rule": (
            "faults/test_policy_yaml.py::test_a_misspelt_key_is_refused_by_its_line_wherever_it_stands",
        ),
        "057-zero-is-a-limit": (
            "faults/test_policy_yaml.py::test_a_bound_of_0_is_a_bound_however_it_is_written",
        ),
    },
    "report-size": {
        "073-comment-of-70000-characters": (
            "unit/reports/test_markdown.py::test_fits_its_limit_cut_at_rows_with_the_worst_first",
        ),
        "075-merge-request-note-over-a-million": (
            "unit/reports/test_markdown.py::test_fits_its_limit_cut_at_rows_with_the_worst_first",
        ),
    },
    "resource-limits": {
        "071-two-hundred-thousand-samples": (
            "unit/test_comparison_memory.py::test_a_verdict_is_the_same_however_few_pairs_are_kept",
            "fuzz/test_hostile_files.py::test_a_hostile_file_is_refused_with_a_reason_within_bounds",
        ),
    },
    "slice-handling": {
        "016-overall-up-high-risk-down": (
            "faults/test_slice_handling.py::test_a_slice_that_falls_blocks_however_much_the_rest_rises",
        ),
        "018-rows-without-a-slice-label": (
            "faults/test_slice_handling.py::test_slices_add_up_to_the_whole_with_those_that_have_no_label",
        ),
    },
    "table-input": {
        "043-csv-with-a-byte-order-mark": (
            "unit/readers/test_table.py::test_dialects",
            "formats/test_section_zero.py::test_a_mark_long_cells_line_feeds_and_windows_ends_change_nothing",
        ),
        "045-ids-with-leading-zeros": (
            "faults/test_table_input.py::test_ids_that_look_like_numbers_join_letter_for_letter",
        ),
        "047-comma-as-decimal-and-as-thousands": (
            "faults/test_table_input.py::test_a_comma_in_a_number_is_refused_and_never_dropped_or_read_as_a_point",
        ),
        "048-scores-that-are-not-numbers": (
            "faults/test_table_input.py::test_a_score_that_is_no_number_is_refused_by_its_id_and_never_read_as_one",
        ),
        "049-cell-of-150-kilobytes": (
            "formats/test_section_zero.py::test_a_mark_long_cells_line_feeds_and_windows_ends_change_nothing",
        ),
        "051-parquet-column-of-nulls": (
            "faults/test_table_input.py::test_a_column_of_nulls_of_any_type_is_missing_by_name_and_no_zero",
        ),
    },
    "threshold-semantics": {
        "058-five-percent-of-what": (
            "faults/test_threshold_semantics.py::test_a_number_is_points_and_a_percentage_is_of_the_baseline",
        ),
        "061-relative-change-from-zero": (
            "faults/test_threshold_semantics.py::test_no_rise_from_0_is_within_a_percentage_of_it",
        ),
        "063-scores-outside-their-range": (
            "faults/test_threshold_semantics.py::test_a_value_outside_of_its_range_is_refused_by_its_id_and_rounding_is_not",
        ),
        "095-one-limit-for-everything": (
            "faults/test_threshold_semantics.py::test_each_rule_holds_its_own_slice_to_its_own_bound",
        ),
    },
    "untrusted-text": {
        "076-slice-name-writes-step-outputs": (
            "faults/test_untrusted_outputs.py::test_no_value_sets_another_output_or_itself_twice",
        ),
        "078-slice-name-forges-the-comment": (
            "unit/reports/test_markdown.py::test_no_text_from_a_file_changes_the_page",
            "hosts/test_hostile_comment.py::test_the_page_is_the_same_as_with_harmless_texts",
            "properties/test_hostile.py::test_any_text_in_any_field_leaves_every_file_well_formed",
        ),
    },
    "vacuous-pass": {
        "021-empty-candidate": (
            "faults/test_vacuous_pass.py::test_a_file_without_a_sample_is_no_verdict_on_whichever_side",
        ),
        "023-nan-threshold-disarms-the-gate": (
            "faults/test_vacuous_pass.py::test_a_number_that_is_none_is_refused_wherever_a_policy_may_hold_one",
        ),
        "024-no-baseline-yet": (
            "faults/test_vacuous_pass.py::test_a_baseline_that_cannot_be_read_is_no_verdict_and_named",
        ),
    },
}
"""Kind -> fault -> the tests that state it, from the folder of the tests."""
