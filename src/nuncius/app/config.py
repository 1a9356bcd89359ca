"""Read the environment, `config.toml` and a project's `.env` into `core.settings.Settings`.

The environment wins over a project's `.env`, which wins over `config.toml`, which wins over the
defaults. An empty variable counts as not set.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import ValidationError

from nuncius.app.dotenv import read_dotenv
from nuncius.app.hooks import hook_settings
from nuncius.core.errors import SettingsError
from nuncius.core.settings import DOTENV_NAMES, SECRET_NAMES, SERVICE_URLS, Settings

Source = Literal["environment", ".env", "config.toml", "~/.ads/dev_key", "default"]

ADS_TOKENS = ("ADS_DEV_KEY", "SCIX_API_TOKEN")
"""Other names of the token of ADS in the environment."""
ADS_TOKEN_FILE = Path(".ads/dev_key")
"""The token's file of other programs, in the user's home directory."""

FIELDS: Mapping[str, str] = {
    field.alias: name for name, field in Settings.model_fields.items() if field.alias
}
"""The field of `Settings` behind each variable."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9._:-]+")
_WINDOW = 0.75  # how alike two names must be for one to be suggested for the other


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force and where they are from.

    Attributes:
        path: The `config.toml` that was read, or would be if it were there.
        sources: Where each variable's value is from.
        warnings: What was ignored, one sentence each.
    """

    settings: Settings
    path: Path
    sources: Mapping[str, Source]
    warnings: Sequence[str] = ()


def load_settings(
    environment: Mapping[str, str] | None = None, *, directory: Path | None = None
) -> Loaded:
    """Read all settings.

    Args:
        environment: Variables; the process's own by default.
        directory: What counts as the current directory.

    Raises:
        SettingsError: A value makes no sense, or `config.toml` cannot be read; the message names
            the setting, the value (never a secret one) and what is allowed.
    """
    variables = os.environ if environment is None else environment
    here = _current_directory() if directory is None else directory
    path = config_path(variables)
    warnings: list[str] = []
    found: dict[str, tuple[Any, Source]] = {}
    for name, value in _from_file(path, warnings).items():
        found[name] = (_absolute(name, value, path.parent), "config.toml")
    surroundings = _from_environment(variables, warnings)
    project = surroundings.get("NUNCIUS_PROJECT_DIR") or found.get("NUNCIUS_PROJECT_DIR", ("",))[0]
    dotenv = Path(_absolute("NUNCIUS_PROJECT_DIR", project, here)) if project else here
    for name, value in _from_dotenv(dotenv / ".env", warnings).items():
        found[name] = (value, ".env")
    for name, value in surroundings.items():
        found[name] = (_absolute(name, value, here), "environment")
    if "ADS_API_TOKEN" not in found and (token := _ads_token(variables, warnings)):
        found["ADS_API_TOKEN"] = (token, "~/.ads/dev_key")
    values = {name: _plain(name, value, source) for name, (value, source) in found.items()}
    sources: dict[str, Source] = {
        name: found[name][1] if name in found else "default" for name in FIELDS
    }
    settings = _settings(_with_places(values, here), sources)
    hooks = hook_settings(_table(path).get("hooks"), path)
    settings = settings.model_copy(update={"hooks": hooks})
    return Loaded(settings, path, sources, tuple(warnings))


def config_path(environment: Mapping[str, str] | None = None) -> Path:
    """Return where `config.toml` is: in `NUNCIUS_HOME` if set, else the platform's place."""
    variables = os.environ if environment is None else environment
    home = variables.get("NUNCIUS_HOME", "").strip()
    if home:
        return Path(_absolute("NUNCIUS_HOME", home, _current_directory())) / "config.toml"
    from platformdirs import user_config_path

    return user_config_path("nuncius", appauthor=False) / "config.toml"


def canonical_name(word: str) -> str:
    """Return the variable's name for any spelling of a setting: `llm_model`, `LLM_MODEL`, `home`.

    Raises:
        SettingsError: There is no such setting; close names are given.
    """
    asked = word.strip().replace("-", "_")
    for name, field in FIELDS.items():
        if asked.upper() == name or asked.lower() == field:
            return name
    close = _close(asked.upper(), FIELDS)
    raise SettingsError(
        f"There is no setting '{asked}'.",
        hint=f"Did you mean {' or '.join(close)}?" if close else "`nuncius config show` lists all.",
    )


def shown_value(settings: Settings, name: str) -> str:
    """Return a setting's value for people: secrets as stars, URLs without their password."""
    value = getattr(settings, FIELDS[name])
    if name in SECRET_NAMES:
        return "********" if value else ""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(cast("tuple[str, ...]", value))
    return without_password(str(value))


def without_password(url: str) -> str:
    """Return `url` with the user and password before its host hidden."""
    return re.sub(r"(?<=//)[^/@\s]+@", "********@", url)


