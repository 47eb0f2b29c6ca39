/**
 * Settings for coding agents that call this gateway as the signed-in user. `sluice connect` writes them, and the console shows them
 * for manual setup. `base`: the gateway's URL without a trailing slash.
 */

/** Claude Code's settings: it asks the helper for tokens. */
export const claudeHelperSettings = (base: string) => ({
  apiKeyHelper: "sluice token",
  env: { ANTHROPIC_BASE_URL: base },
});

/** Machine-wide settings of Claude Code: it signs in without a helper. */
export const claudeLoginSettings = (base: string) => ({
  forceLoginMethod: "gateway",
  forceLoginGatewayUrl: base,
});

/** The member of Codex's config file that names the provider, and the provider's tables, as lines of TOML. */
export const codexProvider = "sluice";
export const codexProviderLines = (base: string): readonly string[] => [
  `[model_providers.${codexProvider}]`,
  // With any other name, Codex does not let the server compact long conversations (docs/clients/codex.md).
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
