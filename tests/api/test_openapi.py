"""The document that describes the interface is true: made-up requests get what it promises."""

import asyncio
import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from library.conftest import NOTE, settings_in
from nuncius.api.build import routes
from nuncius.api.server import serving
from nuncius.app.serving import open_served

EXAMPLES = 5  # made-up requests for each operation
STREAMS = {"/api/sessions/{session_id}/events"}


def document() -> dict[str, Any]:
    return routes().openapi()


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]


def test_it_is_openapi_3_1_with_every_event_and_how_to_sign_in() -> None:
    made = document()
    assert made["openapi"].startswith("3.1")
    schemas = made["components"]["schemas"]
    assert len(schemas["Event"]["oneOf"]) >= 20
    assert schemas["Event"]["discriminator"]["propertyName"] == "type"
    assert {"TurnStarted", "AnswerEvent", "Reset", "Citation"} <= set(schemas)
    assert set(made["components"]["securitySchemes"]) == {"token", "cookie"}


def test_every_operation_has_a_name_a_summary_and_our_errors() -> None:
    found = operations()
    names = [operation["operationId"] for _, _, operation in found]
    assert len(set(names)) == len(names)
    for method, path, operation in found:
        assert operation["description"], (method, path)
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                shape = answer["content"]["application/json"]["schema"]["$ref"]
                assert shape.endswith("/ErrorReply"), (path, status)


def test_every_reference_leads_somewhere() -> None:
    made = document()
    known = {f"#/components/schemas/{name}" for name in made["components"]["schemas"]}

    def look(value: Any) -> None:
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            assert fields.get("$ref", next(iter(known))) in known
            for item in fields.values():
                look(item)
        elif isinstance(value, list):
            for item in cast("list[Any]", value):
                look(item)

    look(made["paths"])
    look(made["components"])


@dataclass(frozen=True)
class Running:
    """A served home in a thread."""

    url: str
    token: str
    known: Mapping[str, str]
    """Names of what is there, by path parameter."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    folder = tmp_path_factory.mktemp("served")
    ready = threading.Event()
    found: list[Running] = []
    stop = asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        settings = settings_in(folder).model_copy(update={"offline": True})
        async with open_served(settings) as app, serving(app, port=0) as served:
            (folder / "pulsar.md").write_text(NOTE, encoding="utf-8")
            added = (await app.library.add([folder / "pulsar.md"])).added
            session = await app.journal.create_session(model="builtin")
            known = {"session_id": session.id, "paper_id": added[0].paper_id, "name": "todo_write"}
            token = Path(settings.home / "token").read_text().strip()
            found.append(Running(f"http://127.0.0.1:{served.port}", token, known))
            ready.set()
            await stop.wait()

    def work() -> None:
        loop.run_until_complete(serve())
        loop.close()

    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait(20)
    yield found[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join()


def test_made_up_requests_get_what_the_document_promises(running: Running) -> None:
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings, strategies
    from schemathesis import checks

    schema: Any = schemathesis.openapi.from_dict(document())
    looked_at = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path in STREAMS:
            continue
        looked_at += 1

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        )
        @given(case=operation.as_strategy(), there=strategies.booleans())
        def ask(case: Any, *, there: bool) -> None:
            # a header that is no HTTP is not what is asked here
            case.headers = {"Authorization": f"Bearer {running.token}"}
            case.cookies = {}
            if there and case.method != "DELETE":  # half of them about what is there
                names: list[str] = list(case.path_parameters or ())
                case.path_parameters = {name: running.known.get(name, "x") for name in names}
            answer = case.call(base_url=running.url, timeout=20)
            assert answer.status_code != 500, answer.text
            case.validate_response(
                answer,
                checks=[
                    checks.status_code_conformance,
                    checks.content_type_conformance,
                    checks.response_schema_conformance,
                ],
            )

        ask()
    assert looked_at == len(operations()) - len(STREAMS)