def set_value(word: str, value: str, *, environment: Mapping[str, str] | None = None) -> Path:
    """Write one setting into `config.toml` and return the file's path; comments stay.

    Args:
        value: Empty: take the setting out of the file.

    Raises:
        SettingsError: No such setting, a value that makes no sense, or a file that cannot be
            read or written.
    """
    from nuncius.app.config_file import write_setting

    name = canonical_name(word)
    path = config_path(environment)
    if not value.strip():
        write_setting(path, name.lower(), None)
        return path
    here = _current_directory()
    plain = _plain(name, _absolute(name, value, here))
    checked = getattr(_settings(_with_places({name: plain}, here), {}), FIELDS[name])
    if isinstance(checked, tuple):
        write_setting(path, name.lower(), list(cast("tuple[str, ...]", checked)))
    elif isinstance(checked, bool | int | float):
        write_setting(path, name.lower(), checked)
    else:
        write_setting(path, name.lower(), str(checked))
    return path


def names_in_file(path: Path) -> frozenset[str]:
    """Return the variables that `config.toml` sets; empty where it is not there."""
    return frozenset(_from_file(path, []))


def _current_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise SettingsError(
            "The current directory does not exist any more.", hint="Go to another one with `cd`."
        ) from error


def _from_environment(variables: Mapping[str, str], warnings: list[str]) -> dict[str, str]:
    found = {name: variables[name].strip() for name in FIELDS if variables.get(name, "").strip()}
    for name in ("HTTPS_PROXY", "NO_PROXY"):  # programs write these in small letters, too
        if name not in found and variables.get(name.lower(), "").strip():
            found[name] = variables[name.lower()].strip()
    if "ADS_API_TOKEN" not in found:
        for name in ADS_TOKENS:  # where other programs of the field look
            if variables.get(name, "").strip():
                found["ADS_API_TOKEN"] = variables[name].strip()
                break
    for name in variables:
        if name.startswith("NUNCIUS_") and name not in FIELDS:
            close = difflib.get_close_matches(name, FIELDS, n=1, cutoff=0.85)
            if close:
                warnings.append(f"{name} is no setting. Did you mean {close[0]}?")
    return found


def _ads_token(variables: Mapping[str, str], warnings: list[str]) -> str:
    """Return the token that other programs of the field keep in the home directory."""
    if not variables.get("HOME"):
        return ""
    path = Path(variables["HOME"]) / ADS_TOKEN_FILE
    try:
        with path.open("rb") as file:
            lines = file.read(1000).decode("ascii").split()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        warnings.append(f"{path} cannot be read ({error}); the token of ADS was not taken from it.")
        return ""
    return lines[0] if lines else ""


def _table(path: Path) -> dict[str, Any]:
    """Return what stands in `config.toml`; nothing where it is not there."""
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise SettingsError(f"{path} is no file.", hint="Move it away.")
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror}.", hint="Mend its permissions."
        ) from error
    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"{path} is not a TOML file: {error}.",
            hint='Mend that line; settings look like `llm_model = "gpt-5"`.',
        ) from error


