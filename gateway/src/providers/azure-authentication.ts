import type { Provider } from "#core/index.ts";
import { type AzureIdentity, azureToken } from "#credentials/index.ts";
import type { AuthorizeOptions, OutboundDraft, TokenSource } from "./kind.ts";
import { authorizeWith } from "./openai-shaped.ts";
import {
  authField,
  identityCertificateFields,
  identityFileField,
  type SettingField,
  settingField,
} from "./setting-field.ts";
import { nameProblem, settingText } from "./settings.ts";

const methods = ["managed_identity", "workload_identity", "client_certificate", "client_secret"] as const;
const clientMethods = ["workload_identity", "client_certificate", "client_secret"];

export const azureAuthFields: readonly SettingField[] = [
  authField(
    ["api_key", ...methods],
    "api_key: the resource's key. Others get a token of Microsoft Entra ID: managed_identity and workload_identity of the gateway's machine, or client_certificate and client_secret of an app registration. Default: api_key.",
  ),
  settingField("tenant_id", "Tenant ID", {
    help: "The directory of the app registration. Leave empty with workload_identity to use AZURE_TENANT_ID.",
    auths: clientMethods,
  }),
  settingField("client_id", "Client ID", {
    help: "The application, or the user-assigned managed identity. Leave empty for the machine's own.",
    auths: methods,
  }),
  settingField("client_secret", "Client secret", { type: "secret", auths: ["client_secret"] }),
  identityFileField("Leave empty to use AZURE_FEDERATED_TOKEN_FILE.", ["workload_identity"]),
  ...identityCertificateFields(["client_certificate"]),
];

export const azureTokens: TokenSource = (provider) => {
  const auth = methodOf(provider);
  if (auth === null) return null;
  const text = (name: string) => settingText(provider, name);
  const identity: AzureIdentity = {
    auth,
    baseUrl: provider.baseUrl,
    tenantId: text("tenant_id"),
    clientId: text("client_id"),
    secret: text("client_secret"),
    certificate: text("identity_certificate"),
    privateKey: text("identity_key"),
    identityFile: text("identity_file"),
  };
  return (context) => azureToken(identity, context);
};

/** null: the resource's key. */
function methodOf(provider: Provider): AzureIdentity["auth"] | null {
  return methods.find((method) => method === settingText(provider, "auth")) ?? null;
}

/** An Entra token is a bearer token; the resource's key has its own header. */
export function authorizeAzure(draft: OutboundDraft, { token }: AuthorizeOptions): void {
  if (typeof token === "string") draft.headers["authorization"] = `Bearer ${token}`;
  else authorizeKey(draft);
}

const authorizeKey = authorizeWith("api-key");

/** A problem with the settings of the authentication; null if there is none. */
export function azureAuthProblem(provider: Provider): string | null {
  const auth = methodOf(provider);
  const wrong = nameProblem(provider, "tenant_id") ?? nameProblem(provider, "client_id");
  if (wrong !== null || auth === null || auth === "managed_identity" || auth === "workload_identity") return wrong;
  const proof = auth === "client_secret" ? ["client_secret"] : ["identity_certificate", "identity_key"];
  const missing = ["tenant_id", "client_id", ...proof].find((name) => settingText(provider, name) === null);
  return missing === undefined ? null : `settings.${missing} is required for ${auth}`;
}
