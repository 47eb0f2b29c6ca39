/** The part of JSON Schema that agent settings need. */
export interface SettingsSchema {
  readonly type?: SettingsType | readonly SettingsType[];
  readonly enum?: readonly string[];
  readonly items?: SettingsSchema;
  readonly properties?: Readonly<Record<string, SettingsSchema>>;
  readonly additionalProperties?: SettingsSchema;
}

export type SettingsType = "string" | "boolean" | "number" | "integer" | "array" | "object";

const text: SettingsSchema = { type: "string" };
const flag: SettingsSchema = { type: "boolean" };
const whole: SettingsSchema = { type: "integer" };
const texts: SettingsSchema = { type: "array", items: text };
const open: SettingsSchema = { type: "object" };
const opens: SettingsSchema = { type: "array", items: open };
const textByName: SettingsSchema = { type: "object", additionalProperties: text };
const oneOf = (...values: readonly string[]): SettingsSchema => ({ type: "string", enum: values });
const members = (properties: Readonly<Record<string, SettingsSchema>>): SettingsSchema => ({
  type: "object",
  properties,
});
const each = (names: string, schema: SettingsSchema): Record<string, SettingsSchema> =>
  Object.fromEntries(names.split(" ").map((name) => [name, schema]));

const command = members({ type: text, command: text, padding: { type: "number" }, refreshInterval: whole });

const hook = members({
  type: oneOf("command", "prompt", "agent", "http", "mcp_tool"),
  ...each("command prompt model url server tool if statusMessage shell", text),
  timeout: { type: "number" },
  ...each("async asyncRewake continueOnBlock", flag),
  ...each("args allowedEnvVars", texts),
  headers: textByName,
  input: open,
});

/**
 * Fields of Claude Code's settings, as of version 2.1. A wrong type is refused; other fields are forwarded to agents with a warning.
 */
export const agentSettingsSchema: SettingsSchema = members({
  ...each(
    "$schema agent advisorModel apiKeyHelper autoMemoryDirectory awsAuthRefresh awsCredentialExport claudeMd " +
      "forceLoginGatewayUrl gcpAuthRefresh language minimumVersion model otelHeadersHelper outputStyle plansDirectory " +
      "pluginTrustMessage prUrlTemplate requiredMaximumVersion requiredMinimumVersion theme",
    text,
  ),
  ...each(
    "agentPushNotifEnabled allowAllClaudeAiMcps allowManagedHooksOnly allowManagedMcpServersOnly allowManagedPermissionRulesOnly " +
      "alwaysThinkingEnabled autoCompactEnabled autoMemoryEnabled autoScrollEnabled awaySummaryEnabled axScreenReader channelsEnabled " +
      "disableAgentView disableAllHooks disableArtifact disableBundledSkills disableClaudeAiConnectors disableRemoteControl " +
      "disableSkillShellExecution disableWorkflows enableAllProjectMcpServers enforceAvailableModels fastMode " +
      "fastModePerSessionOptIn fileCheckpointingEnabled forceRemoteSettingsRefresh includeCoAuthoredBy includeGitInstructions " +
      "inputNeededNotifEnabled leftArrowOpensAgents prefersReducedMotion promptSuggestionEnabled remoteControlAtStartup " +
      "respectGitignore respondToBashCommands showClearContextOnPlanAccept showThinkingSummaries showTurnDuration " +
      "skipDangerousModePermissionPrompt skipWebFetchPreflight spinnerTipsEnabled syntaxHighlightingDisabled " +
      "terminalProgressBarEnabled useAutoModeDuringPlan verbose voiceEnabled wheelScrollAccelerationEnabled " +
      "workflowKeywordTriggerEnabled wslInheritsWindowsSettings",
    flag,
  ),
  ...each(
    "allowedHttpHookUrls availableModels claudeMdExcludes companyAnnouncements disabledMcpjsonServers enabledMcpjsonServers " +
      "fallbackModel pluginSuggestionMarketplaces skippedMarketplaces skippedPlugins sshHostAllowlist",
    texts,
  ),
  ...each(
    "allowedChannelPlugins allowedMcpServers blockedMarketplaces deniedMcpServers footerLinksRegexes managedMcpServers sshConfigs " +
      "strictKnownMarketplaces",
    opens,
  ),
  ...each("enabledPlugins extraKnownMarketplaces pluginConfigs spinnerTipsOverride spinnerVerbs voice", open),
  ...each("modelOverrides skillOverrides", textByName),
  ...each("fileSuggestion statusLine subagentStatusLine", command),
  ...each("disableAutoMode disableDeepLinkRegistration", oneOf("disable")),
  attribution: members({ commit: text, pr: text, sessionUrl: flag }),
  autoMode: members({ ...each("allow soft_deny hard_deny environment", texts), classifyAllShell: flag }),
  autoUpdatesChannel: oneOf("stable", "latest"),
  cleanupPeriodDays: whole,
  defaultShell: oneOf("bash", "powershell"),
  editorMode: oneOf("normal", "vim"),
  effortLevel: oneOf("low", "medium", "high", "xhigh"),
  env: textByName,
  feedbackSurveyRate: { type: "number" },
  forceLoginMethod: oneOf("claudeai", "console", "gateway"),
  forceLoginOrgUUID: { type: ["string", "array"], items: text },
  hooks: {
    type: "object",
    additionalProperties: {
      type: "array",
      items: members({ matcher: text, hooks: { type: "array", items: hook } }),
    },
  },
  parentSettingsBehavior: oneOf("first-wins", "merge"),
  permissions: members({
    ...each("allow ask deny additionalDirectories", texts),
    defaultMode: oneOf("default", "manual", "acceptEdits", "plan", "auto", "delegate", "dontAsk", "bypassPermissions"),
    ...each("disableAutoMode disableBypassPermissionsMode", oneOf("disable")),
  }),
  policyHelper: members({ path: text, timeoutMs: whole, refreshIntervalMs: whole }),
  preferredNotifChannel: text,
  sandbox: members({
    ...each(
      "enabled failIfUnavailable autoAllowBashIfSandboxed allowUnsandboxedCommands enableWeakerNestedSandbox " +
        "enableWeakerNetworkIsolation allowAppleEvents",
      flag,
    ),
    ...each("excludedCommands enabledPlatforms", texts),
    ...each("bwrapPath socatPath", text),
    network: members({
      ...each("allowUnixSockets allowedDomains deniedDomains allowMachLookup", texts),
      ...each("allowLocalBinding allowAllUnixSockets allowManagedDomainsOnly", flag),
      ...each("httpProxyPort socksProxyPort", whole),
    }),
    filesystem: members({ ...each("allowWrite denyWrite allowRead denyRead", texts), allowManagedReadPathsOnly: flag }),
    credentials: members({ files: opens, envVars: opens }),
    ignoreViolations: { type: "object", additionalProperties: texts },
    ripgrep: members({ command: text, args: texts }),
  }),
  skillListingBudgetFraction: { type: "number" },
  skillListingMaxDescChars: whole,
  strictPluginOnlyCustomization: { type: ["boolean", "array"], items: text },
  teammateMode: oneOf("auto", "in-process", "tmux", "iterm2"),
  tui: oneOf("fullscreen", "default"),
  viewMode: oneOf("default", "verbose", "focus"),
  worktree: members({
    ...each("sparsePaths symlinkDirectories", texts),
    baseRef: oneOf("fresh", "head"),
    bgIsolation: oneOf("worktree", "none"),
  }),
});
