/**
 * What coding agents read in their own files to call by this gateway as the person who is signed in. `sluice connect` writes it, and the
 * console shows it to be written by hand. `base`: the gateway's address, without a slash at its end.
 */

/** Claude Code's settings: it asks the helper for tokens. */
export const claudeHelperSettings = (base: string) => ({
  apiKeyHelper: "sluice token",
  env: { ANTHROPIC_BASE_URL: base },
});

/** Claude Code's settings of a machine: it signs in by itself. */
export const claudeLoginSettings = (base: string) => ({
  forceLoginMethod: "gateway",
  forceLoginGatewayUrl: base,
});

/** The member of Codex's config file that names the provider, and the provider's tables, as lines of TOML. */
export const codexProvider = "sluice";
export const codexProviderLines = (base: string): readonly string[] => [
  `[model_providers.${codexProvider}]`,
  // By any other name Codex has no long conversation compacted by the server (docs/clients/codex.md).
  'name = "OpenAI"',
  `base_url = ${JSON.stringify(`${base}/v1`)}`,
  'wire_api = "responses"',
  "",
  `[model_providers.${codexProvider}.auth]`,
  'command = "sluice"',
  'args = ["token"]',
  "timeout_ms = 5000",
  "refresh_interval_ms = 300000",
];
