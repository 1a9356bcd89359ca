import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from nuncius.app.config import (
    FIELDS,
    canonical_name,
    config_path,
    load_settings,
    set_value,
    shown_value,
)
from nuncius.core.errors import SettingsError
from nuncius.core.settings import DOTENV_NAMES


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_defaults_need_nothing_and_derive_from_the_home(home: Path, here: Path) -> None:
    loaded = load_settings({"NUNCIUS_HOME": str(home)}, directory=here)
    settings = loaded.settings
    assert settings.provider == "builtin"
    assert settings.library_dir == home / "library"
    assert settings.skills_dir == home / "skills"
    assert settings.project_dir == here
    assert settings.database_url == f"sqlite:///{home}/nuncius.db"
    assert loaded.path == home / "config.toml"
    assert loaded.sources["LLM_MODEL"] == "default"
    assert not loaded.warnings


def test_environment_wins_over_dotenv_wins_over_file_wins_over_default(
    home: Path, here: Path
) -> None:
    (home / "config.toml").write_text(
        'llm_model = "file"\nllm_api_key = "file"\ncontact = 1\n'
        'nuncius_contact_email = "a@file.org"\nllm_context_tokens = 9000\n'
    )
    (here / ".env").write_text("LLM_MODEL=dotenv\nLLM_API_KEY=dotenv\n")
    loaded = load_settings({"NUNCIUS_HOME": str(home), "LLM_MODEL": "env"}, directory=here)
    settings = loaded.settings
    assert (settings.llm_model, settings.llm_api_key) == ("env", "dotenv")
    assert (settings.contact_email, settings.llm_context_tokens) == ("a@file.org", 9000)
    assert settings.llm_max_output_tokens == 4096
    named = ("LLM_MODEL", "LLM_API_KEY", "LLM_CONTEXT_TOKENS", "LLM_MAX_OUTPUT_TOKENS")
    assert [loaded.sources[name] for name in named] == [
        "environment",
        ".env",
        "config.toml",
        "default",
    ]
    assert any("'contact' is no setting" in warning for warning in loaded.warnings)


def test_an_empty_variable_counts_as_not_set(home: Path, here: Path) -> None:
    (home / "config.toml").write_text('llm_model = "file"\n')
    loaded = load_settings(
        {"NUNCIUS_HOME": str(home), "LLM_MODEL": "  ", "LLM_CONTEXT_TOKENS": ""}, directory=here
    )
    assert loaded.settings.llm_model == "file"


@pytest.mark.parametrize("name", sorted(set(FIELDS) - DOTENV_NAMES))
def test_a_projects_dotenv_sets_nothing_but_the_six(name: str, home: Path, here: Path) -> None:
    (here / ".env").write_text(f"{name}=http://attacker.example\nLLM_MODEL=mine\n")
    plain = load_settings({"NUNCIUS_HOME": str(home)}, directory=here).settings
    assert plain.llm_model == "mine"
    (here / ".env").unlink()
    without = load_settings({"NUNCIUS_HOME": str(home)}, directory=here)
    assert plain == without.settings.model_copy(update={"llm_model": "mine"})


def test_what_a_dotenv_may_not_set_is_named_without_its_value(home: Path, here: Path) -> None:
    (here / ".env").write_text("LLM_BASE_URL=http://evil.example\nDATABASE_PASSWORD=hunter22\n")
    (warning,) = load_settings({"NUNCIUS_HOME": str(home)}, directory=here).warnings
    assert "LLM_BASE_URL, DATABASE_PASSWORD ignored" in warning
    assert "evil" not in warning
    assert "hunter22" not in warning


def test_a_named_pipe_called_dotenv_blocks_nothing(home: Path, here: Path) -> None:
    os.mkfifo(here / ".env")
    (warning,) = load_settings({"NUNCIUS_HOME": str(home)}, directory=here).warnings
    assert "not a regular file" in warning


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_settings_file_that_is_no_file_is_told(
    make: Callable[[Path], None], home: Path, here: Path
) -> None:
    make(home / "config.toml")
    with pytest.raises(SettingsError, match=r"config\.toml is no file"):
        load_settings({"NUNCIUS_HOME": str(home)}, directory=here)


