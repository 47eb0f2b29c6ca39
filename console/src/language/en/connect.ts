/** Texts around the snippets that call the gateway; the code itself is the same in every language. */
export const connect = {
  title: "Connect",
  description: "Connect your coding agents, apps and CI to this gateway.",
  addresses: "Base URLs",
  addressesHelp:
    "Most programs ask for one of these and an API key. The <docs>API reference</docs> lists every endpoint.",
  openai: "OpenAI SDKs and compatible programs",
  anthropic: "Anthropic SDKs and Claude Code",
  copyOpenai: "Copy base URL for OpenAI SDKs",
  copyAnthropic: "Copy base URL for Anthropic SDKs",
  agents: "Coding agents, signed in as you",
  agentsHelp:
    "No API key needed: you confirm a code in this console, and your limits and budget apply. <code>sluice</code> is the gateway's CLI; ask your administrator for it. <code>sluice connect</code> shows its changes and asks before it makes them.",
  plainHttp:
    "Agents can sign in only over https, or on the gateway's own machine. Ask your administrator to set up https, or use an API key.",
  viaLogin: "Managed machines: /login",
  viaLoginByHand: "Manual setup: Claude Code's managed-settings.json",
  viaLoginThen: "Then, in Claude Code",
  viaHelper: "Just for you: in a shell",
  viaHelperByHand: "Manual setup, after sluice login: {file}",
  keys: "With an API key",
  keysHelp: "The key is read from the variable SLUICE_API_KEY. New keys are shown once, with these snippets filled in.",
  createKey: "Create key",
  model: "Model",
  fit: "Best for {agent}",
  others: "Other models",
  modelHelp: "Best matches for {agent} first: they need little or no translation.",
  guide: "{program} guide",
  reference: "API reference",
  ci: "CI",
  ciHelp:
    "CI jobs use a service token: a key that has an expiry date and no owner. Admins of the workspace create it under <keys>API keys</keys> (Create key, This is a service token). Store it as the secret SLUICE_TOKEN.",
  github: "GitHub Actions: workflow in .github/workflows",
  gitlab: "GitLab: .gitlab-ci.yml, with SLUICE_TOKEN as a masked variable",
} as const;
