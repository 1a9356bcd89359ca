"""The settings' model: names, meanings, defaults. `app` reads environment and files into it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from nuncius.core.events import PermissionMode

Provider = Literal["openai", "anthropic", "builtin"]
ToolMode = Literal["native", "json_schema", "text"]

LLM_URLS: Mapping[Provider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "builtin": "",
}
"""Where each provider is, if nothing else is set."""


SERVICE_URLS: Mapping[str, str] = {
    "ads": "https://api.adsabs.harvard.edu/v1",
    "arxiv": "https://export.arxiv.org/api",
    "arxiv_web": "https://arxiv.org",
    "arxiv_oai": "https://oaipmh.arxiv.org/oai",
    "arxiv_rss": "https://rss.arxiv.org",
    "ar5iv": "https://ar5iv.labs.arxiv.org",
    "sesame": "https://cds.unistra.fr/cgi-bin/nph-sesame",
    "simbad_tap": "https://simbad.cds.unistra.fr/simbad/sim-tap",
    "gaia_tap": "https://gea.esac.esa.int/tap-server/tap",
    "crossref": "https://api.crossref.org",
    "unpaywall": "https://api.unpaywall.org/v2",
    "openalex": "https://api.openalex.org",
    "s2": "https://api.semanticscholar.org/graph/v1",
}
"""Where each service of astronomy and of the literature is, if nothing else is set."""


class HookSetting(BaseModel):
    """One ``[[hooks]]`` of ``config.toml``: a program that looks at calls."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    event: Literal["PreToolUse", "PostToolUse"]
    match: Annotated[str, Field(min_length=1)] = "*"
    """Name of the tools that it is for, with the shell's wildcards."""
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    """Program and arguments, no shell line."""
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    fail: Literal["open", "closed"] = "closed"
    """What a failure of its own means: go on without it, or block the call."""


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

    llm_provider: Annotated[
        Literal["", "openai", "anthropic", "builtin"], Field(alias="LLM_PROVIDER")
    ] = ""
    """Empty: `openai` where a key or a URL is set, else `builtin`."""
    llm_base_url: Annotated[str, Field(alias="LLM_BASE_URL")] = ""
    """Any server that speaks as the provider does, such as ``https://api.openai.com/v1``."""
    llm_api_key: Annotated[str, Field(alias="LLM_API_KEY", repr=False)] = ""
    llm_model: Annotated[str, Field(alias="LLM_MODEL")] = ""
    fallback_model: Annotated[str, Field(alias="FALLBACK_MODEL")] = ""
    """Of the same server, or ``builtin``: steps in where the model stays overloaded."""
    llm_tool_mode: Annotated[ToolMode, Field(alias="LLM_TOOL_MODE")] = "native"
    """How a model is given tools: the server's own way, or written in its text (``json_schema``
    where the server can hold replies to a schema)."""
    llm_context_tokens: Annotated[int, Field(alias="LLM_CONTEXT_TOKENS", ge=2048)] = 128_000
    llm_max_output_tokens: Annotated[int, Field(alias="LLM_MAX_OUTPUT_TOKENS", ge=64)] = 4096
    enable_thinking: Annotated[bool, Field(alias="ENABLE_THINKING")] = False
    thinking_budget: Annotated[int | None, Field(alias="THINKING_BUDGET", ge=0)] = None

    max_cost_usd: Annotated[float | None, Field(alias="NUNCIUS_MAX_COST_USD", gt=0)] = None
    """What a session, and so each of its turns, may cost; one model call may go beyond it."""
    max_tokens: Annotated[int | None, Field(alias="NUNCIUS_MAX_TOKENS", ge=1)] = None
    """Tokens that a session, and so each of its turns, may use, in and out."""

    permission_mode: Annotated[PermissionMode, Field(alias="NUNCIUS_PERMISSION_MODE")] = "ask"
    sandbox: Annotated[Literal["auto", "off"], Field(alias="NUNCIUS_SANDBOX")] = "auto"
    """How `run_bash` runs: in a sandbox or not at all; `off`: without one, with the user's rights."""
    offline: Annotated[bool, Field(alias="NUNCIUS_OFFLINE")] = False
    """No request leaves the machine."""
    trusted_hosts: Annotated[tuple[str, ...], Field(alias="NUNCIUS_TRUSTED_HOSTS")] = ()
    """Further hosts that may be private or loopback, such as ``lab.example.org``."""
    contact_email: Annotated[str, Field(alias="NUNCIUS_CONTACT_EMAIL")] = ""

    host: Annotated[str, Field(alias="NUNCIUS_HOST")] = "127.0.0.1"
    """The address that `nuncius serve` listens on."""
    port: Annotated[int, Field(alias="NUNCIUS_PORT", ge=0, le=65535)] = 8765
    """0: any free one."""
    public_url: Annotated[str, Field(alias="NUNCIUS_PUBLIC_URL")] = ""
    """The server's address as it is seen through a tunnel."""

    hooks: tuple[HookSetting, ...] = ()
    """From ``config.toml`` only."""

    ads_api_token: Annotated[str, Field(alias="ADS_API_TOKEN", repr=False)] = ""
    """Also read where this is not set: ADS_DEV_KEY, SCIX_API_TOKEN, ``~/.ads/dev_key``."""
    s2_api_key: Annotated[str, Field(alias="S2_API_KEY", repr=False)] = ""
    """Semantic Scholar; it is asked without one too, more slowly."""
    browser_cdp_url: Annotated[str, Field(alias="NUNCIUS_BROWSER_CDP_URL")] = ""
    """A browser to reuse for pages that need one, such as ``http://127.0.0.1:9222``."""

    # The base of each service; a host named here is trusted, loopback included.
    ads_url: Annotated[str, Field(alias="NUNCIUS_ADS_URL")] = SERVICE_URLS["ads"]
    arxiv_url: Annotated[str, Field(alias="NUNCIUS_ARXIV_URL")] = SERVICE_URLS["arxiv"]
    """The query API's host."""
    arxiv_web_url: Annotated[str, Field(alias="NUNCIUS_ARXIV_WEB_URL")] = SERVICE_URLS["arxiv_web"]
    """Full texts: ``/html``, ``/pdf``, ``/src``."""
    arxiv_oai_url: Annotated[str, Field(alias="NUNCIUS_ARXIV_OAI_URL")] = SERVICE_URLS["arxiv_oai"]
    arxiv_rss_url: Annotated[str, Field(alias="NUNCIUS_ARXIV_RSS_URL")] = SERVICE_URLS["arxiv_rss"]
    ar5iv_url: Annotated[str, Field(alias="NUNCIUS_AR5IV_URL")] = SERVICE_URLS["ar5iv"]
    sesame_url: Annotated[str, Field(alias="NUNCIUS_SESAME_URL")] = SERVICE_URLS["sesame"]
    simbad_tap_url: Annotated[str, Field(alias="NUNCIUS_SIMBAD_TAP_URL")] = SERVICE_URLS[
        "simbad_tap"
    ]
    gaia_tap_url: Annotated[str, Field(alias="NUNCIUS_GAIA_TAP_URL")] = SERVICE_URLS["gaia_tap"]
    """Gaia's archive: the stars of finder charts."""
    crossref_url: Annotated[str, Field(alias="NUNCIUS_CROSSREF_URL")] = SERVICE_URLS["crossref"]
    unpaywall_url: Annotated[str, Field(alias="NUNCIUS_UNPAYWALL_URL")] = SERVICE_URLS["unpaywall"]
    openalex_url: Annotated[str, Field(alias="NUNCIUS_OPENALEX_URL")] = SERVICE_URLS["openalex"]
    s2_url: Annotated[str, Field(alias="NUNCIUS_S2_URL")] = SERVICE_URLS["s2"]

    https_proxy: Annotated[str, Field(alias="HTTPS_PROXY")] = ""
    no_proxy: Annotated[str, Field(alias="NO_PROXY")] = ""

    @property
    def provider(self) -> Provider:
        """Return the provider in force: no key and no URL means `builtin`."""
        if self.llm_provider:
            return self.llm_provider
        return "openai" if self.llm_api_key or self.llm_base_url else "builtin"

    @property
    def services(self) -> Mapping[str, str]:
        """Return the base URL in force of each service, without a slash at its end."""
        return {name: str(getattr(self, f"{name}_url")).rstrip("/") for name in SERVICE_URLS}

    @property
    def llm_url(self) -> str:
        """Return the base URL in force; empty for `builtin`."""
        return self.llm_base_url or LLM_URLS[self.provider]


SECRET_NAMES = frozenset({"LLM_API_KEY", "ADS_API_TOKEN", "S2_API_KEY"})
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
