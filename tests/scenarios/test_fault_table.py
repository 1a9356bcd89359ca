"""Every fault and kill point of the corpus is shown by a test, or left out for what is not built.

A test is named as ``module::test``, the module from the folder of the tests on. What a line waits for
is a tool or a module that does not exist: once it does, the line must be shown.
"""

import ast
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
KILL = "scenarios/test_kill_points.py"
KILL_STORE = "scenarios/test_kill_store.py"
FAULT = "scenarios/test_faults.py"
EVENTS = "api/test_events.py"
BUSY = "api/test_busy.py"
SERVER_FAULT = "scenarios/test_server_faults.py"
TURN = f"{KILL}::test_a_turn_goes_on_after_its_process_died"
STREAM = f"{KILL}::test_a_reply_that_was_cut_by_our_death_leaves_no_call"
TIDY = f"{KILL}::test_no_half_written_file_is_left_once_the_work_is_done_again"
COMPACTION = f"{KILL}::test_a_compaction_is_there_as_a_whole_or_not_at_all"
PASSES = f"{SERVER_FAULT}::test_what_may_pass_ends_in_an_answer"
STAYS = f"{SERVER_FAULT}::test_what_does_not_pass_is_no_answer_and_the_next_turn_goes_on"

SHOWN: dict[str, tuple[str, ...]] = {
    "kill-00": (TURN, "scenarios/test_kill.py::test_nothing_acknowledged_is_lost_and_the_session_goes_on"),
    "kill-01": (TURN,),
    "kill-02": (STREAM,),
    "kill-03": (STREAM,),
    "kill-04": (STREAM,),
    "kill-06": (TURN,),
    "kill-07": (TURN, f"{KILL}::test_a_child_outside_the_sandbox_ends_with_us"),
    "kill-11": (TURN, TIDY),
    "kill-13": (TURN, TIDY),
    "kill-16": (f"{KILL}::test_papers_are_added_once_though_their_parser_was_orphaned",),
    "kill-17": (f"{KILL}::test_of_two_calls_at_once_the_one_that_was_done_stays_done", TIDY),
    "kill-18": (f"{KILL}::test_a_sibling_that_was_being_stopped_has_its_one_result",),
    "kill-19": (TURN,),
    "kill-23": (TURN,),
    "kill-24": (COMPACTION,),
    "kill-25": (COMPACTION,),
    "kill-27": (COMPACTION,),
    "kill-29": (TURN, "scenarios/test_resume.py::test_killed_anywhere_it_goes_on_and_nothing_is_done_twice"),
    "kill-35": (
        f"{KILL_STORE}::test_an_upgrade_is_finished_at_the_next_start",
        f"{KILL_STORE}::test_an_upgrade_is_finished_by_a_start_in_the_same_second",
    ),
    "kill-36": (
        f"{KILL_STORE}::test_a_checkpoint_that_was_cut_in_the_middle_of_a_page_loses_nothing",
        "store/test_database.py::test_a_power_cut_loses_no_durable_write",
    ),
    "kill-38": (
        f"{KILL_STORE}::test_a_deletion_that_was_cut_off_is_finished_at_the_next_start",
        f"{KILL_STORE}::test_no_output_is_kept_of_a_session_whose_deletion_was_cut_off",
        "store/test_processes.py::test_a_deletion_that_was_killed_is_finished_at_the_next_start",
    ),
    "kill-39": (STREAM,),
    "fault-00": (
        f"{FAULT}::test_a_signal_ends_a_command_that_runs_and_marks_it",
        "cli/test_ask.py::test_an_interrupted_turn_is_cancelled_and_its_record_is_whole",
    ),
    "fault-06": (
        f"{BUSY}::test_200_readers_of_a_server_with_64_files_are_answered_and_it_recovers",
        "walls/test_listening.py::test_without_open_files_new_clients_are_told_and_the_others_go_on",
    ),
    "fault-07": (f"{FAULT}::test_a_read_only_disk_is_told_at_the_start",),
    "fault-08": (
        f"{FAULT}::test_a_turn_waits_while_another_process_holds_the_database",
        "store/test_database.py::test_a_lock_that_stays_is_told",
    ),
    "fault-11": (
        f"{FAULT}::test_a_database_that_is_deleted_in_a_turn_ends_it_and_is_not_made_anew",
        "store/test_database.py::test_a_file_deleted_while_in_use_is_noticed",
    ),
    "fault-12": (
        "store/test_migrate.py::test_a_damaged_page_is_met_at_the_start_and_nothing_is_written",
        "store/test_migrate.py::test_a_damaged_file_names_the_last_backup",
        "cli/test_home.py::test_a_broken_database_is_told_and_never_overwritten",
    ),
    "fault-13": ("store/test_migrate.py::test_a_newer_schema_is_refused_untouched",),
    "fault-15": (f"{FAULT}::test_an_older_image_of_the_disk_is_no_crash_and_both_sides_are_told",),
    "fault-16": (f"{SERVER_FAULT}::test_a_server_that_asks_to_wait_is_waited_for_and_the_user_sees_it",),
    "fault-17": (
        f"{SERVER_FAULT}::test_a_server_that_stays_busy_is_given_up_with_the_number_of_tries",
        "agent/test_fallback.py::test_after_three_overloads_the_turn_goes_on_with_the_second_model",
    ),
    "fault-18": (PASSES,),
    "fault-19": ("agent/test_compaction.py::test_a_refused_request_is_compressed_once_and_sent_again",),
    "fault-21": (f"{SERVER_FAULT}::test_nobody_listening_is_told_within_ten_seconds",),
    "fault-23": (STAYS, "llm/test_openai.py::test_what_came_before_a_silence_stays_with_the_error"),
    "fault-24": (STAYS, PASSES, "llm/test_streams.py::test_no_cut_leaves_a_call_to_run_that_was_not_finished"),
    "fault-25": (PASSES, "llm/test_sse.py::test_bytes_that_are_no_utf8_are_replaced_not_fatal"),
    "fault-26": (STAYS, "llm/test_sse.py::test_a_line_or_event_without_end_is_bounded"),
    "fault-27": (PASSES,),
    "fault-29": ("llm/test_openai.py::test_keep_alives_do_not_save_a_server_that_never_ends",),
    "fault-30": (STAYS,),
    "fault-31": (STAYS, PASSES),
    "fault-37": (
        f"{FAULT}::test_no_clock_makes_a_changed_file_look_unchanged",
        f"{FAULT}::test_a_clock_that_jumps_back_breaks_no_session",
    ),
    "fault-38": (f"{FAULT}::test_times_are_stored_in_utc_whatever_the_zone",),
    "fault-40": (f"{FAULT}::test_binary_output_of_a_command_is_escaped",),
    "fault-41": (
        f"{FAULT}::test_100_mb_without_a_line_break_are_bounded",
        "tools/test_shell.py::test_200_mb_of_output_keep_memory_flat_and_say_what_was_cut",
    ),
    "fault-44": (
        "walls/test_sandbox.py::test_processes_are_limited",
        "walls/test_sandbox.py::test_where_root_has_no_control_group_we_count",
        f"{BUSY}::test_the_server_answers_while_a_command_is_a_fork_bomb",
    ),
    "fault-45": (f"{FAULT}::test_a_command_that_takes_all_memory_is_ended_and_says_so",),
    "fault-10": ("api/test_process.py::test_a_second_serve_of_the_home_is_refused_with_the_pid",),
    "fault-46": (f"{EVENTS}::test_a_slow_reader_is_dropped_and_gets_the_rest_when_it_comes_back",),
    "fault-47": (f"{EVENTS}::test_the_union_is_exact_whoever_leaves_and_comes_back",),
    "fault-48": (f"{EVENTS}::test_a_reader_goes_on_with_the_next_server",),
    "fault-49": (f"{EVENTS}::test_replay_begins_after_the_asked_place",),
    "fault-50": (f"{EVENTS}::test_a_place_that_is_gone_is_told_and_everything_sent_again",),
    "fault-52": (f"{EVENTS}::test_a_thousand_readers_at_once_are_all_let_in",),
    "fault-53": (f"{EVENTS}::test_silence_is_filled_with_comments",),
    "fault-54": (
        "store/test_pending.py::test_a_decision_is_made_once",
        "api/test_waiting.py::test_a_decided_request_is_not_decided_again",
    ),
    "fault-55": (
        "api/test_turns.py::test_a_second_turn_is_refused_while_one_runs",
        "agent/test_runtime.py::test_one_turn_at_a_time",
        "cli/test_ask.py::test_a_session_that_is_busy_elsewhere_is_refused",
    ),
    "fault-56": ("agent/test_executor.py::test_a_side_effect_may_end_after_a_cancel_but_not_for_ever",),
    "fault-59": (f"{FAULT}::test_whatever_a_tool_raises_is_its_result_and_the_loop_goes_on",),
    "fault-60": ("agent/test_executor.py::test_whatever_a_tool_does_is_one_result_and_the_turn_goes_on",),
    "fault-61": (
        f"{FAULT}::test_a_tool_that_blocks_the_event_loop_is_no_end",
        f"{BUSY}::test_health_is_answered_while_a_tool_blocks_the_loop_and_all_else_waits",
    ),
    "fault-63": (
        "agent/test_hooks.py::test_a_hook_that_fails_closed_stops_the_call_and_is_no_refusal_of_the_users",
        "agent/test_command_hooks.py::test_a_hook_that_takes_too_long_is_ended_with_all_that_it_started",
    ),
    "kill-15": (TURN, "library/test_download_corpus.py::test_a_killed_download_goes_on"),
    "fault-32": ("library/test_search.py::test_one_service_that_fails_leaves_the_other",),
    "fault-33": ("library/test_search.py::test_one_service_that_fails_leaves_the_other",),
}  # fmt: skip
"""Which tests show a line."""

