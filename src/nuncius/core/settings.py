"""The settings' model: names, meanings, defaults. `app` reads environment and files into it."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from nuncius.core.events import PermissionMode


class Settings(BaseModel):
    """Everything a person can set.

    The environment variable of a field is its `alias`; ``config.toml`` uses the same name in
    lower case.
    """

    model_config = ConfigDict(frozen=True, populate_by_name=True, extra="forbid")

    home: Annotated[Path, Field(alias="NUNCIUS_HOME")]
    """Data directory: database, token, library, logs."""
    library_dir: Annotated[Path, Field(alias="NUNCIUS_LIBRARY_DIR")]
    """Files that nuncius itself keeps; a root for the file tools."""
    skills_dir: Annotated[Path, Field(alias="NUNCIUS_SKILLS_DIR")]
    """Skills; a read-only root for the file tools."""
    project_dir: Annotated[Path, Field(alias="NUNCIUS_PROJECT_DIR")]
    """The directory that relative paths are meant from; a root for the file tools."""
    database_url: Annotated[str, Field(alias="NUNCIUS_DATABASE_URL")]
    """``sqlite:///path`` of the database."""

    llm_provider: Annotated[Literal["", "openai", "builtin"], Field(alias="LLM_PROVIDER")] = ""
    """Empty: `openai` where a key or a URL is set, else `builtin`."""
    llm_base_url: Annotated[str, Field(alias="LLM_BASE_URL")] = ""
    """Any OpenAI-compatible server, such as ``https://api.openai.com/v1``."""
    llm_api_key: Annotated[str, Field(alias="LLM_API_KEY", repr=False)] = ""
    llm_model: Annotated[str, Field(alias="LLM_MODEL")] = ""
    llm_context_tokens: Annotated[int, Field(alias="LLM_CONTEXT_TOKENS", ge=2048)] = 128_000
    llm_max_output_tokens: Annotated[int, Field(alias="LLM_MAX_OUTPUT_TOKENS", ge=64)] = 4096
    enable_thinking: Annotated[bool, Field(alias="ENABLE_THINKING")] = False
    thinking_budget: Annotated[int | None, Field(alias="THINKING_BUDGET", ge=0)] = None

    permission_mode: Annotated[PermissionMode, Field(alias="NUNCIUS_PERMISSION_MODE")] = "ask"
    offline: Annotated[bool, Field(alias="NUNCIUS_OFFLINE")] = False
    """No request leaves the machine."""
    trusted_hosts: Annotated[tuple[str, ...], Field(alias="NUNCIUS_TRUSTED_HOSTS")] = ()
    """Further hosts that may be private or loopback, such as ``lab.example.org``."""
    contact_email: Annotated[str, Field(alias="NUNCIUS_CONTACT_EMAIL")] = ""

    https_proxy: Annotated[str, Field(alias="HTTPS_PROXY")] = ""
    no_proxy: Annotated[str, Field(alias="NO_PROXY")] = ""

    @property
    def provider(self) -> Literal["openai", "builtin"]:
        """Return the provider in force: no key and no URL means `builtin`."""
        if self.llm_provider:
            return self.llm_provider
        return "openai" if self.llm_api_key or self.llm_base_url else "builtin"


SECRET_NAMES = frozenset({"LLM_API_KEY"})
"""Settings whose value is never printed."""

DOTENV_NAMES = frozenset(
    {
        "LLM_API_KEY",
        "LLM_MODEL",
        "FALLBACK_MODEL",
        "EMBEDDING_API_KEY",
        "ADS_API_TOKEN",
        "NUNCIUS_CONTACT_EMAIL",
    }
)
"""All that a project's ``.env`` may supply: nothing that redirects requests or loosens rules."""