def test_a_bad_value_of_a_dotenv_names_the_dotenv(home: Path, here: Path) -> None:
    (here / ".env").write_text("LLM_MODEL=a\x07b\n")
    with pytest.raises(SettingsError, match=r"LLM_MODEL holds a control .*\(from \.env\)"):
        load_settings({"NUNCIUS_HOME": str(home)}, directory=here)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("LLM_PROVIDER", "gemini", "openai, anthropic, builtin"),
        ("LLM_TOOL_MODE", "xml", "native, json_schema, text"),
        ("LLM_CONTEXT_TOKENS", "many", "a whole number, at least 2048"),
        ("LLM_CONTEXT_TOKENS", "7", "a whole number, at least 2048"),
        ("THINKING_BUDGET", "-1", "a whole number, at least 0"),
        ("ENABLE_THINKING", "maybe", "true or false"),
        ("NUNCIUS_OFFLINE", "sometimes", "true or false"),
        ("NUNCIUS_PERMISSION_MODE", "yolo", "ask, auto, plan, deny"),
        ("LLM_BASE_URL", "localhost:8080", "http://127.0.0.1:8080/v1"),
        ("LLM_BASE_URL", "https://", "a URL such as"),
        ("LLM_BASE_URL", "https://host:port/v1", "a URL such as"),
        ("NUNCIUS_TRUSTED_HOSTS", "http://a.example/x", "host names"),
        ("NUNCIUS_CONTACT_EMAIL", "me", "name@example.org"),
        ("NUNCIUS_DATABASE_URL", "postgresql://db/x", "sqlite:///"),
    ],
)
def test_a_bad_value_names_setting_value_and_what_is_allowed(
    name: str, value: str, allowed: str, home: Path, here: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({"NUNCIUS_HOME": str(home), name: value}, directory=here)
    assert f"{name}={value}" in caught.value.message
    assert allowed in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_line_break_in_a_value_is_refused_without_showing_it(home: Path, here: Path) -> None:
    (home / "config.toml").write_text('llm_api_key = "key\\nX-Header: 1"\n')
    with pytest.raises(SettingsError, match="LLM_API_KEY holds a control character") as caught:
        load_settings({"NUNCIUS_HOME": str(home)}, directory=here)
    assert "X-Header" not in str(caught.value)


@pytest.mark.parametrize("text", ["llm_model = ", "= 3", "\xff\xfe", "[a\n"])
def test_a_broken_file_is_named_and_not_passed_over(text: str, home: Path, here: Path) -> None:
    (home / "config.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"config\.toml is not a TOML file"):
        load_settings({"NUNCIUS_HOME": str(home)}, directory=here)


def test_relative_and_tilde_paths_become_absolute(
    home: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home))
    environment = {"NUNCIUS_HOME": str(home), "NUNCIUS_LIBRARY_DIR": "~/lib"}
    settings = load_settings({**environment, "NUNCIUS_PROJECT_DIR": "sub/.."}, directory=here)
    assert settings.settings.library_dir == home / "lib"
    assert settings.settings.project_dir == here
    with pytest.raises(SettingsError, match="no such user"):
        load_settings({**environment, "NUNCIUS_HOME": "~nobody-of-this-name/x"}, directory=here)


def test_hosts_are_parted_at_commas_and_spaces(home: Path, here: Path) -> None:
    environment = {
        "NUNCIUS_HOME": str(home),
        "NUNCIUS_TRUSTED_HOSTS": "a.example, *.b.example c:80",
    }
    settings = load_settings(environment, directory=here).settings
    assert settings.trusted_hosts == ("a.example", "*.b.example", "c:80")


def test_proxies_in_small_letters_are_read(home: Path, here: Path) -> None:
    environment = {"NUNCIUS_HOME": str(home), "https_proxy": "http://me:pw@proxy.example:3128"}
    settings = load_settings(environment, directory=here).settings
    assert settings.https_proxy == "http://me:pw@proxy.example:3128"
    assert shown_value(settings, "HTTPS_PROXY") == "http://********@proxy.example:3128"


def test_a_mistyped_variable_is_noticed(home: Path, here: Path) -> None:
    environment = {"NUNCIUS_HOME": str(home), "NUNCIUS_OFLINE": "1", "NUNCIUS_COLOUR": "x"}
    (warning,) = load_settings(environment, directory=here).warnings
    assert "Did you mean NUNCIUS_OFFLINE?" in warning


@pytest.mark.parametrize("word", ["LLM_MODEL", "llm_model", "llm-model", " Llm_Model "])
def test_a_setting_is_known_by_any_spelling(word: str) -> None:
    assert canonical_name(word) == "LLM_MODEL"


def test_an_unknown_setting_names_close_ones() -> None:
    with pytest.raises(SettingsError) as caught:
        canonical_name("llm_modle")
    assert "LLM_MODEL" in caught.value.hint


def test_set_keeps_comments_and_what_it_does_not_know(home: Path) -> None:
    path = home / "config.toml"
    path.write_text('# mine\nllm_model = "a"  # why\n\n[later]\nx = 1\n')
    environment = {"NUNCIUS_HOME": str(home)}
    assert set_value("LLM_MODEL", "b", environment=environment) == path
    assert path.read_text() == '# mine\nllm_model = "b"  # why\n\n[later]\nx = 1\n'
    set_value("enable_thinking", "yes", environment=environment)
    set_value("NUNCIUS_TRUSTED_HOSTS", "a.example,b.example", environment=environment)
    text = path.read_text()
    assert text.index("enable_thinking = true") < text.index("[later]")
    loaded = load_settings(environment).settings
    assert loaded.enable_thinking
    assert loaded.trusted_hosts == ("a.example", "b.example")


def test_set_writes_for_the_owner_only_and_through_a_link(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("")
    real.chmod(0o644)
    (home / "config.toml").symlink_to(real)
    set_value("LLM_API_KEY", "k" * 20, environment={"NUNCIUS_HOME": str(home)})
    assert (home / "config.toml").is_symlink()
    assert "k" * 20 in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir()] == ["config.toml"]


def test_set_refuses_what_load_would_refuse_and_changes_nothing(home: Path) -> None:
    path = home / "config.toml"
    path.write_text('llm_model = "a"\n')
    with pytest.raises(SettingsError):
        set_value("LLM_CONTEXT_TOKENS", "9", environment={"NUNCIUS_HOME": str(home)})
    path.write_text("broken =\n")
    with pytest.raises(SettingsError, match="nothing was changed"):
        set_value("LLM_MODEL", "b", environment={"NUNCIUS_HOME": str(home)})
    assert path.read_text() == "broken =\n"


def test_an_empty_value_takes_the_setting_out(home: Path) -> None:
    environment = {"NUNCIUS_HOME": str(home)}
    set_value("LLM_MODEL", "a", environment=environment)
    set_value("LLM_MODEL", "", environment=environment)
    set_value("LLM_MODEL", "", environment=environment)
    assert "llm_model" not in (home / "config.toml").read_text()


def test_a_secret_is_never_shown(home: Path, here: Path) -> None:
    environment = {"NUNCIUS_HOME": str(home), "LLM_API_KEY": "sk-very-secret"}
    loaded = load_settings(environment, directory=here)
    assert shown_value(loaded.settings, "LLM_API_KEY") == "********"
    assert "very-secret" not in repr(loaded)


def test_without_a_home_the_platforms_places_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert config_path({}).is_relative_to(tmp_path)
    assert load_settings({}, directory=tmp_path).settings.home.is_relative_to(tmp_path)


# --- ADS's token, where other programs of the field keep it ---


@pytest.mark.parametrize("name", ["ADS_API_TOKEN", "ADS_DEV_KEY", "SCIX_API_TOKEN"])
def test_the_token_of_ads_goes_by_several_names(name: str, tmp_path: Path) -> None:
    loaded = load_settings({"NUNCIUS_HOME": str(tmp_path), name: "made-up"}, directory=tmp_path)
    assert loaded.settings.ads_api_token == "made-up"
    assert "made-up" not in repr(loaded.settings)


def test_the_token_of_ads_is_read_from_its_file_last(tmp_path: Path) -> None:
    (tmp_path / ".ads").mkdir()
    (tmp_path / ".ads" / "dev_key").write_text("from-file\n")
    variables = {"NUNCIUS_HOME": str(tmp_path / "n"), "HOME": str(tmp_path)}
    loaded = load_settings(variables, directory=tmp_path)
    assert loaded.settings.ads_api_token == "from-file"
    assert loaded.sources["ADS_API_TOKEN"] == "~/.ads/dev_key"
    named = load_settings({**variables, "ADS_DEV_KEY": "named"}, directory=tmp_path)
    assert named.settings.ads_api_token == "named"
    (tmp_path / ".ads" / "dev_key").write_bytes(b"\xff\xfe")
    broken = load_settings(variables, directory=tmp_path)
    assert broken.settings.ads_api_token == ""
    assert any("dev_key" in warning for warning in broken.warnings)


def test_a_services_place_must_be_a_url(tmp_path: Path) -> None:
    variables = {"NUNCIUS_HOME": str(tmp_path), "NUNCIUS_ADS_URL": "ads.example.org"}
    with pytest.raises(SettingsError, match="NUNCIUS_ADS_URL"):
        load_settings(variables, directory=tmp_path)
