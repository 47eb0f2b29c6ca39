import type { CredentialContext } from "../context.ts";
import { identityToken } from "../identity-file.ts";
import type { Issued } from "../issued.ts";
import { requireMachine, requireVendor } from "../machine-identity.ts";
import { noIdentity, unusableCredential } from "../unusable.ts";
import { cognitiveResource, type EntraClient, type EntraProof, entraToken, vaultDomain } from "./entra.ts";
import { managedIdentityToken } from "./managed-identity.ts";

export interface AzureIdentity {
  readonly auth: "managed_identity" | "workload_identity" | "client_certificate" | "client_secret";
  /** Where the token will be sent. */
  readonly baseUrl: string;
  readonly tenantId: string | null;
  readonly clientId: string | null;
  readonly secret: string | null;
  readonly certificate: string | null;
  readonly privateKey: string | null;
  /** See `identityToken`. */
  readonly identityFile: string | null;
}

/** A token by the account's authentication. Throws the Failure of the step that failed. */
export async function azureToken(identity: AzureIdentity, context: CredentialContext): Promise<Issued<string>> {
  const { auth, baseUrl, clientId, secret, certificate, privateKey, identityFile } = identity;
  const resource = cognitiveResource(context);
  const isOfMachine = auth === "managed_identity" || auth === "workload_identity";
  if (isOfMachine) {
    requireMachine(context, "azure");
    requireVendor(context, baseUrl, azureHosts);
  }
  if (auth === "managed_identity") return managedIdentityToken(context, { clientId, resource });
  if (auth === "workload_identity") {
    const client = clientOf(identity, context, ["AZURE_TENANT_ID", "AZURE_CLIENT_ID"]);
    const assertion = await identityToken(context, identityFile, ["AZURE_FEDERATED_TOKEN_FILE"]);
    return entraToken(context, client, { proof: { assertion }, resource });
  }
  const client = clientOf(identity, context, []);
  const proof: EntraProof | null =
    auth === "client_secret"
      ? secret === null
        ? null
        : { secret }
      : certificate === null || privateKey === null
        ? null
        : { certificate, privateKey };
  if (proof === null) throw unusableCredential("The provider has no client secret or no certificate with its key.");
  return entraToken(context, client, { proof, resource });
}

/** A token of the gateway's own identity for Key Vault, and the domain of vaults in its cloud. */
export async function vaultToken(context: CredentialContext): Promise<Issued<string> & { readonly domain: string }> {
  const { workload } = context;
  const domain = vaultDomain(context);
  const resource = `https://${domain}`;
  const [tenantId, clientId] = [workload.variable("AZURE_TENANT_ID"), workload.variable("AZURE_CLIENT_ID")];
  const secret = workload.variable("AZURE_CLIENT_SECRET");
  const isFederated = workload.variable("AZURE_FEDERATED_TOKEN_FILE") !== null;
  if (tenantId === null || clientId === null || (secret === null && !isFederated)) {
    return { ...(await managedIdentityToken(context, { clientId, resource })), domain };
  }
  const assertion = async () => ({ assertion: await identityToken(context, null, ["AZURE_FEDERATED_TOKEN_FILE"]) });
  const proof = secret === null ? await assertion() : { secret };
  return { ...(await entraToken(context, { tenantId, clientId }, { proof, resource })), domain };
}

/** Azure OpenAI, Cognitive Services and Foundry in the public, the US government's and China's cloud. */
const azureHosts = /^[a-z0-9-]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)$/;

function clientOf(
  { tenantId, clientId }: AzureIdentity,
  { workload }: CredentialContext,
  [tenantName = "", clientName = ""]: readonly string[],
): EntraClient {
  const tenant = tenantId ?? workload.variable(tenantName);
  const client = clientId ?? workload.variable(clientName);
  if (tenant !== null && client !== null) return { tenantId: tenant, clientId: client };
  const missing = tenant === null ? "tenant_id" : "client_id";
  const variable = tenant === null ? tenantName : clientName;
  throw noIdentity(
    `The provider has no ${missing}${variable === "" ? "" : `, and ${variable} of the gateway's environment is not set`}.`,
  );
}
