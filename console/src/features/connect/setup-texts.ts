import { claudeHelperSettings, claudeLoginSettings, codexProvider, codexProviderLines } from "@sluice/contract/words";
import { type Snippet, shellQuoted } from "../../components/snippet-texts.ts";
import { t } from "../../language/areas/connect.ts";

/** How agents sign in as a user. `sluice connect` writes the settings that are shown for manual setup. */
export function agentTexts(baseUrl: string, model: string): readonly Snippet[] {
  const url = baseUrl.replace(/\/+$/, "");
  return [claudeCode(url), codex(url, model)];
}

/** Claude Code and `sluice login` send tokens over plain http only to their own machine. */
export function takesSignIn(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "https:" || hostname === "localhost" || hostname === "127.0.0.1";
}

function claudeCode(url: string): Snippet {
  const byLogin = [
    { where: t("connect.viaLogin"), code: `sluice connect claude --login ${shellQuoted(url)}` },
    {
      where: t("connect.viaLoginByHand"),
      code: JSON.stringify(claudeLoginSettings(url), null, 2),
    },
    { where: t("connect.viaLoginThen"), code: "/login" },
  ];
  const byHelper = [
    { where: t("connect.viaHelper"), code: signedIn("claude", url) },
    {
      where: t("connect.viaHelperByHand", { file: "~/.claude/settings.json" }),
      code: JSON.stringify(claudeHelperSettings(url), null, 2),
    },
  ];
  return { id: "claude-code", title: "Claude Code", parts: [...byLogin, ...byHelper] };
}

function codex(url: string, model: string): Snippet {
  const config = [
    `model = ${JSON.stringify(model)}`,
    `model_provider = ${JSON.stringify(codexProvider)}`,
    "",
    ...codexProviderLines(url),
  ];
  return {
    id: "codex",
    title: "Codex",
    parts: [
      { where: t("connect.viaHelper"), code: signedIn("codex", url) },
      { where: t("connect.viaHelperByHand", { file: "~/.codex/config.toml" }), code: config.join("\n") },
    ],
  };
}

function signedIn(program: "claude" | "codex", url: string): string {
  return [`sluice login ${shellQuoted(url)}`, `sluice connect ${program} ${shellQuoted(url)}`, program].join("\n");
}

/** GitHub's expression syntax. */
const githubSecret = `$${"{{ secrets.SLUICE_TOKEN }}"}`;

/** CI jobs have no user to sign in, so they use a service token. */
export function ciTexts(baseUrl: string, model: string): readonly Snippet[] {
  const url = baseUrl.replace(/\/+$/, "");
  const github = [
    "jobs:",
    "  review:",
    "    runs-on: ubuntu-latest",
    "    env:",
    `      ANTHROPIC_BASE_URL: ${JSON.stringify(url)}`,
    `      ANTHROPIC_AUTH_TOKEN: ${githubSecret}`,
    `      ANTHROPIC_MODEL: ${JSON.stringify(model)}`,
    `      OPENAI_BASE_URL: ${JSON.stringify(`${url}/v1`)}`,
    `      OPENAI_API_KEY: ${githubSecret}`,
    "    steps:",
    "      - uses: actions/checkout@v4",
    '      - run: claude -p "Review the last commit."',
  ];
  const gitlab = [
    "review:",
    "  variables:",
    `    ANTHROPIC_BASE_URL: ${JSON.stringify(url)}`,
    `    ANTHROPIC_MODEL: ${JSON.stringify(model)}`,
    `    OPENAI_BASE_URL: ${JSON.stringify(`${url}/v1`)}`,
    "  script:",
    '    - export ANTHROPIC_AUTH_TOKEN="$SLUICE_TOKEN" OPENAI_API_KEY="$SLUICE_TOKEN"',
    '    - claude -p "Review the last commit."',
  ];
  return [
    { id: "github", title: "GitHub Actions", parts: [{ where: t("connect.github"), code: github.join("\n") }] },
    { id: "gitlab", title: "GitLab", parts: [{ where: t("connect.gitlab"), code: gitlab.join("\n") }] },
  ];
}
