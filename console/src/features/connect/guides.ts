/** Titles of the pages about programs. Product names are the same in every language. */
export const guideTitles = {
  "claude-code": "Claude Code",
  codex: "Codex",
  "openai-sdk": "OpenAI SDK",
  "anthropic-sdk": "Anthropic SDK",
  ci: "CI",
  "gemini-cli": "Gemini CLI",
  opencode: "OpenCode",
  "open-webui": "Open WebUI",
} as const;
export type GuideId = keyof typeof guideTitles;

/** The pages for a snippet, by the snippet's id. */
export function guidesOf(snippet: string): readonly GuideId[] {
  return bySnippet[snippet] ?? [];
}

const bySnippet: Readonly<Record<string, readonly GuideId[]>> = {
  "claude-code": ["claude-code"],
  codex: ["codex"],
  python: ["openai-sdk", "anthropic-sdk"],
  javascript: ["openai-sdk", "anthropic-sdk"],
  ci: ["ci"],
  github: ["ci"],
  gitlab: ["ci"],
  "gemini-cli": ["gemini-cli"],
  opencode: ["opencode"],
  "open-webui": ["open-webui"],
};

/** A guide without test markers and title, with this gateway's URL. */
export function guideText(text: string, baseUrl: string): string {
  return text
    .replaceAll(/<!--[\s\S]*?-->\n?/g, "")
    .replace(/^# .*\n+/, "")
    .replaceAll("http://localhost:8787", () => baseUrl.replace(/\/+$/, ""));
}