TEAM = "tool check_team_inbox"
WAITS_FOR: dict[str, str] = {
    "kill-30": "tool bg_task_run",
    "kill-31": "tool bg_task_run",
    "kill-33": TEAM,
    "kill-34": "tool save_memory",
    "fault-64": "tool load_skill",
    "fault-66": TEAM,
    "fault-67": TEAM,
    "fault-68": "tool bg_task_run",
    "fault-69": "module nuncius.llm.embeddings",
}
"""What a line waits for that is not built yet."""


@cache
def functions_of(module: str) -> frozenset[str]:
    tree = ast.parse((TESTS / module).read_text("utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize("name", sorted({name for names in SHOWN.values() for name in names}))
def test_a_named_test_exists(name: str) -> None:
    module, _, function = name.partition("::")
    assert function in functions_of(module)


@pytest.mark.parametrize("thing", sorted(set(WAITS_FOR.values())))
def test_what_is_waited_for_is_not_built(thing: str, tools: frozenset[str]) -> None:
    kind, _, name = thing.partition(" ")
    built = name in tools if kind == "tool" else find_spec(name) is not None
    assert not built, f"{thing} is there now: show what waited for it"


@pytest.fixture(scope="module")
def tools() -> frozenset[str]:
    """Return the names of the product's tools, read from its files: none of them is run."""
    folder = TESTS.parent / "src" / "nuncius" / "tools"
    found: set[str] = set()
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found |= {
                    str(line.value.value)
                    for line in node.body
                    if isinstance(line, ast.Assign)
                    and isinstance(line.value, ast.Constant)
                    and [t.id for t in line.targets if isinstance(t, ast.Name)] == ["name"]
                }
    assert {"read_file", "run_bash", "rag_search"} <= found
    return frozenset(found)


def test_every_line_of_the_corpus_is_shown_or_waits(shared_data: Path) -> None:
    lines = (shared_data / "attacks" / "faults.jsonl").read_text("utf-8").splitlines()
    asked = {str(json.loads(line)["id"]) for line in lines}
    assert len(asked) == len(lines)
    assert SHOWN.keys() | WAITS_FOR.keys() == asked
    assert not SHOWN.keys() & WAITS_FOR.keys()