def _from_file(path: Path, warnings: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in _table(path).items():
        if key == "hooks":
            continue
        name = key.upper()
        if name in FIELDS and not isinstance(value, dict):
            if value != "":
                found[name] = value
            continue
        close = _close(name, FIELDS)
        suggestion = f" Did you mean {close[0].lower()}?" if close else ""
        warnings.append(f"{path.name}: '{key}' is no setting of this version; ignored.{suggestion}")
    return found


def _from_dotenv(path: Path, warnings: list[str]) -> dict[str, str]:
    try:
        dotenv = read_dotenv(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        warnings.append(f"{path} was ignored: {reason}.")
        return {}
    if dotenv.unclear:
        numbers = ", ".join(map(str, dotenv.unclear[:10]))
        warnings.append(f"{path}: line {numbers} is not understood; ignored.")
    refused = [name for name in dotenv.values if name not in DOTENV_NAMES]
    if refused:
        more = f" and {len(refused) - 10} more" if len(refused) > 10 else ""
        warnings.append(
            f"{path}: {', '.join(refused[:10])}{more} ignored; a project may set only"
            f" {', '.join(sorted(DOTENV_NAMES))}."
        )
    return {
        name: value
        for name, value in dotenv.values.items()
        if name in FIELDS and name in DOTENV_NAMES and value
    }


def _absolute(name: str, value: Any, base: Path) -> Any:
    """Return `value` as an absolute path where the setting is one."""
    if not isinstance(value, str) or Settings.model_fields[FIELDS[name]].annotation is not Path:
        return value
    if _CONTROL.search(value):
        return value  # judged with all other values
    try:
        return str(Path(os.path.normpath(base / Path(value).expanduser())))
    except RuntimeError as error:  # `~nobody`
        raise SettingsError(f"{name}={value}: there is no such user.") from error


def _plain(name: str, value: Any, source: Source = "environment") -> Any:
    """Return a value in the form that `Settings` takes."""
    if isinstance(value, str):
        value = value.strip()
        if _CONTROL.search(value):
            place = "" if source == "environment" else f" (from {source})"
            raise SettingsError(f"{name} holds a control character{place}.", hint="Type it again.")
        if name == "NUNCIUS_TRUSTED_HOSTS":
            return [host for host in re.split(r"[\s,]+", value) if host]
        if _choices(name):
            return value.lower()
    return value


def _with_places(values: Mapping[str, Any], here: Path) -> dict[str, Any]:
    """Add the directories that follow from others."""
    complete = dict(values)
    if "NUNCIUS_HOME" not in complete:
        from platformdirs import user_data_path

        complete["NUNCIUS_HOME"] = user_data_path("nuncius", appauthor=False)
    home = Path(complete["NUNCIUS_HOME"])
    complete.setdefault("NUNCIUS_LIBRARY_DIR", home / "library")
    complete.setdefault("NUNCIUS_SKILLS_DIR", home / "skills")
    complete.setdefault("NUNCIUS_PROJECT_DIR", here)
    complete.setdefault("NUNCIUS_DATABASE_URL", f"sqlite:///{home / 'nuncius.db'}")
    return complete


def _settings(values: Mapping[str, Any], sources: Mapping[str, Source]) -> Settings:
    try:
        settings = Settings.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        raise _refusal(name, values[name], sources.get(name), first["msg"]) from error
    for name in _URLS:
        _check_url(name, getattr(settings, FIELDS[name]), sources.get(name))
    for host in settings.trusted_hosts:
        if not _HOST.fullmatch(host):
            raise _refusal("NUNCIUS_TRUSTED_HOSTS", host, sources.get("NUNCIUS_TRUSTED_HOSTS"))
    email = settings.contact_email
    if email and not re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", email):
        raise _refusal("NUNCIUS_CONTACT_EMAIL", email, sources.get("NUNCIUS_CONTACT_EMAIL"))
    if not settings.database_url.startswith("sqlite:///"):
        raise _refusal(
            "NUNCIUS_DATABASE_URL", settings.database_url, sources.get("NUNCIUS_DATABASE_URL")
        )
    return settings


def _check_url(name: str, url: str, source: Source | None) -> None:
    if not url:
        return
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, a bracket that never closes
        usable = False
    if not usable or re.search(r"\s", url):
        raise _refusal(name, url, source)


_URLS = (
    "LLM_BASE_URL",
    "NUNCIUS_BROWSER_CDP_URL",
    *(f"NUNCIUS_{service.upper()}_URL" for service in SERVICE_URLS),
)
_ALLOWED = {
    **dict.fromkeys(_URLS[1:], "a URL such as https://api.example.org/v1"),
    "LLM_BASE_URL": "a URL such as https://api.example.org/v1 or http://127.0.0.1:8080/v1",
    "NUNCIUS_TRUSTED_HOSTS": "host names such as lab.example.org, with commas between",
    "NUNCIUS_CONTACT_EMAIL": "one address such as name@example.org",
    "NUNCIUS_DATABASE_URL": "sqlite:/// and a path",
}


def _refusal(name: str, value: Any, source: Source | None, reason: str = "") -> SettingsError:
    shown = "********" if name in SECRET_NAMES else without_password(str(value))
    place = f" (from {source})" if source in {".env", "config.toml"} else ""
    allowed = _ALLOWED.get(name) or _allowed_by_type(name) or reason
    return SettingsError(f"{name}={shown}{place} makes no sense.", hint=f"Allowed: {allowed}.")


def _allowed_by_type(name: str) -> str:
    field = Settings.model_fields[FIELDS[name]]
    if field.annotation is bool:
        return "true or false (also 1, 0, yes, no, on, off)"
    if _choices(name):
        return ", ".join(_choices(name))
    if field.annotation is int or int in get_args(field.annotation):
        least = next((rule.ge for rule in field.metadata if hasattr(rule, "ge")), None)
        return "a whole number" + (f", at least {least}" if least is not None else "")
    if float in get_args(field.annotation):
        return "a number above 0"
    return ""


def _choices(name: str) -> tuple[str, ...]:
    annotation = Settings.model_fields[FIELDS[name]].annotation
    if get_origin(annotation) is not Literal:
        return ()
    return tuple(choice for choice in get_args(annotation) if choice)


def _close(name: str, names: Mapping[str, str]) -> list[str]:
    return difflib.get_close_matches(name, names, n=2, cutoff=_WINDOW)
