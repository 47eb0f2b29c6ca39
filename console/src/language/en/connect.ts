/** What one pastes to call the gateway; the code itself is the same in every language. */
export const connect = {
  title: "Connect",
  description: "What to paste so that coding agents, programs and CI jobs call this gateway.",
  addresses: "Base URLs",
  addressesHelp: "Most programs ask for one of these and an API key. Every call is in the <docs>API reference</docs>.",
  openai: "OpenAI SDKs and compatible programs",
  anthropic: "Anthropic SDKs and Claude Code",
  copyOpenai: "Copy base URL for OpenAI SDKs",
  copyAnthropic: "Copy base URL for Anthropic SDKs",
  agents: "Coding agents, signed in as you",
  agentsHelp:
    "Without an API key: you confirm a code in this console, and limits and budget are yours. <code>sluice</code> is the gateway's own program; your administrator can give you it. <code>sluice connect</code> shows what it changes and asks first.",
  plainHttp:
    "Agents sign in at https addresses only, or on the gateway's own machine. The administrator of this gateway can give it one; until then use an API key.",
  viaLogin: "With /login: once on the machine, by its administrator",
  viaLoginByHand: "The same by hand: managed-settings.json of Claude Code",
  viaLoginThen: "Then, in Claude Code",
  viaHelper: "With a helper: for yourself, in a shell",
  viaHelperByHand: "The same by hand, after sluice login: {file}",
  keys: "With an API key",
  keysHelp: "The key is read from the variable SLUICE_API_KEY. A new key is shown once, with these texts around it.",
  createKey: "Create key",
  model: "Model",
  ci: "CI",
  ciHelp:
    "Jobs use a service token: a key that always expires and belongs to nobody. Admins of the workspace make it under <keys>API keys</keys> (Create key, This is a service token). Keep it as the secret SLUICE_TOKEN.",
  github: "GitHub Actions: a workflow in .github/workflows",
  gitlab: "GitLab: .gitlab-ci.yml, with SLUICE_TOKEN as a masked variable",
} as const;
