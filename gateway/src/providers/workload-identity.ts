import type { Provider } from "#core/index.ts";
import { anthropicToken, oauthBeta, openaiToken } from "#credentials/index.ts";
import type { AuthorizeOptions, OutboundDraft, TokenSource } from "./kind.ts";
import { authorizeBearer, authorizeWith } from "./openai-shaped.ts";
import { authField, identityFileField, type SettingField, settingField } from "./setting-field.ts";
import { settingText, withVersion } from "./settings.ts";

const method = "workload_identity";
const auths = [method];
const authHelp =
  "api_key: the stored key. workload_identity: a token that the gateway's machine has in a file is exchanged for a short-lived one. Default: api_key.";

export const openaiAuthFields: readonly SettingField[] = [
  authField(["api_key", method], authHelp),
  identityFileField("The path of a file that the gateway's environment allows.", auths),
  settingField("identity_provider_id", "Identity provider ID", { auths, placeholder: "idp_…" }),
  settingField("service_account_id", "Service account ID", { auths }),
];

export const anthropicAuthFields: readonly SettingField[] = [
  authField(["api_key", method], authHelp),
  identityFileField("Leave empty to use ANTHROPIC_IDENTITY_TOKEN_FILE.", auths),
  settingField("federation_rule_id", "Federation rule ID", { auths, placeholder: "fdrl_…" }),
  settingField("organization_id", "Organization ID", { auths }),
  settingField("service_account_id", "Service account ID", { auths }),
  settingField("workspace_id", "Workspace ID", { auths, help: "If the rule is for several workspaces." }),
];

const hasIdentity = (provider: Provider) => settingText(provider, "auth") === method;

export const openaiTokens: TokenSource = (provider) => {
  if (!hasIdentity(provider)) return null;
  const identity = {
    baseUrl: provider.baseUrl,
    identityFile: settingText(provider, "identity_file"),
    identityProviderId: settingText(provider, "identity_provider_id"),
    serviceAccountId: settingText(provider, "service_account_id"),
  };
  return (context) => openaiToken(identity, context);
};

export const anthropicTokens: TokenSource = (provider) => {
  if (!hasIdentity(provider)) return null;
  const identity = {
    root: withVersion(provider),
    identityFile: settingText(provider, "identity_file"),
    federationRuleId: settingText(provider, "federation_rule_id"),
    organizationId: settingText(provider, "organization_id"),
    serviceAccountId: settingText(provider, "service_account_id"),
    workspaceId: settingText(provider, "workspace_id"),
  };
  return (context) => anthropicToken(identity, context);
};

export const openaiAuthProblem = problemWithout(["identity_file", "identity_provider_id", "service_account_id"]);
export const anthropicAuthProblem = problemWithout(["federation_rule_id", "organization_id"]);

export function authorizeOpenai(draft: OutboundDraft, { token }: AuthorizeOptions): void {
  if (typeof token === "string") draft.headers["authorization"] = `Bearer ${token}`;
  else authorizeBearer(draft);
}

export function authorizeAnthropic(draft: OutboundDraft, { token }: AuthorizeOptions): void {
  if (typeof token !== "string") {
    authorizeKey(draft);
    return;
  }
  const betas = draft.headers["anthropic-beta"];
  draft.headers["authorization"] = `Bearer ${token}`;
  draft.headers["anthropic-beta"] = betas === undefined ? oauthBeta : `${betas},${oauthBeta}`;
}

const authorizeKey = authorizeWith("x-api-key");

/** A problem with the settings of the authentication, as a sentence with the setting's name; null if there is none. */
function problemWithout(names: readonly string[]) {
  return (provider: Provider): string | null => {
    if (!hasIdentity(provider)) return null;
    const missing = names.find((name) => settingText(provider, name) === null);
    return missing === undefined ? null : `settings.${missing} is required for ${method}`;
  };
}
